"""JSON out of whatever a model says."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.calls.structured import read_json
from clew.calls.thoughts import Shown, without_thoughts

CALM = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)  # the machine may be busy
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "n": {"type": "number"}},
                "required": ["name", "n"],
            },
        }
    },
    "required": ["items"],
}
VALUES = st.fixed_dictionaries(
    {
        "items": st.lists(
            st.fixed_dictionaries(
                {"name": st.text(st.characters(exclude_categories=["Cs"])), "n": st.integers(-99, 99)}
            ),
            max_size=4,
        )
    }
)
AROUND = [
    "VALUE",
    "```json\nVALUE\n```",
    "```\nVALUE\n```",
    "Sure:\nVALUE",
    "<think>a [b] {c}</think>VALUE",
    "so\n</think>\nVALUE",
]


@CALM
@given(VALUES, st.sampled_from(AROUND))
def test_what_is_whole_comes_out_as_it_is(value: Any, around: str) -> None:
    reading = read_json(around.replace("VALUE", json.dumps(value)), SCHEMA)
    assert reading.faults == ()
    assert reading.value == value


@CALM
@given(st.text() | st.text('[]{}",:`\\n </think>json0ea'))
def test_any_text_is_read_without_an_exception(text: str) -> None:
    reading = read_json(text, SCHEMA)
    assert reading.faults or "items" in reading.value


@CALM
@given(VALUES, st.integers(0, 200))
def test_a_reply_that_is_cut_gives_what_was_there_or_says_what_is_missing(value: Any, length: int) -> None:
    reading = read_json(json.dumps(value)[:length], SCHEMA)
    if not reading.faults:
        assert len(reading.value["items"]) <= len(value["items"])


ENDLESS = {
    "brackets": "[" * 30_000,
    "nested": '{"a":' * 10_000,
    "prose": "and so on " * 5_000,
    "a long list": '{"items": [' + '{"name": "x", "n": 1}, ' * 2_000,
    "ticks": "`" * 30_000,
}


@pytest.mark.parametrize("text", ENDLESS.values(), ids=ENDLESS.keys())
def test_an_endless_reply_is_read_soon(text: str) -> None:
    begin = time.process_time()
    read_json(text, SCHEMA)
    assert time.process_time() - begin < 5


def test_numbers_that_json_has_not_are_no_numbers() -> None:
    assert read_json('{"items": [{"name": "x", "n": NaN}]}', SCHEMA).faults
    assert read_json('{"items": [{"name": "x", "n": Infinity}]}', SCHEMA).faults


def test_half_a_character_is_replaced() -> None:
    reading = read_json('{"items": [{"name": "x\\ud83d", "n": 1}]}', SCHEMA)
    assert reading.value["items"][0]["name"].encode("utf-8")


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("Ada.", "Ada."),
        ("<think>who?</think> Ada.", "Ada."),
        ("\n<think>\nwho?\n</think>\n\nAda.", "Ada."),
        ("who?\n</think>\n\nAda.", "Ada."),
        ("<think>who? who?", ""),
        ("The tags <think> and </think> are of no use.", "The tags <think> and </think> are of no use."),
        ("<think>who? <think>Ada?</think> yes</think>Ada.", "Ada."),
        ("Ada.\n<think>who else?</think>\nBob.", "Ada.\n\nBob."),
        ("Ada [1]. <think>who <think>else</think>?</think>Bob.", "Ada [1]. Bob."),
        ("Ada.\n\n<think>who else? who", "Ada.\n\n"),
        ("<think>a</think>\n<think>b</think>\nAda.", "Ada."),
        ("Write `<think>` first.", "Write `<think>` first."),
        ("a < b", "a < b"),
        ("a <thin", "a <thin"),
        ("", ""),
    ],
)
@pytest.mark.parametrize("size", [1, 3, 100])
def test_thoughts_are_taken_out_also_of_a_stream(text: str, answer: str, size: int) -> None:
    assert without_thoughts(text) == answer
    shown = Shown()
    told = "".join(shown.show(text[at : at + size]) for at in range(0, len(text), size)) + shown.end()
    if text.startswith("who?"):  # that these are thoughts can't be known before they end
        assert told.endswith(answer)
    else:
        assert told == answer
