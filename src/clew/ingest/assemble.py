"""Last corpus stage: everything that is published, as columns."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from clew.algo.bm25 import Postings
from clew.ids import hash_id, make_id, prefixed
from clew.ingest.model import Corpus, Graph, Partition
from clew.ingest.spans import distinct
from clew.text.terms import term_hash
from clew.text.units import as_long
from clew.types import Analysis, Artifact, EdgeKind, Ints, Report

Column = Sequence[Any] | NDArray[Any]
Table = dict[str, Column]

KINDS = ("document", "entity", "person", "tag")  # graph.node_kind indexes this
EDGE_KINDS = get_args(EdgeKind)  # edges.kind indexes this


def assemble(
    corpus: Corpus,
    graph: Graph,
    partition: Partition,
    reports: Sequence[Report],
    postings: Postings,
    token_terms: Ints,
    meta: Mapping[str, Any],
) -> Artifact:
    """Return the artifact of an index without vectors; they are two arrays that come later."""
    links = _links(graph)
    df = np.bincount(links[1], minlength=graph.n_nodes).astype(np.int32)
    degree = np.bincount(np.concatenate([graph.edge_source, graph.edge_target]), minlength=graph.n_nodes)
    tables: dict[str, Table] = {
        "documents": _documents(corpus),
        "sections": _sections(corpus),
        "chunks": _chunks(corpus),
        "nodes": {
            "node": np.arange(graph.n_nodes, dtype=np.int32),
            "id": graph.node_id,
            "kind": graph.kind,
            "name": graph.name,
            "df": df,
            "degree": degree.astype(np.int32),
            "doc": graph.doc,
            "confidence": graph.confidence,
            "type": graph.type,
            "description": graph.description,
            "created_at": graph.node_time,
            "pagerank": graph.node_rank,
        },
        "names": {"node": graph.name_node, "surface": graph.name_surface, "key": graph.name_key},
        "mentions": _mentions(corpus, graph),
        "edges": _edges(graph),
        "edge_evidence": _evidence(corpus, graph),
        **_communities(graph, partition, reports),
    }
    arrays = {**_search_arrays(corpus, graph, postings, links, df), **_places(corpus, graph, token_terms)}
    kinds = {"node_kinds": KINDS, "edge_kinds": EDGE_KINDS, "document_kinds": document_kinds(corpus)}
    return Artifact(tables, arrays, {**meta, **kinds})


def document_kinds(corpus: Corpus) -> tuple[str, ...]:
    """Return the kinds of documents that there are, which ``documents.kind`` indexes."""
    return tuple(sorted({document.kind for document in corpus.documents}))


def _links(graph: Graph) -> tuple[Ints, Ints]:
    """Return the distinct (chunk, node) pairs of mentions and definitions, in that order."""
    chunk = np.concatenate([graph.mention_chunk, graph.def_chunk]).astype(np.int64)
    node = np.concatenate([graph.mention_node, graph.def_node])
    pairs = distinct(chunk * max(graph.n_nodes, 1) + node)
    return (pairs // max(graph.n_nodes, 1)).astype(np.int32), (pairs % max(graph.n_nodes, 1)).astype(np.int32)


def _documents(corpus: Corpus) -> Table:
    docs = corpus.documents
    names = ("id", "key", "location", "title", "language", "encoding", "content_hash", "size", "line")
    table: Table = {"doc": np.arange(len(docs), dtype=np.int32)}
    table.update({name: [getattr(document, name) for document in docs] for name in names})
    table["media_type"] = [document.media_type for document in docs]
    table["metadata"] = [to_json(dict(document.metadata)) for document in docs]
    table["kind"] = [document.kind for document in docs]
    table["created_at"] = corpus.doc_time
    return table


def _paths(analysis: Analysis) -> list[str]:
    """Return the headings above each section as JSON; sections are fewer than what stands in them."""
    return [to_json(list(section.path)) for section in analysis.sections]


def to_json(value: Any) -> str:
    """Return canonical JSON: sorted keys, no spaces, any object as its string."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def _sections(corpus: Corpus) -> Table:
    rows = [
        (document.doc, number, section)
        for document, analysis in zip(corpus.documents, corpus.analyses, strict=True)
        for number, section in enumerate(analysis.sections)
    ]
    return {
        "doc": [row[0] for row in rows],
        "section": [row[1] for row in rows],
        "level": [row[2].level for row in rows],
        "title": [row[2].title for row in rows],
        "path": [to_json(list(row[2].path)) for row in rows],
        "start_byte": [row[2].start for row in rows],
        "end_byte": [row[2].end for row in rows],
    }


