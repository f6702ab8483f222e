"""The typed graph of an open index as arrays, for questions of structure.

They are made at the first such question from the published columns of the edges (a million edges: 0.1 s) and
kept; opening an index reads none of it.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from clew.algo.adjacency import Adjacency, adjacency
from clew.ports import Reader
from clew.types import Ints

# What a path pays for an edge, by its kind: what people asserted is a shorter way than what text suggests.
COST = {
    "same_as": 0.2,
    "defined_by": 0.8,
    "references": 1.0,
    "unlinked_mention": 1.5,
    "mentions": 1.6,
    "co_occurs_with": 1.8,
}
OTHER_COST = 1.2
# What it pays for passing through a node, × ln(1 + degree): a way over a tag that a thousand notes have says
# little.
HUB = 0.5
DOUBT = 1.0  # and × (1 - confidence) of a node that may be no name


class Graph:
    """E directed edges between N nodes: ``source``, ``target`` and ``kind`` (a code of ``kinds``), each
    (E,)."""

    def __init__(self, reader: Reader, n_nodes: int) -> None:
        self.n_nodes = n_nodes
        self.source: Ints = reader.array("edges.source")
        self.target: Ints = reader.array("edges.target")
        self.kind: NDArray[np.uint8] = reader.array("edges.kind")
        self.kinds: tuple[str, ...] = tuple(reader.meta["edge_kinds"])
        self._reader = reader
        self._sides: dict[tuple[int, bool], Adjacency] = {}

    @property
    def n_edges(self) -> int:
        return len(self.source)

    @cached_property
    def both(self) -> Adjacency:
        """All edges, at either end: a node's own first, then those that arrive at it."""
        edge = np.arange(self.n_edges, dtype=np.int32)
        return adjacency(
            np.concatenate([self.source, self.target]),
            np.concatenate([self.target, self.source]),
            np.concatenate([edge, edge]),
            self.n_nodes,
        )

    def forward(self, nodes: Ints, edges: Ints) -> NDArray[np.bool_]:
        """Tell for each edge whether it leaves the node beside it."""
        leaves: NDArray[np.bool_] = self.source[edges] == nodes
        return leaves

    @cached_property
    def edge_costs(self) -> NDArray[np.float64]:
        """What each edge costs on a path, shape (E,); see :mod:`clew.query.paths`."""
        base = np.array([COST.get(kind, OTHER_COST) for kind in self.kinds], dtype=np.float64)
        half = 0.5 * self.tolls
        cost: NDArray[np.float64] = base[self.kind] + half[self.source] + half[self.target]
        return cost

    @cached_property
    def tolls(self) -> NDArray[np.float64]:
        """What it costs to pass through each node, shape (N,)."""
        unsure = 1.0 - self._reader.array("graph.node_confidence").astype(np.float64)
        tolls: NDArray[np.float64] = HUB * np.log1p(self.degree.astype(np.float64)) + DOUBT * unsure
        return tolls

    @cached_property
    def degree(self) -> Ints:
        """The number of each node's edges, shape (N,)."""
        both = np.bincount(self.source, minlength=self.n_nodes) + np.bincount(
            self.target, minlength=self.n_nodes
        )
        return both.astype(np.int32)

    @cached_property
    def _by_kind(self) -> list[Ints]:
        """The positions of each kind's edges, ascending."""
        bounds = np.flatnonzero(np.diff(self.kind)) + 1
        parts = np.split(np.arange(self.n_edges, dtype=np.int32), bounds)
        found: list[list[Ints]] = [[] for _ in self.kinds]
        for part in parts:
            if len(part):
                found[int(self.kind[part[0]])].append(part)
        return [np.concatenate(part) if part else np.empty(0, dtype=np.int32) for part in found]

    def code(self, kind: str) -> int | None:
        """Return a kind's code, None where the index has no such edge."""
        at = self.kinds.index(kind) if kind in self.kinds else -1
        return at if at >= 0 and len(self.edges_of(at)) else None

    def edges_of(self, kind: int) -> Ints:
        """Return the positions of a kind's edges, ascending."""
        return self._by_kind[kind]

    def side(self, kind: int, out: bool) -> Adjacency:
        """Return a kind's edges by their source (``out``) or by their target."""
        key = (kind, out)
        if key not in self._sides:
            edges = self.edges_of(kind)
            source, target = self.source[edges], self.target[edges]
            owner, other = (source, target) if out else (target, source)
            self._sides[key] = adjacency(owner, other, edges, self.n_nodes)
        return self._sides[key]
