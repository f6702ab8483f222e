"""`clew index --watch`: index, then tell of each update until Ctrl-C."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.cli import payload
from clew.cli.indexing import interruptible, settings_for, show
from clew.cli.progress import LateLines, Silence, watch
from clew.cli.screen import clean, line, say, write_json
from clew.errors import ClewError

if TYPE_CHECKING:
    from clew.types import BuildResult
    from clew.watching import Update

SHOWN = 10  # new problems of one update


def run(
    paths: Sequence[Path],
    index: Path | None,
    flags: Mapping[str, Any],
    as_json: bool,
    quiet: bool,
    rebuild: bool = False,
) -> None:
    """Index ``paths``, print the summary, and follow them. Raises what ``Index.build`` raises."""
    from clew.watching import Watcher

    silent = quiet or as_json
    settings = settings_for(paths, index, flags)
    watcher = Watcher(paths, index, options=settings.index_options(), llm=settings.llm_options())
    with interruptible(), watch(silent) as progress:
        first = watcher.update(progress, rebuild=rebuild)
    told = first.result
    try:
        if as_json:
            write_json("index", payload.update(first), one_line=True)
        elif not quiet and told is not None:
            show(told, paths)
        if not silent:
            places = (line(str(path.expanduser().absolute())) for path in paths)
            say(f"\nWatching {', '.join(places)}. Ctrl-C ends it.")
        for update in watcher.follow(Silence() if silent else LateLines()):
            _tell(update, told, as_json, silent)
            told = update.result or told
    except KeyboardInterrupt:
        if not quiet:
            say("\nclew: stopped watching. The index published last is whole.")


def _tell(update: Update, before: BuildResult | None, as_json: bool, silent: bool) -> None:
    """Tell of a failure, or of what was published and what is wrong with it that wasn't ``before``."""
    if update.result is None:
        say(f"clew: {_reason(update.error)}. Watching goes on.", "red")
        return
    if as_json:
        write_json("index", payload.update(update), one_line=True)
    if silent:
        return
    counts = {"added": update.added, "edited": update.edited, "removed": update.removed}
    parts = ", ".join(f"{count:,} {what}" for what, count in counts.items() if count)
    documents = "document" if update.changed == 1 else "documents"
    say(
        f"{time.strftime('%H:%M:%S')}  {update.changed:,} {documents} changed"
        f"{f' ({parts})' if parts else ''}, {update.seconds:.1f} s"
    )
    problems = [one for one in update.result.problems if before is None or one not in before.problems]
    for one in problems[:SHOWN]:
        say(f"  {line(one.key)}: {line(one.reason)}. {line(one.remedy)}".rstrip(), "yellow")
    if len(problems) > SHOWN:
        say(f"  {len(problems) - SHOWN:,} more", "yellow")
    for note in update.result.notes:
        if before is None or note not in before.notes:
            say(f"  {line(note)}", "yellow")


def _reason(error: Exception | None) -> str:
    text = str(error) if isinstance(error, ClewError) else f"{type(error).__name__}: {error}"
    return clean(text).rstrip(".")
