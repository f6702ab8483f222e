"""The scripted model says what it is told to."""

import pytest

from clew.errors import ProviderError
from clew.ports import ChatModel
from clew.testing.chat import ScriptedChatModel


def test_replies_in_turn() -> None:
    model = ScriptedChatModel(["one", ProviderError("m", "is busy"), "three"])
    assert isinstance(model, ChatModel)
    assert model.complete("a", system="s", max_tokens=5) == "one"
    with pytest.raises(ProviderError, match="is busy"):
        model.complete("b")
    assert model.complete("c") == "three"
    with pytest.raises(ProviderError, match="used up"):
        model.complete("d")
    assert [request.prompt for request in model.requests] == ["a", "b", "c", "d"]
    assert (model.requests[0].system, model.requests[0].max_tokens) == ("s", 5)


def test_replies_by_what_the_prompt_contains() -> None:
    model = ScriptedChatModel({"tea": "green", "t": "other"})
    assert model.complete("which tea?") == "green"
    assert model.complete("what?") == "other"
    with pytest.raises(ProviderError, match="no reply"):
        model.complete("??")


def test_replies_by_a_function() -> None:
    model = ScriptedChatModel(lambda request: request.prompt.upper())
    assert model.complete("x") == "X"


def test_a_text_is_no_script() -> None:
    with pytest.raises(TypeError):
        ScriptedChatModel("reply")
