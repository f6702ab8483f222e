"""Which language models can be asked, and what they have cost."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor, log10
from pathlib import Path
from typing import TYPE_CHECKING

from clew.cli import payload
from clew.cli.find import find_index
from clew.cli.screen import Page, line, write_json
from clew.errors import masked

if TYPE_CHECKING:
    from clew.types import Cost, Costs, Saving

WORDS = {
    "asked_again": "had to be asked again, for their form",
    "repaired": "had JSON that was mended",
    "cut": "ended at their greatest length",
    "estimated": "had tokens that are an estimate",
}


def llms(as_json: bool) -> None:
    """List the providers of language models, from the registry: none is imported."""
    from clew.registry import NO_LLM, plugins
    from clew.settings import load

    chosen = load().values["llm.model"].value
    rows = [(one.name, one.summary, one.extra) for one in plugins("llms")]
    rows.append((NO_LLM, "No language model: answers are sentences of the notes", ""))
    marks = {name: chosen == name or chosen.startswith(f"{name}:") for name, _, _ in rows}
    if as_json:
        listed = [
            {"name": name, "summary": summary, "extra": extra or None, "default": marks[name]}
            for name, summary, extra in rows
        ]
        write_json("llms", {"llms": listed})
        return
    page = Page()
    for name, summary, _ in rows:
        mark = f" (in force: {line(masked(chosen))})" if marks[name] and name != NO_LLM else ""
        mark = " (in force)" if marks[name] and not mark else mark
        page.add((f"{line(name):<8} ", "bold"), line(summary), (mark, "green"))
    page.send()


def costs(given: Path | None, as_json: bool) -> None:
    """Show what calls to language models have cost, by stage and model."""
    path = find_index(given)
    from clew.index import look_at_costs

    found = look_at_costs(path)
    if as_json:
        write_json("costs", payload.costs(found))
        return
    page = Page()
    show(page, found)
    page.send()


def show(page: Page, found: Costs) -> None:
    """The ledger as a table with totals, what there is to know of it, and what was saved."""
    if found.problem:
        page.add((line(found.problem), "yellow"))
    if not found.rows:
        page.add("No language model has been asked for this index.")
        return
    _table(page, found)
    _notes(page, found.total)
    if found.savings:
        page.gap()
        page.add(("Fewer tokens than the plain way", "bold"))
        for saving in found.savings:
            page.add(_saving(saving), indent=2)


def _table(page: Page, found: Costs) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("stage")
    table.add_column("model")
    for name in ("calls", "kept", "prompt tokens", "reply tokens", "seconds", "money"):
        table.add_column(name, justify="right")
    for row in found.rows:
        table.add_row(line(row.stage), line(row.model), *_cells(row))
    if len(found.rows) > 1:
        table.add_row("total", "", *_cells(found.total), style="bold")
    page.add(table)


def _cells(row: Cost) -> Sequence[str]:
    counts = (row.calls, row.kept, row.prompt_tokens, row.reply_tokens)
    return [*(f"{count:,}" for count in counts), f"{row.seconds:,.1f}", _money(row)]


def _money(row: Cost) -> str:
    if row.unpriced:
        return f"{amount(row.money)} + ?" if row.money else "?"
    return amount(row.money)


def _notes(page: Page, total: Cost) -> None:
    told = [(getattr(total, name), words) for name, words in WORDS.items()]
    listed = [f"{count:,} {words}" for count, words in told if count]
    if listed:
        page.gap()
        page.add(f"Of the calls {', '.join(listed)}.")
    if total.failed:
        page.gap()
        page.add(
            f"{_count(total.failed, 'further call')} came to nothing; what they may have cost is counted."
        )
    if total.unpriced:
        page.gap()
        page.add(
            f"What {total.unpriced:,} of them cost in money isn't known: no price was given for their model "
            "(--price MODEL=PROMPT/REPLY, money for a million tokens)."
        )
    saved = total.saved_prompt_tokens + total.saved_reply_tokens
    if total.kept:
        page.gap()
        money = f" and {amount(total.saved_money)} in money" if total.saved_money else ""
        page.add(f"Kept replies saved {_count(total.kept, 'call')}, {saved:,} tokens{money}.")


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _saving(saving: Saving) -> str:
    share = 1 - saving.used / saving.instead if saving.instead else 0.0
    less = f"{share:.0%} fewer" if share >= 0 else f"{-share:.0%} more"
    times = "once" if saving.times == 1 else f"{saving.times:,} times"
    return f"{line(saving.name)}: {saving.used:,} tokens instead of {saving.instead:,} ({less}), {times}"


def amount(money: float) -> str:
    """Return money with two digits, or as many as show that it isn't nothing."""
    digits = 2 if money >= 0.1 or not money else 1 - floor(log10(money))
    return f"{money:,.{digits}f}"
