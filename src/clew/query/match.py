"""Patterns over typed edges, matched with arrays.

A pattern is a chain, so semi-joins make it exact (Yannakakis 1981): from the node with the fewest candidates
outwards, then inwards and out again, each node's candidates are cut to those that have a neighbour among the
next one's. After that every candidate is in some row (unless a node or an edge must be the same or another
as one before), and rows are put together from the left, in blocks, only as many as are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from clew.errors import NotFound, UsageError
from clew.query.graph import Graph
from clew.query.limits import Limits, Mask
from clew.query.naming import find
from clew.query.paths import tell
from clew.query.pattern import EdgePattern, NodePattern, Pattern, parse, wrong
from clew.query.space import Space
from clew.types import Longs, Matches, MatchRow

NODE_WORDS = ("note", "document", "entity", "person", "tag")
BLOCK = 512  # rows that are put together at once


@dataclass(frozen=True, slots=True)
class Row:
    """A row of positions: its nodes, one more than its edges."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]


def match(space: Space, text: str, me: str, limit: int, limits: Limits) -> Matches:
    """Return the first ``limit`` rows of a pattern, in the order of their nodes, shortest first.

    Raises PatternError for a pattern that can't be read, UsageError where ``me`` is needed and empty.
    """
    graph = space.graph
    pattern = parse(text, node_words(space), graph.kinds)
    named = [_named(space, pattern, node, me) for node in pattern.nodes]
    rows: list[Row] = []
    for variant in pattern.variants():
        starts = candidates(space, variant, _spread(pattern, variant, named), limits)
        rows += islice(rows_of(graph, variant, starts, limits), limit + 1 - len(rows))
    told = tell(space.reader, [(0.0, row.nodes, row.edges) for row in rows[:limit]])
    variables = tuple(node.variable for node in pattern.nodes)
    matched = tuple(MatchRow(one.nodes, one.steps) for one in told)
    return Matches(text, variables, matched, len(rows) > limit, _absent(graph, pattern))


def node_words(space: Space) -> tuple[str, ...]:
    """Return the words for kinds of nodes: those of the graph, and the kinds of documents."""
    return tuple(dict.fromkeys([*NODE_WORDS, *space.document_kinds]))


def _absent(graph: Graph, pattern: Pattern) -> tuple[str, ...]:
    """Say which of the pattern's kinds of edges the index has none of."""
    wanted = dict.fromkeys(kind for edge in pattern.edges for kind in edge.kinds)
    none = [kind for kind in wanted if not len(graph.edges_of(graph.kinds.index(kind)))]
    return (f"The index has no edges of kind {', '.join(none)}.",) if none else ()


def _named(space: Space, pattern: Pattern, node: NodePattern, me: str) -> tuple[int, ...] | None:
    """Return the nodes that a name may be, None without a name."""
    if node.me:
        return find_me(space, me)
    if not node.name:
        return None
    try:
        found = find(space, f"{_graph_kind(node.kind)}:{node.name}" if node.kind else node.name)
    except NotFound as error:
        raise wrong(pattern.text, node.start, node.end, error.reason, error.remedy) from error
    return tuple(one.node for one in found)


def find_me(space: Space, me: str) -> tuple[int, ...]:
    """Return the nodes of whoever asks: the people of that name, else what bears it. Raises UsageError where
    nobody is set, NotFound for a name that nothing bears."""
    if not me.strip():
        reason = "whose notes these are isn't known"
        raise UsageError("me", reason, 'Set it: --me NAME, CLEW_ME=NAME, or me = "NAME" in clew.toml')
    found = find(space, me)
    people = [node.node for node in found if node.kind == "person"]
    return tuple(people or [node.node for node in found])


def _graph_kind(word: str) -> str:
    return word if word in NODE_WORDS else "note"


def _spread(
    pattern: Pattern, variant: Pattern, named: Sequence[tuple[int, ...] | None]
) -> list[tuple[int, ...] | None]:
    """Return the names' nodes for a variant, whose repeated edges have nodes of their own between them."""
    given = iter(zip(pattern.nodes, named, strict=True))
    out: list[tuple[int, ...] | None] = []
    pending = next(given, None)
    for node in variant.nodes:
        if pending is not None and node is pending[0]:
            out.append(pending[1])
            pending = next(given, None)
        else:
            out.append(None)
    return out


def candidates(
    space: Space, pattern: Pattern, named: Sequence[tuple[int, ...] | None], limits: Limits
) -> list[Mask]:
    masks = []
    for node, nodes in zip(pattern.nodes, named, strict=True):
        mask = space.of_kind(node.kind).copy()
        if nodes is not None:
            mask = np.zeros(space.n_nodes, dtype=bool)
            mask[list(nodes)] = True
            if node.kind and node.kind not in NODE_WORDS:
                mask &= space.of_kind(node.kind)
        if limits.nodes is not None and nodes is None:
            mask &= limits.nodes
        masks.append(mask)
    for one, other in _same_node(pattern):
        masks[one] &= masks[other]
        masks[other] = masks[one].copy()
    return masks


def _same_node(pattern: Pattern) -> list[tuple[int, int]]:
    """Return the pairs of places that a variable makes the same: each with the first of its name."""
    first: dict[str, int] = {}
    pairs = []
    for place, node in enumerate(pattern.nodes):
        if node.variable and first.setdefault(node.variable, place) != place:
            pairs.append((first[node.variable], place))
    return pairs


