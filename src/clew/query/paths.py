"""The best paths between two names.

A path costs the sum of its edges (``Graph.edge_costs``): each by its kind, plus half the toll of both its
ends. A node's toll is ``HUB`` × ln(1 + its degree) + ``DOUBT`` × (1 - its confidence), so that each node
passed through costs its toll: a way over a tag that a thousand notes have explains little. The ends' own
tolls add the same to all paths between them.

The paths come best first and without a node twice. First the cheapest way from every node to the goal within
each number of steps is told, from both ends inwards, so that only what lies between them is looked at; with
it as the bound, a best-first search (A*, Hart et al. 1968, as in Martins' and Eppstein's k-path methods)
finds the first path without a wrong turn, and each next one with few.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from clew.ports import Reader
from clew.query.graph import Graph
from clew.query.naming import as_named, find
from clew.query.scope import Scope
from clew.query.space import Space
from clew.query.views import edge_views
from clew.types import Connection, GraphPath, Ints, Longs, Node, PathStep

# Turns of the search: a bound that graphs of notes come nowhere near; after it, the paths found are given.
MOST_TURNS = 50_000
DIGITS = 9  # to which costs are compared, so that ties don't hang on the order of a sum

Found = tuple[float, tuple[int, ...], tuple[int, ...]]  # cost, nodes, edges


def connect(space: Space, a: str, b: str, k: int, max_steps: int, scope: Scope | None = None) -> Connection:
    """Return the ``k`` best paths of at most ``max_steps`` between two names, with evidence for each edge.

    Where several nodes bear a name, a path may begin or end at any of them; ``start`` and ``end`` say at
    which the best one does. Between the two ends the path stays in ``scope``. Raises NotFound.
    """
    starts, goals = find(space, a), find(space, b)
    first = {node.node for node in starts}
    last = {node.node for node in goals} - first
    same = not last
    allowed = scope.edges_among(first | last) if scope is not None else None
    rows = [] if same else best_paths(space.graph, sorted(first), sorted(last), k, max_steps, allowed)
    if rows:
        starts = _to_front(starts, rows[0][1][0])
        goals = _to_front([node for node in goals if node.node in last], rows[0][1][-1])
    return Connection(as_named(space, a, starts), as_named(space, b, goals), tell(space.reader, rows), same)


def tell(reader: Reader, rows: Sequence[Found]) -> tuple[GraphPath, ...]:
    """Return paths with their nodes, edges and evidence; all together cost four look-ups."""
    edges = sorted({edge for row in rows for edge in row[2]})
    views = dict(zip(edges, edge_views(reader, reader.edge_rows(edges)), strict=True))
    known = {node.node: node for view in views.values() for node in (view.source, view.target)}
    alone = sorted({node for row in rows for node in row[1]} - known.keys())
    known |= dict(zip(alone, reader.nodes(alone), strict=True))
    return tuple(
        GraphPath(
            tuple(known[node] for node in nodes),
            tuple(
                PathStep(views[edge], views[edge].edge.source == at)
                for at, edge in zip(nodes, steps, strict=False)
            ),
            cost,
        )
        for cost, nodes, steps in rows
    )


def _to_front(nodes: list[Node], first: int) -> list[Node]:
    return sorted(nodes, key=lambda node: node.node != first)


def best_paths(
    graph: Graph,
    starts: Sequence[int],
    goals: Sequence[int],
    k: int,
    max_steps: int,
    allowed: NDArray[np.bool_] | None = None,
) -> list[Found]:
    """Return the ``k`` cheapest paths from any start to any goal, cheapest first; of equal ones that of the
    lower nodes. Starts and goals are disjoint, and stand at the ends only. ``allowed`` (E,) are the edges to
    walk on; all without it.
    """
    cost = graph.edge_costs
    if allowed is not None:
        cost = np.where(allowed, cost, np.inf)
    bounds = _bounds(graph, cost, starts, goals, max_steps)
    found: list[Found] = []
    for row in _search(graph, cost, starts, goals, bounds):
        found.append(row)
        if len(found) == k:
            break
    return found


def _bounds(
    graph: Graph, cost: NDArray[np.float64], starts: Sequence[int], goals: Sequence[int], max_steps: int
) -> list[NDArray[np.float64]]:
    """Return, for 0 to ``max_steps`` steps, every node's cheapest way to a goal in at most so many, inf where
    there is none (or where no path from a start could use it)."""
    both = graph.both
    near = _reached(graph, cost, starts, max_steps)
    known = np.array(sorted(goals), dtype=np.int64)  # whose bound is finite
    bound = np.full(graph.n_nodes, np.inf)
    bound[known] = 0.0
    end = np.zeros(graph.n_nodes, dtype=bool)
    end[known] = True
    bounds = [bound]
    for steps in range(1, max_steps + 1):
        wanted = near[max_steps - steps]
        bound = bounds[-1].copy()
        if both.size(known) <= both.size(wanted):
            entry, owner = both.entries(known)
            value = bounds[-1][known[owner]] + cost[both.edge[entry]]
            np.minimum.at(bound, both.other[entry], value)
        else:
            entry, owner = both.entries(wanted)
            value = bounds[-1][both.other[entry]] + cost[both.edge[entry]]
            np.minimum.at(bound, wanted[owner], value)
        bound[end] = 0.0
        bounds.append(bound)
        known = np.flatnonzero(np.isfinite(bound))
    return bounds


def _reached(graph: Graph, cost: NDArray[np.float64], starts: Sequence[int], steps: int) -> list[Longs]:
    """Return the nodes within 0, 1, … ``steps`` - 1 steps of the starts."""
    both = graph.both
    seen = np.zeros(graph.n_nodes, dtype=bool)
    seen[list(starts)] = True
    fresh = np.flatnonzero(seen)
    reached = [fresh]
    for _ in range(steps - 1):
        entry, _owner = both.entries(fresh)
        entry = entry[np.isfinite(cost[both.edge[entry]])]
        marks = np.zeros(graph.n_nodes, dtype=bool)
        marks[both.other[entry]] = True
        fresh = np.flatnonzero(marks & ~seen)
        seen[fresh] = True
        reached.append(np.flatnonzero(seen))
    return reached


class _Turns:
    """The ways on from a path's last node, cheapest bound first."""

    __slots__ = ("bound", "edges", "nodes", "spent")

    def __init__(self, nodes: Ints, edges: Ints, spent: NDArray[np.float64], bound: NDArray[np.float64]):
        order = np.lexsort((nodes, bound))
        self.nodes, self.edges = nodes[order].tolist(), edges[order].tolist()
        self.spent, self.bound = spent[order].tolist(), bound[order].tolist()


