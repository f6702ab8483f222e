"""Artifacts to publish in tests, small or large, the same for the same arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.ids import content_hash, make_id
from clew.types import UNDATED, Artifact

CHUNKS_PER_DOCUMENT = 10
WORDS = 2000  # of the made-up vocabulary
Table = dict[str, Sequence[Any] | NDArray[Any]]


def make_artifact(
    n_chunks: int = 20,
    *,
    n_nodes: int = 12,
    n_mentions: int = 60,
    n_edges: int = 15,
    dimension: int = 8,
    words_per_chunk: int = 30,
    seed: int = 0,
    meta: Mapping[str, Any] | None = None,
) -> Artifact:
    """Return an artifact that fits the schema: every position points at a row, spans lie in their texts.

    ``dimension`` 0 leaves the vectors out. ``meta`` is added to what it holds.
    """
    random = np.random.default_rng(seed)
    texts = _texts(random, n_chunks, words_per_chunk)
    docs = np.arange(n_chunks, dtype=np.int32) // CHUNKS_PER_DOCUMENT
    bounds = _bounds(texts, docs)
    n_docs = int(docs[-1]) + 1 if n_chunks else 0
    tables: dict[str, Table] = {
        "documents": _documents(n_docs),
        "sections": _sections(n_docs),
        "chunks": _chunks(texts, docs, bounds),
        "nodes": _nodes(random, n_nodes),
        "names": _names(n_nodes),
        "mentions": _mentions(random, texts, bounds, n_nodes, n_mentions),
        **_edges(random, bounds, n_nodes, n_edges),
        **_communities(n_nodes, texts, bounds),
    }
    arrays: dict[str, NDArray[Any]] = {"chunks.doc": docs}
    if dimension:
        vectors = random.standard_normal((n_chunks, dimension)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        arrays["dense.vectors"] = vectors.astype(np.float16)
        arrays["dense.chunk"] = np.arange(n_chunks, dtype=np.int32)
    options = {"embed": {"embedder": "none"}}
    return Artifact(tables, arrays, {"embedder": None, "options": options, **(meta or {})})


def _texts(random: np.random.Generator, n: int, words: int) -> list[str]:
    vocabulary = [_word(random) for _ in range(WORDS)]
    picks = np.minimum(random.zipf(1.3, (n, words)) - 1, WORDS - 1).tolist()
    return [" ".join(vocabulary[pick] for pick in row) + "." for row in picks]


def _word(random: np.random.Generator) -> str:
    return "".join(random.choice(list("abcdefghijklmnoprstuvwz"), int(random.integers(3, 11))))


def _bounds(texts: Sequence[str], docs: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the (start, end) of each chunk in its document; one line feed stands between two."""
    length = np.array([len(text) for text in texts], dtype=np.int64)
    end = np.cumsum(length + 1) - 1
    start = end - length
    first = np.searchsorted(docs, docs, side="left")
    base = start[first] if len(texts) else start
    return np.stack([start - base, end - base], axis=1).astype(np.int32)


def _documents(n: int) -> Table:
    keys = [f"folder {i % 7}/note {i:06d}.md" for i in range(n)]
    return {
        "doc": np.arange(n, dtype=np.int32),
        "id": [make_id("document", key) for key in keys],
        "key": keys,
        "location": [f"notes/{key}" for key in keys],
        "title": [f"Title {i}" for i in range(n)],
        "language": ["en"] * n,
        "encoding": ["utf-8"] * n,
        "content_hash": [content_hash(key.encode()) for key in keys],
        "size": [1000 + i for i in range(n)],
        "line": [1] * n,
        "media_type": ["markdown"] * n,
        "metadata": ['{"tags":["a","b"]}'] * n,
        "kind": ["note"] * n,
        "created_at": _times(n),
    }


def _times(n: int) -> NDArray[np.int64]:
    """Return a time a day, every fifth unknown."""
    at = np.arange(n, dtype=np.int64)
    return np.where(at % 5 == 4, UNDATED, 1_700_000_000 + 86_400 * at)


def _sections(n: int) -> Table:
    return {
        "doc": np.arange(n, dtype=np.int32),
        "section": [0] * n,
        "level": [1] * n,
        "title": ["Heading"] * n,
        "path": ['["Heading"]'] * n,
        "start_byte": [0] * n,
        "end_byte": [1000] * n,
    }


def _chunks(texts: Sequence[str], docs: NDArray[np.int32], bounds: NDArray[np.int32]) -> Table:
    n = len(texts)
    line = np.arange(n, dtype=np.int32) % CHUNKS_PER_DOCUMENT + 1
    return {
        "chunk": np.arange(n, dtype=np.int32),
        "id": [make_id("chunk", str(i)) for i in range(n)],
        "doc": docs,
        "section": [0] * n,
        "start_byte": bounds[:, 0],
        "end_byte": bounds[:, 1],
        "start_line": line,
        "end_line": line,
        "n_tokens": [text.count(" ") + 1 for text in texts],
        "heading_path": ['["Heading"]'] * n,
        "text": texts,
    }


