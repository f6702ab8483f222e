"""How long to wait before a call that failed for a while is made again."""

from __future__ import annotations

from clew.calls.clock import Chance

FIRST = 0.5  # seconds, at most, before the first repetition; doubled for each further one ...
MOST = 30.0  # ... up to this
# A server that asks for a longer pause than this won't be waited for: a person would rather be told.
PATIENCE = 300.0


def pause(attempt: int, after: float | None, chance: Chance) -> float:
    """Return the seconds to wait before repetition ``attempt`` (from 0): exponential with full jitter, which
    spreads callers best (Brooker 2015, "Exponential backoff and jitter"), and not before the server wants
    it: what it asks for (``after``), and the jitter on top, so that not all come at the same moment."""
    jitter = chance.uniform(0.0, min(MOST, FIRST * 2.0 ** min(attempt, 30)))
    return jitter if after is None else after + jitter