def _chunks(corpus: Corpus) -> Table:
    rows = [
        (document, analysis, at, span)
        for document, analysis in zip(corpus.documents, corpus.analyses, strict=True)
        for at, span in enumerate(analysis.chunks)
    ]
    paths = [(_paths(analysis), analysis.chunks) for analysis in corpus.analyses]
    return {
        "chunk": np.arange(len(rows), dtype=np.int32),
        "id": [make_id("chunk", d.id, str(s.start), str(s.end), a.texts[i]) for d, a, i, s in rows],
        "doc": corpus.chunk_doc,
        "section": [s.section for _, _, _, s in rows],
        "start_byte": corpus.chunk_start,
        "end_byte": corpus.chunk_end,
        "start_line": [d.line - 1 + a.lines[i][0] for d, a, i, _ in rows],
        "end_line": [d.line - 1 + a.lines[i][1] for d, a, i, _ in rows],
        "n_tokens": [s.n_tokens for _, _, _, s in rows],
        "heading_path": [path[span.section] for path, spans in paths for span in spans],
        "text": [a.texts[i] for _, a, i, _ in rows],
    }


def _mentions(corpus: Corpus, graph: Graph) -> Table:
    return {
        "node": graph.mention_node,
        "chunk": graph.mention_chunk,
        "start_byte": graph.mention_start,
        "end_byte": graph.mention_end,
        "surface": _surfaces(corpus, graph),
    }


def _surfaces(corpus: Corpus, graph: Graph) -> list[str]:
    """Return the text of each mention; they come chunk by chunk."""
    found: list[str] = []
    edges = np.append(np.flatnonzero(np.diff(graph.mention_chunk, prepend=-1)), len(graph.mention_chunk))
    base = corpus.chunk_start[graph.mention_chunk]
    starts, ends = (graph.mention_start - base).tolist(), (graph.mention_end - base).tolist()
    for low, high in pairwise(edges.tolist()):
        chunk = int(graph.mention_chunk[low])
        encoding = corpus.documents[int(corpus.chunk_doc[chunk])].encoding
        text = corpus.text(chunk)
        spans = zip(starts[low:high], ends[low:high], strict=True)
        if encoding in ("utf-8", "ascii") and text.isascii():
            found += [text[a:b] for a, b in spans]
            continue
        text = as_long(text, encoding, int(corpus.chunk_end[chunk] - corpus.chunk_start[chunk]))
        data = text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "strict")
        found += [data[a:b].decode(encoding, "replace") for a, b in spans]
    return found


def _edges(graph: Graph) -> Table:
    rows = zip(graph.edge_kind, graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True)
    nodes = [prefixed(node) for node in graph.node_id]
    kinds = {kind: prefixed("edge") + prefixed(kind) for kind in EDGE_KINDS}
    return {
        "edge": np.arange(len(graph.edge_kind), dtype=np.int32),
        "id": [hash_id(kinds[kind] + nodes[a] + nodes[b]) for kind, a, b in rows],
        "kind": graph.edge_kind,
        "source": graph.edge_source,
        "target": graph.edge_target,
        "weight": graph.edge_weight,
        "phrase": graph.edge_phrase,
        "created_at": graph.edge_time,
    }


def _evidence(corpus: Corpus, graph: Graph) -> Table:
    """Return the places that state edges, with line and text where no chunk holds them."""
    line = np.zeros(len(graph.evidence_edge), dtype=np.int32)
    quote = [""] * len(line)
    for row in np.flatnonzero(graph.evidence_chunk < 0).tolist():
        doc = int(graph.evidence_doc[row])
        line[row], quote[row] = _outside(
            corpus, doc, int(graph.evidence_start[row]), int(graph.evidence_end[row])
        )
    return {
        "edge": graph.evidence_edge,
        "doc": graph.evidence_doc,
        "chunk": graph.evidence_chunk,
        "start_byte": graph.evidence_start,
        "end_byte": graph.evidence_end,
        "line": line,
        "quote": quote,
    }


def _outside(corpus: Corpus, doc: int, start: int, end: int) -> tuple[int, str]:
    """Return line and text of a place in a document's frontmatter; the document's own line, if it is none."""
    document, analysis = corpus.documents[doc], corpus.analyses[doc]
    if start == end or not analysis.front:
        return document.line, ""
    errors = "surrogatepass" if document.encoding.startswith("utf") else "replace"
    data = analysis.front.encode(document.encoding, errors)
    low, high = start - analysis.front_at, end - analysis.front_at
    above = data[:low].decode(document.encoding, "replace").count("\n")
    return document.line + above, data[low:high].decode(document.encoding, "replace")


