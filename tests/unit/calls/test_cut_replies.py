"""Of a reply that was cut in the middle of its JSON, what is certain counts."""

from __future__ import annotations

import json

import pytest

from clew.calls.structured import read_json
from clew.ingest.asking import extraction

ENTITY = {"name": "Gauge", "type": "thing", "description": 'It "measures" {tides}.', "quote": "gauge"}
LINK = {"source": "Gauge", "target": "Bay", "phrase": "is in", "strength": 0.5, "quote": "gauge in the bay"}
WHOLE = json.dumps({"entities": [ENTITY] * 3, "relationships": [LINK] * 2})


FIRST = len('{"entities": [') + len(json.dumps(ENTITY)) + 4  # the second one has begun


@pytest.mark.parametrize("end", range(FIRST, len(WHOLE)))
def test_a_reply_that_is_cut_anywhere_gives_its_whole_items(end: int) -> None:
    reading = read_json(WHOLE[:end], extraction(4096))
    assert reading.faults == ()
    assert reading.repaired
    whole = [item for item in reading.value["entities"] if item == ENTITY]
    assert len(reading.value["entities"]) - len(whole) <= 1  # one whose last text was cut
    assert len(whole) >= WHOLE[:end].count(json.dumps(ENTITY)) - 1
    assert len(reading.value["relationships"]) <= 2


@pytest.mark.parametrize("end", range(1, FIRST - 4))
def test_a_reply_that_is_cut_before_anything_is_whole_is_asked_for_again(end: int) -> None:
    reading = read_json(WHOLE[:end], extraction(4096))
    assert reading.faults or reading.value["entities"]


def test_what_is_wrong_elsewhere_stays_a_fault() -> None:
    wrong = json.dumps({"entities": [{"name": 3}, ENTITY], "relationships": []})
    assert read_json(wrong, extraction(4096)).faults
    assert read_json(wrong[:-5], extraction(4096)).faults
