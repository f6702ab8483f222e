"""How long to wait before a call that failed for a while is made again."""

from __future__ import annotations

from threading import Lock

from clew.calls.clock import Chance, Clock
from clew.errors import ProviderDown, ProviderError

FIRST = 0.5  # seconds, at most, before the first repetition; doubled for each further one ...
MOST = 30.0  # ... up to this
# A server that asks for a longer pause than this won't be waited for: a person would rather be told.
PATIENCE = 300.0
SLOW_TRIES = 2  # of a call that isn't answered in time: each costs the whole time
OPEN_SECONDS = 30.0  # until a call is let through again where calls can't go well


def pause(attempt: int, after: float | None, chance: Chance) -> float:
    """Return the seconds to wait before repetition ``attempt`` (from 0): exponential with full jitter, which
    spreads callers best (Brooker 2015, "Exponential backoff and jitter"), and not before the server wants
    it: what it asks for (``after``), and the jitter on top, so that not all come at the same moment."""
    jitter = chance.uniform(0.0, min(MOST, FIRST * 2.0 ** min(attempt, 30)))
    return jitter if after is None else after + jitter


class Breaker:
    """Remembers that calls can't go well, so that a run of a thousand of them doesn't wait for each.

    It opens where a call tells so (ProviderDown), or where ``most`` calls in a row have been repeated in
    vain. While it is open, calls raise what opened it; after a while they are let through again to see.
    Threads may share it.
    """

    def __init__(self, most: int, clock: Clock) -> None:
        self._most = most
        self._clock = clock
        self._lock = Lock()
        self._in_vain = 0
        self._why: ProviderError | None = None
        self._until = 0.0

    def check(self) -> None:
        """Raise what opened it, if it is open."""
        with self._lock:
            if self._why is None or self._clock.now() >= self._until:
                return
            raise type(self._why)(self._why.thing, self._why.reason, self._why.remedy)

    def went_well(self) -> None:
        """A call has been answered."""
        with self._lock:
            self._in_vain, self._why = 0, None

    def failed(self, error: ProviderError, *, in_vain: bool) -> None:
        """A call has failed for good; ``in_vain``: although it was repeated."""
        with self._lock:
            self._in_vain += in_vain
            if isinstance(error, ProviderDown) or self._in_vain >= self._most:
                self._why, self._until = error, self._clock.now() + OPEN_SECONDS
