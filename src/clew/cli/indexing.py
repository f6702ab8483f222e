"""`clew index`: build, show how it goes, and say what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import typer

from clew.cli import payload, render
from clew.cli.find import index_flag, quote
from clew.cli.progress import watch
from clew.cli.screen import Page, line, say, write_json
from clew.settings import Settings, load
from clew.types import BuildResult

EXIT_INTERRUPTED = 130
MEGABYTE = 1_000_000


def run(
    paths: Sequence[Path],
    index: Path | None,
    flags: Mapping[str, Any],
    as_json: bool,
    quiet: bool,
    rebuild: bool = False,
) -> None:
    """Index ``paths`` and print the summary. Raises what ``Index.build`` raises."""
    settings = settings_for(paths, index, flags)
    result = build(paths, index, settings, quiet or as_json, rebuild)
    if as_json:
        write_json("index", payload.result(result))
    elif not quiet:
        show(result, paths)


def show(result: BuildResult, paths: Sequence[Path]) -> None:
    """Print the summary."""
    page = Page()
    summary(page, result, paths)
    page.send()


def settings_for(paths: Sequence[Path], index: Path | None, flags: Mapping[str, Any]) -> Settings:
    """Return the settings: ``clew.toml`` beside the index, in the first folder, or here, or above them."""
    starts = [index.absolute().parent] if index is not None else []
    first = paths[0].expanduser()
    starts += [first if first.is_dir() else first.absolute().parent, Path.cwd()]
    found = load(starts, flags)
    for warning in found.warnings:
        say(f"clew: {warning}", "yellow")
    return found


def build(
    paths: Sequence[Path], index: Path | None, settings: Settings, quiet: bool, rebuild: bool = False
) -> BuildResult:
    """Build under a progress display. Ctrl-C says what is left and exits with 130."""
    from clew.index import Index

    with interruptible(), watch(quiet) as progress:
        options, llm = settings.index_options(), settings.llm_options()
        built = Index.build(paths, index, options=options, llm=llm, progress=progress, rebuild=rebuild)
    result = built.result
    built.close()
    if result is None:
        raise RuntimeError("Index.build gave no result")
    return result


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn Ctrl-C into a message and the exit code 130."""
    try:
        yield
    except KeyboardInterrupt:
        say(
            "\nclew: stopped. The index published last is whole; the same command goes on from here.",
            "yellow",
        )
        raise typer.Exit(EXIT_INTERRUPTED) from None


def summary(page: Page, result: BuildResult, paths: Sequence[Path]) -> None:
    """What was made, what was left out and why, and what to type next."""
    from rich.table import Table

    counts, seconds = result.counts, sum(result.seconds.values())
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    table.add_column(style="dim")
    table.add_column(justify="right")
    table.add_column(style="dim")
    size = counts.get("bytes", 0)
    told = {"documents": _documents(result), "vectors": _vectors(result)}
    for name, count in counts.items():
        if name != "bytes" and (count or name == "documents"):
            table.add_row(name, f"{count:,}", told.get(name, ""))
    embedding = result.seconds.get("embed", 0.0)
    large = size >= MEGABYTE  # with less, starting is most of the time
    table.add_row("read", f"{size / (1e6 if large else 1e3):,.1f}", "MB" if large else "kB")
    table.add_row("time", f"{seconds:,.1f}", f"s, of it embedding {embedding:,.1f} s" if embedding else "s")
    if large and not result.unchanged:
        table.add_row("speed", f"{size / 1e6 / (seconds - embedding):,.2f}", "MB/s without embedding")
    for name, value, rest in _model(result):
        table.add_row(name, value, rest)
    page.gap()
    page.add(table)
    render.problems(page, result.problems)
    for note in result.notes:
        page.gap()
        page.add((line(note), "yellow"))
    _next(page, result, paths)


def _documents(result: BuildResult) -> str:
    """What has become of the documents, unless all of them are new, and how many had to be parsed."""
    work = result.work
    kinds = ("new", "edited", "moved", "removed", "unchanged")
    of = {kind: work.get(f"documents_{kind}", 0) for kind in kinds}
    told = [f"{count:,} {kind}" for kind, count in of.items() if count]
    if len(told) == 1 and of["new"]:
        told = []
    parsed = work.get("documents_parsed", 0)
    if told or parsed < result.counts.get("documents", 0):
        told = [*filter(None, [", ".join(told)]), f"{parsed:,} parsed"]
    return "; ".join(told)


def _vectors(result: BuildResult) -> str:
    made, kept = (result.work.get(f"vectors_{what}", 0) for what in ("embedded", "reused"))
    return f"{made:,} embedded, {kept:,} reused" if kept else ""


def _model(result: BuildResult) -> Iterator[tuple[str, str, str]]:
    """Yield rows on what a language model was asked and what it brought."""
    work = result.work
    dropped = sum(work.get(name, 0) for name in ("told_dropped", "types_dropped"))
    unsaid = f"; {dropped:,} dropped, which the notes don't say" if dropped else ""
    if "entities_told" in work:
        rest = f"places and {work['relations_told']:,} relations by the model{unsaid}"
        yield "named", f"{work['entities_told']:,}", rest
    if "names_typed" in work:
        yield "typed", f"{work['names_typed']:,}", f"names by the model{unsaid}"
    if "reports_written" in work:
        cut = work["findings_dropped"]
        rest = f"by the model{f'; {cut:,} findings dropped, which cite nothing' if cut else ''}"
        yield "reports", f"{work['reports_written']:,}", rest
    costs = result.costs
    if costs:
        calls, kept = (sum(getattr(one, name) for one in costs) for name in ("calls", "kept"))
        tokens = sum(one.prompt_tokens + one.reply_tokens for one in costs)
        money = sum(one.money for one in costs)
        priced = f", {money:,.4g} of money" if money and not any(one.unpriced for one in costs) else ""
        yield "calls", f"{calls:,}", f"to the model, {kept:,} replies kept; {tokens:,} tokens{priced}"


def _next(page: Page, result: BuildResult, paths: Sequence[Path]) -> None:
    flag = index_flag(Path(result.index))
    page.gap()
    page.add("Index  ", (line(result.index), "green"))
    if not result.counts.get("documents"):
        page.add("It holds no document. Are there Markdown, text or JSONL files in the folder?")
        return
    home = paths[0].expanduser()
    page.add("Next   ", (f'clew ask{flag} "your question"', "bold"))
    page.add("       ", (f"clew communities{flag}", "bold"))
    if flag and home.is_dir() and Path(result.index).absolute().is_relative_to(home.absolute()):
        page.add((f"       after `cd {quote(str(home))}` no --index is needed", "dim"))
