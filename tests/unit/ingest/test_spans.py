"""What one counting sort of the tokens tells is what comparing them one by one tells."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from small_corpus import make_corpus

from clew.ingest.mentions import sort_mentions
from clew.ingest.spans import Line

TIDE = "# Tide\n\nThe tide and the moon.\n\n## Moon\n\nThe moon, the tide.\n"
CORPUS = make_corpus(
    {
        "a.md": "---\ntitle: Tide\n---\n" + 3 * TIDE,
        "b.md": "Nothing but the sea, the sea and `code of the sea`.\n",
        "c.md": "",
    }
)


@given(st.integers(0, 2**32 - 1))
def test_words_are_counted_in_the_chunks_and_documents_that_hold_them(seed: int) -> None:
    corpus = CORPUS
    line = Line(corpus)
    which = np.random.default_rng(seed).random(line.size) < 0.5
    held = {
        (form, chunk)
        for form, chunk in zip(corpus.form[which].tolist(), line.chunk[which].tolist(), strict=True)
        if chunk >= 0
    }
    documents = {(form, int(corpus.chunk_doc[chunk])) for form, chunk in held}
    for pairs, unit in ((held, None), (documents, corpus.chunk_doc)):
        expected = [sum(form == word for form, _ in pairs) for word in range(len(corpus.words))]
        assert line.word_df(which, unit).tolist() == expected


rows = st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 3), st.integers(0, 3))


@given(st.lists(rows, max_size=12))
def test_mentions_are_sorted_by_place_and_stand_once(mentions: list[tuple[int, int, int, int]]) -> None:
    columns = [np.array([row[i] for row in mentions], dtype=np.int32) for i in range(4)]
    found = sort_mentions(*columns)
    made = zip(*(getattr(found, name).tolist() for name in ("chunk", "start", "end", "node")), strict=True)
    assert list(made) == sorted({(chunk, start, end, node) for node, chunk, start, end in mentions})
