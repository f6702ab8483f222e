"""The dictionary pass: every node's names over all text, longest match first.

Its result depends on all names, so it runs whole every time. It costs one rolling hash a length
(see :mod:`clew.ingest.spans`) and a look into a table of bits that rules out nearly every place.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.ingest.casing import Casing
from clew.ingest.inflect import find_inflected
from clew.ingest.lookup import WHOLE, HashTable, find_runs
from clew.ingest.spans import Bools, Line, hash_beginnings, hash_words
from clew.text.tokens import JOINERS, TOKEN
from clew.types import Ints, Longs, TokenFlag

MAX_TOKENS = 16  # of a name; a title of more words is matched by nothing
# Other segmentations ("DockerCompose" for "Docker Compose") only if the key and each part are long
# enough not to meet by chance ("an a" isn't "ana"). A part may be a number next to letters.
KEY_LETTERS = 6
PART_LETTERS = 3
# A name that is also a word: its lower-case uses are at least this share of all.
WORD_SHARE = 0.1
CONCEPT_SHARE, CONCEPT_LEAST = 0.02, 20  # chunks; a more frequent noun is no concept of a note
COMMON_SHARE = 0.01  # of the chunks; a name of such words alone ("What If") needs a capital


@dataclass(frozen=True, slots=True)
class Names:
    """What to look for: R spellings. ``node`` (R,) is what each names.

    ``words`` (R,) are its normal forms, ``breaks`` (R,) bits of the gaps (1 for the first) that are
    breaks in it. ``capital`` says that it is written with one, ``upper`` with nothing else, ``code`` that
    it may stand in code, ``in_code`` that it stands nowhere else if it is an ordinary word.
    """

    node: Ints
    words: tuple[tuple[str, ...], ...]
    breaks: NDArray[np.uint32]
    capital: Bools
    upper: Bools
    code: Bools
    in_code: Bools


@dataclass(frozen=True, slots=True)
class Matches:
    """Occurrences, ascending and disjoint: token ranges ``lo``..``hi``, the node, and its spelling."""

    lo: Longs
    hi: Longs
    node: Ints
    spelling: Ints


# Node, surface, normal forms, may stand in code, stands in code alone if it is an ordinary word.
Row = tuple[int, str, tuple[str, ...], bool, bool]


def make_names(rows: Sequence[Row]) -> Names:
    """Return the table of names; what can't match is left out."""
    kept = [
        row
        for row in rows
        if row[2] and len(row[2]) <= MAX_TOKENS and not (len(row[2]) == 1 and _single(row[2][0]))
    ]
    return Names(
        np.array([row[0] for row in kept], dtype=np.int32),
        tuple(row[2] for row in kept),
        np.array([_breaks(row[1]) for row in kept], dtype=np.uint32),
        np.array([row[1] != row[1].lower() for row in kept], dtype=bool),
        np.array([row[1].isupper() and len(row[1]) > 1 for row in kept], dtype=bool),
        np.array([row[3] for row in kept], dtype=bool),
        np.array([row[4] for row in kept], dtype=bool),
    )


def _breaks(surface: str) -> int:
    """Return the bits of a name's gaps that are breaks ("Washington, D.C.": 0b1)."""
    if surface.replace(" ", "").replace("-", "").isalnum():
        return 0
    bits = 0
    for gap, text in enumerate(TOKEN.split(surface)[2:-1:2][: MAX_TOKENS - 1]):
        bits |= bool(text.strip() and text not in JOINERS) << gap
    return bits


def _single(word: str) -> bool:
    return len(word) == 1 and not word.isascii() and word.upper() == word.lower()


def find_names(line: Line, casing: Casing, names: Names, taken: Bools) -> Matches:
    """Return the occurrences of the names outside the ``taken`` tokens, leftmost-longest by document.

    Inflected forms of names count too; of two matches of one place and length the exact one wins.
    """
    rules = _Rules(line, casing, names)
    exact = _exact(line, rules, names, ~taken)
    forms = find_inflected(line, casing, names.words, rules.needs_capital, ~taken, rules.common)
    parts = [exact, *forms]
    lo, hi, spelling = (np.concatenate(column) for column in zip(*parts, strict=True))
    inflected = np.arange(len(lo)) >= len(exact[0])
    chosen = choose(lo, hi, spelling + inflected * len(names.words))
    lo, hi, spelling = lo[chosen], hi[chosen], spelling[chosen]
    return Matches(lo, hi, names.node[spelling], spelling.astype(np.int32))


