"""`clew index --dry-run`: what there is to do, and what a language model would cost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from clew.cli import payload, render
from clew.cli.indexing import interruptible, settings_for
from clew.cli.progress import watch
from clew.cli.screen import Page, line, write_json
from clew.types import Forecast, Foreseen

STAGES = {"extract": "asks about notes", "types": "asks about names", "report": "writes reports"}


def run(
    paths: Sequence[Path],
    index: Path | None,
    flags: Mapping[str, Any],
    as_json: bool,
    quiet: bool,
    rebuild: bool = False,
) -> None:
    """Print the forecast. Raises what ``Index.foresee`` raises."""
    from clew.index import Index

    settings = settings_for(paths, index, flags)
    options, llm = settings.index_options(), settings.llm_options()
    with interruptible(), watch(quiet or as_json) as progress:
        found = Index.foresee(paths, index, options=options, llm=llm, progress=progress, rebuild=rebuild)
    if as_json:
        write_json("forecast", payload.forecast(found))
    elif not quiet:
        page = Page()
        show(page, found)
        page.send()


def show(page: Page, found: Forecast) -> None:
    """What there is to do, a line each, then what the model would take by stage."""
    page.gap()
    if found.unchanged:
        page.add("Nothing has changed since the index was made: there is nothing to do.")
        return
    work = found.work
    kinds = ("new", "edited", "moved", "removed", "unchanged")
    told = [f"{work[f'documents_{kind}']:,} {kind}" for kind in kinds if work.get(f"documents_{kind}")]
    count, parsed = found.counts["documents"], work.get("documents_parsed", 0)
    page.add(f"Documents  {count:,} ({', '.join(told)}), {parsed:,} to parse")
    page.add(f"Vectors    {work['vectors_embedded']:,} to embed, {work['vectors_reused']:,} there")
    if found.stages:
        _stages(page, found.stages)
    render.problems(page, found.problems)
    page.gap()
    page.add(("Nothing was written, and no model was called.", "dim"))
    page.add("Index      ", (line(found.index), "green"))


def _stages(page: Page, stages: Sequence[Foreseen]) -> None:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("model")
    for name in ("of", "calls", "kept", "prompt tokens", "reply tokens, about", "money, about"):
        table.add_column(name, justify="right")
    for one in stages:
        table.add_row(STAGES.get(one.stage, one.stage), *_numbers(one))
    if len(stages) > 1:
        money = [one.money for one in stages]
        whole = Foreseen(
            "sum",
            0,
            sum(one.calls for one in stages),
            sum(one.kept for one in stages),
            sum(one.prompt_tokens for one in stages),
            sum(one.reply_tokens for one in stages),
            None if None in money else sum(filter(None, money)),
        )
        table.add_row("together", *_numbers(whole))
    page.gap()
    page.add(table)
    if any(one.money is None for one in stages):
        page.add(("For money, add --price 'MODEL=PROMPT/REPLY' (for a million tokens).", "dim"))


def _numbers(one: Foreseen) -> list[str]:
    counts = (one.calls, one.kept, one.prompt_tokens, one.reply_tokens)
    items = f"{one.items:,}" if one.items else ""
    return [items, *(f"{count:,}" for count in counts), _money(one.money)]


def _money(amount: float | None) -> str:
    if amount is None:
        return ""
    return f"{amount:,.2f}" if amount >= 0.1 or not amount else f"{amount:.2g}"
