"""What is passed over without a look holds no name."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st
from made_corpus import corpus_of

from clew.ingest import lookup
from clew.ingest.lookup import WHOLE, HashTable, find_runs
from clew.ingest.spans import Line, hash_beginnings, hash_words

WORDS = st.lists(st.text("abй", min_size=1, max_size=3), min_size=1, max_size=12)


@given(st.lists(st.text(max_size=6), max_size=8))
def test_beginnings_are_all_prefixes(words: list[str]) -> None:
    prefixes = sorted({word[:size] for word in words for size in range(1, len(word) + 1)})
    assert set(hash_beginnings(words).tolist()) == set(hash_words(prefixes)[0].tolist())


@settings(max_examples=150, deadline=None)
@given(st.lists(WORDS, min_size=1, max_size=4), st.lists(WORDS, min_size=1, max_size=5))
def test_every_run_of_a_name_is_found(texts: list[list[str]], names: list[list[str]]) -> None:
    line = Line(corpus_of({f"{i}.txt": " ".join(words) for i, words in enumerate(texts)}))
    keys = ["".join(words) for words in names]
    long = ["".join(words[:WHOLE]) for words in names if len(words) > WHOLE]
    tables = HashTable(hash_words(keys)[0]), HashTable(hash_words(long)[0])
    before, lookup.BLOCK = lookup.BLOCK, 3  # so that runs go over the borders of blocks
    try:
        found = find_runs(line, *line.word_hash, tables[0], 12, tables[1], hash_beginnings(keys))
    finally:
        lookup.BLOCK = before
    got = {
        (size, at, row)
        for size, places, rows in found
        for at, row in zip(places.tolist(), rows.tolist(), strict=True)
    }
    bounds = line.corpus.doc_tokens.tolist()
    wanted = {
        (hi - lo, lo, row)
        for begin, end in pairwise(bounds)
        for lo in range(begin, end)
        for hi in range(lo + 1, min(lo + 12, end) + 1)
        for row, key in enumerate(keys)
        if line.key(lo, hi) == key and (hi - lo <= WHOLE or line.key(lo, lo + WHOLE) in long)
    }
    assert got == wanted
