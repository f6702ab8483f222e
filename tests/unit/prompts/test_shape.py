from __future__ import annotations

import json
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from clew.calls.caller import ModelCaller
from clew.calls.structured import read_json
from clew.endpoints.wire import is_strict
from clew.ingest import asking, type_nodes, written
from clew.prompts.shape import BOUNDS, halved, listed, string, structure, unbounded, within
from clew.query import points
from clew.testing.chat import ScriptedChatModel
from clew.types import ChatMessage, ChatRequest

TOKENS = (1, 64, 160, 512, 800, 4096)
FORMS: list[Any] = [points.rated(8), *(type_nodes.types(names) for names in (1, 24, 40))]
for made in (asking.extraction, written.form, points.mapped, points.followed):
    FORMS += [made(tokens) for tokens in TOKENS]


def longest(schema: Any) -> Any:
    """Return the longest reply that a schema lets through."""
    if schema["type"] == "object":
        return {name: longest(one) for name, one in schema["properties"].items()}
    if schema["type"] == "array":
        return [longest(schema["items"])] * schema["maxItems"]
    return "lighthouse " * 200 if schema["type"] == "string" else schema.get("maximum", 99)


def fits(value: Any, schema: Any) -> bool:
    return Draft202012Validator(schema).is_valid(value)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_every_list_and_text_ends_and_strict_servers_take_the_form(form: Any) -> None:
    assert is_strict(form)
    assert is_strict(unbounded(form))
    reply = longest(form)  # has a bound for each, or this raises
    assert fits(within(reply, form), form)
    assert not any(f'"{word}"' in json.dumps(unbounded(form)) for word in BOUNDS)
    assert fits(reply, unbounded(form))


@pytest.mark.parametrize("made", [points.mapped, points.followed])
@pytest.mark.parametrize("tokens", TOKENS[2:])
def test_the_longest_reply_to_a_question_fits_its_tokens(made: Any, tokens: int) -> None:
    form = made(tokens)
    # SmolLM2 takes a token for four and a half letters of English, and one and a half for each mark.
    assert len(json.dumps(within(longest(form), form))) <= 4.5 * tokens


def test_what_is_too_long_is_cut_where_no_server_holds_a_model_to_it() -> None:
    form = structure(names=listed(string(4), 2))
    reading = read_json('{"names": ["abcdefgh", "ij", "kl"]}', form)
    assert reading.value == {"names": ["abcde", "ij"]}
    assert not reading.faults
    assert not reading.repaired


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_half_a_form_lets_through_half_as_much_of_the_same(form: Any) -> None:
    less = halved(form)
    assert unbounded(less) == unbounded(form)
    assert fits(longest_within(less), form)
    if len(json.dumps(longest_within(form))) > 400:
        assert len(json.dumps(longest_within(less))) < 0.7 * len(json.dumps(longest_within(form)))


def longest_within(form: Any) -> Any:
    return within(longest(form), form)


def test_of_a_reply_that_was_cut_half_as_much_is_asked() -> None:
    form = points.mapped(160)
    runaway = '{"points": [{"text": "' + "[1][2]" * 200
    good = '{"points": [{"text": "It feeds the soil [1].", "rating": 8}]}'
    model = ScriptedChatModel([runaway, good])
    request = ChatRequest((ChatMessage("user", "Go."),), 160, schema=form)
    assert ModelCaller(model).structured(request, stage="map") == json.loads(good)
    assert [one.schema for one in model.requests] == [form, halved(form)]


def test_names_of_properties_are_no_bounds() -> None:
    form = structure(maxItems=string(3), properties=listed(string(3), 2))
    assert set(unbounded(form)["properties"]) == {"maxItems", "properties"}
    assert unbounded(form)["properties"]["maxItems"] == {"type": "string"}
