"""Choosing a set of passages that complete each other, rather than the best ones one by one.

An answer that needs several passages is not served by several copies of the best one. The choice is
greedy: each time the passage with the highest sum of its own merit, of the part of the question that
it newly covers (submodular, as in Lin & Bilmes, "A Class of Submodular Functions for Document
Summarization", 2011), and of how it hangs together with those already chosen. The weights of the sum
are learned (``benchmarks/learn.py``) by a pairwise logistic loss over the states of the greedy choice,
as in imitation learning (Ross, Gordon & Bagnell, "A Reduction of Imitation Learning … to No-Regret
Online Learning", 2011), and judged on a set that the fit hasn't seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import astuple, dataclass, fields

import numpy as np
from numpy.typing import NDArray

from clew.types import Floats, Ints

# The passages chosen first ask for more: a residual question each, at most so many …
ROUNDS = 2
# … and none once the chosen ones hold this share of the question's weight.
ENOUGH = 0.8


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature of a candidate is worth; features are in 0..1.

    ``mass``: log mass of the walk, scaled; ``dense``: scaled cosine; ``asked``: it defines what the
    question names; ``coverage``: share of the question's weight that it newly covers;
    ``named``: it defines what a chosen passage mentions; ``shares``: both mention a rare node that the
    question doesn't name; ``refers``: it mentions what a chosen passage defines and the question
    doesn't name; ``residual``, ``residual_dense``: its scores, by words and by meaning, for the
    residual questions of the passages chosen first.
    """

    mass: float = 0.34
    dense: float = 0.16
    asked: float = 0.35
    coverage: float = 0.38
    named: float = 0.35
    shares: float = 0.18
    refers: float = 0.18
    residual: float = 0.26
    residual_dense: float = 0.14

    def vector(self) -> Floats:
        """Return the weights in field order, shape (9,)."""
        return np.array(astuple(self), dtype=np.float32)


WEIGHTS = Weights()
FEATURES = tuple(field.name for field in fields(Weights))
MERIT = 3  # the first features are a passage's own; the others depend on what was chosen


@dataclass(frozen=True, slots=True)
class Candidates:
    """n passages over q terms of the question and u nodes that they mention.

    ``merit`` (n, 3) holds the first three features. ``covers`` (n, q) tells which term a passage
    holds, ``idf`` (q,) the terms' weights. ``mentions``, ``defines`` (n, u) tell which node it
    mentions or defines; ``rarity`` (u,) is a node's idf scaled to 0..1; ``unasked`` (u,) whether the
    question doesn't name it, ``bridge`` (u,) whether a shared mention of it counts: it is rare, too.
    """

    merit: Floats
    covers: NDArray[np.bool_]
    idf: Floats
    mentions: NDArray[np.bool_]
    defines: NDArray[np.bool_]
    rarity: Floats
    unasked: NDArray[np.bool_]
    bridge: NDArray[np.bool_]


