"""What is around a node: by hops, with the edges that lead there; what shares its tags; its thread of
replies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.query.graph import Graph
from clew.query.limits import Limits
from clew.query.naming import as_named, find
from clew.query.paths import Found, tell
from clew.query.space import Space
from clew.query.views import edge_views
from clew.types import Longs, Neighbour, Neighbourhood, PathStep, Reply, Sharing

SHARING = 10  # nodes with tags in common that are listed
THREAD = 200  # documents of a thread
CLIMB = 100  # replies that are followed up to where a thread begins


@dataclass(frozen=True, slots=True)
class Reached:
    """The nodes some hops away, ascending, each with its way's cost, the node before it and the edge
    between."""

    nodes: Longs
    cost: NDArray[np.float64]
    before: Longs
    edge: Longs


def look_around(space: Space, name: str, hops: int, limit: int, limits: Limits) -> Neighbourhood:
    """Return what is within some hops of a name's best node, nearest first, of equally near ones those on the
    cheapest way (see :mod:`clew.query.paths`) first. Raises NotFound."""
    nodes = find(space, name)
    start = nodes[0].node
    rings = reach(space.graph, start, hops, limits)
    rows = _nearest(rings, start, limit, limits)
    paths = tell(space.reader, rows)
    return Neighbourhood(
        as_named(space, name, nodes),
        hops,
        tuple(Neighbour(one.nodes[-1], len(one.steps), one.steps) for one in paths),
        tuple(int(_listed(ring, limits).sum()) for ring in rings),
        share_tags(space, start, limits),
        thread_of(space, start),
    )


def reach(graph: Graph, start: int, hops: int, limits: Limits) -> list[Reached]:
    """Return the nodes at 1, 2, … ``hops`` hops, each by its cheapest way of so few steps over allowed
    edges."""
    both, cost = graph.both, graph.edge_costs
    seen = np.zeros(graph.n_nodes, dtype=bool)
    seen[start] = True
    spent = np.zeros(graph.n_nodes)
    fresh = np.array([start], dtype=np.int64)
    rings = []
    for _ in range(hops):
        entry, owner = both.entries(fresh)
        edge, other = both.edge[entry], both.other[entry]
        keep = ~seen[other]
        if limits.edges is not None:
            keep &= limits.edges[edge]
        edge, other, before = edge[keep], other[keep], fresh[owner[keep]]
        price = spent[before] + cost[edge]
        order = np.lexsort((edge, price, other))
        first = order[np.flatnonzero(np.diff(other[order], prepend=-1))]
        fresh = other[first].astype(np.int64)
        spent[fresh] = price[first]
        seen[fresh] = True
        rings.append(Reached(fresh, price[first], before[first], edge[first].astype(np.int64)))
    return rings


def _listed(ring: Reached, limits: Limits) -> NDArray[np.bool_]:
    """Tell which nodes are allowed. The others are only passed through."""
    every = np.ones(len(ring.nodes), dtype=bool)
    return every if limits.nodes is None else limits.nodes[ring.nodes]


def _nearest(rings: list[Reached], start: int, limit: int, limits: Limits) -> list[Found]:
    """Return the nearest nodes of each ring as paths from the start."""
    chosen: list[Found] = []
    for hops, ring in enumerate(rings, 1):
        order = np.lexsort((ring.nodes, np.round(ring.cost, 9)))
        order = order[_listed(ring, limits)[order]][:limit]
        for row in order.tolist():
            chosen.append((float(ring.cost[row]), *_way(rings[:hops], row, start)))
    return chosen


def _way(rings: list[Reached], row: int, start: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    nodes, edges = [int(rings[-1].nodes[row])], [int(rings[-1].edge[row])]
    before = int(rings[-1].before[row])
    for ring in reversed(rings[:-1]):
        at = int(np.searchsorted(ring.nodes, before))
        nodes.append(before)
        edges.append(int(ring.edge[at]))
        before = int(ring.before[at])
    return (start, *reversed(nodes)), tuple(reversed(edges))


def share_tags(space: Space, start: int, limits: Limits) -> tuple[Sharing, ...]:
    """Return the nodes that have tags in common with one, those with the rarest first."""
    graph = space.graph
    kind = graph.code("tagged_with")
    if kind is None:
        return ()
    out, back = graph.side(kind, True), graph.side(kind, False)
    tags = np.unique(out.other[out.entries(np.array([start]))[0]]).astype(np.int64)
    count = back.ptr[tags + 1] - back.ptr[tags]
    idf = np.log1p(int((np.diff(out.ptr) > 0).sum()) / np.maximum(count, 1))
    entry, owner = back.entries(tags)
    weight = np.zeros(graph.n_nodes)
    np.add.at(weight, back.other[entry], idf[owner])
    weight[start] = 0.0
    if limits.nodes is not None:
        weight[~limits.nodes] = 0.0
    found = np.flatnonzero(weight)
    found = found[np.lexsort((found, -np.round(weight[found], 9)))][:SHARING]
    shared = [sorted(set(tags[owner[back.other[entry] == node]].tolist())) for node in found.tolist()]
    wanted = sorted({*found.tolist(), *(tag for some in shared for tag in some)})
    nodes = dict(zip(wanted, space.reader.nodes(wanted), strict=True))
    rarest = {tag: float(value) for tag, value in zip(tags.tolist(), idf.tolist(), strict=True)}
    return tuple(
        Sharing(
            nodes[node],
            tuple(nodes[tag] for tag in sorted(some, key=lambda tag: (-rarest[tag], tag))),
            float(weight[node]),
        )
        for node, some in zip(found.tolist(), shared, strict=True)
    )


def thread_of(space: Space, start: int) -> tuple[Reply, ...]:
    """Return the thread of replies that a document is in, from its first one on, each above its replies;
    empty where nothing replies to it and it replies to nothing."""
    graph = space.graph
    kind = graph.code("replied_to")
    if kind is None:
        return ()
    out, back = graph.side(kind, True), graph.side(kind, False)
    root, seen = start, {start}
    for _ in range(CLIMB):
        above = out.other[out.ptr[root] : out.ptr[root + 1]].tolist()
        if not above or above[0] in seen:
            break
        root = above[0]
        seen.add(root)
    rows: list[tuple[int, int, int]] = []  # node, depth, edge
    stack, placed = [(root, 0, -1)], {root}
    while stack and len(rows) < THREAD:
        node, depth, edge = stack.pop()
        rows.append((node, depth, edge))
        below = slice(int(back.ptr[node]), int(back.ptr[node + 1]))
        replies = zip(back.other[below].tolist(), back.edge[below].tolist(), strict=True)
        for other, by in sorted(replies, reverse=True):
            if other not in placed:
                placed.add(other)
                stack.append((other, depth + 1, by))
    if len(rows) == 1:
        return ()
    reader = space.reader
    edges = [edge for _, _, edge in rows[1:]]
    views = edge_views(reader, reader.edge_rows(edges))
    steps = [None, *(PathStep(view, True) for view in views)]
    nodes = reader.nodes([node for node, _, _ in rows])
    return tuple(Reply(node, row[1], step) for node, row, step in zip(nodes, rows, steps, strict=True))
