"""Inflected forms of names: "Києві" is Київ, "Goethes" Goethe, "smart pointers" a smart pointer.

Two forms are one word if they have one stem in the text's language and differ as forms do
(:mod:`clew.text.forms`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from clew.ingest.casing import Casing
from clew.ingest.lookup import WHOLE, HashTable, find_runs
from clew.ingest.spans import Bools, Line, hash_beginnings, hash_words
from clew.text.forms import INFLECTS_NAMES, inflected
from clew.text.stem import has_stemmer, stem, stem_words
from clew.types import Hashes, Longs, TokenFlag


def languages(line: Line) -> list[str]:
    """Return the corpus' languages that have a stemmer."""
    return sorted({d.language for d in line.corpus.documents if has_stemmer(d.language)})


class Forms:
    """Finds an earlier entry of which a name is a form; one for the whole corpus."""

    def __init__(self, line: Line, known: Sequence[str]) -> None:
        self._entries: dict[tuple[str, str], list[tuple[tuple[str, ...], int]]] = {}
        self._stems: dict[str, dict[str, str]] = {}
        for language in known:  # all at once: a call for each word costs more than the stemming
            forms, stems = line.stems(language)
            words = [line.corpus.words[form] for form in forms.tolist()]
            self._stems[language] = dict(zip(words, stems, strict=True))

    def note(self, words: Sequence[str], language: str, entry: int) -> None:
        """Remember a name's words (normal forms)."""
        self._entries.setdefault((language, self._key(words, language)), []).append((tuple(words), entry))

    def find(self, words: Sequence[str], language: str) -> int:
        """Return the first entry that was noted with a form of these words, or -1."""
        for other, entry in self._entries.get((language, self._key(words, language)), ()):
            if all(inflected(a, b, language) for a, b in zip(words, other, strict=False)):
                return entry
        return -1

    def _key(self, words: Sequence[str], language: str) -> str:
        stems = self._stems.setdefault(language, {})
        return " ".join([stems.get(word) or stems.setdefault(word, stem(word, language)) for word in words])


def find_inflected(
    line: Line,
    casing: Casing,
    words: Sequence[tuple[str, ...]],
    capital: Bools,
    free: Bools,
    common: Bools,
) -> Iterator[tuple[Longs, Longs, Longs]]:
    """Yield (lo, hi, row) of the runs of ``free`` tokens that are forms of names, language by language.

    ``words`` (R,) are the names' normal forms, ``capital`` (R,) whether they need one in text;
    ``common`` (V,) tells the ordinary words that are frequent.
    """
    vocabulary = sorted({word for row in words for word in row})
    place = {word: i for i, word in enumerate(vocabulary)}
    flat = np.array([place[word] for row in words for word in row], dtype=np.int64)
    count = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    begin = np.cumsum(count) - count
    for language in languages(line):
        in_language = np.array([d.language == language for d in line.corpus.documents])[line.doc] & free
        if in_language.any() and len(words):
            found = _Language(line, casing, language, vocabulary, flat, begin, count, common)
            yield found.runs(words, capital, in_language)


def _row_hashes(words: Sequence[str], flat: Longs, begin: Longs, count: Longs) -> Hashes:
    """Return the hash of each row's words, joined; ``flat[begin[i]:begin[i] + count[i]]`` are row i's."""
    value, power = hash_words(words)
    hashes = np.zeros(len(count), dtype=np.uint64)
    for step in range(int(count.max(initial=0))):
        which = np.flatnonzero(count > step)
        word = flat[begin[which] + step]
        hashes[which] = hashes[which] * power[word] + value[word]
    return hashes


