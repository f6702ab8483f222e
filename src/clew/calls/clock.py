"""Time and chance, in one place, so that tests have their own."""

from __future__ import annotations

import random
import time
from threading import Event
from typing import Protocol


class Clock(Protocol):
    """Seconds that pass, and waiting."""

    def now(self) -> float:
        """Return seconds since some fixed moment; they never go back."""
        ...

    def wait(self, seconds: float, stop: Event) -> None:
        """Let so many seconds pass, fewer if ``stop`` is set meanwhile."""
        ...


class SystemClock:
    """The computer's clock."""

    def now(self) -> float:
        return time.monotonic()

    def wait(self, seconds: float, stop: Event) -> None:
        if seconds > 0:
            stop.wait(seconds)


class Chance(Protocol):
    """Where jitter comes from; ``random.Random`` is one."""

    def uniform(self, a: float, b: float) -> float: ...


def make_chance() -> Chance:
    """Return a source of jitter that differs between processes: the same pauses everywhere would bring all
    of them back at the same moment. Nothing that is kept or published depends on it."""
    return random.Random()
