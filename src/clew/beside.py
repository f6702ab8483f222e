"""What lies beside an index: its cache, with what was expensive and what was paid for."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

from clew import registry
from clew.calls.ledger import total
from clew.calls.make import Callers, make_callers
from clew.options import FOLDER, LlmOptions
from clew.ports import Cache, ChatModel, Store
from clew.types import CacheState, Costs

DEFAULT_STORE = "duckdb"


def cache_path(index: Path) -> Path:
    """Return the cache of an index: ``.clew/cache.sqlite``, or ``FILE.cache`` for an index elsewhere.

    Elsewhere, a ``cache.sqlite`` may be somebody else's, whose tables would be lost.
    """
    return index.with_name("cache.sqlite" if index.parent.name == FOLDER else f"{index.name}.cache")


def look_at_cache(index: Path, *, prune: bool = False) -> CacheState:
    """Return what the cache beside an index holds; ``prune`` drops what the last whole run didn't use.

    Raises PublishError if another process is indexing there.
    """
    path = cache_path(index)
    if not path.is_file():
        return CacheState(str(path), 0, {}, 0)
    store: Store = registry.load("stores", DEFAULT_STORE)()
    with store.writing(index) if prune else nullcontext():
        cache = store.cache(path, new_run=False)
        try:
            dropped = cache.drop_unused() if prune else 0
            entries = cache.stats()
            size = entries.pop("bytes", 0)
            return CacheState(str(path), size, entries, cache.unused(), dropped, cache.problem)
        finally:
            cache.close()


def look_at_costs(index: Path) -> Costs:
    """Return what calls to language models for an index have cost, over all runs."""
    path = cache_path(index)
    if not path.is_file():
        return Costs(str(path), (), total(()))
    store: Store = registry.load("stores", DEFAULT_STORE)()
    cache = store.cache(path, new_run=False)
    try:
        rows, savings = cache.costs(), cache.savings()
        return Costs(str(path), tuple(rows), total(rows), tuple(savings), cache.problem)
    finally:
        cache.close()


def make_callers_from(llm: LlmOptions | ChatModel | None, cache: Cache | None) -> Callers | None:
    """Return callers of the model that is named or given, or None; their replies are kept in the cache."""
    if llm is None or isinstance(llm, LlmOptions):
        return make_callers(llm, cache) if llm is not None else None
    return make_callers(LlmOptions(), cache, model=llm)
