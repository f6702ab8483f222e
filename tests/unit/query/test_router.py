"""What kind of question it is, and the answers from structure."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from clew import Index
from clew.options import AnswerOptions, EmbedOptions, IndexOptions
from clew.query import kinds
from clew.query.ask import Remembering
from clew.query.modes.structural import PATTERNS, choose_form
from clew.query.route import choose
from clew.query.when import spans_in

NOW = "2025-06-05"
NOTES = {
    "a.md": ("2025-04-03", "philosophy", "Ada Lovelace", "# Stoic Letters\n\nOn calm. See [[Garden Diary]]."),
    "b.md": ("2025-04-20", "garden", "Ada Lovelace", "# Garden Diary\n\nBeans and the Walled Court."),
    "c.md": (
        "2025-06-03",
        "garden",
        "Ada Lovelace",
        "# Pruning Log\n\nThe Walled Court: [[Stoic Letters]].",
    ),
    "d.md": ("2025-06-04", "ships", "Jo Reed", "# Harbour Notes\n\nThe Sturgeon Barge came in."),
    "e.md": (
        "2025-05-01",
        "ships",
        "Jo Reed",
        "# Rope Work\n\nFor the Sturgeon Barge. See [[Stoic Letters]].",
    ),
}


@pytest.fixture(scope="module", params=["none", "minilm"])
def dated(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    (folder / "notes").mkdir()
    for key, (date, tag, author, text) in NOTES.items():
        front = f"---\ndate: {date}\ntags: [{tag}]\nauthor: {author}\n---\n"
        (folder / "notes" / key).write_text(f"{front}{text}\n", encoding="utf-8")
    options = IndexOptions(embed=EmbedOptions(embedder=request.param))
    with Index.build([folder / "notes"], folder / "index.duckdb", options=options) as index:
        yield index


def held_out(name="router"):
    lines = (Path(__file__).parents[2] / "data" / f"{name}.tsv").read_text("utf-8").splitlines()
    return [line.split("\t") for line in lines]


# --- the sets ------------------------------------------------------------------------------------


def test_the_held_out_questions_are_none_of_the_examples():
    rows = held_out()
    assert len(rows) == 300
    for language in ("en", "de", "uk", "es", "zh"):
        for kind in kinds.KINDS:
            assert sum(row[:2] == [kind, language] for row in rows) == 10
    known = {row.text.casefold().rstrip("?？.。") for row in kinds.examples()}
    asked = [row[2].casefold().rstrip("?？.。") for row in [*rows, *held_out("router-fresh")]]
    assert not known.intersection(asked)


def test_examples_are_of_known_kinds_and_forms():
    for row in kinds.examples():
        assert row.kind in kinds.KINDS
        expected = {"structural": set(PATTERNS), "temporal": {"bridge", "window", "trend"}}.get(
            row.kind, {"-"}
        )
        assert row.form in expected, row
    assert {row.form for row in kinds.examples() if row.kind == "structural"} == set(PATTERNS)


def test_shipped_vectors_are_those_of_the_embedder():
    from clew import registry

    embedder = registry.make_embedder(EmbedOptions(embedder="minilm"))
    rows = [row for row in kinds.examples() if row.language in embedder.languages]
    shipped = kinds.shipped(embedder.name)
    assert shipped is not None
    assert len(shipped) == len(rows)
    some = list(range(0, len(rows), 9))
    made = np.concatenate([embedder.embed([rows[at].text]) for at in some])
    assert (made * shipped[some]).sum(axis=1).min() > 0.97


# --- the route -----------------------------------------------------------------------------------


def test_most_english_questions_are_taken_for_what_they_are(tmp_path):
    from clew.demo import copy_vault

    copy_vault(tmp_path / "notes")
    options = IndexOptions(embed=EmbedOptions(embedder="minilm"))
    names = {"basic": "direct", "local": "entity"}
    with Index.build([tmp_path / "notes"], tmp_path / "index.duckdb", options=options) as index:
        rows = [row for row in held_out() if row[1] == "en"]
        modes = [choose(text, Remembering(index.engine)).mode for _, _, text in rows]
    right = [names.get(mode, mode) == row[0] for mode, row in zip(modes, rows, strict=True)]
    assert sum(right) >= 0.8 * len(rows)  # benchmarks/router.py has the figures


def test_most_questions_are_told_by_their_wording_alone(tmp_path):
    from clew.demo import copy_vault

    copy_vault(tmp_path / "notes")
    options = IndexOptions(embed=EmbedOptions(embedder="none"))
    names = {"basic": "direct", "local": "entity"}
    with Index.build([tmp_path / "notes"], tmp_path / "index.duckdb", options=options) as index:
        for name, least in (("router", 0.8), ("router-fresh", 0.75)):  # benchmarks/router.py has the figures
            rows = held_out(name)
            modes = [choose(text, Remembering(index.engine)).mode for _, _, text in rows]
            right = [names.get(mode, mode) == row[0] for mode, row in zip(modes, rows, strict=True)]
            assert sum(right) >= least * len(rows)
            plain = [ok for ok, row in zip(right, rows, strict=True) if row[0] in ("direct", "entity")]
            assert sum(plain) >= 0.95 * len(plain)  # what asks for passages must not be taken for more


@pytest.mark.parametrize(
    ("question", "mode", "said"),
    [
        (
            "Wie hängen meine Notizen über Garden Diary und Pruning Log zusammen?",
            "relational",
            "Stoic Letters",
        ),
        ("Як пов'язані мої нотатки про Garden Diary і Pruning Log?", "relational", "Stoic Letters"),
        ("我关于Garden Diary和Pruning Log的笔记有什么联系？", "relational", "Stoic Letters"),
        ("¿Cómo se conectan mis notas sobre Garden Diary y Pruning Log?", "relational", "Stoic Letters"),
        (
            "Comment mes notes sur Garden Diary et Pruning Log sont-elles liées ?",
            "relational",
            "Stoic Letters",
        ),
        ("how are my notes on garden and ships connected?", "relational", "is tagged"),  # tags alone
        ("which notes reference something tagged #philosophy?", "structural", "Rope Work links to"),
        ("Welche Notizen verweisen auf etwas mit dem Tag #philosophy?", "structural", "Rope Work links to"),
        ("Які нотатки посилаються на щось із тегом #philosophy?", "structural", "Rope Work links to"),
        ("¿Qué notas hacen referencia a algo etiquetado #philosophy?", "structural", "Rope Work links to"),
        ("what did I save this week that connects to last spring?", "temporal", "Pruning Log (2025-06-03)"),
        ("这周我收藏的哪些内容和去年春天有关？", "temporal", ""),
        ("¿Qué guardé esta semana que se conecta con la primavera pasada?", "temporal", "Pruning Log"),
    ],
)
def test_structure_is_asked_for_in_words_of_any_language(dated, question, mode, said):
    answer = dated.ask(question, me="Ada Lovelace", now=NOW)
    assert said in answer.text
    if said:
        assert answer.mode == mode
        assert all(sentence.citations for sentence in answer.sentences)


def test_a_tag_that_is_a_common_word_takes_no_question_over(tmp_path):
    notes = {"A.md": "# Ada\n\nShe sews. #people", "B.md": "# Bo\n\nHe rows. #people"}
    (tmp_path / "notes").mkdir()
    for key, text in notes.items():
        (tmp_path / "notes" / key).write_text(text + "\n", encoding="utf-8")
    options = IndexOptions(embed=EmbedOptions(embedder="none"))
    with Index.build([tmp_path / "notes"], tmp_path / "index.duckdb", options=options) as index:
        judged = kinds.judge_kind("what are people I follow writing about?", Remembering(index.engine))
        assert choose_form(judged, index.engine.space) == "follow_topics"
        judged = kinds.judge_kind("which notes are tagged people?", Remembering(index.engine))
        assert choose_form(judged, index.engine.space) == "tagged"
        answer = index.ask("which notes are tagged people?")
    assert "Ada is tagged people. [1]" in answer.text


@pytest.mark.parametrize(
    "question", ["which notes are tagged #🌊?", "Welche Notizen haben das Tag #🌊?", "哪些笔记带有#🌊标签？"]
)
def test_a_tag_without_letters_is_a_tag(tmp_path, question):
    (tmp_path / "notes").mkdir()
    for key, text in {"A.md": "# Ada\n\nShe swims. #🌊", "B.md": "# Bo\n\nHe rows. #🐙"}.items():
        (tmp_path / "notes" / key).write_text(text + "\n", encoding="utf-8")
    options = IndexOptions(embed=EmbedOptions(embedder="none"))
    with Index.build([tmp_path / "notes"], tmp_path / "index.duckdb", options=options) as index:
        answer = index.ask(question)
    assert (answer.mode, [one.text for one in answer.sentences]) == ("structural", ["Ada is tagged 🌊."])


def test_relational_questions_need_two_names(dated):
    engine = Remembering(dated.engine)
    one = kinds.judge_kind("How are Stoic Letters connected?", engine)
    two = kinds.judge_kind("How are Stoic Letters and Harbour Notes connected?", engine)
    assert (len(one.names), len(two.names)) == (1, 2)
    assert one.kind != "relational"
    assert two.kind == "relational"


def test_names_alone_ask_nothing_about_their_connection(dated):
    for text in ("Stoic Letters and Harbour Notes", "Stoic Letters, Harbour Notes", "Rope Work"):
        assert choose(text, Remembering(dated.engine)).mode == "local"


def test_everyday_words_are_no_names_and_tags_are(dated):
    masked, names = kinds.mask("Which notes link to Stoic Letters and #garden?", Remembering(dated.engine))
    assert masked == "Which notes link to X and #T?"
    assert [(name.text, name.tag) for name in names] == [("Stoic Letters", False), ("garden", True)]


# --- answers -------------------------------------------------------------------------------------


def test_two_things_are_connected_by_cited_paths(dated):
    answer = dated.ask("How are my notes on Garden Diary and Pruning Log connected?")
    assert answer.mode == "relational"
    assert (
        "Garden Diary is linked from Stoic Letters; Stoic Letters is linked from Pruning Log." in answer.text
    )
    assert all(sentence.citations for sentence in answer.sentences)
    assert "“Garden Diary” and “Pruning Log”" in answer.reason


def test_a_mode_that_is_asked_for_answers_without_vectors_too(dated):
    answer = dated.ask("Which notes reference something tagged #philosophy?", "structural")
    assert answer.mode == "structural"
    assert {sentence.text.split(" links to ")[0] for sentence in answer.sentences} == {
        "Pruning Log",
        "Rope Work",
    }
    assert all("is tagged philosophy" in sentence.text for sentence in answer.sentences)
    assert all(sentence.citations for sentence in answer.sentences)
    assert "-tagged_with->" in answer.reason


def test_me_is_asked_for_where_it_is_needed(dated):
    question = "List the notes that I wrote."
    unknown = dated.ask(question, "structural")
    assert "--me" in unknown.text
    assert not unknown.citations
    answer = dated.ask(question, "structural", me="Jo Reed")
    assert {sentence.text.split(" is written by ")[0] for sentence in answer.sentences} == {
        "Harbour Notes",
        "Rope Work",
    }


def test_a_time_is_answered_with_what_was_written_then(dated):
    answer = dated.ask("What did I write this week?", "temporal", me="Ada Lovelace", now=NOW)
    assert [sentence.text[:10] for sentence in answer.sentences] == ["2025-06-03"]
    assert "Pruning Log" in answer.text
    assert answer.citations
    every = dated.ask("What did I write this week?", "temporal", now=NOW)
    assert [sentence.text[:10] for sentence in every.sentences] == ["2025-06-04", "2025-06-03"]


def test_a_time_is_answered_in_sentences_without_marks_of_headings(dated):
    answer = dated.ask("What was written this week?", "temporal", now=NOW)
    assert answer.sentences[1].text == "2025-06-03 Pruning Log — The Walled Court: Stoic Letters."
    assert "#" not in answer.text


def test_late_and_long_ago_are_joined(dated):
    question = "What did I save this week that connects to last spring?"
    assert not dated.ask(
        question, "temporal", me="Ada Lovelace", now="2030-01-05"
    ).text  # nothing of that week
    answer = dated.ask(question, "temporal", me="Ada Lovelace", now=NOW)
    assert "Pruning Log (2025-06-03) and Stoic Letters (2025-04-03)" in answer.text
    assert all(sentence.citations for sentence in answer.sentences)


def test_what_structure_cannot_answer_is_searched_for(dated):
    answer = dated.ask(
        "How are Stoic Letters and Harbour Notes connected?", options=AnswerOptions(sentences=1)
    )
    assert answer.mode in ("relational", "local")


# --- times ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("what was new on 2024-03-05?", "2024-03-05", "2024-03-05"),
        ("Notizen vom März 2024", "2024-03-01", "2024-03-31"),
        ("нотатки за жовтень 2023 року", "2023-10-01", "2023-10-31"),
        ("2023年10月的笔记", "2023-10-01", "2023-10-31"),
        ("¿qué escribí el mes pasado?", "2025-05-01", "2025-05-31"),
        ("what did I do last week", "2025-05-26", "2025-06-01"),
        ("минулої зими", "2024-12-01", "2025-02-28"),
        ("last spring", "2025-03-01", "2025-05-31"),
        ("昨天", "2025-06-04", "2025-06-04"),
        ("in 1987", "1987-01-01", "1987-12-31"),
        ("since January", "2025-01-01", "2025-06-05"),
        ("seit März 2024", "2024-03-01", "2025-06-05"),
        ("zh: 一月以来我写了什么？", "2025-01-01", "2025-06-05"),
        ("what was that 3 weeks ago?", "2025-05-12", "2025-05-18"),
        ("fr: qu'ai-je écrit la semaine dernière ?", "2025-05-26", "2025-06-01"),
        ("fr: il y a 3 jours", "2025-06-02", "2025-06-02"),
        ("it: le note di ottobre 2023", "2023-10-01", "2023-10-31"),
        ("pl: notatki z października 2023", "2023-10-01", "2023-10-31"),
        ("pl: co było w zeszłym miesiącu?", "2025-05-01", "2025-05-31"),
        ("ja: 先月は何を書きましたか", "2025-05-01", "2025-05-31"),
        ("ar: ماذا كتبت أمس؟", "2025-06-04", "2025-06-04"),
        ("tr: geçen ay ne yazdım?", "2025-05-01", "2025-05-31"),
        ("hi: पिछले साल क्या लिखा", "2024-01-01", "2024-12-31"),
        ("fr: depuis le printemps dernier", "2025-03-01", "2025-06-05"),
    ],
)
def test_times_are_read_in_many_languages(question, first, last):
    now = int(datetime(2025, 6, 5, 12, tzinfo=UTC).timestamp())
    language, _, text = question.rpartition(": ")
    (span,) = spans_in(text, now, language or "en")
    assert [datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d") for at in span] == [first, last]


def test_what_is_no_time_is_none():
    assert spans_in("the maypole stood in room 1204, maybe", 0) == []
    assert spans_in("", 0) == []
    assert spans_in("9999-99-99", 0) == []
    assert spans_in("999999 years ago, 9999 years ago", 0, "en") == []
    for language in ("", "xx", "../en", "zh-Hant", "tlh"):  # of which there is no table
        assert spans_in("what did mar do", 0, language) == []
    assert spans_in("qui est le mar du do ?", 0, "fr") == []