def _search(
    graph: Graph,
    cost: NDArray[np.float64],
    starts: Sequence[int],
    goals: Sequence[int],
    bounds: Sequence[NDArray[np.float64]],
) -> Iterator[Found]:
    """Yield paths from the cheapest on. A queue holds a path and the next of its ways on."""
    ends = set(goals)
    queue: list[tuple[float, tuple[int, ...], tuple[int, ...], float, _Turns | None, int]] = []
    most = len(bounds) - 1
    for start in starts:
        bound = round(float(bounds[most][start]), DIGITS)
        if np.isfinite(bound):
            heapq.heappush(queue, (bound, (start,), (), 0.0, None, 0))
    for _ in range(MOST_TURNS):
        if not queue:
            return
        _, nodes, edges, spent, siblings, place = heapq.heappop(queue)
        if siblings is not None:
            _push(queue, nodes[:-1], edges[:-1], siblings, place + 1)
        if nodes[-1] in ends:
            yield round(spent, DIGITS), nodes, edges
            continue
        turns = _ways_on(graph, cost, nodes, starts, spent, bounds[most - len(edges) - 1])
        _push(queue, nodes, edges, turns, 0)


def _push(
    queue: list[tuple[float, tuple[int, ...], tuple[int, ...], float, _Turns | None, int]],
    nodes: tuple[int, ...],
    edges: tuple[int, ...],
    turns: _Turns,
    place: int,
) -> None:
    if place < len(turns.nodes):
        longer = (*nodes, turns.nodes[place])
        steps = (*edges, turns.edges[place])
        heapq.heappush(queue, (turns.bound[place], longer, steps, turns.spent[place], turns, place))


def _ways_on(
    graph: Graph,
    cost: NDArray[np.float64],
    nodes: tuple[int, ...],
    starts: Sequence[int],
    spent: float,
    bound: NDArray[np.float64],
) -> _Turns:
    """Return the nodes that a path may go on to, each by its cheapest edge."""
    both = graph.both
    rows = slice(int(both.ptr[nodes[-1]]), int(both.ptr[nodes[-1] + 1]))
    other, edge = both.other[rows], both.edge[rows]
    price = cost[edge]
    total = np.round(spent + price + bound[other], DIGITS)
    keep = np.isfinite(total) & ~np.isin(other, np.array([*nodes, *starts], dtype=np.int64))
    other, edge, price, total = other[keep], edge[keep], price[keep], total[keep]
    order = np.lexsort((edge, np.round(price, DIGITS), other))
    other, edge, price, total = other[order], edge[order], price[order], total[order]
    first = np.ones(len(other), dtype=bool)
    first[1:] = other[1:] != other[:-1]
    return _Turns(other[first], edge[first], spent + price[first], total[first])
