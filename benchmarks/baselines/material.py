"""What the baselines rank with: passages, sentences, entities, their vectors, and a walk with restart."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array

from clew.index import SilentProgress
from clew.ingest.embed import embed_chunks
from clew.options import EmbedOptions
from clew.query.engine import IndexEngine
from clew.stores.duckdb import DuckStore
from clew.text.sentences import sentences
from clew.types import Floats, Ints


@dataclass(frozen=True)
class Material:
    """C passages, N entities, S sentences that mention some entity.

    ``counts`` (C, N): how often a passage names an entity, its title included; ``holds`` (S, N): which
    sentence mentions which entity; ``sentence_chunk`` (S,): the passage of each; ``titles`` (C, N): which
    passage has the entity as its title. Vectors are of unit length: ``sentence_vectors`` (S, d) and
    ``name_vectors`` (N, d), made by the index's own embedder.
    """

    engine: IndexEngine
    names: list[str]
    counts: csr_array[Any, Any]
    titles: csr_array[Any, Any]
    holds: csr_array[Any, Any]
    sentence_chunk: Ints
    sentence_vectors: Floats
    name_vectors: Floats

    @property
    def n_chunks(self) -> int:
        return len(self.engine.space.chunk_doc)

    def vector(self, question: str) -> Floats:
        """Return the question's unit vector, shape (d,)."""
        embedder = self.engine.embedder
        if embedder is None:
            raise ValueError("the index has no vectors")
        return embedder.embed_question(question)

    def asked(self, question: str) -> list[int]:
        """Return the entities that the question names, ascending."""
        return sorted({node for name in self.engine.lexicon.names(question) for node in name.nodes})


def gather(engine: IndexEngine, cache: Path) -> Material:
    """Read the material from an index; vectors that aren't in the cache are made and kept there."""
    space, reader = engine.space, engine.reader
    chunks = reader.chunks(range(space.n_chunks))
    mentions = reader.mentions(limit=2**31)
    texts: list[str] = []
    owner: list[int] = []
    begins: list[Ints] = []  # byte at which each sentence of a passage begins
    first: list[int] = []
    for chunk in chunks:
        spans = sentences(chunk.text)
        first.append(len(texts))
        begins.append(np.array([len(chunk.text[:lo].encode()) for lo, _ in spans], dtype=np.int32))
        texts += [chunk.text[lo:hi] for lo, hi in spans]
        owner += [chunk.chunk] * len(spans)
    rows = []  # the sentence of each mention
    for one in mentions:
        at = int(np.searchsorted(begins[one.chunk], one.start - chunks[one.chunk].start, "right"))
        rows.append(first[one.chunk] + max(at - 1, 0))
    node = np.array([one.node for one in mentions], dtype=np.int32)
    holds = _table(np.array(rows, dtype=np.int32), node, (len(texts), space.n_nodes))
    titles = (space.defines > 0).astype(np.float32).tocsr()
    where = np.array([one.chunk for one in mentions], dtype=np.int32)
    counts = (_table(where, node, (space.n_chunks, space.n_nodes), add=True) + titles).tocsr()
    used = np.flatnonzero(np.diff(holds.indptr))
    found = space.node_names(range(space.n_nodes))
    names = [found[at] for at in range(space.n_nodes)]
    return Material(
        engine,
        names,
        counts,
        titles,
        holds[used],
        np.array(owner, dtype=np.int32)[used],
        _embedded(engine, [texts[at] for at in used.tolist()], cache),
        _embedded(engine, names, cache),
    )


def facts_of(material: Material) -> tuple[csr_array[Any, Any], Ints]:
    """Return which relation links which entities, shape (F, N), and each relation's sentence (F,).

    A relation here is a sentence that mentions several entities; the entity of its passage's title counts
    as one of them, since that is whom a sentence mostly tells of.
    """
    facts = (material.holds + material.titles[material.sentence_chunk]).tocsr()
    facts.data[:] = 1.0
    several = np.flatnonzero(np.diff(facts.indptr) > 1).astype(np.int32)
    return facts[several], several


def _table(rows: Ints, columns: Ints, shape: tuple[int, int], add: bool = False) -> csr_array[Any, Any]:
    """Return a table of ones, or of counts."""
    table = coo_array((np.ones(len(rows), dtype=np.float32), (rows, columns)), shape=shape).tocsr()
    table.sum_duplicates()
    if not add:
        table.data[:] = 1.0
    return table


def _embedded(engine: IndexEngine, texts: list[str], path: Path) -> Floats:
    """Return unit vectors of texts, shape (n, d), remembered in the cache at ``path``; of a text longer than
    the model's window that of its beginning, and zeros for one that isn't a word."""
    embedder = engine.embedder
    if embedder is None:
        raise ValueError("the index has no vectors")
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(DuckStore().cache(path)) as cache:
        owner, vectors = embed_chunks(texts, embedder, EmbedOptions(), cache, SilentProgress())
    out = np.zeros((len(texts), embedder.dimension), dtype=np.float32)
    rows, first = np.unique(owner, return_index=True)
    out[rows] = vectors[first]
    return out


def scaled(scores: Floats) -> Floats:
    """Min-max scale to 0..1 over all items, as these methods do."""
    span = float(scores.max() - scores.min()) if len(scores) else 0.0
    return (scores - scores.min()) / span if span > 0 else np.ones_like(scores)


class Undirected:
    """An undirected weighted graph of passages 0..C-1 and entities C..C+N-1, ready to be walked on."""

    def __init__(self, passages: csr_array[Any, Any], entities: csr_array[Any, Any] | None = None) -> None:
        """``passages`` (C, N) links passages with entities, ``entities`` (N, N) entities with each other
        (each pair in both directions)."""
        n_chunks, n_nodes = passages.shape
        size = n_chunks + n_nodes
        pairs = passages.tocoo()
        parts = [(pairs.coords[0], pairs.coords[1] + n_chunks, pairs.data)]
        parts.append((parts[0][1], parts[0][0], parts[0][2]))
        if entities is not None:
            inner = entities.tocoo()
            parts.append((inner.coords[0] + n_chunks, inner.coords[1] + n_chunks, inner.data))
        rows, columns, data = (np.concatenate([part[at] for part in parts]) for at in range(3))
        table = coo_array((data.astype(np.float32), (rows, columns)), shape=(size, size)).tocsr()
        self.table = table
        out = np.asarray(table.sum(axis=1), dtype=np.float32).ravel()
        self.inverse = np.divide(1.0, out, out=np.zeros_like(out), where=out > 0)
        self.stuck = out <= 0

    def walk(self, restart: Floats, damping: float) -> Floats:
        """Return the stationary mass of a walk that follows an edge with probability ``damping``, else begins
        anew; shape (C + N,). Who has no edge begins anew as well."""
        begin = (restart / max(float(restart.sum()), 1e-12)).astype(np.float32)
        mass = begin.copy()
        for _ in range(100):
            lost = float(mass[self.stuck].sum())
            after = damping * (self.table @ (mass * self.inverse) + lost * begin) + (1 - damping) * begin
            moved = float(np.abs(after - mass).sum())
            mass = after
            if moved < 1e-6:
                break
        return mass
