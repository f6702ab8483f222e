"""The labelled passages, of which the figures are made."""

import json
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
sys.path.insert(0, str(ROOT / "benchmarks"))

from entities import DATA, PAIRS, extract, index, load, resolve_pairs, score  # noqa: E402


def test_two_hundred_passages_are_labelled_in_both_halves():
    rows = [json.loads(line) for line in DATA.read_text("utf-8").splitlines()]
    assert len(rows) >= 200
    assert len({row["id"] for row in rows}) == len(rows)
    held_out = [row for row in rows if row["split"] == "held out"]
    assert len(held_out) >= 100
    assert len({row["language"] for row in held_out}) >= 6


@pytest.mark.parametrize(("split", "precision", "recall"), [("seen", 0.88, 0.8), ("held out", 0.84, 0.76)])
def test_mentions_are_found_as_well_as_documented(split, precision, recall):
    marked, found = [], []
    for (of, _), rows in load(DATA).items():
        if of == split:
            rows.sort(key=lambda row: row[0].key)
            found += index([raw for raw, _ in rows])[1]
            marked += [spans for _, spans in rows]
    result = score(marked, found)
    assert result.precision >= precision
    assert result.recall >= recall


def test_names_of_one_thing_are_joined_and_of_two_never():
    seen, held_out = resolve_pairs(PAIRS, "seen"), resolve_pairs(PAIRS, "held out")
    assert seen.blended == held_out.blended == 0
    assert seen.joined >= 0.9 * seen.same, seen.wrong
    assert held_out.joined >= 0.7 * held_out.same, held_out.wrong


def test_a_collection_without_names_has_no_mentions():
    corpus, graph = extract([])
    assert corpus.n_chunks == 0
    assert graph.name == ()
