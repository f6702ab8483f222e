"""Views of the graph for a person: a node's card, its neighbours, a path between two, communities."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array

from clew.algo.fuse import top
from clew.algo.walk import walk
from clew.errors import NotFound
from clew.ports import Reader
from clew.query.cite import cite_all
from clew.query.inflected import nodes_like
from clew.query.space import Space
from clew.text.display import plural
from clew.text.tokens import normal_name
from clew.types import Citation, CommunityView, Edge, EdgeView, Node, NodeCard, Related, Report

MENTIONS_SHOWN = 20
EDGES_SHOWN = 40
EVIDENCE_SHOWN = 3
# What people asserted is a shorter way than what text suggests.
COST = {"same_as": 0.2, "references": 1.0, "defined_by": 0.8, "mentions": 1.6, "co_occurs_with": 1.8}
OTHER_COST = 1.2
SUGGESTED = ("mentions", "co_occurs_with")  # what text suggests; the other kinds are stated
KIND_ORDER = ("document", "entity", "person", "tag")


def find(space: Space, name: str) -> list[Node]:
    """Return the nodes that bear a name or stand for the document so called, best first; else those of which
    the name is another form («Одесу»).

    Raises NotFound with the nearest names.
    """
    reader = space.reader
    nodes = list(reader.find_nodes(normal_name(name)))
    known = {node.node for node in nodes}
    documents = [document.doc for document in reader.find_documents(name)]
    if documents:
        table = reader.array("graph.node_doc")
        stand = np.flatnonzero(np.isin(table, documents)).tolist()
        nodes = reader.nodes([node for node in stand if node not in known]) + nodes
    if not nodes:
        counts = reader.meta.get("languages", {})
        languages = sorted(counts, key=lambda code: (-counts[code], code))
        nodes = reader.nodes(nodes_like(name, space, languages))
    if not nodes:
        close = get_close_matches(name.casefold(), _names(reader), n=3, cutoff=0.6)
        remedy = (
            "Nearest: " + ", ".join(close)
            if close
            else "`clew search` finds text; `clew communities` lists themes"
        )
        raise NotFound(name, "no note, entity, tag or person of this name", remedy)
    return sorted(nodes, key=lambda node: (KIND_ORDER.index(node.kind), -node.df, node.node))


def _names(reader: Reader) -> list[str]:
    ptr, data = reader.array("graph.name_ptr").tolist(), reader.array("graph.name_data").tobytes()
    names = (data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(ptr))
    return sorted({name.casefold() for name in names})


def card(space: Space, name: str) -> NodeCard:
    """Return what the graph knows of the best node of a name."""
    reader = space.reader
    node = find(space, name)[0]
    defining = np.flatnonzero(reader.array("graph.def_node") == node.node)
    chunks = reader.chunks(reader.array("graph.def_chunk")[defining].tolist()[:MENTIONS_SHOWN])
    definitions = [(chunk.chunk, chunk.start, chunk.end) for chunk in chunks]
    found = reader.mentions(node=node.node, limit=MENTIONS_SHOWN)
    places = [(mention.chunk, mention.start, mention.end) for mention in found]
    edges = reader.edges(node=node.node, limit=EDGES_SHOWN)
    names = tuple(reader.names_of(node.node))
    defined, mentioned = cite_all(reader, [definitions, places])
    return NodeCard(node, names, defined, mentioned, edge_views(reader, edges))


def edge_views(reader: Reader, edges: Sequence[Edge]) -> tuple[EdgeView, ...]:
    """Return edges with their ends and the places that state them."""
    ends = sorted({edge.source for edge in edges} | {edge.target for edge in edges})
    nodes = dict(zip(ends, reader.nodes(ends), strict=True))
    rows = reader.evidence([edge.edge for edge in edges], limit=EVIDENCE_SHOWN)
    places = [[(row.chunk, row.start, row.end) for row in rows[edge.edge]] for edge in edges]
    return tuple(
        EdgeView(edge, nodes[edge.source], nodes[edge.target], evidence)
        for edge, evidence in zip(edges, cite_all(reader, places), strict=True)
    )


def related(space: Space, name: str, k: int) -> list[Related]:
    """Return the nodes nearest to a node: a walk with restart there, the mass over √df so that
    what is mentioned everywhere doesn't come first, and more for a direct edge, most for a stated one."""
    reader = space.reader
    start = find(space, name)[0]
    restart = np.zeros(space.n_nodes, dtype=np.float32)
    restart[start.node] = 1.0
    none = np.zeros(space.n_chunks, dtype=np.float32)
    mass = walk(space.links, none, restart, none, damping=0.5).nodes
    mass = (mass / np.sqrt(np.maximum(space.node_df, 1))).astype(np.float32)
    edges = reader.edges(node=start.node, limit=EDGES_SHOWN)
    direct: dict[int, list[Edge]] = {}
    for edge in edges:
        other = edge.target if edge.source == start.node else edge.source
        direct.setdefault(other, []).append(edge)
    best = float(np.delete(mass, start.node).max()) if space.n_nodes > 1 else 0.0
    score = (mass / best if best > 0 else mass).astype(np.float32)
    rarity = space.node_idf / max(float(np.log(max(space.n_chunks, 2))), 1.0)
    for other, found in direct.items():
        stated = any(edge.kind not in SUGGESTED for edge in found)
        score[other] += 1.0 if stated else 0.5 * max(edge.weight for edge in found) * rarity[other]
    score[start.node] = 0.0
    order = [node for node in top(score, k).tolist() if score[node] > 0]
    scale = float(score[order[0]]) if order else 1.0
    shared = {node: [] if node in direct else _shared(space, start.node, node) for node in order}
    evidence = _evidence(reader, order, direct, shared)
    return [
        Related(node, float(score[at]) / scale, _join(direct.get(at, []), len(shared[at])), evidence[at])
        for at, node in zip(order, reader.nodes(order), strict=True)
    ]


