"""Every ChatModel keeps the contract: the scripted one, endpoints, Ollama, and a real small model."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from real_model import PACKAGE, needs_client, needs_real_model, served

from clew import registry
from clew.options import LlmOptions
from clew.ports import ChatModel
from clew.testing.chat import ScriptedChatModel
from clew.testing.chat_contract import ChatModelContract
from clew.testing.faults import FaultServer

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
