"""BM25 against the formula written out."""

import math

import numpy as np

from clew.algo.bm25 import K1, B, Postings, bm25, bm25_among, group, most


def postings(docs):
    words = sorted({word for doc in docs for word in doc})
    chunk = np.array([i for i, doc in enumerate(docs) for _ in doc], dtype=np.int32)
    term = np.array([words.index(word) for doc in docs for word in doc], dtype=np.int32)
    ptr, chunks, tf = group(chunk, term, len(words), len(docs))
    length = np.array([len(doc) for doc in docs], dtype=np.float32)
    return words, Postings(np.arange(len(words), dtype=np.uint64), ptr, chunks, tf, length)


DOCS = [["a", "b", "a"], ["b", "c"], ["d"], []]


def test_scores_are_the_formula():
    words, table = postings(DOCS)
    scores = bm25(table, [(words.index("a"), 1.0), (words.index("b"), 2.0)])
    mean = 6 / 4

    def part(doc, word):
        n = sum(word in other for other in DOCS)
        idf = math.log1p((4 - n + 0.5) / (n + 0.5))
        tf = doc.count(word)
        return idf * tf * (K1 + 1) / (tf + K1 * (1 - B + B * len(doc) / mean))

    expected = [part(doc, "a") + 2 * part(doc, "b") for doc in DOCS]
    np.testing.assert_allclose(scores, expected, rtol=1e-5)


def test_postings_are_sorted_and_counted():
    words, table = postings(DOCS)
    assert table.chunks(words.index("b")).tolist() == [0, 1]
    assert table.df(words.index("a")) == 1
    assert table.tf[table.ptr[words.index("a")]] == 2
    assert table.find(0) == 0
    assert table.find(99) == -1


def test_frequencies_stop_at_255():
    _, table = postings([["a"] * 300])
    assert table.tf.tolist() == [255]


def test_no_chunks():
    _, table = postings([])
    assert bm25(table, []).shape == (0,)


def test_scores_of_some_chunks_are_those_of_all():
    words, table = postings(DOCS)
    terms = [(words.index("a"), 1.0), (words.index("b"), 2.0)]
    some = np.array([0, 1, 3], dtype=np.int32)
    np.testing.assert_array_equal(bm25_among(table, terms, some), bm25(table, terms)[some])
    assert bm25_among(table, terms, some[:0]).shape == (0,)


def test_no_passage_scores_more_than_the_most():
    words, table = postings([["a"] * 200, ["a", "b"], ["b"] * 3, ["c"]])
    terms = [words.index("a"), words.index("b")]
    scores = bm25(table, [(at, 1.0) for at in terms])
    assert 0 < scores.max() < most(table, terms)
    assert most(table, []) > 0
    assert most(table, terms, 1) > most(table, terms), "a term that no passage has weighs more than others"
