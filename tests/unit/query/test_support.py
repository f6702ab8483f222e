"""What a source supports: sentences in six languages, taken over, reworded, with a wrong number or name, or
about something else."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from small_vault import build

from clew import Index
from clew.query.sources import Item, whole
from clew.query.support import Supporter, numbers

DATA = Path(__file__).parents[2] / "data" / "support.jsonl"
CASES: list[dict[str, Any]] = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
LEAST = 0.9  # share that is judged right, by docs/answers.md


@pytest.fixture(scope="module", params=["none", "minilm"])
def judged(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> list[tuple[dict[str, Any], bool, float]]:
    notes = {name_of(case): case["source"] + "\n" for case in CASES}
    found = []
    with build(tmp_path_factory.mktemp("support"), notes, request.param) as index:
        supporter = Supporter(index.engine)
        items = items_of(index)
        for case in CASES:
            item = items[name_of(case)]
            verdict = supporter.check(case["sentence"], [item])
            found.append((case, verdict.supported, verdict.support))
    return found


def name_of(case: dict[str, Any]) -> str:
    return f"{case['language']} {chr(ord('a') + case['note'])}.md"  # without digits: they would be numbers


def items_of(index: Index) -> dict[str, Item]:
    reader = index.engine.reader
    out = {}
    for document in reader.documents():
        chunk = reader.chunks_of(document.doc)[0]
        out[document.key] = Item(1, "text", chunk.text, 0, (whole(chunk, document),), document.title)
    return out


def test_most_sentences_are_judged_right(judged: list[tuple[dict[str, Any], bool, float]]) -> None:
    right = Counter[str]()
    wrong = []
    for case, supported, support in judged:
        good = supported == (case["kind"] in ("supported", "paraphrased"))
        right[case["kind"]] += good
        if not good:
            wrong.append((case["kind"], support, case["sentence"]))
    assert sum(right.values()) >= LEAST * len(CASES), wrong
    assert right["contradicted"] == right["unrelated"] == len(CASES) // 4, wrong


def test_numbers_are_compared_by_their_digits() -> None:
    assert "40000" in numbers("40 000 livres")
    assert "40000" in numbers("40,000 books")
    assert numbers("4,62 m") >= numbers("4.62 m")
    assert "2022" in numbers("٢٠٢٢")
    assert "20" in numbers("2023-10-20")


def test_a_citation_is_as_narrow_as_what_says_it(tmp_path: Path) -> None:
    note = "# Keel\n\nThe keel is made of oak. It keeps the ship upright. Barnacles grow on it each summer.\n"
    with build(tmp_path, {"Keel.md": note}, "none") as index:
        item = items_of(index)["Keel.md"]
        verdict = Supporter(index.engine).check("Barnacles grow on the keel each summer.", [item])
    assert verdict.supported
    assert [line.text for line in verdict.lines[0]] == ["Barnacles grow on it each summer."]
