"""What the corpus stages pass on: columns over all documents.

Everything is in a fixed order: documents by key, chunks by (document, start), tokens by
(document, start), nodes by (kind, normal name), mentions by (chunk, start, end, node), edges by
(kind, source, target). So a position is a stable integer id, and tables come out sorted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.types import UNDATED, Analysis, Document, Floats, Ints, Longs, Person, Ref, Relation

Doubles = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Stated:
    """What the source of a document says of it besides its text; see :class:`clew.types.RawDocument`."""

    ids: tuple[str, ...] = ()
    titled: bool = True
    author: Ref | None = None
    relations: tuple[Relation, ...] = ()
    people: tuple[Person, ...] = ()


@dataclass(frozen=True, slots=True)
class Corpus:
    """All documents' chunks and tokens, D documents, C chunks, T tokens, V words.

    ``stated`` (D,) is what their sources say of them.
    ``words`` is the sorted vocabulary of normal forms; ``form`` (T,) indexes it; ``start``, ``end``
    (T,) are source offsets; ``flags`` (T,) are TokenFlag bits. ``doc_tokens`` (D + 1,) delimits each
    document's tokens, ``doc_chunks`` (D + 1,) its chunks. ``token_lo``/``token_hi`` (C,) delimit the
    tokens that lie in a chunk (chunks may overlap, so a token may lie in two).
    """

    documents: tuple[Document, ...]
    stated: tuple[Stated, ...]
    analyses: tuple[Analysis, ...]
    doc_chunks: Longs
    chunk_doc: Ints
    chunk_start: Ints
    chunk_end: Ints
    words: tuple[str, ...]
    form: Ints
    start: Ints
    end: Ints
    flags: NDArray[np.uint16]
    doc_tokens: Longs
    token_lo: Longs
    token_hi: Longs

    @property
    def n_chunks(self) -> int:
        return len(self.chunk_doc)

    @property
    def doc_time(self) -> Longs:
        """When each document was written, UNDATED where that isn't known, shape (D,)."""
        times = (UNDATED if one.created_at is None else one.created_at for one in self.documents)
        return np.fromiter(times, dtype=np.int64, count=len(self.documents))

    def text(self, chunk: int) -> str:
        """Return a chunk's decoded text."""
        doc = int(self.chunk_doc[chunk])
        return self.analyses[doc].texts[chunk - int(self.doc_chunks[doc])]


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes N, names, mentions M, definitions, edges E with their evidence.

    ``normal`` is ``normal_name(name)``; two nodes of one kind may share it (two people of one
    name), so ``node_id`` hashes what tells them apart as well. ``doc`` (N,) is the document that a document
    node stands for, else -1.

    ``name_*``: every name by which the dictionary pass finds a node; ``name_key`` is its normal
    name. A key may belong to several nodes.

    ``def_*``: the chunk that a title, alias or heading makes a node's definition; ``def_weight`` in
    (0, 1]: 1 for a document's title, less for a heading.

    ``mention_start``/``mention_end`` are source offsets in the chunk's document;
    ``evidence_*`` are grouped by edge, ascending; ``evidence_chunk`` is -1 where the document says so outside
    its passages.

    ``node_time`` (N,) and ``edge_time`` (E,) are seconds since 1970 (UTC), UNDATED where unknown;
    ``node_rank`` (N,) is the nodes' PageRank. ``type``, ``description`` and
    ``edge_phrase`` are a language model's, else empty.
    """

    kind: tuple[str, ...]
    name: tuple[str, ...]
    normal: tuple[str, ...]
    node_id: tuple[str, ...]
    doc: Ints
    confidence: Floats
    type: tuple[str, ...]
    description: tuple[str, ...]
    node_time: Longs
    node_rank: Doubles

    name_node: Ints
    name_surface: tuple[str, ...]
    name_key: tuple[str, ...]

    mention_node: Ints
    mention_chunk: Ints
    mention_start: Ints
    mention_end: Ints

    def_node: Ints
    def_chunk: Ints
    def_weight: Floats

    edge_kind: tuple[str, ...]
    edge_source: Ints
    edge_target: Ints
    edge_weight: Floats
    edge_time: Longs
    edge_phrase: tuple[str, ...]

    evidence_edge: Ints
    evidence_doc: Ints
    evidence_chunk: Ints
    evidence_start: Ints
    evidence_end: Ints

    @property
    def n_nodes(self) -> int:
        return len(self.name)


@dataclass(frozen=True, slots=True)
class Partition:
    """A hierarchy of communities, K in all, coarsest level first, in a fixed order within a level.

    ``level``, ``parent`` (-1 at level 0) have shape (K,). ``member_community``, ``member_node``: a row for
    every
    (community, node) pair; each node is in exactly one community of level 0, and in at most one of
    each deeper level.
    """

    level: Ints
    parent: Ints
    member_community: Ints
    member_node: Ints
