"""Views of the graph for a person: a node's card, its neighbours, communities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clew.algo.fuse import top
from clew.algo.walk import walk
from clew.ports import Reader
from clew.query.cite import cite_all, cite_document, cite_evidence
from clew.query.naming import find
from clew.query.scope import Scope
from clew.query.space import Space
from clew.text.display import plural
from clew.types import (
    Citation,
    CommunityView,
    Edge,
    EdgeView,
    Floats,
    Ints,
    Node,
    NodeCard,
    Related,
    Report,
)

MENTIONS_SHOWN = 20
MENTIONS_READ = 5000  # among which those that pass a filter are looked for
EDGES_SHOWN = 40
EVIDENCE_SHOWN = 3
SUGGESTED = ("mentions", "co_occurs_with", "unlinked_mention")  # by text; other kinds are stated


def card(space: Space, name: str, scope: Scope | None = None) -> NodeCard:
    """Return what the graph knows of the best node of a name: of mentions and edges those in ``scope``."""
    reader = space.reader
    node = find(space, name)[0]
    defining = np.flatnonzero(reader.array("graph.def_node") == node.node)
    chunks = reader.chunks(reader.array("graph.def_chunk")[defining].tolist()[:MENTIONS_SHOWN])
    definitions = [(chunk.chunk, chunk.start, chunk.end) for chunk in chunks]
    if scope is None:
        found = reader.mentions(node=node.node, limit=MENTIONS_SHOWN)
    else:
        every = reader.mentions(node=node.node, limit=MENTIONS_READ)
        found = [one for one in every if scope.passages[one.chunk]][:MENTIONS_SHOWN]
    places = [(mention.chunk, mention.start, mention.end) for mention in found]
    edges = _edges_of(space, node.node, scope)
    if scope is None:  # of the unlinked mentions, all that would be worth a link, however light
        known = {edge.edge for edge in edges}
        more = reader.edges(node=node.node, kinds=("unlinked_mention",), limit=EDGES_SHOWN)
        edges += [edge for edge in more if edge.edge not in known]
    names = tuple(reader.names_of(node.node))
    defined, mentioned = cite_all(reader, [definitions, places])
    return NodeCard(node, names, defined, mentioned, edge_views(reader, edges))


def _edges_of(space: Space, node: int, scope: Scope | None) -> list[Edge]:
    """Return the heaviest edges of a node whose other ends are in the scope too."""
    reader = space.reader
    if scope is None:
        return reader.edges(node=node, limit=EDGES_SHOWN)
    ends = (reader.array("edges.source") == node) | (reader.array("edges.target") == node)
    rows = np.flatnonzero(ends & scope.edges_among([node]))
    order = np.lexsort((rows, -reader.array("edges.weight")[rows]))
    return reader.edge_rows(rows[order][:EDGES_SHOWN].tolist())


def hubs(space: Space, k: int, scope: Scope | None = None) -> list[Node]:
    """Return the most central nodes, by PageRank."""
    score = space.node_rank if scope is None else space.node_rank * scope.nodes
    found = [node for node in top(score, k).tolist() if score[node] > 0]
    return space.reader.nodes(found)


def edge_views(reader: Reader, edges: Sequence[Edge]) -> tuple[EdgeView, ...]:
    """Return edges with their ends and the places that state them.

    An edge that no passage states (a tag in frontmatter, a field of a record) has its document as evidence:
    where that begins, with an empty quote.
    """
    ends = sorted({edge.source for edge in edges} | {edge.target for edge in edges})
    nodes = dict(zip(ends, reader.nodes(ends), strict=True))
    rows = reader.evidence([edge.edge for edge in edges], limit=EVIDENCE_SHOWN)
    groups = [rows[edge.edge] for edge in edges]
    stated = _stating(reader, [nodes[edge.source] for edge in edges if not rows[edge.edge]])
    return tuple(
        EdgeView(edge, nodes[edge.source], nodes[edge.target], evidence or stated.get(edge.source, ()))
        for edge, evidence in zip(edges, cite_evidence(reader, groups), strict=True)
    )


def _stating(reader: Reader, sources: Sequence[Node]) -> dict[int, tuple[Citation, ...]]:
    """Return for each node that is a document's a citation of its beginning."""
    docs = {node.node: node.doc for node in sources if node.doc >= 0}
    wanted = sorted(set(docs.values()))
    cited = dict(zip(wanted, map(cite_document, reader.documents(wanted)), strict=True)) if wanted else {}
    return {node: (cited[doc],) for node, doc in docs.items()}


