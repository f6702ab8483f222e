"""What calls have cost: in this run, in memory, and over all runs, in the cache."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from threading import Lock

from clew.calls.budget import show_money
from clew.ports import Cache
from clew.types import Cost, Saving

SUMMED = tuple(one.name for one in fields(Cost))[2:]


def total(costs: Iterable[Cost], stage: str = "", model: str = "") -> Cost:
    """Return the sum of rows under another stage and model."""
    rows = list(costs)
    return Cost(stage, model, **{name: sum(getattr(one, name) for one in rows) for name in SUMMED})


def spent(rows: Iterable[Cost]) -> str:
    """Return a line that tells what calls have cost, or nothing if there were none."""
    all_of = total(rows)
    if not (all_of.calls or all_of.kept or all_of.failed):
        return ""
    counts = [(all_of.calls, "call"), (all_of.kept, "kept reply"), (all_of.failed, "failed call")]
    told = [f"{count:,} {_plural(noun, count)}" for count, noun in counts if count]
    tokens = all_of.prompt_tokens + all_of.reply_tokens
    if tokens:
        told.append(
            f"{tokens:,} tokens ({all_of.prompt_tokens:,} of prompts, {all_of.reply_tokens:,} of replies)"
        )
    if all_of.money:
        told.append(f"{show_money(all_of.money)} in money")
    return f"Language model: {', '.join(told)}."


def _plural(noun: str, count: int) -> str:
    if count == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


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
