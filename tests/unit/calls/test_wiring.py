"""How an index comes by its language model, and that one changes nothing until it is asked."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from clew.errors import OptionError
from clew.index import Index, cache_path, look_at_costs
from clew.options import EmbedOptions, IndexOptions, LlmOptions
from clew.testing.chat import ScriptedChatModel
from clew.types import ChatMessage, ChatRequest

PLAIN = IndexOptions(embed=EmbedOptions(embedder="none"))
QUESTION = ChatRequest((ChatMessage("user", "Who?"),), 50)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "Tide Gauge.md").write_text("# Tide Gauge\n\nIt records the tide for Ada Lovelace.\n", "utf-8")
    return folder


def test_an_index_without_a_model_is_the_same_whatever_the_options_of_models_are(notes: Path) -> None:
    with Index.build([notes], options=PLAIN) as index:
        before = index.engine.reader.generation
    options = LlmOptions(concurrency=2, budget="5 tokens", window=99, rating_model="", price=("m=1/2",))
    with Index.build([notes], options=PLAIN, llm=options) as index:
        assert index.result is not None
        assert index.result.unchanged
        assert index.callers is None
    model = ScriptedChatModel([])
    with Index.build([notes], options=PLAIN, llm=model, rebuild=True) as index:
        assert index.engine.reader.generation == before
    assert model.requests == []


def test_questions_replies_are_kept_beside_the_index_and_counted(notes: Path) -> None:
    model = ScriptedChatModel(["Ada."])
    with Index.build([notes], options=PLAIN) as index:
        file = index.file
    for _ in range(2):
        with Index.open(file, llm=model) as index:
            assert index.callers is not None
            assert index.callers.main is index.callers.rating
            assert index.callers.main.complete(QUESTION, stage="answer").text == "Ada."
            assert index.spent
    assert len(model.requests) == 1
    total = look_at_costs(file).total
    assert (total.calls, total.kept) == (1, 1)


def test_a_cache_that_is_held_is_told_and_done_without(notes: Path) -> None:
    with Index.build([notes], options=PLAIN) as index:
        file = index.file
    holder = sqlite3.connect(cache_path(file), isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    with Index.open(file, llm=ScriptedChatModel(["Ada."])) as index:
        assert index.callers is not None
        assert index.callers.main.complete(QUESTION, stage="answer").text == "Ada."
        assert index.forgetful
    holder.close()


def test_a_rating_model_is_another_one_with_the_same_budget(notes: Path) -> None:
    pytest.importorskip("openai")
    options = LlmOptions(
        model="http://127.0.0.1:1/v1#large", rating_model="http://127.0.0.1:1/v1#small", budget="1k tokens"
    )
    with Index.build([notes], options=PLAIN) as index:
        file = index.file
    with Index.open(file, llm=options) as index:
        assert index.callers is not None
        main, rating = index.callers.main, index.callers.rating
        assert main.model.name.endswith("#large")
        assert rating.model.name.endswith("#small")
        assert main._budget is rating._budget
        assert main.ledger is rating.ledger


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (LlmOptions(model="olama:x"), "'ollama'"),
        (LlmOptions(model="http://127.0.0.1:1/v1#m", budget="2.00"), "--price"),
        (LlmOptions(model="http://127.0.0.1:1/v1#m", budget="plenty"), "--budget"),
        (LlmOptions(model="http://127.0.0.1:1/v1#m", price=("m=cheap",)), "--price"),
        (LlmOptions(model="http://127.0.0.1:1/v1#m", price=("m=-1/2",)), "--price"),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_done(notes: Path, options: LlmOptions, says: str) -> None:
    pytest.importorskip("openai")
    with pytest.raises(OptionError, match=says):
        Index.build([notes], options=PLAIN, llm=options)
    assert not (notes / ".clew" / "index.duckdb").exists()


def test_a_price_is_found_by_the_models_name_with_and_without_its_provider(notes: Path) -> None:
    pytest.importorskip("openai")
    with Index.build([notes], options=PLAIN) as index:
        file = index.file
    for name in ("m", "http://127.0.0.1:1/v1#m"):
        options = LlmOptions(model="http://127.0.0.1:1/v1#m", price=(f"{name}=1/2",), budget="2.00")
        with Index.open(file, llm=options) as index:
            assert index.callers is not None
            assert index.callers.main.price is not None
            assert index.callers.main.price.reply == 2
