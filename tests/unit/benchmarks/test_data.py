"""The retrieval sets that come with the project are what they say, and the models' table is made of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clew.text.language import detect
from clew.text.terms import terms_of

DATA = Path(__file__).parents[3] / "benchmarks" / "data"
SETS = sorted(path.parent.name for path in DATA.glob("*/questions.jsonl"))
# Words that say nothing of a subject; two English texts can't but share some.
FUNCTION_WORDS = """
a an the this that of to in on at by for with from up and or but not no is was are were be been it its
i me my we our us you he she his her him they them their who what which when where why how much many
do does did has have had can could will would must if until before after during because so than there
some more most somebody nobody anybody person people go get got give
"""


def rows(name: str, file: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in (DATA / name / file).read_text("utf-8").splitlines()]


@pytest.mark.parametrize("name", SETS)
def test_every_gold_passage_is_there_and_ids_are_unique(name):
    passages = [row["id"] for row in rows(name, "corpus.jsonl")]
    questions = rows(name, "questions.jsonl")
    assert len(set(passages)) == len(passages)
    assert len({row["id"] for row in questions}) == len(questions) >= 40
    for row in questions:
        assert row["gold"], row
        assert set(row["gold"]) <= set(passages), row


def test_paraphrases_share_no_content_word_with_their_passage():
    nothing = {term for word in FUNCTION_WORDS.split() for term in terms_of(word, "en")}
    passages = {row["id"]: f"{row['title']}\n{row['text']}" for row in rows("paraphrase", "corpus.jsonl")}
    for row in rows("paraphrase", "questions.jsonl"):
        for gold in row["gold"]:
            shared = set(terms_of(row["question"], "en")) & set(terms_of(passages[gold], "en"))
            assert shared <= nothing, (row["id"], shared - nothing)


def test_questions_across_languages_are_in_another_language():
    passages = {row["id"]: row for row in rows("crosslanguage", "corpus.jsonl")}
    asked = set()
    for row in rows("crosslanguage", "questions.jsonl"):
        for gold in row["gold"]:
            written = gold.rstrip("0123456789")
            assert written != row["language"]
            assert detect(passages[gold]["text"]) == written, gold
            asked.add((row["language"], written))
    assert len({written for _, written in asked}) >= 7
    assert len(asked) >= 24  # pairs of languages


def test_the_models_table_is_made_without_a_model_too(tmp_path, monkeypatch, capsys):
    import common
    import models

    monkeypatch.setattr(common, "RESULTS", tmp_path / "results")
    words = ["--embedders", "none,nowhere", "--sets", "paraphrase", "--work", str(tmp_path / "work")]
    assert models.main(words) == 0
    (saved,) = (tmp_path / "results").glob("models-*.json")
    (row,) = json.loads(saved.read_text("utf-8"))["results"]["rows"]
    assert row["embedder"] == "none"
    assert row["questions"] == len(rows("paraphrase", "questions.jsonl"))
    assert 0 <= row["auto"] < 50  # words alone can't find what shares none
    told = capsys.readouterr()
    assert "| paraphrase | none |" in told.out
    assert "nowhere" in told.err