def _communities(graph: Graph, partition: Partition, reports: Sequence[Report]) -> dict[str, Table]:
    n = len(partition.level)
    members: list[list[str]] = [[] for _ in range(n)]
    rows = zip(partition.member_community.tolist(), partition.member_node.tolist(), strict=True)
    for community, node in rows:
        members[community].append(graph.node_id[node])
    levels = partition.level.tolist()
    findings = [(r.community, rank, f) for r in reports for rank, f in enumerate(r.findings)]
    return {
        "communities": {
            "community": np.arange(n, dtype=np.int32),
            "id": [make_id("community", str(levels[i]), *sorted(members[i])) for i in range(n)],
            "level": partition.level,
            "parent": partition.parent,
            "size": [len(found) for found in members],
        },
        "community_members": {"community": partition.member_community, "node": partition.member_node},
        "reports": {
            "community": [r.community for r in reports],
            "title": [r.title for r in reports],
            "summary": [r.summary for r in reports],
            "rating": [r.rating for r in reports],
            "members": [to_json(list(r.members)) for r in reports],
        },
        "report_findings": {
            "community": [c for c, _, _ in findings],
            "rank": [rank for _, rank, _ in findings],
            "text": [f.text for _, _, f in findings],
            "chunk": [f.chunk for _, _, f in findings],
            "start_byte": [f.start for _, _, f in findings],
            "end_byte": [f.end for _, _, f in findings],
        },
    }


def _search_arrays(
    corpus: Corpus, graph: Graph, postings: Postings, links: tuple[Ints, Ints], df: Ints
) -> dict[str, NDArray[Any]]:
    keys = sorted(set(zip(map(term_hash, graph.name_key), graph.name_node.tolist(), strict=True)))
    ptr = np.zeros(corpus.n_chunks + 1, dtype=np.int64)
    np.cumsum(np.bincount(links[0], minlength=corpus.n_chunks), out=ptr[1:])
    return {
        "lex.terms": postings.terms,
        "lex.ptr": postings.ptr,
        "lex.chunk": postings.chunk,
        "lex.tf": postings.tf,
        "lex.length": postings.length,
        "graph.chunk_ptr": ptr,
        "graph.chunk_node": links[1],
        "graph.def_node": graph.def_node,
        "graph.def_chunk": graph.def_chunk,
        "graph.def_weight": graph.def_weight,
        "graph.node_df": df,
        "graph.node_kind": np.array([KINDS.index(kind) for kind in graph.kind], dtype=np.uint8),
        "graph.node_confidence": graph.confidence,
        "graph.node_doc": graph.doc,
        **_node_names(graph),
        "edges.source": graph.edge_source,
        "edges.target": graph.edge_target,
        "edges.kind": np.array([EDGE_KINDS.index(kind) for kind in graph.edge_kind], dtype=np.uint8),
        "edges.weight": graph.edge_weight,
        "edges.created_at": graph.edge_time,
        "nodes.created_at": graph.node_time,
        "nodes.pagerank": graph.node_rank.astype(np.float32),
        "documents.kind": _kind_codes(corpus),
        "documents.created_at": corpus.doc_time,
        "names.hash": np.array([key for key, _ in keys], dtype=np.uint64),
        "names.node": np.array([node for _, node in keys], dtype=np.int32),
        "chunks.doc": corpus.chunk_doc,
    }


def _kind_codes(corpus: Corpus) -> Ints:
    kinds = document_kinds(corpus)
    return np.array([kinds.index(document.kind) for document in corpus.documents], dtype=np.int32)


def _places(corpus: Corpus, graph: Graph, token_terms: Ints) -> dict[str, NDArray[Any]]:
    """Return the term of every token, and the ranges of tokens of chunks and mentions: what stands near what.

    16 bytes a mention and 4 a token spare a question the reading and tokenising of its candidates.
    """
    doc_of_token = np.repeat(np.arange(len(corpus.documents)), np.diff(corpus.doc_tokens))
    starts = doc_of_token * (1 << 32) + corpus.start
    base = corpus.chunk_doc[graph.mention_chunk].astype(np.int64) * (1 << 32)
    ptr = np.zeros(corpus.n_chunks + 1, dtype=np.int64)
    np.cumsum(np.bincount(graph.mention_chunk, minlength=corpus.n_chunks), out=ptr[1:])
    return {
        "place.term": token_terms,
        "place.lo": corpus.token_lo,
        "place.hi": corpus.token_hi,
        "place.mention_ptr": ptr,
        "place.mention_node": graph.mention_node,
        "place.mention_lo": np.searchsorted(starts, base + graph.mention_start).astype(np.int32),
        "place.mention_hi": np.searchsorted(starts, base + graph.mention_end).astype(np.int32),
    }


def _node_names(graph: Graph) -> dict[str, NDArray[Any]]:
    """Return all nodes' names as one run of UTF-8: labels cost a search no query."""
    names = [name.encode("utf-8", "surrogatepass") for name in graph.name]
    ptr = np.zeros(len(names) + 1, dtype=np.int64)
    np.cumsum([len(name) for name in names], out=ptr[1:])
    return {"graph.name_ptr": ptr, "graph.name_data": np.frombuffer(b"".join(names), dtype=np.uint8)}