class _Language:
    """The names and the words of one language by their stems."""

    def __init__(
        self,
        line: Line,
        casing: Casing,
        language: str,
        vocabulary: Sequence[str],
        flat: Longs,
        begin: Longs,
        count: Longs,
        common: Bools,
    ) -> None:
        self.line, self.casing, self.language, self.count = line, casing, language, count
        self.common = common
        self.exact = _row_hashes(vocabulary, flat, begin, count)
        stems = stem_words(vocabulary, language)
        self.table = HashTable(_row_hashes(stems, flat, begin, count))
        parts = [stems[i] for i in flat.tolist()]
        ends = np.append(begin, len(parts)).tolist()
        self.begins = hash_beginnings(["".join(parts[i:j]) for i, j in pairwise(ends)])
        long = np.flatnonzero(count > WHOLE)
        self.longer = HashTable(_row_hashes(stems, flat, begin[long], np.minimum(count[long], WHOLE)))

    def runs(
        self, words: Sequence[tuple[str, ...]], capital: Bools, free: Bools
    ) -> tuple[Longs, Longs, Longs]:
        """Return (lo, hi, row) of the free runs that are inflected forms of the rows' names."""
        line, corpus = self.line, self.line.corpus
        forms, stems = line.stems(self.language)
        value = np.zeros(len(corpus.words), dtype=np.uint64)
        power = np.zeros(len(corpus.words), dtype=np.uint64)
        value[forms], power[forms] = hash_words(stems)
        none = np.zeros(0, dtype=np.int64)
        parts = [(none, none, none)]
        unbroken = self.casing.glued
        most = int(self.count.max())
        for size, place, row in find_runs(line, value, power, self.table, most, self.longer, self.begins):
            fits = self.count[row] == size
            for step in range(size):
                fits &= free[place + step] & (unbroken[place + step] if step else True)
            fits &= self._cased(place, size, capital[row])
            place, row = place[fits], row[fits]
            fits = self._forms(place, size, row, words)
            parts.append((place[fits], place[fits] + size, row[fits]))
        lo, hi, rows = (np.concatenate(column) for column in zip(*parts, strict=True))
        return lo, hi, rows

    def _cased(self, place: Longs, size: int, capital: Bools) -> Bools:
        """Tell the runs whose letter case fits.

        A name with a capital needs one if it is one word, or has a common one ("The Times", "the time").
        """
        flags, form = self.line.corpus.flags[place], self.line.corpus.form[place]
        shows = (flags & TokenFlag.CAPITAL) != 0
        starts = (flags & (TokenFlag.SENTENCE | TokenFlag.HEADING)) != 0
        cased = self.casing.cased[form]
        if size > 1:
            usual = np.zeros(len(place), dtype=bool)
            for step in range(size):
                usual |= self.common[self.line.corpus.form[place + step]]
            fits: Bools = ~capital | shows | ~usual
        elif self.language in INFLECTS_NAMES:
            fits = ~capital | ~cased | (shows & ~(starts & self.casing.ordinary[form]))
        else:
            fits = ~capital
        return fits

    def _forms(self, place: Longs, size: int, row: Longs, words: Sequence[tuple[str, ...]]) -> Bools:
        """Tell the runs that differ from the name, and as forms do; each distinct pair is looked at once."""
        hashes = self.line.hash_runs(place, place + size)
        differs = np.flatnonzero(hashes != self.exact[row])
        order = differs[np.lexsort((row[differs], hashes[differs]))]
        change = np.ones(len(order), dtype=bool)
        change[1:] = (hashes[order][1:] != hashes[order][:-1]) | (row[order][1:] != row[order][:-1])
        good = np.zeros(int(change.sum()), dtype=bool)
        vocabulary, form = self.line.corpus.words, self.line.corpus.form
        for i, at in enumerate(order[change].tolist()):
            run = [vocabulary[word] for word in form[place[at] : place[at] + size].tolist()]
            name = words[row[at]]
            good[i] = all(inflected(a, b, self.language) for a, b in zip(run, name, strict=True))
        fits = np.zeros(len(row), dtype=bool)
        fits[order] = good[np.cumsum(change) - 1]
        return fits
