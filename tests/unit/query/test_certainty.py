"""Where no passage has the words that matter, meaning decides."""

import numpy as np
import pytest

from clew import Index
from clew.query.rank import DENSE_WEIGHT, relevance

NOTES = {
    "Whiskers": "The veterinarian gave our cat antibiotics.",
    "Plans": "What did they do about the plans? What did they do? What they did was what they could do.",
    "Garden": "Beans climb on poles of hazel.",
    "Market": "Stalls sell cheese on Fridays.",
    "Roof": "The carpenter replaced the shingles above the kitchen.",
    "Bread": "Rye flour takes more water than wheat.",
    "Tides": "The moon pulls the sea twice a day.",
}
# What every note says, so that these words tell nothing.
STOCK = "It is not known what they did about the rest, nor what they will do."


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / f"{name}.md").write_text(f"# {name}\n\n{text} {STOCK}\n", "utf-8")
    with Index.build([folder], folder / "index.duckdb") as built:
        yield built


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did they do about the sick pet?", "Whiskers"),
        ("What did they do about the leaking house?", "Roof"),
        ("What did they do about the plans?", "Plans"),
    ],
)
def test_meaning_is_heard_beside_words(index, question, expected):
    assert index.search(question, k=1, mode="basic")[0].document.title == expected


def words_part(index, question, unknown):
    engine = index.engine
    terms, vector = engine.lexicon.positions(question), engine.embedder.embed_question(question)
    scores = relevance(engine.space, terms, vector, unknown)
    return scores.hybrid - DENSE_WEIGHT * scores.dense, scores.bm25


def test_words_count_less_the_more_of_the_question_no_passage_has(index):
    question = "Beans climb on poles of hazel"
    full, lexical = words_part(index, question, index.engine.lexicon.unknown(question))
    np.testing.assert_allclose(full, (1 - DENSE_WEIGHT) * lexical, atol=1e-6)
    less, same = words_part(index, question, 100)
    np.testing.assert_array_equal(lexical, same)
    share = less[lexical > 0] / full[lexical > 0]
    assert 0 < share.max() < 0.5
    np.testing.assert_allclose(share, share[0], rtol=1e-3)


def test_unknown_words_are_counted_once(index):
    lexicon = index.engine.lexicon
    assert lexicon.unknown("Beans climb") == 0
    assert lexicon.unknown("The xylophone, the Xylophone, the zither") == 2
