"""`clew demo`: a set of notes, an index of it, and three questions of different kinds."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from clew.cli import graph_pages, payload, render
from clew.cli.find import quote
from clew.cli.progress import watch
from clew.cli.screen import Page, write_json
from clew.demo import CONNECTION, FACT, THEMES, copy_vault
from clew.errors import UsageError


def run(keep: Path | None, as_json: bool) -> None:
    """Copy the notes to ``keep`` (a temporary folder without it), index them, and ask.

    The folder stays, so that the printed commands can be repeated. Raises UsageError if ``keep``
    is there already, or can't be made.
    """
    folder, count = _copy(keep)
    # The commands that are shown run in the folder: so does the demo, and citations are relative to it.
    with contextlib.chdir(folder):
        if as_json:
            write_json("demo", _json(folder))
        else:
            _screen(folder, count)


def _copy(keep: Path | None) -> tuple[Path, int]:
    if keep is None:
        goal = Path(tempfile.mkdtemp(prefix="clew-demo-")) / "notes"
    else:
        goal = keep.expanduser().absolute()
    try:
        count = copy_vault(goal)
    except FileExistsError as error:
        raise UsageError(str(goal), "it is there already", "Give a folder that isn't.") from error
    except OSError as error:
        reason = error.strerror or str(error)
        raise UsageError(str(goal), reason, "Give another folder with --keep DIR.") from error
    return goal, count


def _json(folder: Path) -> dict[str, Any]:
    from clew.index import Index

    with Index.build(["."]) as index:
        assert index.result is not None
        return {
            "folder": str(folder),
            **payload.result(index.result),
            "questions": [
                {"ask": payload.answer(index.ask(FACT))},
                {"path": [payload.edge(step) for step in index.path(*CONNECTION)]},
                {"ask": payload.answer(index.ask(THEMES, "global"))},
            ],
        }


def _screen(folder: Path, count: int) -> None:
    _show(
        f"{count} notes from an island that doesn't exist, a few of them in German, Japanese and Ukrainian.",
        f"cd {quote(str(folder))}",
        "clew index .",
    )
    from clew.index import Index

    progress = watch(quiet=not sys.stderr.isatty())
    with progress:
        index = Index.build(["."], progress=progress)
    with index:
        page = Page()
        assert index.result is not None
        counts, seconds = index.result.counts, sum(index.result.seconds.values())
        names = ("documents", "chunks", "nodes", "edges", "communities")  # as `clew stats` counts them
        page.add(", ".join(f"{counts[name]:,} {name}" for name in names) + f", in {seconds:.1f} s")
        page.send()
        _show("\nA fact that two notes hold together:", f'clew ask "{FACT}"')
        page = Page()
        render.answer(page, index.ask(FACT), explain=False)
        page.send()
        a, b = CONNECTION
        _show("\nHow two notes are connected:", f'clew path "{a}" "{b}" -k 1')
        page = Page()
        graph_pages.connection(page, index.paths(a, b, 1))
        page.send()
        _show("\nThe whole:", f'clew ask --mode global "{THEMES}"')
        page = Page()
        render.answer(page, index.ask(THEMES, "global"), explain=False)
        page.send()
    _end(folder)


def _show(text: str, *commands: str) -> None:
    page = Page()
    page.add(text)
    for command in commands:
        page.add(("$ ", "dim"), (command, "bold"))
    page.gap()
    page.send()


def _end(folder: Path) -> None:
    page = Page()
    page.gap()
    page.add(("To go on here:   ", "dim"), f"cd {quote(os.fspath(folder))} && clew show Tomasz")
    page.add(("Now your own:    ", "dim"), ("clew index ~/notes", "bold"))
    page.send()
