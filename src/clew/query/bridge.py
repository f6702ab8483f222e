"""What of late connects to what of long ago, and through what.

A link between a recent and an older document is an edge from the one to the other, or a node that both have
an edge to. It weighs exp(-cost), its cost being that of the edges by kind and of passing through the node
(see :mod:`clew.query.paths`): what few notes share weighs most, a tag that all have next to nothing. A pair
of documents weighs as much as its links together, and comes with the path of the best one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.query.graph import COST, OTHER_COST, Graph
from clew.query.limits import Mask
from clew.query.paths import tell
from clew.query.space import Space
from clew.types import UNDATED, Bridge, Bridges, Longs

EACH = 2  # pairs in which one document is listed: else one busy note fills the list
# A node that more of the documents have an edge to than this share (or number) joins none: their author, say.
USUAL, FEW = 0.5, 3
ALSO = 5  # further nodes between the two that are named
# Pairs that are weighed, those over the rarest nodes first. More are over hubs, which weigh nothing.
MOST_PAIRS = 300_000
MOST_AT_NODE = 4_000


@dataclass(frozen=True, slots=True)
class Links:
    """Links between two sets of documents: ``recent`` and ``older`` (L,) nodes, ``between`` the node that
    both have an edge to or -1, the edges, and the cost."""

    recent: Longs
    older: Longs
    between: Longs
    first: Longs
    second: Longs
    cost: NDArray[np.float64]


def find_bridges(
    space: Space, times: Longs, recent: Mask, older: Mask, limit: int, without: Iterable[int] = ()
) -> tuple[Bridge, ...]:
    """Return the ``limit`` heaviest pairs of a recent and an older document node, by masks (N,) of them.

    ``times`` (N,) are the documents' times; nodes ``without`` join nothing (whoever wrote them all).
    """
    graph = space.graph
    joined = np.ones(graph.n_nodes, dtype=bool)
    joined[list(without)] = False
    links = _links(graph, recent, older, joined)
    pairs = _heaviest(graph, links, limit)
    rows = []
    for _, order in pairs:
        best = order[0]
        between = int(links.between[best])
        nodes = [int(links.recent[best]), *([between] if between >= 0 else []), int(links.older[best])]
        edges = [int(links.first[best]), *([int(links.second[best])] if between >= 0 else [])]
        rows.append((float(links.cost[best]), tuple(nodes), tuple(edges)))
    paths = tell(space.reader, rows)
    others = [
        [int(links.between[at]) for at in order[1:] if links.between[at] >= 0][:ALSO] for _, order in pairs
    ]
    wanted = sorted({node for some in others for node in some})
    known = dict(zip(wanted, space.reader.nodes(wanted), strict=True))
    return tuple(
        Bridge(
            path.nodes[0],
            path.nodes[-1],
            int(times[path.nodes[0].node]),
            int(times[path.nodes[-1].node]),
            path,
            tuple(known[node] for node in dict.fromkeys(also)),
            weight,
        )
        for (weight, _), path, also in zip(pairs, paths, others, strict=True)
    )


def _links(graph: Graph, recent: Mask, older: Mask, joined: Mask) -> Links:
    """Return the links of all pairs, directly and over one node that is in neither set."""
    base = np.array([COST.get(kind, OTHER_COST) for kind in graph.kinds])[graph.kind]
    toll = graph.tolls
    near, far = (_ends(graph, mask) for mask in (recent, older))
    straight = older[near[1]]
    parts = [
        Links(
            near[0][straight], near[1][straight], np.full(int(straight.sum()), -1, dtype=np.int64),
            near[2][straight], near[2][straight], base[near[2][straight]],
        )
    ]  # fmt: skip
    between = joined & ~recent & ~older
    near, far = _leading_to(near, between), _leading_to(far, between)
    left, right = (np.bincount(ends[1], minlength=graph.n_nodes) for ends in (near, far))
    usual = max(USUAL * int(recent.sum() + older.sum()), FEW)
    shared = np.flatnonzero((left > 0) & (right > 0) & (left + right <= usual))
    shared = shared[np.lexsort((shared, np.round(toll[shared], 9)))]
    by_left, by_right = (_by_node(ends) for ends in (near, far))
    total = 0
    for node in shared.tolist():
        if left[node] * right[node] > MOST_AT_NODE:
            continue
        if (total := total + int(left[node] * right[node])) > MOST_PAIRS:
            break
        parts.append(
            _over(node, by_left, by_right, int(left[node]), int(right[node]), base, float(toll[node]))
        )
    return Links(*(np.concatenate([getattr(part, name) for part in parts]) for name in Links.__slots__))


Ends = tuple[Longs, Longs, Longs]  # a document, the node at the other end, the edge; (M,) each


def _ends(graph: Graph, mask: Mask) -> Ends:
    """Return the edges of some nodes, the cheapest of parallel ones alone."""
    nodes = np.flatnonzero(mask)
    entry, owner = graph.both.entries(nodes)
    mine, other = nodes[owner], graph.both.other[entry].astype(np.int64)
    edge = graph.both.edge[entry].astype(np.int64)
    order = np.lexsort((edge, np.round(graph.edge_costs[edge], 9), other, mine))
    mine, other, edge = mine[order], other[order], edge[order]
    first = np.ones(len(mine), dtype=bool)
    first[1:] = (mine[1:] != mine[:-1]) | (other[1:] != other[:-1])
    return mine[first], other[first], edge[first]


def _leading_to(ends: Ends, nodes: Mask) -> Ends:
    keep = nodes[ends[1]]
    return ends[0][keep], ends[1][keep], ends[2][keep]


def _by_node(ends: Ends) -> tuple[Longs, Ends]:
    """Return the order of edges by the node at their other end, and where each node's begin is looked up in
    it."""
    order = np.argsort(ends[1], kind="stable")
    return ends[1][order], (ends[0][order], ends[1][order], ends[2][order])


def _over(
    node: int,
    left: tuple[Longs, Ends],
    right: tuple[Longs, Ends],
    n_left: int,
    n_right: int,
    base: NDArray[np.float64],
    toll: float,
) -> Links:
    """Return the links over one node: each of its recent documents with each of its older ones."""
    a, b = int(np.searchsorted(left[0], node)), int(np.searchsorted(right[0], node))
    near, far = slice(a, a + n_left), slice(b, b + n_right)
    recent, first = np.repeat(left[1][0][near], n_right), np.repeat(left[1][2][near], n_right)
    older, second = np.tile(right[1][0][far], n_left), np.tile(right[1][2][far], n_left)
    return Links(
        recent, older, np.full(len(recent), node, dtype=np.int64), first, second,
        base[first] + base[second] + toll,
    )  # fmt: skip


def _heaviest(graph: Graph, links: Links, limit: int) -> list[tuple[float, list[int]]]:
    """Return the heaviest pairs with their weight and their links, the best first."""
    key = links.recent * graph.n_nodes + links.older
    pairs, inverse = np.unique(key, return_inverse=True)
    weight = np.zeros(len(pairs))
    np.add.at(weight, inverse, np.exp(-links.cost))
    used: dict[int, int] = {}
    chosen: list[tuple[float, list[int]]] = []
    for pair in np.lexsort((pairs, -np.round(weight, 12))).tolist():
        ends = int(pairs[pair] // graph.n_nodes), int(pairs[pair] % graph.n_nodes)
        if any(used.get(end, 0) >= EACH for end in ends):
            continue
        for end in ends:
            used[end] = used.get(end, 0) + 1
        mine = np.flatnonzero(inverse == pair)
        order = mine[np.lexsort((links.between[mine], np.round(links.cost[mine], 9)))]
        chosen.append((float(weight[pair]), order.tolist()))
        if len(chosen) == limit:
            break
    return chosen


# --- whose, and when -----------------------------------------------------------------------------


def mine(space: Space, me: Sequence[int]) -> tuple[Mask, Longs]:
    """Return which nodes are documents that somebody wrote or saved, and every document's time: of a saved
    one that at which it was saved, if that is known. Without ``me`` every document counts.
    """
    reader, graph = space.reader, space.graph
    doc = reader.array("graph.node_doc")
    stands = doc >= 0
    times = np.full(graph.n_nodes, UNDATED, dtype=np.int64)
    times[stands] = reader.array("documents.created_at")[doc[stands]]
    if not len(me):
        return stands, times
    owned = np.zeros(graph.n_nodes, dtype=bool)
    saved = reader.array("edges.created_at")
    for kind in ("authored_by", "saved_by"):
        code = graph.code(kind)
        if code is None:
            continue
        side = graph.side(code, False)
        entry, _ = side.entries(np.array(sorted(me), dtype=np.int64))
        others, edges = side.other[entry], side.edge[entry]
        owned[others] = True
        if kind == "saved_by":
            dated = saved[edges] != UNDATED
            times[others[dated]] = saved[edges[dated]]
    return owned & stands, times


def bridge(
    space: Space,
    recent_since: int,
    older_until: int,
    me: Sequence[int],
    limit: int,
    allowed: Mask | None = None,
) -> Bridges:
    """Return what was written or saved since a time and connects to what was written or saved until another
    one.

    ``allowed`` (N,) are the documents to look at; all without it. Times are seconds since 1970.
    """
    owned, times = mine(space, me)
    if allowed is not None:
        owned &= allowed
    dated = owned & (times != UNDATED)
    recent, older = dated & (times >= recent_since), dated & (times <= older_until)
    recent &= ~older
    rows = find_bridges(space, times, recent, older, limit, me)
    counts = int(recent.sum()), int(older.sum()), int((owned & ~dated).sum())
    return Bridges(recent_since, older_until, *counts, rows)
