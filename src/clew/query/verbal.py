"""Edges in words: what a prompt says of how things are connected, each with the places that state it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from clew.query.model import Engine
from clew.query.sources import Place, places_at
from clew.types import EDGE_WORDS, Chunk, Edge, Evidence, Hit

PER_NODE = 40  # edges of a node that are looked at, heaviest first
EVIDENCE = 3  # places of an edge
# What is asserted says more than what text suggests; that two things occur together says least.
WORTH = {"related": 1.0, "references": 0.8, "replied_to": 0.9, "authored_by": 0.7, "follows": 0.8}
WORTH |= {"mentions": 0.4, "co_occurs_with": 0.2, "same_as": 0.6, "tagged_with": 0.6, "saved_by": 0.7}
OTHER = 0.5
DEFINED = "defined_by"  # tells the file of a name, which a passage of it tells too
NAMED, FOUND = 1.0, 0.5  # an end that the question names, or that a found passage mentions


@dataclass(frozen=True, slots=True)
class Spoken:
    """An edge in words."""

    edge: Edge
    text: str
    places: tuple[Place, ...]


def around(named: Sequence[int], hits: Sequence[Hit], engine: Engine, most: int) -> list[Spoken]:
    """Return the edges that say most about what the question names and the hits mention, best first."""
    if most < 1 or not named:
        return []
    near, ours = _mentioned(hits, engine), set(named)
    value: dict[int, tuple[float, Edge]] = {}
    for edge in engine.reader.edge_rows(_heaviest(ours, engine)):
        if edge.kind == DEFINED:
            continue
        ends = {edge.source, edge.target}
        close = NAMED if ends <= ours else FOUND if ends - ours <= near else 0.0
        worth = (WORTH.get(edge.kind, OTHER) + close) * (0.5 + 0.5 * min(edge.weight, 1.0))
        value[edge.edge] = (worth, edge)
    best: dict[tuple[int, int], Edge] = {}  # that one links to the other says that it mentions it
    for _, edge in sorted(value.values(), key=lambda pair: (-pair[0], pair[1].edge)):
        best.setdefault((min(edge.source, edge.target), max(edge.source, edge.target)), edge)
    return _spoken(list(best.values())[: 2 * most], engine)[:most]


def _heaviest(named: Iterable[int], engine: Engine) -> list[int]:
    """Return the positions of each node's heaviest edges, by the arrays: a scan of a million edges takes a
    millisecond, where a query takes fifteen."""
    reader = engine.reader
    source, target = reader.array("edges.source"), reader.array("edges.target")
    weight = reader.array("edges.weight")
    found: list[int] = []
    for node in sorted(named):
        rows = np.flatnonzero((source == node) | (target == node))
        found += rows[np.lexsort((rows, -weight[rows]))][:PER_NODE].tolist()
    return list(dict.fromkeys(found))


def _mentioned(hits: Sequence[Hit], engine: Engine) -> set[int]:
    if not hits:
        return set()
    ptr, node_of = engine.reader.array("graph.chunk_ptr"), engine.reader.array("graph.chunk_node")
    spans = [(int(ptr[hit.chunk.chunk]), int(ptr[hit.chunk.chunk + 1])) for hit in hits]
    return {node for start, end in spans for node in node_of[start:end].tolist()}


def _spoken(edges: Sequence[Edge], engine: Engine) -> list[Spoken]:
    """Put edges into words; those that no place states, and those that say the same, are left out."""
    ends = sorted({edge.source for edge in edges} | {edge.target for edge in edges})
    names = {node: " ".join(name.split()) for node, name in engine.space.node_names(ends).items()}
    rows = engine.reader.evidence([edge.edge for edge in edges], limit=EVIDENCE)
    groups = [[row for row in rows.get(edge.edge, []) if _passes(row, engine)] for edge in edges]
    spots = [(row.chunk, row.start, row.end) for group in groups for row in group if row.chunk >= 0]
    placed = iter(places_at(spots, engine))
    out: dict[str, Spoken] = {}
    for edge, group in zip(edges, groups, strict=True):
        places = tuple(_sentence(next(placed)) if row.chunk >= 0 else _outside(row, engine) for row in group)
        words = edge.phrase or EDGE_WORDS.get(edge.kind, (edge.kind.replace("_", " "),) * 2)[0]
        text = f"{names[edge.source]} — {' '.join(words.split())} → {names[edge.target]}"
        if places and names[edge.source] != names[edge.target]:
            out.setdefault(text, Spoken(edge, text, places))
    return list(out.values())


def _passes(row: Evidence, engine: Engine) -> bool:
    """Tell whether a place passes the filter."""
    return engine.scope is None or bool(engine.scope.docs[row.doc])


def _sentence(place: Place) -> Place:
    """Return the whole passage: what states an edge is often one word of a sentence."""
    return Place(place.chunk, place.document, 0, len(place.chunk.text))


def _outside(row: Evidence, engine: Engine) -> Place:
    """Return a place that is in no passage (frontmatter, a record's fields) as one of its own."""
    last = row.line + row.quote.count("\n")
    chunk = Chunk(-1, "", row.doc, 0, row.start, row.end, row.line, last, 0, (), row.quote)
    return Place(chunk, engine.space.documents([row.doc])[row.doc], 0, len(row.quote))
