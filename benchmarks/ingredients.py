"""The ingredients of the default retrieval, each with a way to take it out.

An ingredient is taken out for as long as a ``with`` block runs, by replacing one thing in the product's
modules: a function by one that does nothing, or a setting by the value that makes it have no effect. A name
that the product no longer has raises AttributeError, so that a table can't quietly measure nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from scipy.sparse import csr_array

from clew.algo import select as selecting
from clew.algo.bm25 import Postings
from clew.algo.fuse import rrf, top
from clew.algo.select import FEATURES, WEIGHTS, Weights
from clew.algo.walk import Walk
from clew.query import choose as choosing
from clew.query import rank as ranking
from clew.query import space as spaces
from clew.query.engine import IndexEngine
from clew.query.rank import Relevance
from clew.query.space import Space
from clew.types import Floats

Change = Callable[[IndexEngine], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class Ingredient:
    """``group`` says which step it belongs to; ``vectors`` that it matters only with an embedder; ``mode``
    is the mode that is asked in."""

    name: str
    group: str
    off: Change
    vectors: bool = False
    mode: str = "auto"


def setting(module: object, name: str, value: object) -> Change:
    """Return a change of a module's constant."""
    return lambda engine: patch.object(module, name, value)


def several(*changes: Change) -> Change:
    """Return several changes as one."""

    @contextmanager
    def change(engine: IndexEngine) -> Iterator[None]:
        with ExitStack() as stack:
            for one in changes:
                stack.enter_context(one(engine))
            yield

    return change


def weights(**worth: float) -> Change:
    """Return a change of the choice's weights."""
    return all_weights(replace(WEIGHTS, **worth))


def all_weights(new: Weights) -> Change:
    """Return the change to other weights of the choice."""
    original = choosing.Pool.choose

    def choose(self: choosing.Pool, *values: Any, **named: Any) -> Any:
        return original(self, *values, **{**named, "weights": new})

    return lambda engine: patch.object(choosing.Pool, "choose", choose)


def linked(module: object, name: str, value: object) -> Change:
    """Return a change of what the graph's link weights are made of; they are computed anew."""

    @contextmanager
    def change(engine: IndexEngine) -> Iterator[None]:
        with patch.object(module, name, value), _forgotten(engine.space, "links"):
            yield

    return change


@contextmanager
def undefined(engine: IndexEngine) -> Iterator[None]:
    """No passage defines anything: titles, aliases and headings are mentions like others."""
    space = engine.space
    none = csr_array(space.defines.shape, dtype=np.float32)
    with _forgotten(space, "links", "defines", "defined", "linked_share"):
        space.__dict__["defines"] = none
        space.__dict__["defined"] = np.zeros(space.n_nodes, dtype=np.float32)
        yield


@contextmanager
def _forgotten(space: Space, *names: str) -> Iterator[None]:
    """Forget computed properties of a space; afterwards they are as before."""
    kept = {name: getattr(space, name) for name in names}
    for name in names:
        space.__dict__.pop(name)
    try:
        yield
    finally:
        space.__dict__.update(kept)


def _no_scores(postings: Postings, positions: object) -> Floats:
    return np.zeros(postings.n_chunks, dtype=np.float32)


def _no_dense(space: Space, terms: list[int], vector: object, *others: Any) -> Relevance:
    return _relevance(space, terms, None, *others)


_relevance = ranking.relevance


def _by_ranks(space: Space, *asked: Any) -> Relevance:
    """Fuse by ranks instead of scores."""
    scores = _relevance(space, *asked)
    if scores.dense is None:
        return scores
    fused = rrf([top(scores.bm25, 100), top(scores.dense, 100)], space.n_chunks)
    return replace(scores, hybrid=fused / max(float(fused.max()), 1e-9))


def _no_seeds(space: Space, names: object) -> dict[int, float]:
    return {}


def _no_walk(space: Space, scores: Relevance, *others: Any) -> Walk:
    return Walk(scores.hybrid, np.zeros(space.n_nodes, dtype=np.float32))


def _only_names(space: Space, scores: Relevance, seeds: Mapping[int, float], *others: Any) -> Walk:
    """Walk from the named nodes alone, where there are any."""
    if not seeds:
        return _restart_walk(space, scores, seeds, *others)
    with patch.object(ranking, "CHUNK_MASS", 0.0):
        return _restart_walk(space, scores, seeds, *others)


_restart_walk = ranking.restart_walk
_ungated = partial(ranking.walk, gate=0.0)
NO_WEIGHTS = dict.fromkeys(FEATURES, 0.0)
RESIDUAL = ("residual", "residual_dense")
LINKS = ("named", "shares", "refers", *RESIDUAL)

INGREDIENTS = (
    Ingredient("dense vectors", "relevance", setting(ranking, "relevance", _no_dense), vectors=True),
    Ingredient("BM25", "relevance", setting(ranking, "bm25", _no_scores), vectors=True),
    Ingredient("fusion of scores (RRF)", "relevance", setting(ranking, "relevance", _by_ranks), vectors=True),
    Ingredient("less for words of any passage", "relevance", setting(ranking, "CERTAIN", 1e-9), vectors=True),
    Ingredient("names as seeds", "seeds", setting(ranking, "node_seeds", _no_seeds)),
    Ingredient("passages as seeds", "seeds", setting(ranking, "restart_walk", _only_names)),
    Ingredient("rare names only", "seeds", setting(ranking, "NODE_SHARE", 1.0)),
    Ingredient("names that are meant", "seeds", setting(ranking, "MEANT", 0.0)),
    Ingredient("less for undefined names", "seeds", setting(ranking, "UNDEFINED", 1.0)),
    Ingredient("the walk", "walk", setting(ranking, "restart_walk", _no_walk)),
    Ingredient("the gate", "walk", setting(ranking, "walk", _ungated)),
    Ingredient("more for definitions", "walk", linked(spaces, "DEFINES", 1.0)),
    Ingredient("definitions at all", "walk", undefined),
    Ingredient("the choice of a set", "choice", weights(**{**NO_WEIGHTS, "mass": 1.0})),
    Ingredient("links to the chosen", "choice", weights(**dict.fromkeys(LINKS, 0.0))),
    Ingredient("residual questions", "choice", weights(**dict.fromkeys(RESIDUAL, 0.0))),
    Ingredient("nearness", "choice", setting(choosing, "FAR", 1e6)),
    Ingredient("stopping early", "choice", setting(selecting, "ENOUGH", 1.0)),
    *(
        Ingredient(f"feature `{name}`", "choice", weights(**{name: 0.0}), vectors=name.endswith("dense"))
        for name in FEATURES
        if getattr(WEIGHTS, name) > 0
    ),
    Ingredient("the decision (always walk)", "decision", several(), mode="local"),
    Ingredient("the decision (never walk)", "decision", several(), mode="basic"),
    Ingredient("linked notes count", "decision", setting(ranking, "LINKED", 2.0)),
    Ingredient("long notes count", "decision", setting(ranking, "LONG_NOTES", float("inf"))),
)
