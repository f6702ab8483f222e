"""`clew ask --llm`: a model behind a server writes, streams, breaks off, and is checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import call

from clew.testing.faults import Fault, FaultServer, error

QUESTION = "Who repaired Tide Gauge No. 3?"
GOOD = "Tomasz Okoye repaired it in the spring of 2022."  # it cites nothing: Clew finds what says so
SAID = f"{GOOD} It was painted pink in 1999 [1, 98]."


def answering(body: dict[str, Any]) -> str:
    asked = json.dumps(body)
    if "response_format" not in body:
        return SAID
    if "follow_ups" in asked:
        return json.dumps({"answer": "Tomasz Okoye repaired it [1].", "rating": 8, "follow_ups": []})
    if "points" in asked:
        return json.dumps({"points": [{"text": "Tomasz Okoye repaired it [1].", "rating": 8}]})
    return json.dumps({"ratings": [{"number": number, "rating": 7} for number in range(1, 9)]})


def ask(vault: Path, server: FaultServer, *more: str) -> Any:
    for left in (vault / ".clew").glob("cache.sqlite*"):  # kept replies would spare the calls
        left.unlink()
    return call("ask", QUESTION, "--llm", f"{server.url}#any", "--llm-retries", "0", *more, cwd=vault)


@pytest.mark.parametrize("mode", ["basic", "local", "global", "drift"])
def test_each_mode_answers_with_places(vault: Path, mode: str) -> None:
    with FaultServer(answering) as server:
        done = ask(vault, server, "--mode", mode, "--json")
    assert done.code == 0, done.err
    found = done.json
    assert found["model"]
    assert found["mode"] == mode
    assert found["removed_citations"] >= 1
    assert [one["supported"] for one in found["sentences"]][-1] is False
    for one in found["citations"]:
        assert Path(one["file"]).read_bytes()[one["start"] : one["end"]].decode("utf-8") == one["quote"]


def test_the_screen_shows_the_answer_its_sources_and_its_doubts(vault: Path) -> None:
    with FaultServer(answering) as server:
        done = ask(vault, server)
        strict = ask(vault, server, "--strict")
    assert done.code == 0, done.err
    assert done.out.startswith("Tomasz Okoye repaired it in the spring of 2022. [1]")
    assert "\n[1] " in done.out
    assert ".md:" in done.out
    assert "Not supported by what is cited (1 of 2 sentences):" in done.out
    assert "“It was painted pink in 1999.”" in done.out
    assert "pink" not in strict.out
    assert "1 sentence that the notes don't support: left out." in strict.out


def test_a_model_that_breaks_off_leaves_what_came(vault: Path) -> None:
    with FaultServer([Fault("breaks")] * 9) as server:
        done = ask(vault, server, "--mode", "local")
    assert done.code == 6
    assert done.out == "" or done.out.endswith("\n")
    assert "--llm none" in done.err


def test_a_model_that_fails_at_once_says_how_to_ask_without(vault: Path) -> None:
    with FaultServer([error(500)] * 9) as server:
        done = ask(vault, server)
    assert (done.code, done.out) == (6, "")
    assert "--llm none" in done.err
