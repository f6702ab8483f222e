"""Looking up the hashes of all runs of a corpus in a table of names' hashes."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from clew.ingest.spans import Bools, Line, distinct, expand
from clew.types import Hashes, Longs

TABLE_BITS = 24  # 16 MB: with 300,000 names 2 % of all places pass
WHOLE = 4  # words up to which all runs are looked up
BLOCK = 1 << 18  # tokens at a time, to stay in cache and within memory
MOST_THREADS = 8  # more wait for memory, and for each other


def _slot(hashes: Hashes) -> Longs:
    return (hashes >> np.uint64(64 - TABLE_BITS)).astype(np.int64)


def bits(hashes: Hashes) -> Bools:
    """Return a table that tells of most other hashes that they aren't among these."""
    table = np.zeros(1 << TABLE_BITS, dtype=bool)
    table[_slot(hashes)] = True
    return table


class HashTable:
    """Rows by hash. A table of bits before them rules out nearly every hash that isn't there."""

    def __init__(self, hashes: Hashes) -> None:
        self._order = np.argsort(hashes, kind="stable")
        self._hashes = hashes[self._order]
        self._bits = bits(hashes)

    def find(self, hashes: Hashes) -> tuple[Longs, Longs]:
        """Return (index into ``hashes``, row) for every hash that is a row's."""
        index = np.flatnonzero(self._bits[_slot(hashes)])
        owner, row = self.rows(*self.ranges(hashes[index]))
        return index[owner], row

    def ranges(self, hashes: Hashes) -> tuple[Longs, Longs]:
        """Return where each hash's rows begin and end, as ``rows`` takes them."""
        lo = np.searchsorted(self._hashes, hashes, side="left")
        return lo, np.searchsorted(self._hashes, hashes, side="right")

    def rows(self, lo: Longs, hi: Longs) -> tuple[Longs, Longs]:
        """Return (index into the ranges, row) for every row of these ranges."""
        owner, at = expand(lo, hi)
        return owner, self._order[at]


def find_runs(
    line: Line, value: Hashes, power: Hashes, table: HashTable, most: int, longer: HashTable, begins: Hashes
) -> list[tuple[int, Longs, Longs]]:
    """Return (n, places, rows) for n from 1 to ``most``: runs of n tokens whose hash is a row's.

    A run lies within one document. ``value`` and ``power`` (V,) are the words' hashes and B^length, of
    their normal forms or their stems. ``longer`` holds the hashes of the first WHOLE words of names of
    more words: few places begin like one, and only these are followed further. ``begins`` holds the hashes
    of what names begin with, in any number of words, and theirs: a run that begins no name isn't extended.
    """
    form, total = line.corpus.form, line.size
    bounds = line.corpus.doc_tokens
    last = np.repeat(bounds[1:], np.diff(bounds))  # where each token's document ends
    promising = bits(begins)
    # What holds of one word is looked up once for each of the vocabulary, not at each place.
    first, after = table.ranges(value)
    word_goes_on, word_is_row = promising[_slot(value)], after > first

    def block(begin: int) -> list[tuple[Longs, Longs]]:
        word = form[begin : begin + BLOCK]
        index = np.flatnonzero(word_is_row[word])
        owner, row = table.rows(first[word[index]], after[word[index]])
        found = [(begin + index[owner], row)]
        at = np.flatnonzero(word_goes_on[word])
        at, hashes = begin + at, value[word[at]]
        for size in range(2, most + 1):
            inside = at + size <= last[at]
            if size > WHOLE or not inside.all():
                at, hashes = at[inside], hashes[inside]
            word = form[at + size - 1]
            hashes = hashes * power[word] + value[word]
            go_on = promising[_slot(hashes)]
            at, hashes = at[go_on], hashes[go_on]
            index, row = table.find(hashes)
            found.append((at[index], row))
            if size == WHOLE:
                found_longer = distinct(longer.find(hashes)[0])
                at, hashes = at[found_longer], hashes[found_longer]
        return found

    none = np.zeros(0, dtype=np.int64)
    # numpy lets other threads run while it works: two cores take little more than half the time of one.
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MOST_THREADS)) as pool:
        blocks = [[(none, none)] * most, *pool.map(block, range(0, total, BLOCK))]
    columns = (
        [np.concatenate(parts) for parts in zip(*found, strict=True)] for found in zip(*blocks, strict=True)
    )
    return [(size, place, row) for size, (place, row) in enumerate(columns, 1)]