def _evidence(
    reader: Reader, order: list[int], direct: dict[int, list[Edge]], shared: dict[int, list[int]]
) -> dict[int, tuple[Citation, ...]]:
    """Cite for each node what states its first edge, or the passages that it shares."""
    joined = [node for node in order if node in direct]
    views = edge_views(reader, [direct[node][0] for node in joined])
    found = {node: view.evidence for node, view in zip(joined, views, strict=True)}
    others = [node for node in order if node not in direct]
    chunks = reader.chunks(sorted({chunk for node in others for chunk in shared[node][:EVIDENCE_SHOWN]}))
    spans = {chunk.chunk: (chunk.chunk, chunk.start, chunk.end) for chunk in chunks}
    places = [[spans[chunk] for chunk in shared[node][:EVIDENCE_SHOWN]] for node in others]
    return found | dict(zip(others, cite_all(reader, places), strict=True))


def _join(edges: Sequence[Edge], shared: int) -> str:
    """Return what joins two nodes: their edges' kinds, or the number of passages that they share."""
    if edges:
        return ", ".join(sorted({edge.kind for edge in edges}))
    if not shared:
        return "reached over other nodes"
    return f"{plural(shared, 'passage')} {'mentions' if shared == 1 else 'mention'} both"


def _shared(space: Space, a: int, b: int) -> list[int]:
    shared: list[int] = np.intersect1d(space.chunks_of(a), space.chunks_of(b)).tolist()
    return shared


def path(space: Space, a: str, b: str, max_steps: int) -> list[EdgeView]:
    """Return the edges of the cheapest path between two names, or nothing if there is none within
    ``max_steps``. Edges that people made are shorter; passing through a hub costs by its degree."""
    from scipy.sparse.csgraph import dijkstra  # 0.1 s that only this command needs

    reader = space.reader
    starts = {node.node for node in find(space, a)}
    goals = {node.node for node in find(space, b)} - starts
    source, target = reader.array("edges.source"), reader.array("edges.target")
    if not goals or not len(source):
        return []
    cost = _costs(reader, source, target)
    n = space.n_nodes
    both = coo_array(
        (np.concatenate([cost, cost]), (np.concatenate([source, target]), np.concatenate([target, source]))),
        shape=(n, n),
    )
    # parallel edges would be added up: keep the cheapest
    graph = _cheapest(both.row, both.col, both.data, n)
    origin = sorted(starts)
    distance, before, _ = dijkstra(
        graph, directed=True, indices=origin, return_predecessors=True, min_only=True
    )
    goal = min(sorted(goals), key=lambda node: (float(distance[node]), node))
    if not np.isfinite(distance[goal]):
        return []
    steps = [goal]
    while steps[-1] not in starts:
        steps.append(int(before[steps[-1]]))
    steps.reverse()
    if len(steps) - 1 > max_steps:
        return []
    found = [_joining(reader, one, other) for one, other in pairwise(steps)]
    return list(edge_views(reader, found))


def _costs(reader: Reader, source: NDArray[Any], target: NDArray[Any]) -> NDArray[np.float64]:
    kinds = reader.meta["edge_kinds"]
    base = np.array([COST.get(kind, OTHER_COST) for kind in kinds], dtype=np.float64)
    degree = np.bincount(np.concatenate([source, target]), minlength=1)
    hub = 0.25 * np.log1p(np.minimum(degree[source], degree[target]))
    cost: NDArray[np.float64] = base[reader.array("edges.kind")] + hub
    return cost


def _cheapest(row: NDArray[Any], col: NDArray[Any], data: NDArray[Any], n: int) -> Any:
    order = np.lexsort((data, col, row))
    row, col, data = row[order], col[order], data[order]
    first = np.ones(len(row), dtype=bool)
    first[1:] = (row[1:] != row[:-1]) | (col[1:] != col[:-1])
    return coo_array((data[first], (row[first], col[first])), shape=(n, n)).tocsr()


def _joining(reader: Reader, a: int, b: int) -> Edge:
    source, target = reader.array("edges.source"), reader.array("edges.target")
    rows = np.flatnonzero(((source == a) & (target == b)) | ((source == b) & (target == a))).tolist()
    kinds = reader.meta["edge_kinds"]
    codes = reader.array("edges.kind")
    best = min(rows, key=lambda row: (COST.get(kinds[int(codes[row])], OTHER_COST), row))
    return reader.edge_rows([best])[0]


def _places(report: Report) -> list[tuple[int, int, int]]:
    return [(finding.chunk, finding.start, finding.end) for finding in report.findings]


def communities(space: Space, level: int | None) -> list[CommunityView]:
    """Return the communities of a level (all without one) with their reports."""
    reader = space.reader
    every = reader.communities()
    children: dict[int, list[int]] = {}
    for community in every:
        children.setdefault(community.parent, []).append(community.community)
    wanted = [community for community in every if level is None or community.level == level]
    reports = {r.community: r for r in reader.reports([c.community for c in wanted])}
    wanted = [community for community in wanted if community.community in reports]
    told = [reports[community.community] for community in wanted]
    named = sorted({node for report in told for node in report.members})
    nodes = dict(zip(named, reader.nodes(named), strict=True))
    return [
        CommunityView(
            community,
            report,
            tuple(nodes[node] for node in report.members),
            tuple(children.get(community.community, ())),
            cited,
        )
        for community, report, cited in zip(
            wanted, told, cite_all(reader, list(map(_places, told))), strict=True
        )
    ]
