"""Edges in words: what a prompt says of how things are connected, each with the places that state it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.query.model import Engine
from clew.query.sources import Place, places_at
from clew.types import EDGE_WORDS, Edge, Hit

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
    reader = engine.reader
    if most < 1 or not named:
        return []
    near = _mentioned(hits, engine)
    value: dict[int, tuple[float, Edge]] = {}
    for node in dict.fromkeys(named):
        for edge in reader.edges(node=node, limit=PER_NODE):
            if edge.kind == DEFINED:
                continue
            other = edge.target if edge.source == node else edge.source
            close = NAMED if other in named else FOUND if other in near else 0.0
            value[edge.edge] = (
                (WORTH.get(edge.kind, OTHER) + close) * (0.5 + 0.5 * min(edge.weight, 1.0)),
                edge,
            )
    best: dict[tuple[int, int], Edge] = {}  # that one links to the other says that it mentions it
    for _, edge in sorted(value.values(), key=lambda pair: (-pair[0], pair[1].edge)):
        best.setdefault((min(edge.source, edge.target), max(edge.source, edge.target)), edge)
    return _spoken(list(best.values())[: 2 * most], engine)[:most]


def _mentioned(hits: Sequence[Hit], engine: Engine) -> set[int]:
    if not hits:
        return set()
    ptr, node_of = engine.reader.array("graph.chunk_ptr"), engine.reader.array("graph.chunk_node")
    spans = [(int(ptr[hit.chunk.chunk]), int(ptr[hit.chunk.chunk + 1])) for hit in hits]
    return {node for start, end in spans for node in node_of[start:end].tolist()}


def _spoken(edges: Sequence[Edge], engine: Engine) -> list[Spoken]:
    """Put edges into words; those that no passage states, and those that say the same, are left out."""
    reader = engine.reader
    ends = sorted({edge.source for edge in edges} | {edge.target for edge in edges})
    names = dict(zip(ends, (" ".join(node.name.split()) for node in reader.nodes(ends)), strict=True))
    rows = reader.evidence([edge.edge for edge in edges], limit=EVIDENCE)
    spots = [
        [(row.chunk, row.start, row.end) for row in rows.get(edge.edge, []) if _passes(row.chunk, engine)]
        for edge in edges
    ]
    placed = iter(places_at([spot for group in spots for spot in group], engine))
    out: dict[str, Spoken] = {}
    for edge, group in zip(edges, spots, strict=True):
        places = tuple(_sentence(next(placed)) for _ in group)
        words = edge.phrase or EDGE_WORDS.get(edge.kind, (edge.kind.replace("_", " "),) * 2)[0]
        text = f"{names[edge.source]} — {' '.join(words.split())} → {names[edge.target]}"
        if places and names[edge.source] != names[edge.target]:
            out.setdefault(text, Spoken(edge, text, places))
    return list(out.values())


def _passes(chunk: int, engine: Engine) -> bool:
    """Tell whether a place is in a passage (what frontmatter states is in none), and passes the filter."""
    return chunk >= 0 and (engine.scope is None or bool(engine.scope.chunks[chunk]))


def _sentence(place: Place) -> Place:
    """Return the whole passage: what states an edge is often one word of a sentence."""
    return Place(place.chunk, place.document, 0, len(place.chunk.text))
