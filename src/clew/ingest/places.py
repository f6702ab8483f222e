"""Where source offsets lie: chunks and tokens of spans, many at a time."""

from __future__ import annotations

import numpy as np

from clew.ingest.model import Corpus
from clew.types import Ints, Longs


def chunks_at(corpus: Corpus, doc: Ints, start: Ints, end: Ints) -> Ints:
    """Return the last chunk of ``doc`` that holds ``start``..``end`` whole, or -1, shape (n,)."""
    if not corpus.n_chunks or not len(doc):
        return np.full(len(doc), -1, dtype=np.int32)
    key = (corpus.chunk_doc.astype(np.int64) << 32) | corpus.chunk_start
    wanted = (doc.astype(np.int64) << 32) | start
    place = np.searchsorted(key, wanted, side="right") - 1
    out = np.full(len(doc), -1, dtype=np.int32)
    for back in range(2):  # chunks may overlap: the one before may hold what the last one doesn't
        at = np.maximum(place - back, 0)
        fits = (place - back >= 0) & (corpus.chunk_doc[at] == doc) & (corpus.chunk_end[at] >= end)
        out = np.where((out < 0) & fits, at, out).astype(np.int32)
    return out


def tokens_in(corpus: Corpus, doc: Ints, start: Ints, end: Ints) -> tuple[Longs, Longs]:
    """Return the range of tokens that lie within ``start``..``end`` of a document, shape (n,) each."""
    token_doc = np.repeat(np.arange(len(corpus.documents), dtype=np.int64), np.diff(corpus.doc_tokens))
    lo = np.searchsorted((token_doc << 32) | corpus.start, (doc.astype(np.int64) << 32) | start, side="left")
    hi = np.searchsorted((token_doc << 32) | corpus.end, (doc.astype(np.int64) << 32) | end, side="right")
    return lo.astype(np.int64), np.maximum(lo, hi).astype(np.int64)
