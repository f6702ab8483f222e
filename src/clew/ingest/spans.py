"""Runs of tokens as arrays: hashes of their joined normal forms, gaps, and the chunks they lie in.

A run's hash is the polynomial hash, mod 2^64, of its words' characters written without separators.
So "Docker Compose", "docker-compose" and "DockerCompose" have one hash, and the hash of a longer run
follows from that of a shorter one: H(ab) = H(a)·B^len(b) + H(b). Characters are mixed first, since
a plain polynomial clashes on short strings. Equal hashes are a hint: whoever merges by them compares
the strings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from clew.ingest.model import Corpus
from clew.text.stem import stem_words
from clew.types import Hashes, Ints, Longs, Mark, MarkKind, TokenFlag

Bools = NDArray[np.bool_]

BASE = np.uint64(0x9E3779B97F4A7C15)  # odd, with well-spread bits (2^64 divided by the golden ratio)
BREAKS = int(TokenFlag.GAP_BREAK)
GAPS = int(TokenFlag.GAP_SPACE | TokenFlag.GAP_JOIN | TokenFlag.GAP_BREAK)


def hash_words(words: Sequence[str]) -> tuple[Hashes, Hashes]:
    """Return each word's hash and B^length, both of shape (len(words),)."""
    value = np.zeros(len(words), dtype=np.uint64)
    power = np.ones(len(words), dtype=np.uint64)
    for which, hashes in _growing(words):
        value[which] = hashes
        power[which] *= BASE
    return value, power


def hash_beginnings(words: Sequence[str]) -> Hashes:
    """Return the hashes of everything that one of the words begins with, the words themselves included."""
    none = np.zeros(0, dtype=np.uint64)
    return np.concatenate([none, *(hashes for _, hashes in _growing(words))])