def related(space: Space, name: str, k: int, scope: Scope | None = None) -> list[Related]:
    """Return the nodes nearest to a node: a walk with restart there, the mass over √df so that
    what is mentioned everywhere doesn't come first, and more for a direct edge, most for a stated one.

    Only what is in ``scope`` is walked over and returned; where that asks for kinds of edges, only what such
    an edge joins.
    """
    reader = space.reader
    start = find(space, name)[0]
    mass = _mass_around(space, start.node, scope) / np.sqrt(np.maximum(space.node_df, 1))
    mass = mass.astype(np.float32)
    edges = _edges_of(space, start.node, scope)
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
    if scope is not None:
        score *= scope.nodes
        if scope.where.edges:
            score[np.setdiff1d(np.arange(space.n_nodes), list(direct))] = 0.0
    order = [node for node in top(score, k, space.node_rank).tolist() if score[node] > 0]
    scale = float(score[order[0]]) if order else 1.0
    shared = {node: [] if node in direct else _shared(space, start.node, node, scope) for node in order}
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
        kinds = {edge.kind for edge in edges}
        return ", ".join(sorted(kinds - {"mentions"} if "unlinked_mention" in kinds else kinds))
    if not shared:
        return "reached over other nodes"
    return f"{plural(shared, 'passage')} {'mentions' if shared == 1 else 'mention'} both"


def _mass_around(space: Space, node: int, scope: Scope | None) -> Floats:
    """Return the mass of a walk with restart at a node, over the passages in the scope, shape (N,)."""
    restart = np.zeros(space.n_nodes, dtype=np.float32)
    restart[node] = 1.0
    if scope is None:
        none = np.zeros(space.n_chunks, dtype=np.float32)
        return walk(space.links, none, restart, none, damping=0.5).nodes
    here = np.flatnonzero(scope.passages).astype(np.int32)
    links, known = space.links_among(here)
    none = np.zeros(len(here), dtype=np.float32)
    mass = np.zeros(space.n_nodes, dtype=np.float32)
    mass[known] = walk(links, none, restart[known], none, damping=0.5).nodes if len(here) else 0.0
    return mass


def _shared(space: Space, a: int, b: int, scope: Scope | None) -> list[int]:
    shared = np.intersect1d(space.chunks_of(a), space.chunks_of(b))
    found: list[int] = (shared if scope is None else shared[scope.passages[shared]]).tolist()
    return found


def _places(report: Report) -> list[tuple[int, int, int]]:
    return [(finding.chunk, finding.start, finding.end) for finding in report.findings]


def _holds(scope: Scope, node_doc: Ints, members: Sequence[int]) -> bool:
    """Tell whether some of the members stand for a document that passes."""
    docs = node_doc[list(members)]
    return bool(scope.docs[docs[docs >= 0]].any())


def _within(scope: Scope, report: Report) -> Report:
    findings = tuple(one for one in report.findings if scope.passages[one.chunk])
    return replace(report, findings=findings, members=tuple(n for n in report.members if scope.nodes[n]))


def communities(space: Space, level: int | None, scope: Scope | None = None) -> list[CommunityView]:
    """Return the communities of a level (all without one) with their reports.

    In a ``scope`` those that hold a document in it, with the members and the findings that are; titles and
    summaries stay those of the whole.
    """
    reader = space.reader
    every = reader.communities()
    children: dict[int, list[int]] = {}
    for community in every:
        children.setdefault(community.parent, []).append(community.community)
    wanted = [community for community in every if level is None or community.level == level]
    reports = {r.community: r for r in reader.reports([c.community for c in wanted])}
    wanted = [community for community in wanted if community.community in reports]
    if scope is not None:
        docs = reader.array("graph.node_doc")
        held = [c for c in wanted if _holds(scope, docs, reader.members(c.community))]
        wanted, reports = held, {at: _within(scope, report) for at, report in reports.items()}
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
