"""The small SQLite file that an app ships with: nodes, edges, communities, vectors of documents.

Ids are the index's, so they stay the same from one export to the next, and the same index gives the same
bytes. An export replaces the file at its place whole; docs/structure.md shows how an app takes an update
over.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import numpy as np

from clew.export.files import replaced
from clew.export.rows import all_communities, all_edges, all_nodes, facts, fit, node_ids, rounded, type_of
from clew.ports import Reader
from clew.types import Chunk, Document, Floats

Vectors = Literal["float32", "int8", "none"]
VERSION = 1  # of the schema below
MAGIC = b"SQLite format 3\x00"
APPLICATION = 0x434C4557  # "CLEW": SQLite keeps it at byte 68 of the file
SCHEMA = """
CREATE TABLE graph_nodes (
    id TEXT PRIMARY KEY NOT NULL,
    node_type TEXT NOT NULL,
    label TEXT NOT NULL,
    content TEXT,
    embedding BLOB,
    created_at INTEGER,
    metadata TEXT NOT NULL
);
CREATE TABLE graph_edges (
    source_id TEXT NOT NULL,
    target_id TEXT NOT NULL,
    edge_type TEXT NOT NULL,
    weight REAL NOT NULL,
    created_at INTEGER,
    PRIMARY KEY (source_id, target_id, edge_type)
) WITHOUT ROWID;
CREATE TABLE communities (
    id TEXT PRIMARY KEY NOT NULL,
    level INTEGER NOT NULL,
    parent_id TEXT,
    title TEXT NOT NULL,
    summary TEXT NOT NULL,
    rating REAL NOT NULL,
    size INTEGER NOT NULL
);
CREATE TABLE community_members (
    community_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    PRIMARY KEY (community_id, node_id)
) WITHOUT ROWID;
CREATE TABLE export_info (key TEXT PRIMARY KEY NOT NULL, value TEXT NOT NULL) WITHOUT ROWID;
"""
INDICES = """
CREATE INDEX graph_nodes_type ON graph_nodes (node_type);
CREATE INDEX graph_edges_source ON graph_edges (source_id);
CREATE INDEX graph_edges_target ON graph_edges (target_id);
CREATE INDEX community_members_node ON community_members (node_id);
"""
# A model may state several edges of one kind between two nodes: the key allows the strongest alone.
EDGE = """INSERT INTO graph_edges VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET weight = max(weight, excluded.weight)"""
PASSAGES = 512  # chunks that are read at once


def write_mobile(reader: Reader, path: Path, vectors: Vectors = "float32") -> None:
    """Write the file. Raises PublishError if it can't be written, or a file that is no such export is
    there."""
    with (
        replaced(path, is_mobile, "an export of Clew") as new,
        closing(sqlite3.connect(new, isolation_level=None)) as out,
    ):
        out.execute("PRAGMA journal_mode = OFF")
        out.execute("PRAGMA synchronous = OFF")  # the file is synced whole before it is renamed
        out.execute(f"PRAGMA application_id = {APPLICATION}")
        out.execute(f"PRAGMA user_version = {VERSION}")
        out.executescript(SCHEMA)
        out.execute("BEGIN")
        out.executemany("INSERT INTO graph_nodes VALUES (?, ?, ?, ?, ?, ?, ?)", _nodes(reader, vectors))
        ids = node_ids(reader)
        out.executemany(EDGE, _edges(reader, ids))
        _communities(out, reader, ids)
        out.executemany("INSERT INTO export_info VALUES (?, ?)", sorted(_info(reader, vectors).items()))
        out.execute("COMMIT")
        out.executescript(INDICES)


def is_mobile(head: bytes) -> bool:
    """Tell from its first bytes whether a file is such an export."""
    return head.startswith(MAGIC) and head[68:72] == APPLICATION.to_bytes(4, "big")


def _info(reader: Reader, vectors: Vectors) -> dict[str, str]:
    with_vectors = vectors != "none" and reader.has_array("dense.vectors")
    return {
        "format": "clew mobile",
        "version": str(VERSION),
        "generation": reader.generation,
        "embedding": vectors if with_vectors else "none",
        "embedder": str(reader.meta.get("embedder") or "") if with_vectors else "",
        "dimension": str(reader.array("dense.vectors").shape[1]) if with_vectors else "0",
    }


def _nodes(reader: Reader, vectors: Vectors) -> Iterator[tuple[Any, ...]]:
    documents = {document.doc: document for document in reader.documents()}
    means = _means(reader, len(documents)) if vectors != "none" else None
    texts = _texts(reader, documents)
    content = dict(texts)  # one text a document: what the phone will hold is held here once
    for node in all_nodes(reader):
        document = documents.get(node.doc)
        more = facts(node, document)
        blob = None
        if document is not None and means is not None and means[node.doc].any():
            blob, scale = packed(means[node.doc], vectors)
            if vectors == "int8":
                more["embedding_scale"] = scale
        text = content.get(node.doc) if document is not None else fit(node.description) or None
        metadata = json.dumps(more, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        yield node.id, type_of(node, document), fit(node.name), text, blob, node.created_at, metadata


def packed(vector: Floats, vectors: Vectors) -> tuple[bytes, float]:
    """Return a vector as little-endian float32, or as int8 with the scale s: the components are about s ×
    int8."""
    if vectors == "float32":
        return vector.astype("<f4").tobytes(), 1.0
    scale = rounded(float(np.abs(vector).max()) / 127.0)
    return np.clip(np.rint(vector / scale), -127, 127).astype(np.int8).tobytes(), scale


def _means(reader: Reader, n_docs: int) -> Floats | None:
    """Return the unit mean of the vectors of each document's passages, shape (n_docs, d)."""
    if not reader.has_array("dense.vectors"):
        return None
    vectors = reader.array("dense.vectors")
    docs = reader.array("chunks.doc")[reader.array("dense.chunk")]
    means = np.zeros((n_docs, vectors.shape[1]), dtype=np.float32)
    first = np.flatnonzero(np.diff(docs, prepend=-1))
    for begin, end in zip(first.tolist(), [*first[1:].tolist(), len(docs)], strict=True):
        mean = vectors[begin:end].astype(np.float32).sum(axis=0)
        means[docs[begin]] = mean / max(float(np.linalg.norm(mean)), 1e-9)
    return means