class State:
    """What is chosen so far, and what it covers, mentions, defines and still asks for."""

    def __init__(self, candidates: Candidates) -> None:
        n, u = candidates.mentions.shape
        self.candidates = candidates
        self.left = np.ones(n, dtype=bool)
        self.covered = np.zeros(len(candidates.idf), dtype=bool)
        self.mentioned, self.defined = np.zeros(u, dtype=bool), np.zeros(u, dtype=bool)
        self.close = np.zeros(u, dtype=np.float32)
        self.residual = np.zeros((n, 2), dtype=np.float32)
        self._total = float(candidates.idf.sum()) or 1.0

    def take(self, chosen: int) -> None:
        """Add a passage."""
        c = self.candidates
        self.left[chosen] = False
        self.covered |= c.covers[chosen]
        self.mentioned |= c.mentions[chosen]
        self.defined |= c.defines[chosen]

    def ask(self, near: Floats, residual: Floats) -> None:
        """Add what a passage leaves open: how close to the question's words it mentions each node, shape
        (u,), and the candidates' scores for its residual question, shape (n, 2)."""
        np.maximum(self.close, near, out=self.close)
        np.maximum(self.residual, residual, out=self.residual)

    def enough(self) -> bool:
        """Return whether the chosen passages hold enough of the question to ask no more."""
        return float(self.candidates.idf[self.covered].sum()) / self._total > ENOUGH

    def lead(self) -> Floats:
        """Return how strongly each node leads on, shape (u,): by its rarity, while no chosen passage
        defines it. Five passages that define one thing are as good as one."""
        return (self.candidates.rarity * (self.mentioned & ~self.defined)).astype(np.float32)

    def features(self) -> Floats:
        """Return every candidate's features, shape (n, 9)."""
        c, lead = self.candidates, self.lead()
        out = np.empty((len(c.merit), len(FEATURES)), dtype=np.float32)
        out[:, :MERIT] = c.merit
        # BLAS kernels compute on lanes that hold nothing, too, and may leave the flag that makes numpy warn.
        with np.errstate(invalid="ignore"):
            out[:, 3] = (c.covers & ~self.covered) @ c.idf / self._total
        out[:, 4], out[:, 5] = best(c.defines, lead), best(c.mentions, lead * c.bridge)
        out[:, 6] = best(c.mentions, (c.rarity * (self.defined & c.unasked)).astype(np.float32))
        out[:, 7:] = self.residual
        return out

    def via(self, chosen: int) -> int:
        """Return the node that leads to a passage: the strongest that it defines, else that it shares."""
        c, lead = self.candidates, self.lead() * (0.5 + self.close)
        back = c.rarity * (self.defined & c.unasked)
        for has, value in (
            (c.defines[chosen], lead),
            (c.mentions[chosen], lead * c.bridge),
            (c.mentions[chosen], back),
        ):
            strength = np.where(has, value, np.float32(0))
            if len(strength) and strength.max() > 0:
                return int(np.argmax(strength))
        return -1


@dataclass(frozen=True, slots=True)
class Choice:
    """Positions among the candidates in the order chosen, with each one's score and its parts.

    ``via`` is the node (position in u) through which a chosen passage led to it, or -1; ``rounds``
    counts the residual questions that were asked.
    """

    order: Ints
    score: Floats
    own: Floats
    coverage: Floats
    named: Floats
    shares: Floats
    residual: Floats
    via: Ints
    rounds: int


def select(
    candidates: Candidates,
    near: Callable[[int], Floats],
    residual: Callable[[int, Floats, int], Floats],
    k: int,
    weights: Weights = WEIGHTS,
) -> Choice:
    """Choose up to k of n candidates; of equal ones the first.

    ``near(i)`` returns for each node how close to the question's words passage i mentions it, in
    0..1, shape (u,); ``residual(i, near, turn)`` returns every candidate's scores in 0..1, shape (n, 2),
    for what passage i leaves open. They are called for the first ROUNDS passages (turns 0 and 1), unless
    these are enough.
    """
    state, w = State(candidates), weights.vector()
    order: list[int] = []
    rows: list[Floats] = []
    via: list[int] = []
    rounds = 0
    for turn in range(min(k, len(candidates.merit))):
        worth = state.features() * w
        chosen = int(np.argmax(np.where(state.left, worth.sum(axis=1), -np.inf)))
        order.append(chosen)
        rows.append(worth[chosen])
        via.append(state.via(chosen))
        state.take(chosen)
        if turn < ROUNDS and not state.enough():
            close = near(chosen)
            state.ask(close, residual(chosen, close, turn))
            rounds += 1
    worths = np.array(rows, dtype=np.float32).reshape(-1, len(FEATURES))
    return Choice(
        np.array(order, dtype=np.int32),
        worths.sum(axis=1),
        worths[:, :MERIT].sum(axis=1),
        worths[:, 3],
        worths[:, [4, 6]].sum(axis=1),
        worths[:, 5],
        worths[:, 7:].sum(axis=1),
        np.array(via, dtype=np.int32),
        rounds,
    )


def best(has: NDArray[np.bool_], value: Floats) -> Floats:
    """Return for each row the highest value among its columns, 0 without any, shape (n,)."""
    live = np.flatnonzero(value)
    if not len(live):
        return np.zeros(len(has), dtype=np.float32)
    found: Floats = (has[:, live] * value[live]).max(axis=1)
    return found