def rows_of(graph: Graph, pattern: Pattern, masks: list[Mask], limits: Limits) -> Iterator[Row]:
    """Yield the rows of a pattern without repeats, in the order of their nodes, then of their edges.

    ``masks`` (N,) says for each place which nodes may stand there. No edge is twice in a row.
    """
    masks = prune(graph, pattern, masks, limits)
    if not all(mask.any() for mask in masks):
        return
    starts = np.flatnonzero(masks[0])[:, None]
    same = {later: first for first, later in _same_node(pattern)}
    for nodes, edges in _grow(
        graph, pattern, masks, limits, same, starts, np.empty((len(starts), 0), np.int64)
    ):
        for row, used in zip(nodes.tolist(), edges.tolist(), strict=True):
            yield Row(tuple(row), tuple(used))


def _grow(
    graph: Graph,
    pattern: Pattern,
    masks: Sequence[Mask],
    limits: Limits,
    same: dict[int, int],
    nodes: Longs,
    edges: Longs,
) -> Iterator[tuple[Longs, Longs]]:
    """Yield blocks of whole rows from beginnings of rows, shape (n, places so far)."""
    place = nodes.shape[1]
    if place == len(pattern.nodes):
        yield nodes, edges
        return
    for begin in range(0, len(nodes), BLOCK):
        some, used = nodes[begin : begin + BLOCK], edges[begin : begin + BLOCK]
        owner, other, edge = _steps(graph, pattern.edges[place - 1], some[:, -1], limits.edges)
        keep = masks[place][other]
        for column in range(used.shape[1]):
            keep &= used[owner, column] != edge
        if place in same:
            keep &= some[owner, same[place]] == other
        owner, other, edge = owner[keep], other[keep], edge[keep]
        order = np.lexsort((edge, other, owner))
        owner, other, edge = owner[order], other[order], edge[order]
        longer = np.concatenate([some[owner], other[:, None]], axis=1)
        more = np.concatenate([used[owner], edge[:, None]], axis=1)
        yield from _grow(graph, pattern, masks, limits, same, longer, more)


def _steps(graph: Graph, step: EdgePattern, nodes: Longs, allowed: Mask | None) -> tuple[Longs, Longs, Longs]:
    """Return the edges from some nodes on: which of the nodes, the node at the other end, the edge."""
    owners, others, edges = [], [], []
    for kind in _codes(graph, step):
        for out in _sides(step):
            side = graph.side(kind, out)
            entry, owner = side.entries(nodes)
            edge = side.edge[entry].astype(np.int64)
            keep = slice(None) if allowed is None else allowed[edge]
            owners.append(owner[keep])
            others.append(side.other[entry][keep].astype(np.int64))
            edges.append(edge[keep])
    if not owners:
        none = np.empty(0, dtype=np.int64)
        return none, none, none
    return np.concatenate(owners), np.concatenate(others), np.concatenate(edges)


def _codes(graph: Graph, step: EdgePattern) -> list[int]:
    codes = range(len(graph.kinds)) if not step.kinds else map(graph.kinds.index, step.kinds)
    return [code for code in codes if len(graph.edges_of(code))]


def _sides(step: EdgePattern) -> tuple[bool, ...]:
    return {"out": (True,), "in": (False,), "either": (True, False)}[step.direction]


def prune(graph: Graph, pattern: Pattern, masks: Sequence[Mask], limits: Limits) -> list[Mask]:
    """Return for each place the nodes that have neighbours on both sides, all the way to the ends."""
    masks = list(masks)
    last = len(masks) - 1
    root = min(range(len(masks)), key=lambda place: (int(masks[place].sum()), place))
    outward = [(i, i + 1) for i in range(root, last)] + [(i, i - 1) for i in range(root, 0, -1)]
    inward = [(b, a) for a, b in reversed(outward)]
    for a, b in (*outward, *inward, *outward):
        step = pattern.edges[min(a, b)]
        flipped: dict[str, EdgePattern] = {
            "out": replace(step, direction="in"),
            "in": replace(step, direction="out"),
        }
        if b < a:
            step = flipped.get(step.direction, step)
        masks[b] = masks[b] & reached(graph, step, masks[a], limits.edges)
    return masks


def reached(graph: Graph, step: EdgePattern, mask: Mask, allowed: Mask | None) -> Mask:
    """Return the nodes at the other end of the edges from a set of nodes, shape (N,): by their adjacency
    where they have few edges, else by a scan of all edges of the kind."""
    out = np.zeros(graph.n_nodes, dtype=bool)
    nodes = np.flatnonzero(mask)
    if not len(nodes):
        return out
    for kind in _codes(graph, step):
        for forward in _sides(step):
            edges = graph.edges_of(kind)
            side = graph.side(kind, forward)
            if side.size(nodes) * 4 < len(edges):
                entry, _ = side.entries(nodes)
                found = side.edge[entry] if allowed is not None else None
                other = side.other[entry]
                out[other if found is None or allowed is None else other[allowed[found]]] = True
            else:
                ends = (graph.source, graph.target) if forward else (graph.target, graph.source)
                near, far = ends[0][edges], ends[1][edges]
                keep = mask[near] if allowed is None else mask[near] & allowed[edges]
                out[far[keep]] = True
    return out
