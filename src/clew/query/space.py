"""An open index as arrays: what search computes with. Everything is loaded at first need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clew.algo.bm25 import Postings, idf
from clew.algo.lookup import distinct_below, locate
from clew.algo.walk import Links
from clew.ports import Reader
from clew.query.graph import Graph
from clew.types import Chunk, Document, Filter, Floats, Ints

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from clew.query.scope import Scope

# A passage that defines a node (its title, its heading) is worth this many mentions of it.
DEFINES = 5.0
KEPT_CHUNKS = 4096  # passages that are held once read: some megabytes


class Space:
    """C chunks, N nodes, W vectors of a reader."""

    def __init__(self, reader: Reader) -> None:
        self.reader = reader
        self.chunk_doc: Ints = reader.array("chunks.doc")
        self.n_chunks = len(self.chunk_doc)
        self.n_docs = int(self.chunk_doc.max(initial=-1)) + 1
        self._documents: dict[int, Document] = {}
        self._chunks: dict[int, Chunk] = {}
        self.scopes: dict[Filter, Scope] = {}  # see clew.query.scope
        self.report_terms: dict[int, set[str]] = {}  # by community; see clew.query.themes
        self._of_kind: dict[str, NDArray[np.bool_]] = {}

    @cached_property
    def postings(self) -> Postings:
        names = ("lex.terms", "lex.ptr", "lex.chunk", "lex.tf", "lex.length")
        return Postings(*(self.reader.array(name) for name in names))

    @property
    def has_vectors(self) -> bool:
        return self.reader.has_array("dense.vectors")

    @cached_property
    def vectors(self) -> Floats:
        """Unit vectors of all windows, shape (W, d), float32: a scan of 100,000 × 384 takes about 11 ms."""
        vectors: Floats = self.reader.array("dense.vectors").astype(np.float32)
        return vectors

    @cached_property
    def _windows(self) -> tuple[Ints, NDArray[np.int64]]:
        """Return the chunks that have vectors and where each one's first window stands."""
        chunk = self.reader.array("dense.chunk")
        chunks, first = np.unique(chunk, return_index=True)
        return chunks.astype(np.int32), first

    def cosines(self, question: Floats) -> Floats:
        """Return every chunk's best cosine over its windows, shape (C,); 0 for a chunk without vectors."""
        scores = np.zeros(self.n_chunks, dtype=np.float32)
        if len(self.vectors):
            chunks, first = self._windows
            scores[chunks] = np.maximum.reduceat(self.vectors @ question, first)
        return scores

    def cosines_among(self, question: Floats, chunks: Ints) -> Floats:
        """Return the best cosine over its windows of some chunks, ascending, shape (n,)."""
        scores = np.zeros(len(chunks), dtype=np.float32)
        known, first = self._windows
        place, found = locate(known, chunks)
        if found.any():
            begin = first[place[found]]
            size = np.append(first, len(self.vectors))[place[found] + 1] - begin
            starts = np.cumsum(size) - size
            rows = np.repeat(begin - starts, size) + np.arange(int(size.sum()))
            scores[found] = np.maximum.reduceat(self.vectors[rows] @ question, starts)
        return scores

    @cached_property
    def node_df(self) -> Ints:
        df: Ints = self.reader.array("graph.node_df")
        return df

    @cached_property
    def node_rank(self) -> Floats:
        """The PageRank of every node, shape (N,)."""
        rank: Floats = self.reader.array("nodes.pagerank")
        return rank

    @cached_property
    def chunk_rank(self) -> Floats:
        """The PageRank of every chunk's document, shape (C,): which of two equally good passages is first."""
        doc = self.reader.array("graph.node_doc")
        rank = np.zeros(len(self.reader.array("documents.kind")), dtype=np.float32)
        rank[doc[doc >= 0]] = self.node_rank[doc >= 0]
        found: Floats = rank[self.chunk_doc]
        return found

    @property
    def n_nodes(self) -> int:
        return len(self.node_df)

    @cached_property
    def node_idf(self) -> Floats:
        """Return the inverse document frequency of every node, shape (N,)."""
        weights: Floats = idf(self.node_df.astype(np.float32), self.n_chunks).astype(np.float32)
        return weights

    @cached_property
    def mentions(self) -> csr_array[Any, Any]:
        """Which chunk mentions or is defined by which node, shape (C, N), ones."""
        from scipy.sparse import csr_array  # 0.1 s that a question without a walk needn't pay

        ptr, node = self.reader.array("graph.chunk_ptr"), self.reader.array("graph.chunk_node")
        ones = np.ones(len(node), dtype=np.float32)
        return csr_array((ones, node, ptr), shape=(self.n_chunks, self.n_nodes))

    @cached_property
    def defines(self) -> csr_array[Any, Any]:
        """How strongly a chunk defines a node (0..1), shape (C, N)."""
        from scipy.sparse import coo_array

        node, chunk = self.reader.array("graph.def_node"), self.reader.array("graph.def_chunk")
        weight = self.reader.array("graph.def_weight").astype(np.float32)
        shape = (self.n_chunks, self.n_nodes)
        return coo_array((weight, (chunk, node)), shape=shape).tocsr()

    @cached_property
    def defined(self) -> NDArray[np.float32]:
        """How strongly a node is defined by some chunk, shape (N,)."""
        out = np.zeros(self.n_nodes, dtype=np.float32)
        np.maximum.at(out, self.reader.array("graph.def_node"), self.reader.array("graph.def_weight"))
        return out

    @cached_property
    def links(self) -> Links:
        """The weighted bipartite graph: a node's idf, times DEFINES where the chunk defines it."""
        weight = (self.mentions + (DEFINES - 1.0) * self.defines).tocsr()
        weight.data = (weight.data * self.node_idf[weight.indices]).astype(np.float32)
        return Links(weight, weight.T.tocsr())

    @cached_property
    def graph(self) -> Graph:
        """The typed edges, for questions of structure."""
        return Graph(self.reader, self.n_nodes)

    @property
    def document_kinds(self) -> tuple[str, ...]:
        """The kinds of documents that there are (``note``, ``record``, …)."""
        return tuple(self.reader.meta.get("document_kinds", ()))

    def of_kind(self, word: str) -> NDArray[np.bool_]:
        """Tell which nodes are of a kind, shape (N,): a node's (``entity``) or a document's (``article``);
        all for no word. ``note`` is any document where none is called so."""
        if word not in self._of_kind:
            self._of_kind[word] = self._kind_mask(word)
        return self._of_kind[word]

    def _kind_mask(self, word: str) -> NDArray[np.bool_]:
        if not word:
            return np.ones(self.n_nodes, dtype=bool)
        kinds = tuple(self.reader.meta["node_kinds"])
        if word == "note" and word not in self.document_kinds:
            word = "document"
        if word in kinds:
            return np.asarray(self.reader.array("graph.node_kind") == kinds.index(word))
        doc = self.reader.array("graph.node_doc")
        stands = self._kind_mask("document") & (doc >= 0)
        stands[stands] = self.reader.array("documents.kind")[doc[stands]] == self.document_kinds.index(word)
        return stands

    def nodes_of(self, chunk: int) -> Ints:
        """Return the nodes that a chunk mentions or defines, ascending."""
        ptr = self.reader.array("graph.chunk_ptr")
        found: Ints = self.reader.array("graph.chunk_node")[ptr[chunk] : ptr[chunk + 1]]
        return found

    def defined_in(self, chunk: int) -> Ints:
        """Return the nodes that a chunk defines, ascending."""
        return _row(self.defines, chunk)

    def chunks_of(self, node: int) -> Ints:
        """Return the chunks that mention or define a node, ascending."""
        return _row(self.links.back, node)

    def documents(self, docs: Iterable[int]) -> dict[int, Document]:
        """Return documents by position; each is read once."""
        missing = sorted(set(docs) - self._documents.keys())
        if missing:
            self._documents.update((one.doc, one) for one in self.reader.documents(missing))
        return self._documents

    def chunks(self, wanted: Sequence[int]) -> list[Chunk]:
        """Return chunks by position. The last thousands are kept: what a question finds is read again to be
        packed and cited."""
        kept = self._chunks  # threads may share this: it is replaced as a whole
        found = {at: kept[at] for at in wanted if at in kept}
        missing = sorted(set(wanted) - found.keys())
        if missing:
            read = {one.chunk: one for one in self.reader.chunks(missing)}
            found.update(read)
            self._chunks = {**kept, **read} if len(kept) + len(read) <= KEPT_CHUNKS else read
        return [found[at] for at in wanted]

    def node_names(self, nodes: Iterable[int]) -> dict[int, str]:
        """Return the names of nodes by position."""
        ptr, data = self.reader.array("graph.name_ptr"), self.reader.array("graph.name_data")
        return {
            node: data[ptr[node] : ptr[node + 1]].tobytes().decode("utf-8", "surrogatepass") for node in nodes
        }

    @cached_property
    def linked_share(self) -> float:
        """Return the share of chunks that mention something which another chunk defines, in 0..1.

        Near 1 where passages explain each other's names (encyclopedias, linked notes), near 0 in chats
        and news, whose titles nobody mentions.
        """
        if not self.n_chunks:
            return 0.0
        own = self.mentions.multiply(self.defines > 0).sum(axis=1)
        known = self.mentions @ (self.defined > 0).astype(np.float32)
        return float((np.asarray(known) - np.asarray(own) > 0.5).mean())

    def terms(self, chunk: int) -> Ints:
        """Return the terms of a chunk's tokens, in order."""
        lo, hi = self.reader.array("place.lo"), self.reader.array("place.hi")
        found: Ints = self.reader.array("place.term")[lo[chunk] : hi[chunk]]
        return found

    def places(self, chunk: int) -> tuple[Ints, Ints, Ints]:
        """Return a chunk's mentions: nodes, first tokens and ends (counted from the chunk's first token)."""
        ptr = self.reader.array("place.mention_ptr")
        rows = slice(int(ptr[chunk]), int(ptr[chunk + 1]))
        base = int(self.reader.array("place.lo")[chunk])
        first = self.reader.array("place.mention_lo")[rows] - base
        last = self.reader.array("place.mention_hi")[rows] - base
        return self.reader.array("place.mention_node")[rows], first, last

    def links_among(self, chunks: Ints) -> tuple[Links, Ints]:
        """Return the weighted graph of some chunks, ascending, and the nodes in it, ascending."""
        forward = self.links.forward[chunks]
        nodes = distinct_below(forward.indices, self.n_nodes)
        place = np.empty(self.n_nodes, dtype=np.int32)
        place[nodes] = np.arange(len(nodes), dtype=np.int32)
        shape = (len(chunks), len(nodes))
        here = type(forward)((forward.data, place[forward.indices], forward.indptr), shape=shape)
        return Links(here, here.T.tocsr()), nodes

    @cached_property
    def _names(self) -> tuple[NDArray[np.uint64], Ints]:
        return self.reader.array("names.hash"), self.reader.array("names.node")

    def known_names(self, keys: Sequence[int]) -> list[tuple[int, ...]]:
        """Return for each key's hash the nodes that have a name with it, ascending."""
        hashes, nodes = self._names
        wanted = np.array(keys, dtype=np.uint64)
        lo, hi = np.searchsorted(hashes, wanted, "left"), np.searchsorted(hashes, wanted, "right")
        pairs = zip(lo.tolist(), hi.tolist(), strict=True)
        return [tuple(nodes[first:last].tolist()) if first < last else () for first, last in pairs]


def _row(table: csr_array[Any, Any], at: int) -> Ints:
    """Return the columns of a row: a slice, where scipy's own indexing takes a third of a millisecond."""
    found: Ints = table.indices[table.indptr[at] : table.indptr[at + 1]]
    return found
