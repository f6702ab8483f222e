"""From a ranking to hits that a person can follow: parts, reasons, paths."""

from __future__ import annotations

import numpy as np

from clew.query.lexicon import IndexLexicon
from clew.query.rank import Ranking, covers
from clew.query.space import Space
from clew.types import Chunk, Document, Hit, Node, Step

SHOWN_TERMS = 5


def explain(space: Space, lexicon: IndexLexicon, question: str, ranking: Ranking) -> tuple[Hit, ...]:
    """Return the hits of a ranking with their documents, reasons and paths."""
    order = ranking.chunks.tolist()
    chunks = space.reader.chunks(order)
    docs = sorted({chunk.doc for chunk in chunks})
    documents = {document.doc: document for document in space.reader.documents(docs)}
    joints = _joints(space, ranking)
    nodes = {node.node: node for node in space.reader.nodes(sorted({n for n in joints.values() if n >= 0}))}
    by_chunk = {chunk.chunk: chunk for chunk in chunks}
    missing = sorted({by for by in ranking.named_by.values() if by not in by_chunk})
    by_chunk.update({chunk.chunk: chunk for chunk in space.reader.chunks(missing)})
    terms = _matched_terms(space, lexicon, question, ranking)
    hits = []
    for place, chunk in enumerate(chunks):
        parts = {name: float(values[place]) for name, values in ranking.parts.items()}
        document = documents[chunk.doc]
        path = _path(chunk, document, by_chunk, nodes, joints, ranking)
        why = _why(terms[place], path, parts)
        hits.append(Hit(chunk, document, float(ranking.scores[place]), parts, why, path))
    return tuple(hits)


def _joints(space: Space, ranking: Ranking) -> dict[int, int]:
    """Return for each hit the node through which it was reached: the one that the chunk which led to
    it shares with what it defines, else its heaviest seed node, else -1."""
    joints: dict[int, int] = {}
    seeds = sorted(ranking.node_seeds, key=lambda node: (-ranking.node_seeds[node], node))
    for chunk in ranking.chunks.tolist():
        joints[chunk] = -1
        mine = set(_nodes(space, chunk))
        by = ranking.named_by.get(chunk)
        if by is not None:
            defined = space.defines[[chunk]].indices.tolist()
            shared = [node for node in defined if node in set(_nodes(space, by))]
            if shared:
                joints[chunk] = min(shared, key=lambda node: (int(space.node_df[node]), node))
                continue
        joints[chunk] = next((node for node in seeds if node in mine), -1)
    return joints


def _nodes(space: Space, chunk: int) -> list[int]:
    mentions = space.mentions
    found: list[int] = mentions.indices[mentions.indptr[chunk] : mentions.indptr[chunk + 1]].tolist()
    return found


def _path(
    chunk: Chunk,
    document: Document,
    by_chunk: dict[int, Chunk],
    nodes: dict[int, Node],
    joints: dict[int, int],
    ranking: Ranking,
) -> tuple[Step, ...]:
    node = nodes.get(joints.get(chunk.chunk, -1))
    if node is None:
        return ()
    here = _label(chunk, document)
    by = ranking.named_by.get(chunk.chunk)
    if by is None or node.node in ranking.node_seeds:
        return (Step("question", "names", node.name), Step(node.name, "mentions", here, chunk.chunk))
    steps: list[Step] = []
    first = nodes.get(joints.get(by, -1))
    if first is not None:
        steps += [Step("question", "names", first.name), Step(first.name, "mentions", f"passage {by}", by)]
    steps += [
        Step(f"passage {by}", "mentions", node.name, by),
        Step(node.name, "defined_by", here, chunk.chunk),
    ]
    return tuple(steps)


def _label(chunk: Chunk, document: Document) -> str:
    return f"{document.location}:{chunk.start_line}"


def _matched_terms(space: Space, lexicon: IndexLexicon, question: str, ranking: Ranking) -> list[list[str]]:
    """Return for each hit the question's words that it holds, weightiest first."""
    words = [term for term, weight in lexicon.weights(question).items() if weight > 0]
    table, weight = covers(space, lexicon.positions(question), ranking.chunks)
    return [
        [words[i] for i in np.argsort(-weight, kind="stable").tolist() if row[i]][:SHOWN_TERMS]
        for row in table
    ]


def _why(terms: list[str], path: tuple[Step, ...], parts: dict[str, float]) -> str:
    reasons = []
    if terms:
        reasons.append("it has " + ", ".join(terms))
    if parts.get("dense", 0.0) >= 0.5:
        reasons.append("its meaning is close")
    if len(path) == 2:
        reasons.append(f"it mentions {path[0].target}")
    elif path:
        reasons.append(f"it defines {path[-1].source}, which a better hit mentions")
    return "; ".join(reasons) or "the walk leads here"
