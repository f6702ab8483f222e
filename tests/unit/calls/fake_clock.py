"""Time that passes only by waiting, and chance without surprises."""

from __future__ import annotations

from threading import Event, Lock


class FakeClock:
    """A Clock. ``waits`` are the pauses that were asked for, in order."""

    def __init__(self) -> None:
        self.time = 0.0
        self.waits: list[float] = []
        self._lock = Lock()

    def now(self) -> float:
        with self._lock:
            return self.time

    def wait(self, seconds: float, stop: Event) -> None:
        if seconds > 0:
            with self._lock:
                self.waits.append(seconds)
                self.time += seconds


class Greatest:
    """Chance that always gives the greatest jitter."""

    def uniform(self, a: float, b: float) -> float:
        return b
