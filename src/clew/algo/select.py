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


@dataclass(frozen=True, slots=True)
class Weights:
    """What each feature of a candidate is worth; features are in 0..1.

    ``mass``: log mass of the walk, scaled; ``bm25``, ``dense``: scaled scores; ``asked``: it defines
    what the question names; ``coverage``: share of the question's weight that it newly covers;
    ``named``: it defines what a chosen passage mentions, ``named_near``: … close to the question's
    words there; ``shares``, ``shares_near``: likewise for a rare node that both mention;
    ``named_new``, ``shares_new``: products with coverage.
    """

    mass: float = 0.32
    bm25: float = 0.0
    dense: float = 0.23
    asked: float = 0.34
    coverage: float = 0.41
    named: float = 0.29
    named_near: float = 0.54
    shares: float = 0.17
    shares_near: float = 0.21
    named_new: float = 0.11
    shares_new: float = 0.16

    def vector(self) -> Floats:
        """Return the weights in field order, shape (11,)."""
        return np.array(astuple(self), dtype=np.float32)


WEIGHTS = Weights()
FEATURES = tuple(field.name for field in fields(Weights))
MERIT = 4  # the first features are a passage's own; the others depend on what was chosen


@dataclass(frozen=True, slots=True)
class Candidates:
    """n passages over q terms of the question and u nodes that they mention.

    ``merit`` (n, 4) holds the first four features. ``covers`` (n, q) tells which term a passage
    holds, ``idf`` (q,) the terms' weights. ``mentions``, ``defines`` (n, u) tell which node it
    mentions or defines; ``rarity`` (u,) is a node's idf scaled to 0..1; ``bridge`` (u,) whether a
    shared mention of it counts: it is rare and the question doesn't name it.
    """

    merit: Floats
    covers: NDArray[np.bool_]
    idf: Floats
    mentions: NDArray[np.bool_]
    defines: NDArray[np.bool_]
    rarity: Floats
    bridge: NDArray[np.bool_]


class State:
    """What is chosen so far, and what it covers, mentions, defines and stands close to."""

    def __init__(self, candidates: Candidates) -> None:
        n, u = candidates.mentions.shape
        self.candidates = candidates
        self.left = np.ones(n, dtype=bool)
        self.covered = np.zeros(len(candidates.idf), dtype=bool)
        self.mentioned, self.defined = np.zeros(u, dtype=bool), np.zeros(u, dtype=bool)
        self.close = np.zeros(u, dtype=np.float32)
        self._total = float(candidates.idf.sum()) or 1.0

    def take(self, chosen: int, near: Floats) -> None:
        """Add a passage; ``near`` (u,) tells how close to the question's words it mentions each node."""
        c = self.candidates
        self.left[chosen] = False
        self.covered |= c.covers[chosen]
        self.mentioned |= c.mentions[chosen]
        self.defined |= c.defines[chosen]
        np.maximum(self.close, near, out=self.close)

    def lead(self) -> Floats:
        """Return how strongly each node leads on, shape (u,): by its rarity, while no chosen passage
        defines it. Five passages that define one thing are as good as one."""
        return (self.candidates.rarity * (self.mentioned & ~self.defined)).astype(np.float32)

    def features(self) -> Floats:
        """Return every candidate's features, shape (n, 11)."""
        c, lead = self.candidates, self.lead()
        out = np.empty((len(c.merit), len(FEATURES)), dtype=np.float32)
        out[:, :MERIT] = c.merit
        gain = (c.covers & ~self.covered) @ c.idf / self._total
        named, shares = best(c.defines, lead), best(c.mentions, lead * c.bridge)
        out[:, 4] = gain
        out[:, 5], out[:, 6] = named, best(c.defines, lead * self.close)
        out[:, 7], out[:, 8] = shares, best(c.mentions, lead * c.bridge * self.close)
        out[:, 9], out[:, 10] = gain * named, gain * shares
        return out

    def via(self, chosen: int) -> int:
        """Return the node that leads to a passage: the strongest that it defines, else that it shares."""
        c, lead = self.candidates, self.lead() * (0.5 + self.close)
        for has, value in ((c.defines[chosen], lead), (c.mentions[chosen], lead * c.bridge)):
            strength = np.where(has, value, np.float32(0))
            if len(strength) and strength.max() > 0:
                return int(np.argmax(strength))
        return -1


@dataclass(frozen=True, slots=True)
class Choice:
    """Positions among the candidates in the order chosen, with each one's score and its parts.

    ``via`` is the node (position in u) through which a chosen passage led to it, or -1.
    """

    order: Ints
    score: Floats
    own: Floats
    coverage: Floats
    named: Floats
    shares: Floats
    via: Ints


def select(
    candidates: Candidates, near: Callable[[int], Floats], k: int, weights: Weights = WEIGHTS
) -> Choice:
    """Choose up to k of n candidates; of equal ones the first.

    ``near(i)`` returns for each node how close to the question's words passage i mentions it, in
    0..1, shape (u,); it is called once for each chosen passage.
    """
    state, w = State(candidates), weights.vector()
    order: list[int] = []
    rows: list[Floats] = []
    via: list[int] = []
    for _ in range(min(k, len(candidates.merit))):
        worth = state.features() * w
        chosen = int(np.argmax(np.where(state.left, worth.sum(axis=1), -np.inf)))
        order.append(chosen)
        rows.append(worth[chosen])
        via.append(state.via(chosen))
        state.take(chosen, near(chosen))
    worths = np.array(rows, dtype=np.float32).reshape(-1, len(FEATURES))
    return Choice(
        np.array(order, dtype=np.int32),
        worths.sum(axis=1),
        worths[:, :MERIT].sum(axis=1),
        worths[:, 4],
        worths[:, [5, 6, 9]].sum(axis=1),
        worths[:, [7, 8, 10]].sum(axis=1),
        np.array(via, dtype=np.int32),
    )


def best(has: NDArray[np.bool_], value: Floats) -> Floats:
    """Return for each row the highest value among its columns, 0 without any, shape (n,)."""
    live = np.flatnonzero(value)
    if not len(live):
        return np.zeros(len(has), dtype=np.float32)
    found: Floats = (has[:, live] * value[live]).max(axis=1)
    return found
