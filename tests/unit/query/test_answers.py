from __future__ import annotations

import re
from dataclasses import replace

import pytest
from small_vault import build

from clew.options import AnswerOptions

MODES = ("basic", "local", "global", "drift", "auto")


def check_citations(answer, notes):
    """Every sentence is cited, every citation is exact."""
    cited = {citation.number for citation in answer.citations}
    assert cited == set(range(1, len(cited) + 1))
    assert {number for sentence in answer.sentences for number in sentence.citations} == cited
    for sentence in answer.sentences:
        assert sentence.citations
        for number in sentence.citations:
            assert f"[{number}]" in answer.text
    for citation in answer.citations:
        text = notes[citation.key]
        assert text.encode()[citation.start : citation.end].decode() == citation.quote
        lines = text.split("\n")[citation.start_line - 1 : citation.end_line]
        assert citation.quote in "\n".join(lines)
        assert citation.quote.split("\n")[0] in lines[0]
        assert citation.quote.split("\n")[-1] in lines[-1]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question",
    [
        "What is compost made of?",
        "How does the keel help the ship?",
        "закваска",
        "绿茶",
        "what are these notes about?",
    ],
)
def test_citations_are_exact_in_every_mode(index, notes, mode, question):
    answer = index.ask(question, mode=mode)
    check_citations(answer, notes)
    assert answer.mode == (mode if mode != "auto" else answer.mode)
    assert answer.reason


@pytest.mark.parametrize("mode", ["basic", "local", "drift", "auto"])
@pytest.mark.parametrize(
    ("question", "expected", "key"),
    [
        ("What is compost made of?", "leaves and kitchen scraps", "garden/Compost.md"),
        ("What does the rudder do?", "steers the ship", "ships/Rudder.md"),
        ("Що таке закваска?", "це суміш борошна й води", "хліб/Закваска.md"),
        ("茶壶是什么？", "泡茶用的器具", "茶/茶壶.md"),
    ],
)
def test_the_sentence_that_answers_is_there(index, mode, question, expected, key):
    answer = index.ask(question, mode=mode)
    assert expected in answer.text
    assert key in {citation.key for citation in answer.citations}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question", ["flurbl wozzit qux", "Who was Zaphod Beeblebrox?", "квантова хромодинаміка"]
)
def test_nonsense_gets_an_empty_answer_that_says_so(index, mode, question):
    answer = index.ask(question, mode=mode)
    assert answer.text == ""
    assert answer.sentences == answer.citations == answer.related == ()
    assert "nothing" in answer.reason


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "question", ["", " ", "???", "C++", '"', "C:\\a|b ~ * (x) node:", "{title}", "\x00", "\ud800"]
)
def test_any_punctuation_is_text(lexical, mode, question):
    answer = lexical.ask(question, mode=mode)
    assert answer.question == question


def test_a_list_that_is_announced_is_quoted_with_its_items(index):
    answer = index.ask("how do I start a compost heap?", mode="basic")
    assert "lay twigs on the ground" in answer.text
    assert "keep it moist" in answer.text


def test_markup_is_stripped_from_the_text_and_kept_in_the_quote(index):
    answer = index.ask("What is mulch?", mode="basic")
    assert "covers the Soil around plants" in answer.text
    assert any("[[Soil]]" in citation.quote for citation in answer.citations)


def test_code_may_answer(lexical):
    answer = lexical.ask("reef area wind python def", mode="basic")
    assert "def reef(sail, wind):" in answer.text


def test_the_number_of_sentences_is_an_option(lexical):
    few = lexical.ask("What is soil?", options=AnswerOptions(sentences=1))
    assert len(few.sentences) == 1


def test_related_nodes_are_not_those_that_the_question_names(index):
    answer = index.ask("What is compost made of?", mode="local")
    assert "Compost" not in {node.name for node in answer.related}
    assert len(index.ask("compost", options=AnswerOptions(related=1)).related) <= 1


def test_asking_twice_gives_the_same(index):
    def once():
        answer = index.ask("How does the mast carry the sail?")
        return replace(answer, trace=replace(answer.trace, milliseconds={}))

    assert once() == once()


# --- routing ---


@pytest.mark.parametrize(
    "question", ["What is the keel?", "keel and rudder", "Навіщо закваска?", "绿茶的水温"]
)
def test_a_question_that_names_a_note_is_local(index, question):
    answer = index.ask(question)
    assert answer.mode == "local"
    assert "names" in answer.reason


def test_a_question_about_the_whole_is_global(dense):
    for question in ("what are these notes about?", "what are the main themes?"):
        assert dense.ask(question).mode == "global"


def test_a_question_that_names_nothing_is_basic(index):
    assert index.ask("which wood is used, oak?").mode == "basic"


def test_an_unknown_mode_is_an_error(lexical):
    with pytest.raises(Exception, match="globl"):
        lexical.ask("x", mode="globl")


# --- global ---


@pytest.mark.parametrize("embedder", ["none", "minilm"])
def test_themes_are_told_with_their_titles(lexical, dense, embedder):
    # Without vectors a question is about the whole if all of its words are common.
    if embedder == "none":
        answer = lexical.ask("is it the of and", mode="global")
    else:
        answer = dense.ask("what are the main themes?", mode="global")
    assert len(answer.sentences) >= 3
    titles = [sentence.text.split(" — ")[0] for sentence in answer.sentences]
    assert len(set(titles)) == len(titles)
    assert any("Soil" in title or "Compost" in title for title in titles)
    assert answer.text.count("\n") == len(answer.sentences) - 1
    counts = answer.trace.counts
    assert 0 < counts["reports_considered"] <= counts["reports_total"]
    assert re.search(r"\d+ of \d+ reports", answer.reason)


def test_global_keeps_the_themes_of_the_question_and_prunes_the_rest(index):
    answer = index.ask("How does the wind drive a ship?", mode="global")
    assert "wind" in answer.text
    keys = {citation.key.split("/")[0] for citation in answer.citations}
    assert keys == {"ships"}


def test_global_says_how_many_reports_it_looked_at_when_it_finds_nothing(index):
    answer = index.ask("Who was Zaphod Beeblebrox?", mode="global")
    assert re.search(r"\d+ of \d+ reports", answer.reason)
    assert answer.trace.counts["reports_total"] > 0


def test_the_number_of_reports_is_bounded(index):
    answer = index.ask("How does the wind drive a ship?", mode="global", options=AnswerOptions(reports=2))
    assert answer.trace.counts["reports_considered"] <= 2


def test_drift_follows_what_the_reports_bring_up(index):
    answer = index.ask("What keeps a ship upright?", mode="drift")
    assert "keel" in answer.text.casefold()
    assert answer.trace.counts["follow_ups"] <= 3
    assert answer.trace.counts["reports_considered"] > 0


# --- little or nothing to ask ---


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "notes", [{}, {"a.md": ""}, {"a.md": "word"}, {"a.md": "One note of one sentence about herons."}]
)
def test_tiny_indexes_answer_or_say_that_they_hold_nothing(tmp_path, mode, notes):
    with build(tmp_path, notes, "none") as index:
        answer = index.ask("what about herons?", mode=mode)
        assert answer.text or answer.reason
        check_citations(answer, notes)
