"""The example runs, and answers what its page says."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "examples" / "nostr"


@pytest.fixture(scope="module")
def example():
    """The example's two scripts."""
    sys.path.insert(0, str(FOLDER))
    found = {}
    try:
        for name in ("make_events", "ask"):
            spec = importlib.util.spec_from_file_location(f"nostr_example_{name}", FOLDER / f"{name}.py")
            assert spec is not None
            assert spec.loader is not None
            found[name] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(found[name])
        yield found
    finally:
        sys.path.remove(str(FOLDER))


def test_the_events_are_the_ones_that_are_made(example):
    text = (FOLDER / "events.jsonl").read_text("utf-8")
    assert example["make_events"].make() == text
    kinds = {json.loads(line)["kind"] for line in text.splitlines()}
    assert kinds == {0, 1, 3, 5, 6, 7, 1111, 9802, 30003, 10003, 30023, 39089}


EXPECTED = [
    ("follows", "Jun Aoki", "Oksana Hnatiuk", "Teo Marín", "Lena Brandt", "Priya Nair"),
    ("Priya Nair", "Teo Marín", "tides", "philosophy"),
    ("La atención como oficio", "Листи без поспіху"),
    ("A Nostr key is a binder's stamp", "Relays are tide gauges", "一番遅い時計"),
    ("La atención como oficio  2026-03-18", "Листи без поспіху  2025-05-01", "links to"),
    ("Laufrichtung: warum Bücher sich weigern", "Lena Brandt", "saved"),
    ("saved by Mira Solberg", "tagged philosophy", "linked from Read “Листи без поспіху”"),
    ("La atención como oficio", "Листи без поспіху", "links to"),
    ("La atención como oficio", "Листи без поспіху", "is tagged philosophy"),
    ("twice on the night train. [1]", "“Листи без поспіху”", "@Oksana Hnatiuk"),
    ("Увага — це єдине",),
    ("2026-02", "2025-12"),
]


@pytest.mark.slow
def test_questions_are_answered_with_their_paths(example, tmp_path):
    found = example["ask"].answers(tmp_path)
    assert len(found) == len(EXPECTED)
    for (question, command, answer), expected in zip(found, EXPECTED, strict=True):
        missing = [part for part in expected if part not in answer]
        assert not missing, (question, command, answer)
        assert "events.jsonl:" in answer or "activity" in command
        assert "Sam Whitlow" not in answer  # whom Mira doesn't follow, and who saved nothing
        assert "npub1" not in answer or "Also" in answer


def test_the_page_shows_the_questions_that_the_script_asks(example):
    text = (ROOT / "docs" / "nostr-example.md").read_text("utf-8")
    for question, command in example["ask"].QUESTIONS:
        assert f"## {question}\n" in text
        assert f"$ {command}\n" in text
