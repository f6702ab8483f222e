"""An ingredient taken out changes the ranking, and is back afterwards."""

import importlib

import numpy as np
import pytest


def ranking_of(engine, mode="auto"):
    ablation = importlib.import_module("ablation")
    method = ablation.ranked(engine, mode)
    return lambda questions: [method(question.text).tolist() for question in questions]


def parts_of(engine, questions):
    """Return everything the ranking tells about its passages, to see changes that don't move any."""
    ranking = importlib.import_module("clew.query.rank")
    found = []
    for question in questions:
        embed = engine.embedder.embed_question if engine.embedder else None
        one = ranking.rank(engine.space, engine.lexicon, question.text, 10, "auto", embed)
        parts = [one.parts[name] for name in sorted(one.parts)]
        found.append((one.chunks.tolist(), one.walked, one.scores.tolist(), np.array(parts).tolist()))
    return found


@pytest.fixture(params=["engine", "lexical"])
def either(request):
    return request.getfixturevalue(request.param)


def test_each_ingredient_can_be_taken_out_and_is_back_afterwards(either, questions):
    ingredients = importlib.import_module("ingredients")
    before = parts_of(either, questions)
    for one in ingredients.INGREDIENTS:
        with one.off(either):
            ranking_of(either, one.mode)(questions)
        assert parts_of(either, questions) == before, one.name


def test_ingredients_that_bear_on_linked_notes_change_what_is_told_of_them(engine, questions):
    ingredients = importlib.import_module("ingredients")
    by_name = {one.name: one for one in ingredients.INGREDIENTS}
    before = parts_of(engine, questions)
    for name in (
        "dense vectors",
        "BM25",
        "fusion of scores (RRF)",
        "names as seeds",
        "passages as seeds",
        "the walk",
        "the gate",
        "more for definitions",
        "definitions at all",
        "the choice of a set",
        "links to the chosen",
        "feature `mass`",
        "feature `coverage`",
    ):
        with by_name[name].off(engine):
            assert parts_of(engine, questions) != before, name


def test_names_are_told_apart():
    ingredients = importlib.import_module("ingredients")
    names = [one.name for one in ingredients.INGREDIENTS]
    assert len(set(names)) == len(names)


def test_a_setting_that_is_gone_is_an_error(engine):
    ingredients = importlib.import_module("ingredients")
    ranking = importlib.import_module("clew.query.rank")
    with pytest.raises(AttributeError), ingredients.setting(ranking, "NO_SUCH_SETTING", 1)(engine):
        pass


def test_the_table_marks_what_is_certain(engine, questions):
    ablation, sets = importlib.import_module("ablation"), importlib.import_module("sets")
    one = sets.RetrievalSet("small", None, tuple(questions))
    rows = ablation.ablate(one, engine)
    assert rows[0]["without"] == "default"
    assert rows[0]["change@5"] == 0
    assert {"recall@2", "all@5", "cpu_ms", "change@5_interval"} <= rows[1].keys()
    text = ablation.table(rows)
    assert text.splitlines()[0].startswith("| without | small |")
    assert len(text.splitlines()) == len(rows) + 2


def test_a_paired_interval_holds_the_mean_and_is_nothing_for_equals():
    sets = importlib.import_module("sets")
    values = np.array([1.0, 0.5, 0.0, 1.0] * 20)
    change, (low, high) = sets.paired(values, np.zeros(80))
    assert change == pytest.approx(0.625)
    assert low < change < high
    assert sets.paired(values, values) == (0.0, (0.0, 0.0))


def test_no_text_is_embedded_twice_and_questions_before_any_row(engine, questions, monkeypatch):
    ablation, sets = importlib.import_module("ablation"), importlib.import_module("sets")
    embedder, asked = engine.embedder, []
    original = embedder.embed_question

    def counted(text):
        asked.append(text)
        return original(text)

    monkeypatch.setattr(embedder, "embed_question", counted)
    ablation.ablate(sets.RetrievalSet("small", None, tuple(questions)), engine)
    assert len(set(asked)) == len(asked), "residual questions are asked again by other rows"
    assert asked[: len(questions)] == [question.text for question in questions]
