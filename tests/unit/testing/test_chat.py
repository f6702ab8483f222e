"""The scripted model says what it is told to."""

import pytest

from clew.errors import ProviderError
from clew.ports import ChatModel
from clew.testing.chat import ScriptedChatModel
from clew.types import ChatMessage, ChatReply, ChatRequest


def asking(text: str, max_tokens: int = 100) -> ChatRequest:
    return ChatRequest((ChatMessage("system", "be brief"), ChatMessage("user", text)), max_tokens)


def test_replies_in_turn() -> None:
    model = ScriptedChatModel(["one", ProviderError("m", "is busy"), "three"])
    assert isinstance(model, ChatModel)
    assert model.complete(asking("a")).text == "one"
    with pytest.raises(ProviderError, match="is busy"):
        model.complete(asking("b"))
    assert model.complete(asking("c")).text == "three"
    with pytest.raises(ProviderError, match="used up"):
        model.complete(asking("d"))
    assert model.requests == [asking(text) for text in "abcd"]


def test_replies_by_what_the_prompt_contains() -> None:
    model = ScriptedChatModel({"tea": "green", "t?": "other"})
    assert model.complete(asking("which tea?")).text == "green"
    assert model.complete(asking("what?")).text == "other"
    with pytest.raises(ProviderError, match="no reply"):
        model.complete(asking("??"))


def test_replies_by_a_function() -> None:
    model = ScriptedChatModel(lambda request: request.messages[-1].text.upper())
    assert model.complete(asking("x")).text == "X"


def test_streams_what_it_would_reply() -> None:
    model = ScriptedChatModel(["a reply of several pieces"])
    pieces: list[str] = []
    stream = model.stream(asking("?"))
    while True:
        try:
            pieces.append(next(stream))
        except StopIteration as end:
            reply: ChatReply = end.value
            break
    assert len(pieces) > 1
    assert "".join(pieces) == reply.text == "a reply of several pieces"


def test_a_long_reply_is_cut_as_a_models_would_be() -> None:
    reply = ScriptedChatModel(["12345678"]).complete(asking("?", max_tokens=1))
    assert (reply.text, reply.finish, reply.usage.reply_tokens) == ("1234", "length", 1)


def test_a_text_is_no_script() -> None:
    with pytest.raises(TypeError):
        ScriptedChatModel("reply")