def _nodes(random: np.random.Generator, n: int) -> Table:
    return {
        "node": np.arange(n, dtype=np.int32),
        "id": [make_id("node", str(i)) for i in range(n)],
        "kind": ["entity"] * n,
        "name": [f"Entity {i:06d}" for i in range(n)],
        "df": random.integers(1, 100, n).astype(np.int32),
        "degree": random.integers(0, 10, n).astype(np.int32),
        "doc": np.full(n, -1, dtype=np.int32),
        "confidence": random.random(n).astype(np.float32),
        "type": ["place" if i % 2 else "" for i in range(n)],
        "description": [f"Entity number {i}." if i % 2 else "" for i in range(n)],
        "created_at": _times(n),
        "pagerank": np.full(n, 1.0 / max(n, 1)),
    }


def _names(n: int) -> Table:
    return {
        "node": np.repeat(np.arange(n, dtype=np.int32), 2),
        "surface": [name for i in range(n) for name in (f"E. {i:06d}", f"Entity {i:06d}")],
        "key": [key for i in range(n) for key in (f"e{i:06d}", f"entity{i:06d}")],
    }


def _mentions(
    random: np.random.Generator, texts: Sequence[str], bounds: NDArray[np.int32], n_nodes: int, n: int
) -> Table:
    """Let every mention be the first word of its chunk."""
    n = n if texts and n_nodes else 0
    chunk = np.sort(random.integers(0, max(len(texts), 1), n)).astype(np.int32)
    first = [text.split(" ", 1)[0] for text in texts]
    length = np.array([len(word) for word in first], dtype=np.int32)
    start = bounds[chunk, 0] if n else np.zeros(0, dtype=np.int32)
    return {
        "node": random.integers(0, max(n_nodes, 1), n).astype(np.int32),
        "chunk": chunk,
        "start_byte": start,
        "end_byte": start + length[chunk] if n else start,
        "surface": [first[at] for at in chunk.tolist()],
    }


def _edges(random: np.random.Generator, bounds: NDArray[np.int32], n_nodes: int, n: int) -> dict[str, Table]:
    n = n if len(bounds) and n_nodes else 0
    source, target = (random.integers(0, max(n_nodes, 1), n).astype(np.int32) for _ in range(2))
    chunk = random.integers(0, max(len(bounds), 1), n).astype(np.int32)
    edges: Table = {
        "edge": np.arange(n, dtype=np.int32),
        "id": [make_id("edge", str(i)) for i in range(n)],
        "kind": ["co_occurs_with" if i % 3 else "references" for i in range(n)],
        "source": source,
        "target": target,
        "weight": random.random(n).astype(np.float32),
        "phrase": [""] * n,
        "created_at": _times(n),
    }
    evidence: Table = {
        "edge": np.arange(n, dtype=np.int32),
        "doc": chunk // CHUNKS_PER_DOCUMENT,
        "chunk": chunk,
        "start_byte": bounds[chunk, 0] if n else [],
        "end_byte": bounds[chunk, 1] if n else [],
        "line": [0] * n,
        "quote": [""] * n,
    }
    return {"edges": edges, "edge_evidence": evidence}


def _communities(n_nodes: int, texts: Sequence[str], bounds: NDArray[np.int32]) -> dict[str, Table]:
    """Two communities at level 0, the even and the odd nodes, the first with a child."""
    n = 3 if n_nodes and texts else 0
    members = [(c, node) for c in range(min(n, 2)) for node in range(c, n_nodes, 2)]
    members += [(2, node) for node in range(0, n_nodes, 4)] if n else []
    return {
        "communities": {
            "community": list(range(n)),
            "id": [make_id("community", str(i)) for i in range(n)],
            "level": [0, 0, 1][:n],
            "parent": [-1, -1, 0][:n],
            "size": [sum(c == i for c, _ in members) for i in range(n)],
        },
        "community_members": {"community": [c for c, _ in members], "node": [node for _, node in members]},
        "reports": {
            "community": list(range(n)),
            "title": [f"Theme {i}" for i in range(n)],
            "summary": [f"What theme {i} is about." for i in range(n)],
            "rating": [5.0, 2.5, 1.0][:n],
            "members": ["[0]", "[]", "[0]"][:n],
        },
        "report_findings": {
            "community": list(range(n)),
            "rank": [0] * n,
            "text": list(texts[:1]) * n,
            "chunk": [0] * n,
            "start_byte": [int(bounds[0, 0])] * n if n else [],
            "end_byte": [int(bounds[0, 1])] * n if n else [],
        },
    }