def _growing(words: Sequence[str]) -> Iterator[tuple[Longs, Hashes]]:
    """Yield, for each length from 1, the words that are as long or longer, and the hashes of what these
    begin with at that length."""
    n = len(words)
    if not n:
        return
    value = np.zeros(n, dtype=np.uint64)
    codes = np.frombuffer("".join(words).encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    size = np.fromiter(map(len, words), dtype=np.int64, count=n)
    begin = np.cumsum(size) - size
    mixed = _mix(codes.astype(np.uint64))
    longest_first = np.argsort(-size, kind="stable")
    alive = np.searchsorted(-size[longest_first], -np.arange(1, int(size.max()) + 1), side="right")
    for at, count in enumerate(alive.tolist()):
        which = longest_first[:count]
        hashes = value[which] * BASE + mixed[begin[which] + at]
        value[which] = hashes
        yield which, hashes


def _mix(values: Hashes) -> Hashes:
    """Spread the bits of small numbers (the finaliser of SplitMix64, Steele et al. 2014)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


@dataclass(frozen=True)
class Line:
    """The corpus as one line of T tokens, with what every stage asks of it. Computed once, kept."""

    corpus: Corpus
    _stems: dict[str, tuple[Longs, list[str]]] = field(default_factory=dict)

    @property
    def size(self) -> int:
        return len(self.corpus.form)

    def has(self, flag: int) -> Bools:
        """Tell which tokens have any of the flags, shape (T,)."""
        found: Bools = (self.corpus.flags & np.uint16(flag)) != 0
        return found

    def marked(self, kind: MarkKind) -> list[tuple[int, Mark]]:
        """Return the marks of a kind with their documents, in order."""
        return self._marks.get(kind, [])

    @cached_property
    def _marks(self) -> dict[MarkKind, list[tuple[int, Mark]]]:
        found: dict[MarkKind, list[tuple[int, Mark]]] = defaultdict(list)
        for document, analysis in zip(self.corpus.documents, self.corpus.analyses, strict=True):
            for mark in analysis.marks:
                found[mark.kind].append((document.doc, mark))
        return dict(found)

    @cached_property
    def doc(self) -> Ints:
        """The document of each token."""
        count = len(self.corpus.documents)
        return np.repeat(np.arange(count, dtype=np.int32), np.diff(self.corpus.doc_tokens))

    @cached_property
    def chunk(self) -> Ints:
        """The first chunk that holds each token, or -1."""
        corpus = self.corpus
        if not corpus.n_chunks:
            return np.full(self.size, -1, dtype=np.int32)
        at = np.arange(self.size)
        # How many chunks end at each token or before it.
        place = np.cumsum(np.bincount(np.maximum.accumulate(corpus.token_hi), minlength=self.size + 1)[:-1])
        clipped = np.minimum(place, corpus.n_chunks - 1)
        inside = (place < corpus.n_chunks) & (corpus.token_lo[clipped] <= at)
        return np.where(inside, clipped, -1).astype(np.int32)

    @cached_property
    def word_hash(self) -> tuple[Hashes, Hashes]:
        """Hash and power of each word of the vocabulary."""
        return hash_words(self.corpus.words)

    @cached_property
    def word_size(self) -> Ints:
        """Characters of each word of the vocabulary."""
        words = self.corpus.words
        return np.fromiter(map(len, words), dtype=np.int32, count=len(words))

    @cached_property
    def by_word(self) -> tuple[Ints, Ints, Ints]:
        """All tokens' places, by word form and in order within each; their forms; their chunks. (T,) each.

        A counting sort: what many stages sort 64-bit pairs for comes out of it by comparing neighbours.
        """
        form, n_words = self.corpus.form, len(self.corpus.words)
        ones, every = np.ones(self.size, dtype=np.int8), np.arange(self.size, dtype=np.int32)
        table = sparse.csr_array((ones, (form, every)), shape=(n_words, self.size))
        place = table.indices
        owner = np.repeat(np.arange(n_words, dtype=np.int32), np.diff(table.indptr))
        return place, owner, self.chunk[place]

    def word_df(self, which: Bools, unit: Ints | None = None) -> Longs:
        """Count the chunks in which each word stands at the tokens of a mask, shape (V,); tokens outside all
        chunks count for nothing. ``unit`` (C,), ascending, counts units of chunks (documents) instead.
        """
        place, owner, chunk = self.by_word
        kept = which[place] & (chunk >= 0)
        owner, chunk = owner[kept], chunk[kept]
        if unit is not None:
            chunk = unit[chunk]
        new = np.ones(len(owner), dtype=bool)
        new[1:] = (owner[1:] != owner[:-1]) | (chunk[1:] != chunk[:-1])
        return np.bincount(owner[new], minlength=len(self.corpus.words))

    @cached_property
    def first_of_doc(self) -> Bools:
        """The first token of each document."""
        first = np.zeros(self.size, dtype=bool)
        starts = self.corpus.doc_tokens[:-1]
        first[starts[starts < self.size]] = True
        return first

    @cached_property
    def space(self) -> Ints:
        """Bytes between each token and the one before it (0 at a document's beginning)."""
        space = np.zeros(self.size, dtype=np.int32)
        space[1:] = self.corpus.start[1:] - self.corpus.end[:-1]
        space[self.first_of_doc] = 0
        return space

    def stems(self, language: str) -> tuple[Longs, list[str]]:
        """Return the word forms that occur in documents of a language, ascending, and their stems."""
        if language not in self._stems:
            documents = np.array([document.language == language for document in self.corpus.documents])
            seen = np.zeros(len(self.corpus.words), dtype=bool)
            seen[self.corpus.form[documents[self.doc]]] = True
            forms = np.flatnonzero(seen)
            words = [self.corpus.words[form] for form in forms.tolist()]
            self._stems[language] = forms, stem_words(words, language)
        return self._stems[language]

    def gap_begins(self, at: Longs, char: str) -> Bools:
        """Tell before which of the tokens ``at`` the gap begins with an ASCII character, shape (len(at),).

        Looks into the text, about a microsecond each: for a selection of tokens, not for all.
        """
        corpus = self.corpus
        wanted: int | str = char
        out = np.zeros(len(at), dtype=bool)
        chunks, docs = self.chunk[at - 1], self.doc[at - 1]
        held, base = -1, 0
        data: bytes | str = b""
        places = corpus.end[at - 1].tolist()
        for i, (chunk, place) in enumerate(zip(chunks.tolist(), places, strict=True)):
            if chunk < 0:
                continue
            if chunk != held:
                held, base = chunk, int(corpus.chunk_start[chunk])
                text = corpus.text(chunk)
                plain = text.isascii() and corpus.documents[int(docs[i])].encoding in ("utf-8", "ascii")
                data, wanted = (text, char) if plain else (self._encoded(chunk), ord(char))
            out[i] = place - base < len(data) and data[place - base] == wanted
        return out

    def _encoded(self, chunk: int) -> bytes:
        encoding = self.corpus.documents[int(self.corpus.chunk_doc[chunk])].encoding
        return self.corpus.text(chunk).encode(encoding, _errors(encoding))

    def hash_runs(self, lo: Longs, hi: Longs) -> Hashes:
        """Return the hashes of the runs ``lo[i]:hi[i]``."""
        value, power = self.word_hash
        form = self.corpus.form
        out = np.zeros(len(lo), dtype=np.uint64)
        length = hi - lo
        for step in range(int(length.max()) if len(length) else 0):
            which = np.flatnonzero(length > step)
            word = form[lo[which] + step]
            out[which] = out[which] * power[word] + value[word]
        return out

    def key(self, lo: int, hi: int) -> str:
        """Return a run's normal forms, joined without separators."""
        words = self.corpus.words
        return "".join([words[form] for form in self.corpus.form[lo:hi].tolist()])

    def surface(self, lo: int, hi: int) -> str:
        """Return a run's text as written, white space squeezed."""
        doc, start, end = int(self.doc[lo]), int(self.corpus.start[lo]), int(self.corpus.end[hi - 1])
        chunk = int(self.chunk[lo])
        whole = chunk >= 0 and end <= self.corpus.chunk_end[chunk]
        text = self._cut(doc, chunk, start, end) if whole else self.text(doc, start, end)
        return " ".join(text.split())

    def text(self, doc: int, start: int, end: int) -> str:
        """Return the text at source offsets of a document; empty if no one chunk holds all of it."""
        corpus = self.corpus
        first, last = int(corpus.doc_chunks[doc]), int(corpus.doc_chunks[doc + 1])
        at = first + int(np.searchsorted(corpus.chunk_start[first:last], start, side="right")) - 1
        while at >= first:  # of overlapping chunks, an earlier one may be the one that holds the end
            if corpus.chunk_end[at] >= end:
                return self._cut(doc, at, start, end)
            at -= 1
        return ""

    def _cut(self, doc: int, chunk: int, start: int, end: int) -> str:
        encoding = self.corpus.documents[doc].encoding
        text = self.corpus.text(chunk)
        begin = start - int(self.corpus.chunk_start[chunk])
        size = end - start
        if text.isascii() and encoding in ("utf-8", "ascii"):
            return text[begin : begin + size]
        return self._encoded(chunk)[begin : begin + size].decode(encoding, "replace")


def _errors(encoding: str) -> str:
    return "surrogatepass" if encoding.startswith("utf") else "replace"


def distinct(values: Longs) -> Longs:
    """Return the distinct values, ascending: numpy's ``unique`` hashes, which takes 3× as long here."""
    if not len(values):
        return values
    ordered = np.sort(values)
    new = np.ones(len(ordered), dtype=bool)
    new[1:] = ordered[1:] != ordered[:-1]
    return ordered[new]


def expand(lo: Longs, hi: Longs) -> tuple[Longs, Longs]:
    """Return, for ranges ``lo[i]:hi[i]``, the owner i and the place of every element in order."""
    count = np.maximum(hi - lo, 0)
    owner = np.repeat(np.arange(len(count), dtype=np.int64), count)
    before = np.cumsum(count) - count
    place = np.arange(len(owner), dtype=np.int64) - before[owner] + lo[owner]
    return owner, place