def _exact(line: Line, rules: _Rules, names: Names, free: Bools) -> tuple[Longs, Longs, Longs]:
    """Return (lo, hi, spelling) of the names as they are spelled."""
    keys = ["".join(words) for words in names.words]
    none = np.zeros(0, dtype=np.int64)
    parts = [(none, none, none)]
    # A name written as more words than it has: parts are PART_LETTERS long at least.
    most = max(max(map(len, keys), default=0) // PART_LETTERS, 2)
    most = min(MAX_TOKENS, max(max(map(len, names.words), default=1), min(4, most)))
    table = HashTable(hash_words(keys)[0])
    long = ["".join(words[:WHOLE]) for words in names.words if len(words) > WHOLE]
    longer = HashTable(hash_words(long)[0])
    # Any beginning, as the text may part a name into other words than its own.
    begins = hash_beginnings(keys)
    for size, place, row in find_runs(line, *line.word_hash, table, most, longer, begins):
        fits = _verified(line, keys, size, place, row) & ~_any(~free, place, size)
        place, row = place[fits], row[fits]
        fits = rules.allow(place, size, row)
        parts.append((place[fits], place[fits] + size, row[fits]))
    lo, hi, spelling = (np.concatenate(column) for column in zip(*parts, strict=True))
    return lo, hi, spelling


def _verified(line: Line, keys: list[str], size: int, place: Longs, row: Longs) -> Bools:
    """Compare strings, once for each spelling and length: a clash of hashes must not pass."""
    somewhere = np.full(len(keys), -1, dtype=np.int64)
    somewhere[row] = place
    same = np.zeros(len(keys), dtype=bool)
    found = np.flatnonzero(somewhere >= 0)
    for at, begin in zip(found.tolist(), somewhere[found].tolist(), strict=True):
        same[at] = line.key(begin, begin + size) == keys[at]
    return same[row]


class _Rules:
    """Which hits count, by segmentation, breaks and letter case."""

    def __init__(self, line: Line, casing: Casing, names: Names) -> None:
        self.line, self.casing, self.names = line, casing, names
        n_rows = len(names.words)
        self.count = np.fromiter(map(len, names.words), dtype=np.int64, count=n_rows)
        self.sizes = np.zeros((n_rows, MAX_TOKENS), dtype=np.int16)
        for i, words in enumerate(names.words):
            self.sizes[i, : len(words)] = [min(len(word), 32767) for word in words]
        self.ends_in_number = np.fromiter(
            (len(words) == 2 and words[1].isdigit() and words[0].isalpha() for words in names.words),
            dtype=bool,
            count=n_rows,
        )
        self.key_size = self.sizes.sum(axis=1, dtype=np.int64)
        self.least_part = np.where(self.sizes > 0, self.sizes, 32767).min(axis=1) if n_rows else self.count
        self.hard = line.has(TokenFlag.GAP_BREAK) & ~casing.glued
        self.shows = (
            line.has(TokenFlag.CAPITAL | TokenFlag.CAMEL) & casing.open & ~line.has(TokenFlag.SENTENCE)
        )
        self.code = line.has(TokenFlag.CODE)
        lower, middle = casing.lower, casing.middle
        self.word = (lower > 0) & (lower >= WORD_SHARE * (lower + middle))
        df = line.word_df(np.ones(line.size, dtype=bool))
        df[line.corpus.form[line.chunk < 0]] += 1  # what stands outside all chunks is one place more
        self.common = casing.ordinary & (df > max(COMMON_SHARE * line.corpus.n_chunks, 3))
        # "Ownership" as a note's title names a common noun, if running text never gives it a capital.
        few = df <= max(CONCEPT_SHARE * line.corpus.n_chunks, CONCEPT_LEAST)
        concept = casing.ordinary & (casing.middle == 0) & few
        self.needs_capital = names.capital & ~self._of_single(concept)

    def _of_single(self, flags: Bools) -> Bools:
        """Tell the names of one word whose word has a flag."""
        vocabulary = self.line.corpus.words
        out = np.zeros(len(self.names.words), dtype=bool)
        for i in np.flatnonzero(self.count == 1).tolist():
            word = self.names.words[i][0]
            at = bisect_left(vocabulary, word)
            out[i] = at < len(vocabulary) and vocabulary[at] == word and flags[at]
        return out

    def allow(self, place: Longs, size: int, row: Longs) -> Bools:
        """Tell which hits are occurrences."""
        fits = self._segmented(place, size, row) & self._unbroken(place, size, row)
        return fits & self._case(place, size, row)

    def _segmented(self, place: Longs, size: int, row: Longs) -> Bools:
        form, word_size = self.line.corpus.form, self.line.word_size
        same = self.count[row] == size
        least = np.full(len(place), 32767, dtype=np.int64)
        for step in range(size):
            part = word_size[form[place + step]]
            same &= self.sizes[row, step] == np.minimum(part, 32767)
            least = np.minimum(least, part)
        least = np.minimum(least, self.least_part[row])
        long_enough = (self.key_size[row] >= KEY_LETTERS) & (least >= PART_LETTERS)
        fits: Bools = same | long_enough | self._numbered(place, size, row)
        return fits

    def _numbered(self, place: Longs, size: int, row: Longs) -> Bools:
        """Tell the hits that split a name before its number or don't: "GPT-4" for "GPT4", and the reverse."""
        if size == 1:
            return self.ends_in_number[row]
        if size != 2:
            return np.zeros(len(place), dtype=bool)
        digits = self.line.has(TokenFlag.DIGIT)
        apart = self.line.has(TokenFlag.GAP_SPACE | TokenFlag.GAP_BREAK)
        second = np.minimum(place + 1, self.line.size - 1)
        fits: Bools = (self.count[row] == 1) & ~digits[place] & digits[second] & ~apart[second]
        return fits

    def _unbroken(self, place: Longs, size: int, row: Longs) -> Bools:
        """Tell the hits whose breaks are breaks in the name too (or follow an initial)."""
        fits = np.ones(len(place), dtype=bool)
        allowed = np.where(self.count[row] == size, self.names.breaks[row], 0)
        for step in range(1, size):
            inner = ((allowed >> (step - 1)) & 1).astype(bool)
            fits &= ~self.hard[place + step] | inner
        return fits

    def _case(self, place: Longs, size: int, row: Longs) -> Bools:
        form = self.line.corpus.form
        shows = _any(self.shows, place, size)
        if size == 1:
            word = form[place]
            one_letter = (self.line.word_size[word] == 1) & self.casing.cased[word]
            needs = (self.needs_capital[row] & self.word[word]) | one_letter
            shows &= ~self.names.upper[row] | self.line.has(TokenFlag.UPPER)[place]  # WHO, not Who
            sure = ~self.casing.ordinary[word] & self.line.has(TokenFlag.CAPITAL)[place] & ~one_letter
            fits: Bools = (~needs | shows | sure) & (~self.code[place] | self.names.code[row])
            fits &= self.code[place] | ~self.names.in_code[row] | ~self.casing.ordinary[word]
            return fits
        common = np.ones(len(place), dtype=bool)
        for step in range(size):
            common &= self.common[form[place + step]]
        return ~(common & self.names.capital[row]) | shows


def _any(flags: Bools, place: Longs, size: int) -> Bools:
    """Tell the runs of ``size`` tokens of which any has a flag."""
    out = np.zeros(len(place), dtype=bool)
    for step in range(size):
        out |= flags[place + step]
    return out


def _leftmost_longest(lo: Longs, hi: Longs, row: Longs) -> Longs:
    """Return the order by ``lo``, then by length, longest first, then by row."""
    most = int((hi - lo).max(initial=0)) + 1
    rows = int(row.max(initial=0)) + 1
    if float(lo.max(initial=0) + 1) * most * rows < 2.0**62:  # one key sorts in a third of the time of three
        return np.argsort((lo * most + (most - 1 - (hi - lo))) * rows + row, kind="stable")
    return np.lexsort((row, -hi, lo))


def choose(lo: Longs, hi: Longs, row: Longs) -> Longs:
    """Return the indices of the leftmost-longest disjoint matches, ascending; ties go to the lower row."""
    order = _leftmost_longest(lo, hi, row)
    lo, hi = lo[order], hi[order]
    longest = np.ones(len(lo), dtype=bool)
    longest[1:] = lo[1:] != lo[:-1]
    order, lo, hi = order[longest], lo[longest], hi[longest]
    if not len(lo):
        return order
    # Most matches overlap nothing before them; only groups of overlapping ones need a walk.
    reach = np.maximum.accumulate(hi)
    alone = np.ones(len(lo), dtype=bool)
    alone[1:] = lo[1:] >= reach[:-1]
    keep = alone.copy()
    after = np.searchsorted(lo, hi)  # the first match that begins where this one ends, or later
    last = np.flatnonzero(alone)  # chosen in each group so far; all groups go on side by side
    while len(last):
        last = after[last]
        last = last[last < len(lo)]
        last = last[~alone[last]]
        keep[last] = True
    return order[keep]
