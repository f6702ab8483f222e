"""Follow-up questions, with and without a model, and prompts for a small budget."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_vault import NOTES, build

from clew import Index
from clew.errors import ProviderError
from clew.options import ContextOptions
from clew.testing.chat import ScriptedChatModel
from clew.types import ChatRequest


@pytest.fixture(scope="module", params=["none", "minilm"])
def vault(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("talk")
    build(folder, NOTES, request.param).close()
    return folder / "index.duckdb"


def read_as(vault: Path, *questions: str) -> list[str]:
    with Index.open(vault) as index:
        chat = index.chat()
        return [chat.ask(question).answer.read_as for question in questions]


def test_a_question_that_names_nothing_is_about_what_was_named(vault: Path) -> None:
    assert read_as(vault, "What is the rudder?", "who holds it?") == ["", "who holds it? (Rudder)"]


def test_a_short_one_that_names_something_beside_it_too(vault: Path) -> None:
    assert read_as(vault, "What is the mast?", "and its sail?")[1] == "and its sail? (Mast)"


@pytest.mark.parametrize("question", ["What is compost?", "What is a mast for?", "What are the main themes?"])
def test_a_question_that_is_complete_stays(vault: Path, question: str) -> None:
    assert read_as(vault, "What is the mast?", question)[1] == ""


def test_follow_ups_work_in_other_languages(vault: Path) -> None:
    assert read_as(vault, "Що таке закваска?", "а скільки часу?")[1] == "а скільки часу? (Закваска)"


def test_a_model_rewrites_from_the_history(vault: Path) -> None:
    def script(request: ChatRequest) -> str:
        text = request.messages[-1].text
        if "Last question:" in text:
            assert "What is the rudder?" in text
            return '\n"Who holds the tiller of the rudder?"\n'
        return "The helmsman holds the tiller [1]."

    model = ScriptedChatModel(script)
    with Index.open(vault, llm=model) as index:
        chat = index.chat("local")
        _ = chat.ask("What is the rudder?").answer
        answer = chat.ask("who holds it?").answer
    assert answer.question == "who holds it?"
    assert answer.read_as == "Who holds the tiller of the rudder?"
    assert "The conversation so far" in model.requests[-1].messages[-1].text
    assert [turn.question for turn in chat.turns] == ["What is the rudder?", answer.read_as]


@pytest.mark.parametrize("said", ["", "?", "x" * 1000, ProviderError("scripted", "it is down")])
def test_where_the_model_rewrites_nothing_names_are_carried_over(vault: Path, said: str | Exception) -> None:
    def script(request: ChatRequest) -> str | Exception:
        return said if "Last question:" in request.messages[-1].text else "The rudder steers the ship [1]."

    for left in vault.parent.glob("*.cache*"):
        left.unlink()
    with Index.open(vault, llm=ScriptedChatModel(script)) as index:
        chat = index.chat("local")
        _ = chat.ask("What is the rudder?").answer
        assert chat.ask("who holds it?").answer.read_as == "who holds it? (Rudder)"


@pytest.mark.parametrize("budget", [100, 200, 400, 800])
def test_a_brief_keeps_its_budget_and_its_sources(vault: Path, budget: int) -> None:
    with Index.open(vault) as index:
        found = index.context("What does the earthworm eat?", ContextOptions(budget=budget))
    assert found.tokens <= budget
    assert "Question: What does the earthworm eat?" in found.text
    for item in found.items:
        assert f"[{item.number}] {item.text}" in found.text
        assert item.citations
        for one in item.citations:
            assert Path(one.file).read_bytes()[one.start : one.end].decode("utf-8") == one.quote


def test_a_brief_holds_as_much_as_its_options_say(vault: Path) -> None:
    with Index.open(vault) as index:
        question = "What does the earthworm eat?"
        options = ContextOptions(budget=4000, reports=1, edges=2, notes=3, snippet=60)
        found = index.context(question, options)
        kinds = [item.kind for item in found.items]
        assert (kinds.count("report"), kinds.count("edge"), kinds.count("text")) == (1, 2, 3)
        for item in found.items:
            if item.kind == "text":
                assert len(item.text.split("\n", 1)[1]) <= 60
        none = index.context(question, ContextOptions(reports=0, edges=0, notes=0))
        assert none.items == ()
        assert any("eats dead leaves" in item.text for item in found.items)
