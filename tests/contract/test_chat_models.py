"""Every ChatModel keeps the contract: the scripted one, endpoints, Ollama, and a real small model."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from real_model import PACKAGE, needs_client, needs_real_model, served

from clew import registry
from clew.calls.caller import ModelCaller
from clew.errors import OptionError, ProviderError
from clew.llms.gguf import Gguf, find_file
from clew.options import LlmOptions
from clew.ports import ChatModel
from clew.testing.chat import ScriptedChatModel
from clew.testing.chat_contract import ChatModelContract
from clew.testing.faults import FaultServer
from clew.types import ChatMessage, ChatRequest

TEXT = "One two three four five six seven eight nine ten eleven twelve thirteen fourteen."
QUICK = LlmOptions(timeout=60)


def made(spec: str) -> ChatModel:
    model = registry.make_llm(spec, QUICK)
    assert model is not None
    return model


@pytest.fixture(scope="module")
def in_process() -> ChatModel:
    return made(f"gguf:{PACKAGE}")


@pytest.fixture(scope="module")
def behind_a_server() -> Iterator[ChatModel]:
    with served() as url:
        yield made(f"{url}#smollm2")


class TestScripted(ChatModelContract):
    @pytest.fixture
    def model(self) -> ChatModel:
        return ScriptedChatModel(lambda request: TEXT)


@needs_client
class TestEndpoint(ChatModelContract):
    @pytest.fixture
    def model(self) -> Iterator[ChatModel]:
        with FaultServer([TEXT]) as server:
            yield made(f"{server.url}#any")


@needs_client
class TestOllama(ChatModelContract):
    @pytest.fixture
    def model(self, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatModel]:
        with FaultServer([TEXT], models=["gemma3:4b"]) as server:
            monkeypatch.setenv("OLLAMA_HOST", server.root)
            yield made("ollama:gemma3:4b")


@needs_real_model
class TestInProcess(ChatModelContract):
    @pytest.fixture
    def model(self, in_process: ChatModel) -> ChatModel:
        return in_process


@needs_client
@needs_real_model
class TestServed(ChatModelContract):
    @pytest.fixture
    def model(self, behind_a_server: ChatModel) -> ChatModel:
        return behind_a_server


@needs_real_model
@pytest.mark.parametrize("place", ["in_process", "behind_a_server"])
def test_a_real_model_keeps_to_a_schema(place: str, request: pytest.FixtureRequest) -> None:
    if place == "behind_a_server" and find_spec("openai") is None:
        pytest.skip("openai isn't installed")
    made = ModelCaller(request.getfixturevalue(place), QUICK)
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "maxLength": 12}, "sure": {"type": "boolean"}},
        "required": ["city", "sure"],
        "additionalProperties": False,
    }
    question = ChatMessage("user", "Where is the Eiffel Tower? Answer as JSON with city and sure.")
    found = made.structured(ChatRequest((question,), 40, 0.0, schema), stage="test")
    assert isinstance(found["city"], str)
    assert isinstance(found["sure"], bool)
    (cost,) = made.ledger.rows
    assert cost.asked_again == 0
    assert cost.prompt_tokens > 20
    assert not cost.estimated


@needs_real_model
def test_a_file_is_named_by_its_content_and_read_with_the_window_that_is_asked(tmp_path: Path) -> None:
    file = find_file(PACKAGE)
    model = made(f"gguf:{file}")
    assert model.name == made(f"gguf:{PACKAGE}").name
    assert model.name.startswith("gguf:SmolLM2-135M-Instruct")
    (tmp_path / file.name).write_bytes(b"GGUF other")
    assert made(f"gguf:{tmp_path / file.name}").name != model.name
    small = registry.make_llm(f"gguf:{file}", LlmOptions(window=256))
    assert small is not None
    assert small.window == 256
    with pytest.raises(ProviderError, match="context"):
        small.complete(ChatRequest((ChatMessage("user", "word " * 400),), 8))


@pytest.mark.parametrize(
    ("argument", "says"),
    [("", "names no model"), ("no-such-package", "no such file or package"), ("pytest", "0 GGUF files")],
)
def test_a_wrong_gguf_is_refused_with_a_remedy(argument: str, says: str) -> None:
    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp isn't installed")
    with pytest.raises(OptionError, match=says) as caught:
        made(f"gguf:{argument}")
    assert caught.value.remedy


def test_a_file_that_is_not_gguf_is_refused(tmp_path: Path) -> None:
    if find_spec("xllamacpp") is None:
        pytest.skip("xllamacpp isn't installed")
    (tmp_path / "m.gguf").write_text("no")
    with pytest.raises(OptionError, match="isn't GGUF"):
        made(f"gguf:{tmp_path / 'm.gguf'}")


class SlowEngine:
    """Stands for llama.cpp: a tenth of a second for each call."""

    def handle_chat_completions(self, body: dict[str, Any], take: Any) -> None:
        time.sleep(0.1)
        take({"choices": [{"delta": {"content": "Hm."}, "finish_reason": "stop"}]})


def test_waiting_for_another_call_is_not_taken_for_slowness(tmp_path: Path) -> None:
    """Calls to a model in process come one after the other: only its own time counts for each."""
    file = tmp_path / "m.gguf"
    file.write_bytes(b"GGUF")
    model = Gguf(file, LlmOptions(timeout=1.0))
    model.__dict__["_server"] = SlowEngine()
    model.__dict__["_count"] = len
    asked = [ChatRequest((ChatMessage("user", f"{n}"),), 8) for n in range(16)]
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(model.complete, asked))
    assert [reply.text for reply in replies] == ["Hm."] * 16
