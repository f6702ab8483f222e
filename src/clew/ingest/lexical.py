"""Corpus stage: the lexical index (BM25 postings) over chunks, their titles and heading paths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from clew.algo.bm25 import Postings, group
from clew.ingest.model import Corpus
from clew.text.terms import expand, is_single, term_hash
from clew.text.tokens import normal_words
from clew.types import Ints, Longs, TokenFlag


class _Terms:
    """Numbers terms as they come; sorted by hash at the end, whatever the order."""

    def __init__(self) -> None:
        self.number: dict[str, int] = {}

    def of(self, words: Sequence[str], language: str) -> tuple[Longs, Ints]:
        """Return the terms of each word as a jagged array: ``ptr`` (n + 1,), ``terms``."""
        ptr = [0]
        flat: list[int] = []
        for parts in expand(words, language):
            flat.extend(self.number.setdefault(part, len(self.number)) for part in parts)
            ptr.append(len(flat))
        return np.array(ptr, dtype=np.int64), np.array(flat, dtype=np.int32)

    def one(self, term: str) -> int:
        return self.number.setdefault(term, len(self.number))


def index_terms(corpus: Corpus) -> tuple[Postings, Ints]:
    """Build the postings of a corpus, and the term of every token, shape (T,).

    A chunk's terms are those of its text, of its document's title and of the headings above it
    (its own heading stands in its text). "title counted in" is worth 5 to 9 points of Recall@5 on
    encyclopedic passages, which often don't repeat their subject.
    """
    terms = _Terms()
    chunk_parts: list[Ints] = []
    term_parts: list[Ints] = []
    token, body = token_terms(corpus, terms)
    for chunk, term in (_body(corpus, token, body), _titles(corpus, terms)):
        chunk_parts.append(chunk)
        term_parts.append(term)
    chunks, found = np.concatenate(chunk_parts), np.concatenate(term_parts)
    hashes = np.array([term_hash(term) for term in terms.number], dtype=np.uint64)
    order = np.argsort(hashes, kind="stable")
    place = np.empty(len(order), dtype=np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    ptr, chunk, tf = group(chunks, place[found], len(hashes), corpus.n_chunks)
    length = np.bincount(chunks, minlength=corpus.n_chunks).astype(np.float32)
    first = np.flatnonzero(np.diff(token, prepend=-1))  # a token's own term comes before its bigrams
    return Postings(hashes[order], ptr, chunk, tf, length), place[body[first]]


def token_terms(corpus: Corpus, terms: _Terms) -> tuple[Ints, Ints]:
    """Return (token, term) pairs of all tokens, in token order, bigrams of unspaced scripts included.

    Every token has at least one term.
    """
    token_parts: list[Ints] = []
    term_parts: list[Ints] = []
    for language in sorted({document.language for document in corpus.documents}):
        docs = [d.doc for d in corpus.documents if d.language == language]
        spans = [np.arange(corpus.doc_tokens[d], corpus.doc_tokens[d + 1], dtype=np.int32) for d in docs]
        tokens = np.concatenate(spans) if spans else np.zeros(0, dtype=np.int32)
        forms, which = _used(corpus.form[tokens], len(corpus.words))
        ptr, flat = terms.of([corpus.words[i] for i in forms.tolist()], language)
        count = np.diff(ptr)[which]
        begin = np.repeat(ptr[:-1][which] - np.concatenate(([0], np.cumsum(count)[:-1])), count)
        token_parts.append(np.repeat(tokens, count))
        term_parts.append(flat[begin + np.arange(int(count.sum()))] if len(count) else flat)
    token_parts.append(_bigram_tokens(corpus))
    term_parts.append(_bigrams(corpus, token_parts[-1], terms))
    token, term = np.concatenate(token_parts), np.concatenate(term_parts)
    order = np.argsort(token, kind="stable")
    return token[order], term[order]


def _used(form: Ints, n_words: int) -> tuple[Longs, Longs]:
    """Return the distinct forms, ascending, and the place of each token's among them (without sorting)."""
    there = np.zeros(n_words, dtype=bool)
    there[form] = True
    return np.flatnonzero(there), (np.cumsum(there) - 1)[form]


def _bigram_tokens(corpus: Corpus) -> Ints:
    """Return the tokens that, with the next one, are two adjacent characters of an unspaced script."""
    single = (corpus.flags & TokenFlag.SINGLE) != 0
    gap = TokenFlag.GAP_SPACE | TokenFlag.GAP_JOIN | TokenFlag.GAP_BREAK
    follows = single & ((corpus.flags & gap) == 0)
    return np.flatnonzero(single[:-1] & follows[1:]).astype(np.int32)


def _bigrams(corpus: Corpus, tokens: Ints, terms: _Terms) -> Ints:
    pairs = corpus.form[tokens].astype(np.int64) * len(corpus.words) + corpus.form[tokens + 1]
    distinct, which = np.unique(pairs, return_inverse=True)
    names = [
        terms.one(corpus.words[pair // len(corpus.words)] + corpus.words[pair % len(corpus.words)])
        for pair in distinct.tolist()
    ]
    return np.array(names, dtype=np.int32)[which] if names else np.zeros(0, dtype=np.int32)


def _body(corpus: Corpus, token: Ints, term: Ints) -> tuple[Ints, Ints]:
    lo = np.searchsorted(token, corpus.token_lo)
    hi = np.searchsorted(token, corpus.token_hi)
    count = np.maximum(hi - lo, 0)
    chunk = np.repeat(np.arange(corpus.n_chunks, dtype=np.int32), count)
    begin = np.repeat(lo - np.concatenate(([0], np.cumsum(count)[:-1])) if len(count) else lo, count)
    return chunk, term[begin + np.arange(int(count.sum()))]


def _titles(corpus: Corpus, terms: _Terms) -> tuple[Ints, Ints]:
    chunk_parts: list[int] = []
    term_parts: list[int] = []
    for document, stated, analysis in zip(corpus.documents, corpus.stated, corpus.analyses, strict=True):
        first = int(corpus.doc_chunks[document.doc])
        known: dict[int, list[int]] = {}
        title = normal_words(document.title) if stated.titled else []
        for at, span in enumerate(analysis.chunks):
            found = known.get(span.section)
            if found is None:
                words = title + _headings_above(analysis.sections[span.section].path, title)
                found = terms.of(words, document.language)[1].tolist()
                found += [terms.one(a + b) for a, b in pairwise(words) if _both_single(a, b)]
                known[span.section] = found
            chunk_parts.extend([first + at] * len(found))
            term_parts.extend(found)
    return np.array(chunk_parts, dtype=np.int32), np.array(term_parts, dtype=np.int32)


def _headings_above(path: tuple[str, ...], title: list[str]) -> list[str]:
    """Return the words of the headings above a section, without one that is the title again."""
    words: list[str] = []
    for heading in path[:-1]:
        found = normal_words(heading)
        if found != title:
            words.extend(found)
    return words


def _both_single(a: str, b: str) -> bool:
    return is_single(a) and is_single(b)
