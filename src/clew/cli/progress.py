"""What indexing shows while it runs: bars on a terminal, plain lines elsewhere, or nothing."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Any, Protocol, Self

from clew.cli.screen import clean, colour, make_console, say

if TYPE_CHECKING:
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

# Redrawing costs more than parsing a small note: a bar moves ten times a second, a log every few seconds.
BAR_SECONDS = 0.1
LOG_SECONDS = 5.0

STAGES = {
    "sync": "Asking relays",
    "scan": "Finding notes",
    "parse": "Reading notes",
    "link": "Linking names",
    "terms": "Indexing words",
    "communities": "Finding themes",
    "publish": "Publishing",
    "embed": "Embedding",
    "extract": "Asking on notes",
    "types": "Asking on names",
    "reports": "Writing reports",
    "estimate": "Estimating",
}


class Watch(Protocol):
    """A clew.ports.Progress that is entered while it shows something."""

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, n: int = 1) -> None: ...

    def note(self, text: str) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def watch(quiet: bool) -> Watch:
    """Return the progress that suits stderr."""
    if quiet:
        return Silence()
    return RichBars() if sys.stderr.isatty() else Lines()


class Silence:
    """Says nothing."""

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, n: int = 1) -> None: ...

    def note(self, text: str) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None: ...


class Lines(Silence):
    """A line where a stage begins, and one every few seconds while it lasts."""

    def __init__(self) -> None:
        self._label = ""
        self._total: int | None = None
        self._done = 0
        self._told = 0.0

    def stage(self, name: str, total: int | None = None) -> None:
        self._label, self._total, self._done = STAGES.get(name, name), total, 0
        self._told = time.monotonic()
        say(f"{self._label}{f' ({total:,})' if total else ''}")

    def advance(self, n: int = 1) -> None:
        self._done += n
        now = time.monotonic()
        if now - self._told >= LOG_SECONDS:
            self._told = now
            of = f" of {self._total:,}" if self._total else ""
            say(f"{self._label}: {self._done:,}{of}")

    def note(self, text: str) -> None:
        say(clean(text))


class LateLines(Lines):
    """Says nothing of what takes a few seconds, then a line every few seconds."""

    def __init__(self) -> None:
        super().__init__()
        self._told = time.monotonic()

    def stage(self, name: str, total: int | None = None) -> None:
        if name == "scan":  # an update begins
            self._told = time.monotonic()
        self._label, self._total, self._done = STAGES.get(name, name), total, 0


class RichBars(Silence):
    """A bar for every stage, with counts and the time left; finished stages stay, with their time."""

    def __init__(self) -> None:
        self._bars: Bars | None = None
        self._task: TaskID | None = None
        self._pending = 0
        self._drawn = 0.0

    def __enter__(self) -> Self:
        from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

        console = make_console(sys.stderr)
        self._bars = Progress(
            SpinnerColumn(finished_text="[green]✓[/green]" if colour(sys.stderr) else "✓"),
            TextColumn("{task.description:<15}", markup=False),
            BarColumn(bar_width=24),
            TextColumn("{task.fields[count]:>15}", markup=False),
            TextColumn("{task.fields[left]}", style="dim", markup=False),
            console=console,
            refresh_per_second=10,
        )
        self._bars.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        if self._bars is not None:
            if kind is None:
                self._finish()
            self._bars.stop()

    def stage(self, name: str, total: int | None = None) -> None:
        if self._bars is None:
            return
        self._finish()
        self._pending = 0
        self._task = self._bars.add_task(STAGES.get(name, name), total=total, count="", left="")
        self._draw()

    def advance(self, n: int = 1) -> None:
        self._pending += n
        if time.monotonic() - self._drawn >= BAR_SECONDS:
            self._draw()

    def note(self, text: str) -> None:
        if self._bars is not None:
            from rich.text import Text

            self._bars.console.print(Text(clean(text), "yellow"))

    def _draw(self) -> None:
        if self._bars is None or self._task is None:
            return
        self._drawn = time.monotonic()
        self._bars.advance(self._task, self._pending)
        self._pending = 0
        task = self._bars.tasks[-1]
        if task.total:
            left = task.time_remaining
            self._bars.update(
                self._task,
                count=f"{int(task.completed):,}/{int(task.total):,}",
                left=f"{_clock(left)} left" if left else "",
            )

    def _finish(self) -> None:
        """Fill the current stage's bar and write the time that it took."""
        if self._bars is None or self._task is None:
            return
        self._draw()
        task = self._bars.tasks[-1]
        done = max(int(task.completed), int(task.total or 0))
        self._bars.update(
            self._task,
            total=done or 1,
            completed=done or 1,
            count=f"{done:,}" if done else "",
            left=f"{task.elapsed or 0:.1f} s",
        )
        self._task = None


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes}:{rest:02d} min" if minutes else f"{rest} s"
