"""What calls have cost: in this run, in memory, and over all runs, in the cache."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from threading import Lock

from clew.ports import Cache
from clew.types import Cost, Saving

SUMMED = tuple(one.name for one in fields(Cost))[2:]


def total(costs: Iterable[Cost], stage: str = "", model: str = "") -> Cost:
    """Return the sum of rows under another stage and model."""
    rows = list(costs)
    return Cost(stage, model, **{name: sum(getattr(one, name) for one in rows) for name in SUMMED})


class Ledger:
    """Adds up costs by stage and model. Threads may share it; without a cache it lasts for this run."""

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache
        self._rows: dict[tuple[str, str], Cost] = {}
        self._lock = Lock()

    def add(self, cost: Cost) -> None:
        """Add a cost, here and in the cache."""
        key = cost.stage, cost.model
        with self._lock:
            before = self._rows.get(key)
            self._rows[key] = total((before, cost), *key) if before is not None else cost
        if self._cache is not None:
            self._cache.add_costs([cost])

    def save(self, name: str, used: int, instead: int) -> None:
        """Record what was done with fewer tokens than the plain way takes."""
        if self._cache is not None:
            self._cache.add_saving(Saving(name, 1, used, instead))

    @property
    def rows(self) -> list[Cost]:
        """What this run has cost, by stage and model."""
        with self._lock:
            return [self._rows[key] for key in sorted(self._rows)]
