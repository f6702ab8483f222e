from __future__ import annotations

import numpy as np
from made_corpus import corpus_of

from clew.ingest.gather import gather

FILES = {
    "b.md": "# Beta\n\nTwo words. Alpha follows.",
    "a.md": "Alpha beta\n\n## Second\n\ngamma ünïcode 日本",
    "c.txt": "",
}


def test_documents_in_key_order_with_stable_ids() -> None:
    corpus = corpus_of(FILES)
    assert [d.key for d in corpus.documents] == ["a.md", "b.md", "c.txt"]
    assert [d.doc for d in corpus.documents] == [0, 1, 2]
    assert len({d.id for d in corpus.documents}) == 3


def test_order_of_files_does_not_matter() -> None:
    one, other = corpus_of(FILES), corpus_of(dict(reversed(FILES.items())))
    assert one.documents == other.documents
    assert one.words == other.words
    for name in ("form", "start", "end", "flags", "doc_tokens", "token_lo", "token_hi", "chunk_start"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name


def test_forms_are_the_words_of_their_place() -> None:
    corpus = corpus_of(FILES)
    texts = {d.doc: FILES[d.key].encode() for d in corpus.documents}  # type: ignore[union-attr]
    for doc in range(3):
        for at in range(int(corpus.doc_tokens[doc]), int(corpus.doc_tokens[doc + 1])):
            surface = texts[doc][corpus.start[at] : corpus.end[at]].decode()
            word = corpus.words[corpus.form[at]]
            assert word[0] == surface.lower()[0] or not surface.isascii()
    assert list(corpus.words) == sorted(set(corpus.words))


def test_chunks_hold_their_tokens() -> None:
    corpus = corpus_of(FILES, size=3)
    for chunk in range(corpus.n_chunks):
        lo, hi = int(corpus.token_lo[chunk]), int(corpus.token_hi[chunk])
        doc = int(corpus.chunk_doc[chunk])
        assert corpus.doc_tokens[doc] <= lo <= hi <= corpus.doc_tokens[doc + 1]
        assert all(corpus.start[lo:hi] >= corpus.chunk_start[chunk])
        assert all(corpus.end[lo:hi] <= corpus.chunk_end[chunk])
    assert int((corpus.token_hi - corpus.token_lo).sum()) == len(corpus.form)


def test_nothing_at_all() -> None:
    corpus = gather([], [])
    assert corpus.n_chunks == 0
    assert corpus.form.dtype == np.int32
    assert corpus.flags.dtype == np.uint16
    assert corpus.doc_tokens.tolist() == [0]