def _texts(reader: Reader, documents: dict[int, Document]) -> Iterator[tuple[int, str]]:
    """Yield the text of each document: its passages, with an empty line between two."""
    total = reader.count("chunks")
    doc, parts, end = -1, [""], 0
    for begin in range(0, total, PASSAGES):
        for chunk in reader.chunks(range(begin, min(begin + PASSAGES, total))):
            if chunk.doc != doc:
                if doc >= 0:
                    yield doc, fit("\n\n".join(parts))
                doc, parts, end = chunk.doc, [], 0
            parts.append(_fresh(chunk, end, documents[doc].encoding))
            end = chunk.end
    if doc >= 0:
        yield doc, fit("\n\n".join(parts))


def _fresh(chunk: Chunk, end: int, encoding: str) -> str:
    """Return what a passage doesn't repeat of the one before it."""
    if chunk.start >= end or not encoding.startswith("utf-8"):
        return chunk.text
    data = chunk.text.encode("utf-8", "surrogatepass")
    return data[end - chunk.start :].decode("utf-8", "ignore")


def _edges(reader: Reader, ids: list[str]) -> Iterator[tuple[Any, ...]]:
    for edge in all_edges(reader):
        ends = ids[edge.source], ids[edge.target]
        yield *ends, edge.kind, rounded(edge.weight), edge.created_at


def _communities(out: sqlite3.Connection, reader: Reader, ids: list[str]) -> None:
    names: dict[int, str] = {}
    for one, report, members in all_communities(reader):
        names[one.community] = one.id
        title, summary = (fit(report.title), fit(report.summary)) if report is not None else ("", "")
        rating = rounded(report.rating) if report is not None else 0.0
        row = (one.id, one.level, names.get(one.parent), title, summary, rating, one.size)
        out.execute("INSERT OR REPLACE INTO communities VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        rows = ((one.id, ids[node]) for node in members)
        out.executemany("INSERT OR REPLACE INTO community_members VALUES (?, ?)", rows)
