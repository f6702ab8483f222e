"""Okapi BM25 over a postings table, as arrays.

Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009), with the
non-negative idf ``ln(1 + (N - df + ½) / (df + ½))`` that Lucene uses. Written out here rather than
taken from a library because the same postings serve coverage, gating and explanations, and because
they are published as plain arrays that open without a rebuild.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clew.algo.lookup import locate
from clew.types import Floats, Hashes, Ints, Longs

# k1 and b of the passages' literature (Anserini's defaults), better here than 1.2 / 0.75 on all four
# development sets: passages are short and of like length.
K1 = 0.9
B = 0.4


def idf(df: Any, total: int) -> Any:
    """Return ln(1 + (total - df + ½) / (df + ½)), non-negative, of a number or an array of them."""
    return np.log1p((total - df + 0.5) / (df + 0.5))


@dataclass(frozen=True)
class Postings:
    """V terms over C chunks. ``terms`` (V,) are sorted term hashes; the chunks of term i are
    ``chunk[ptr[i]:ptr[i + 1]]``, ascending, with frequencies ``tf``; ``length`` (C,) counts terms."""

    terms: Hashes
    ptr: Longs
    chunk: Ints
    tf: np.ndarray[tuple[int], np.dtype[np.uint8]]
    length: Floats

    @property
    def n_chunks(self) -> int:
        return len(self.length)

    @cached_property
    def mean(self) -> float:
        """The mean length of a chunk; 1 if there is none."""
        return float(self.length.mean()) or 1.0 if len(self.length) else 1.0

    def find(self, term: int) -> int:
        """Return a term's position, or -1."""
        at = int(np.searchsorted(self.terms, np.uint64(term)))
        return at if at < len(self.terms) and int(self.terms[at]) == term else -1

    def df(self, position: int) -> int:
        """Return how many chunks hold the term."""
        return int(self.ptr[position + 1] - self.ptr[position])

    def chunks(self, position: int) -> Ints:
        """Return the chunks that hold the term, ascending."""
        return self.chunk[self.ptr[position] : self.ptr[position + 1]]

    def idf(self, position: int) -> float:
        return float(idf(self.df(position), self.n_chunks))


def bm25(
    postings: Postings, positions: Iterable[tuple[int, float]], *, k1: float = K1, b: float = B
) -> Floats:
    """Return every chunk's score for the terms at ``positions``, each with its weight, shape (C,)."""
    scores = np.zeros(postings.n_chunks, dtype=np.float32)
    for position, weight in positions:
        where = slice(int(postings.ptr[position]), int(postings.ptr[position + 1]))
        chunks = postings.chunk[where]
        scores[chunks] += weight * _gains(postings, position, chunks, postings.tf[where], k1, b)
    return scores


def bm25_among(
    postings: Postings, positions: Iterable[tuple[int, float]], chunks: Ints, *, k1: float = K1, b: float = B
) -> Floats:
    """Return the scores of some chunks, ascending, shape (n,): :func:`bm25` at a cost that doesn't grow
    with the index."""
    scores = np.zeros(len(chunks), dtype=np.float32)
    for position, weight in positions:
        place, held = locate(postings.chunks(position), chunks)
        tf = postings.tf[int(postings.ptr[position]) + place[held]]
        scores[held] += weight * _gains(postings, position, chunks[held], tf, k1, b)
    return scores


def most(postings: Postings, positions: Iterable[int], unknown: int = 0, *, k1: float = K1) -> float:
    """Return the score to which a passage full of each of the terms tends, and of ``unknown`` terms that
    no passage has; above 0."""
    weight = sum(postings.idf(at) for at in positions) + unknown * float(idf(0, postings.n_chunks))
    return max(weight * (k1 + 1.0), 1e-9)


def _gains(
    postings: Postings,
    position: int,
    chunks: Ints,
    frequency: np.ndarray[Any, np.dtype[np.uint8]],
    k1: float,
    b: float,
) -> Floats:
    """Return what a term adds to the scores of chunks that hold it, of the same shape."""
    tf = frequency.astype(np.float32)
    norm = k1 * (1.0 - b + b * postings.length[chunks] / postings.mean)
    return (np.float32(postings.idf(position)) * (tf * (k1 + 1.0) / (tf + norm))).astype(np.float32)


def group(
    chunk: Ints, term: Ints, n_terms: int, n_chunks: int
) -> tuple[Longs, Ints, np.ndarray[tuple[int], np.dtype[np.uint8]]]:
    """Turn (chunk, term) occurrences into the postings' ``ptr``, ``chunk`` and ``tf`` (at most 255)."""
    from scipy.sparse import coo_array

    ones = np.ones(len(chunk), dtype=np.int32)
    table = coo_array((ones, (term, chunk)), shape=(n_terms, n_chunks)).tocsr()
    table.sum_duplicates()
    table.sort_indices()
    tf = np.minimum(table.data, 255).astype(np.uint8)
    return table.indptr.astype(np.int64), table.indices.astype(np.int32), tf
