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
from dataclasses import dataclass

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


WEIGHTS = Weights()


@dataclass(frozen=True, slots=True)
class Candidates:
    """n passages over q terms of the question and u nodes that they mention.

    ``own`` (n,) is a passage's own weighted merit. ``covers`` (n, q) tells which term it holds,
    ``idf`` (q,) the terms' weights. ``mentions``, ``defines`` (n, u) tell which node it mentions or
    defines; ``rarity`` (u,) is a node's idf scaled to 0..1; ``bridge`` (u,) whether a shared mention
    of it counts: it is rare and the question doesn't name it.
    """

    own: Floats
    covers: NDArray[np.bool_]
    idf: Floats
    mentions: NDArray[np.bool_]
    defines: NDArray[np.bool_]
    rarity: Floats
    bridge: NDArray[np.bool_]


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
    A node leads on only while no chosen passage defines it: five passages that define one thing are
    as good as one.
    """
    c, w = candidates, weights
    n, u = c.mentions.shape
    total = float(c.idf.sum()) or 1.0
    covered = np.zeros(len(c.idf), dtype=bool)
    left = np.ones(n, dtype=bool)
    mentioned, defined = np.zeros(u, dtype=bool), np.zeros(u, dtype=bool)
    close = np.zeros(u, dtype=np.float32)
    order: list[int] = []
    rows: list[tuple[float, ...]] = []
    for _ in range(min(k, n)):
        gain = (c.covers & ~covered) @ c.idf / total
        lead = c.rarity * (mentioned & ~defined)
        named, named_near = _best(c.defines, lead), _best(c.defines, lead * close)
        share = lead * c.bridge
        shares, shares_near = _best(c.mentions, share), _best(c.mentions, share * close)
        by_name = w.named * named + w.named_near * named_near + w.named_new * gain * named
        by_share = w.shares * shares + w.shares_near * shares_near + w.shares_new * gain * shares
        score = np.where(left, c.own + w.coverage * gain + by_name + by_share, -np.inf)
        best = int(np.argmax(score))
        via = _via(c, best, lead * (0.5 + close), share * (0.5 + close))
        parts = (score[best], c.own[best], w.coverage * gain[best], by_name[best], by_share[best], via)
        order.append(best)
        rows.append(tuple(map(float, parts)))
        left[best] = False
        covered |= c.covers[best]
        mentioned |= c.mentions[best]
        defined |= c.defines[best]
        np.maximum(close, near(best), out=close)
    table = np.array(rows, dtype=np.float32).reshape(-1, 6)
    score, own, coverage, named, shares = table[:, :5].T
    chosen = np.array(order, dtype=np.int32)
    return Choice(chosen, score, own, coverage, named, shares, table[:, 5].astype(np.int32))


def _best(has: NDArray[np.bool_], value: Floats) -> Floats:
    """Return for each row the highest value among its columns, 0 without any, shape (n,)."""
    live = np.flatnonzero(value)
    if not len(live):
        return np.zeros(len(has), dtype=np.float32)
    best: Floats = np.where(has[:, live], value[live], np.float32(0)).max(axis=1)
    return best


def _via(c: Candidates, best: int, lead: Floats, share: Floats) -> int:
    """Return the node that leads to a passage: the strongest that it defines, else that it shares."""
    for has, value in ((c.defines[best], lead), (c.mentions[best], share)):
        strength = np.where(has, value, np.float32(0))
        if len(strength) and strength.max() > 0:
            return int(np.argmax(strength))
    return -1
