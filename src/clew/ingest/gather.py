"""First corpus stage: all documents' tokens and chunks side by side, over one vocabulary."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain

import numpy as np

from clew.ids import make_id
from clew.ingest.model import Corpus, Stated
from clew.text.dates import changed_at, named_after, written_at
from clew.text.tokens import numbered
from clew.types import Analysis, Document, Ints, Longs, RawDocument, Tokens

_NONE = np.zeros(0, dtype=np.int32)
NO_TOKENS = Tokens((), _NONE, _NONE, _NONE, np.zeros(0, dtype=np.uint16))


def gather(raws: Sequence[RawDocument], analyses: Sequence[Analysis]) -> Corpus:
    """Return the corpus of documents given in any order; ``analyses[i]`` belongs to ``raws[i]``.

    Documents are numbered in key order, so the corpus doesn't depend on how it came about. Its analyses
    are without tokens: these are in its columns.
    """
    pairs = sorted(zip(raws, analyses, strict=True), key=lambda pair: (pair[0].key, pair[1].content_hash))
    ordered = tuple(analysis for _, analysis in pairs)
    documents = tuple(_document(doc, raw, analysis) for doc, (raw, analysis) in enumerate(pairs))
    doc_tokens = _edges(len(analysis.tokens.form) for analysis in ordered)
    doc_chunks = _edges(len(analysis.chunks) for analysis in ordered)
    words, form = _vocabulary(ordered, doc_tokens)
    start = _join([analysis.tokens.start for analysis in ordered])
    end = _join([analysis.tokens.end for analysis in ordered])
    flags = [analysis.tokens.flags for analysis in ordered]
    chunk_doc = np.repeat(np.arange(len(ordered), dtype=np.int32), np.diff(doc_chunks))
    chunk_start = _column(span.start for analysis in ordered for span in analysis.chunks)
    chunk_end = _column(span.end for analysis in ordered for span in analysis.chunks)
    token_doc = np.repeat(np.arange(len(ordered), dtype=np.int64), np.diff(doc_tokens))
    token_lo = _places(token_doc, start, chunk_doc, chunk_start, "left")
    token_hi = _places(token_doc, end, chunk_doc, chunk_end, "right")
    return Corpus(
        documents=documents,
        stated=tuple(Stated(r.ids, r.titled, r.author, r.relations, r.people) for r, _ in pairs),
        # The tokens are in the columns now: as each document has them, with words of its own, they would
        # take as much memory again as all the rest.
        analyses=tuple(replace(analysis, tokens=NO_TOKENS) for analysis in ordered),
        doc_chunks=doc_chunks,
        chunk_doc=chunk_doc,
        chunk_start=chunk_start,
        chunk_end=chunk_end,
        words=words,
        form=form,
        start=start,
        end=end,
        flags=np.concatenate(flags) if flags else np.zeros(0, dtype=np.uint16),
        doc_tokens=doc_tokens,
        token_lo=token_lo,
        token_hi=np.maximum(token_lo, token_hi),
    )


def _document(doc: int, raw: RawDocument, analysis: Analysis) -> Document:
    return Document(
        doc=doc,
        id=make_id("document", raw.key),
        key=raw.key,
        location=raw.location,
        title=analysis.title,
        language=analysis.language,
        encoding=analysis.encoding,
        content_hash=analysis.content_hash,
        size=analysis.size,
        line=raw.line,
        media_type=raw.media_type,
        metadata=analysis.metadata,
        kind=raw.kind or ("record" if raw.media_type == "record" else "note"),
        created_at=_created_at(raw, analysis),
    )


def _created_at(raw: RawDocument, analysis: Analysis) -> int | None:
    """Return when a document was written: as its source knows, as it says itself, else the day that its file
    is named after, else when it was committed or changed, whichever was before."""
    if raw.created_at is not None:
        return raw.created_at
    said = written_at(analysis.metadata)
    named = named_after(raw.key) if said is None and raw.media_type != "record" else said
    if named is not None:
        return named
    later = [at for at in (raw.committed_at, changed_at(analysis.metadata)) if at is not None]
    return min(later, default=None)


def _edges(sizes: Iterable[int]) -> Longs:
    """Return 0 and the running sums, shape (n + 1,)."""
    return np.cumsum(np.fromiter(chain((0,), sizes), dtype=np.int64), dtype=np.int64)


def _column(values: Iterable[int]) -> Ints:
    return np.fromiter(values, dtype=np.int32)


def _join(parts: list[Ints]) -> Ints:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int32)


def _vocabulary(analyses: Sequence[Analysis], doc_tokens: Longs) -> tuple[tuple[str, ...], Ints]:
    """Merge the documents' vocabularies and renumber their tokens' forms."""
    vocabularies = [analysis.tokens.words for analysis in analyses]
    sizes = _edges(map(len, vocabularies))
    met, number = numbered(list(chain.from_iterable(vocabularies)))  # in the order in which they come
    order = sorted(range(len(met)), key=met.__getitem__)
    words = tuple(met[at] for at in order)
    if not len(number):
        return words, np.zeros(0, dtype=np.int32)
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    local = _join([analysis.tokens.form for analysis in analyses])
    shift = np.repeat(sizes[:-1], np.diff(doc_tokens))
    return words, place[number][local + shift]


def _places(token_doc: Longs, at: Ints, chunk_doc: Ints, edge: Ints, side: str) -> Longs:
    """Return, for each chunk, how many tokens come before its ``edge``, all documents in one search.

    ``left``: tokens that begin before the edge; ``right``: tokens that end at the edge or before it.
    """
    key = (token_doc << 32) | at.astype(np.int64)
    wanted = (chunk_doc.astype(np.int64) << 32) | edge.astype(np.int64)
    return np.searchsorted(key, wanted, side="left" if side == "left" else "right").astype(np.int64)
