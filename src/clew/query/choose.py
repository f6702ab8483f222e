"""From a walk's candidates to the features by which a set is chosen."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from clew.algo.fuse import top
from clew.algo.lookup import locate
from clew.algo.select import MERIT, WEIGHTS, Candidates, Choice, Weights, best, select
from clew.query.residual import Residual
from clew.query.space import Space
from clew.types import Floats, Ints

WALK_POOL = 100  # candidates from the walk and from the hybrid ranking; all gold is there for 99, 89 and
HYBRID_POOL = 30  # 99 % of the passages of 2wiki, musique and hotpot
BRIDGE_DF = 30  # a node in more chunks than this doesn't tie two of them together
NEAR = 6.0  # tokens over which nearness to the question's words falls by e
# A residual question names this many nodes of the passage: the rarest, and those beside the question's words.
BRIDGES = 3
FAR = 0.3  # what a node's rarity counts where it isn't near the question's words at all


def pool(mass: Floats, hybrid: Floats) -> Ints:
    """Return the candidates' chunks, ascending."""
    return np.union1d(top(mass, WALK_POOL), top(hybrid, HYBRID_POOL)).astype(np.int32)


def covers(space: Space, positions: list[int], chunks: Ints) -> tuple[NDArray[np.bool_], Floats]:
    """Return which chunk holds which term, shape (n, q), and the terms' idf (q,)."""
    table = np.zeros((len(chunks), len(positions)), dtype=bool)
    for column, at in enumerate(positions):
        table[:, column] = locate(space.postings.chunks(at), chunks)[1]
    weight = np.array([space.postings.idf(at) for at in positions], dtype=np.float32)
    return table, weight


class Pool:
    """The candidates of one question with what the choice needs to know of them.

    ``chunks`` (n,) ascending; ``nodes`` (u,) the nodes that can tie two of them together, ascending.
    """

    def __init__(self, space: Space, chunks: Ints, asked: Iterable[int], residual: Residual) -> None:
        self.space = space
        self.chunks = chunks
        self._residual = residual
        positions = residual.terms
        mentions, defines = space.mentions[chunks], space.defines[chunks]
        self.nodes = _joints(mentions.indices, defines.indices)
        self.covers, self.idf = covers(space, positions, chunks)
        self._mentions = mentions[:, self.nodes].toarray() > 0
        self._defines = defines[:, self.nodes].toarray() > 0
        scale = float(np.log(max(space.n_chunks, 3)))
        self._rarity = np.minimum(space.node_idf[self.nodes] / scale, 1.0).astype(np.float32)
        self._asked = np.isin(self.nodes, np.fromiter(asked, dtype=np.int32))
        total = float(self.idf.sum()) or 1.0
        order = np.argsort(positions, kind="stable")
        self._terms = np.array(positions, dtype=np.int32)[order]
        self._shares = (self.idf / total)[order]

    def candidates(self, mass: Floats, dense: Floats | None) -> Candidates:
        """Return the candidates; ``mass`` and ``dense`` are of all chunks, shape (C,).

        Mass counts by its logarithm, scaled to 0..1 over the candidates: it spans orders of magnitude.
        """
        logs = np.log(np.maximum(mass[self.chunks], 1e-9))
        span = float(logs.max() - logs.min()) if len(logs) else 0.0
        merit = np.zeros((len(self.chunks), MERIT), dtype=np.float32)
        merit[:, 0] = (logs - logs.min()) / span if span > 0 else 0.0
        if dense is not None:
            merit[:, 1] = dense[self.chunks]
        merit[:, 2] = self.asked()
        df = self.space.node_df[self.nodes]
        bridge = (df >= 2) & (df <= BRIDGE_DF) & ~self._asked
        return Candidates(
            merit,
            self.covers,
            self.idf,
            self._mentions,
            self._defines,
            self._rarity,
            ~self._asked,
            bridge,
        )

    def asked(self) -> Floats:
        """Return for each candidate the rarity of what it defines and the question names, in 0..1."""
        return best(self._defines, self._rarity * self._asked)

    def near(self, candidate: int) -> Floats:
        """Return how close to the question's words a candidate mentions each node, in 0..1, shape (u,).

        The sum over the question's words in the passage of their share of the question's idf, times
        e^(−distance in tokens / NEAR); the highest over a node's mentions. A relation is worded next to
        the name that it leads to ("directed by …").
        """
        out = np.zeros(len(self.nodes), dtype=np.float32)
        terms = self.space.terms(int(self.chunks[candidate]))
        place, known = locate(self._terms, terms)
        at = np.flatnonzero(known)
        if not len(at):
            return out
        weight = self._shares[place[at]]
        nodes, first, last = self.space.places(int(self.chunks[candidate]))
        before, after = first[:, None] - at[None, :], at[None, :] - last[:, None] + 1
        inside = (before <= 0) & (after <= 0)
        distance = np.where(before > 0, before, after)
        close = np.where(inside, np.float32(0), np.exp(-distance / np.float32(NEAR))) @ weight
        place, known = locate(self.nodes, nodes)
        np.maximum.at(out, place[known], np.minimum(close[known], 1.0))
        return out

    def bridges(self, candidate: int, near: Floats) -> list[int]:
        """Return the nodes by which a passage leads on, the strongest first: rare, beside the question's
        words, not defined by the passage itself and not named by the question."""
        live = self._mentions[candidate] & ~self._defines[candidate] & ~self._asked
        strength = np.where(live, self._rarity * (FAR + near), np.float32(0))
        first = np.argsort(-strength, kind="stable")[:BRIDGES]
        return [int(self.nodes[at]) for at in first.tolist() if strength[at] > 0]

    def residual(self, candidate: int, near: Floats, turn: int) -> Floats:
        """Return every candidate's scores for what a passage leaves open, shape (n, 2).

        Only the passage that was chosen first asks by meaning: an embedding takes a fifth of a search,
        and a second one gains 0.3 points of Recall@5.
        """
        held = compress(self._residual.terms, self.covers[candidate].tolist())
        return self._residual.scores(self.chunks, held, self.bridges(candidate, near), meaning=turn == 0)

    def choose(self, mass: Floats, dense: Floats | None, k: int, weights: Weights = WEIGHTS) -> Choice:
        """Choose up to k passages; see :func:`clew.algo.select.select`."""
        return select(self.candidates(mass, dense), self.near, self.residual, k, weights)


def _joints(mentioned: Ints, defined: Ints) -> Ints:
    """Return the nodes that two candidates mention, or that one defines, ascending."""
    nodes, count = np.unique(mentioned, return_counts=True)
    return np.union1d(nodes[count > 1], defined).astype(np.int32)
