"""What a model says is bounded, cleaned, and kept only where the passages hold what it quotes."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_corpus import corpus_of

from clew.ingest.model import Corpus
from clew.ingest.replies import Passages, clean_name, clean_type, read_extraction, sentence, strength
from clew.text.quotes import NEAR, fold

NOTES = {
    "en.md": "# Gauge\n\nTide Gauge No. 3 was repaired by **Tomasz Okoye** in [[Eelgrass Bay]].",
    "uk.md": "# Маяк\n\nАнна Берг полагодила маяк на Чорному мисі.",
    "zh.md": "# 潮汐\n\n三号验潮仪由李文修复,纸筒每天转一圈。",
    "ar.md": "# المنارة\n\nأصلحت ليلى حداد المنارة القديمة في الميناء.",
    "de.md": "# Pegel\n\nJonas Müller baute den Pegel an der Straße auf.",
}
TYPES = ("person", "place", "object")


def corpus() -> Corpus:
    return corpus_of(NOTES)


def passages(found: Corpus, key: str) -> Passages:
    doc = next(document.doc for document in found.documents if document.key == key)
    return Passages(found, range(int(found.doc_chunks[doc]), int(found.doc_chunks[doc + 1])))


def at(found: Corpus, chunk: int, start: int, end: int) -> str:
    key = found.documents[int(found.chunk_doc[chunk])].key
    return NOTES[key].encode()[start:end].decode()


@pytest.mark.parametrize(
    ("key", "name", "quote", "other", "said"),
    [
        ("en.md", "Tomasz Okoye", "Tomasz Okoye", "Eelgrass Bay", "Tomasz Okoye in Eelgrass Bay"),
        ("uk.md", "Анна Берг", "Анна Берг", "маяк", "анна берг полагодила маяк"),
        ("zh.md", "李文", "李文", "三号验潮仪", "三号验潮仪由李文修复"),
        ("ar.md", "ليلى حداد", "ليلى حداد", "المنارة القديمة", "أصلحت ليلى حداد المنارة القديمة"),
        ("de.md", "Jonas Müller", "Jonas Müller", "Pegel", "Jonas Müller baute den Pegel an der STRASSE"),
    ],
)
def test_offsets_lead_to_what_was_quoted(key: str, name: str, quote: str, other: str, said: str) -> None:
    found = corpus()
    reply = {
        "entities": [{"name": name, "type": "Person", "description": "x", "quote": quote}],
        "relationships": [
            {"source": name, "target": other, "phrase": "p", "strength": 0.5, "quote": said},
        ],
    }
    heard = read_extraction(reply, passages(found, key), TYPES)
    assert heard.dropped == 0
    first, second = heard.entities
    assert at(found, first.chunk, first.start, first.end) == name
    assert (first.type, second.name) == ("person", other)
    assert fold(at(found, second.chunk, second.start, second.end))[0] == fold(other)[0]
    (relation,) = heard.relations
    assert fold(at(found, relation.chunk, relation.start, relation.end))[0] == fold(said)[0]


def test_a_longer_quote_gives_a_mention_of_the_name_in_it() -> None:
    found = corpus()
    item = {"name": "Eelgrass Bay", "quote": "repaired by Tomasz Okoye in Eelgrass Bay"}
    (entity,) = read_extraction({"entities": [item]}, passages(found, "en.md"), TYPES).entities
    assert at(found, entity.chunk, entity.start, entity.end) == "Eelgrass Bay"


@pytest.mark.parametrize(
    "item",
    [
        {"name": "Moon Base", "quote": "Moon Base"},
        {"name": "Tomasz Okoye", "quote": ""},
        {"name": "Tomasz Okoye"},
        {"name": "", "quote": "Tomasz Okoye"},
        {"name": "1904", "quote": "3"},
        {"name": ["Tomasz"], "quote": "Tomasz Okoye"},
        {"name": "x" * 1_000_000, "quote": "Tomasz Okoye"},
        "Tomasz Okoye",
        None,
    ],
)
def test_what_quotes_nothing_or_is_no_name_is_dropped_and_counted(item: Any) -> None:
    heard = read_extraction({"entities": [item]}, passages(corpus(), "en.md"), TYPES)
    assert (heard.entities, heard.dropped) == ([], 1)


def test_an_absurd_reply_is_bounded() -> None:
    long = "d" * 10**6
    items = [{"name": f"Tomasz{i}", "quote": "Tomasz Okoye", "description": long} for i in range(10_000)]
    links = [
        {"source": "Tomasz Okoye", "target": "Eelgrass Bay", "phrase": "p" * 10**5, "quote": "Tomasz Okoye"}
    ]
    reply = {"entities": items, "relationships": links * 5000}
    heard = read_extraction(reply, passages(corpus(), "en.md"), TYPES)
    assert len(heard.entities) <= 102
    assert len(heard.relations) <= 150
    assert heard.dropped >= 10_000 - 100 + 5000 - 150
    assert max(len(entity.description) for entity in heard.entities) <= 300


@pytest.mark.parametrize("reply", [None, [], "text", 7, {"entities": 3}, {"relationships": {"a": 1}}])
def test_a_reply_of_another_form_brings_nothing(reply: Any) -> None:
    heard = read_extraction(reply, passages(corpus(), "en.md"), TYPES)
    assert (heard.entities, heard.relations) == ([], [])


def test_names_are_cleaned_as_names_in_notes_are() -> None:
    assert clean_name("  [[Eelgrass Bay|the **bay**]],\n") == "the bay"
    assert clean_name("Tide\x00 Gauge\u202e\x1b[31m No. 3.") == "Tide Gauge [31m No. 3"
    assert clean_name("12/7") == ""
    assert clean_name(" ".join(["word"] * 17)) == ""
    assert clean_type("PLACE", TYPES) == "place"
    assert clean_type("Ship\x07 Type", TYPES) == "ship type"
    assert clean_type("!!", TYPES) == ""
    assert sentence("one two three", 9) == "one two…"
    assert [strength(v) for v in (7, -1, "0.3", None, True, math.nan, 0.25)] == [
        1,
        0,
        0.5,
        0.5,
        0.5,
        0.5,
        0.25,
    ]


json_values: Any = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
parts = st.one_of(json_values, *(st.sampled_from(text.split()) for text in NOTES.values()))
entities = st.fixed_dictionaries({"name": parts, "type": parts, "description": parts, "quote": parts})
relations = st.fixed_dictionaries(
    {"source": parts, "target": parts, "phrase": parts, "strength": json_values, "quote": parts}
)
CORPUS = corpus()


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(sorted(NOTES)),
    st.lists(entities | json_values, max_size=5),
    st.lists(relations | json_values, max_size=5),
)
def test_every_place_holds_its_quote(key: str, said: list[Any], linked: list[Any]) -> None:
    from rapidfuzz import fuzz

    heard = read_extraction({"entities": said, "relationships": linked}, passages(CORPUS, key), TYPES)
    quotes = [fold(q)[0] for item in [*said, *linked] if isinstance(item, dict) for q in texts(item)]
    for one in [*heard.entities, *heard.relations]:
        there = fold(at(CORPUS, one.chunk, one.start, one.end))[0]
        assert there
        assert any(there in quote or fuzz.ratio(there, quote) >= NEAR for quote in quotes)
    json.dumps([entity.name for entity in heard.entities], ensure_ascii=False).encode()


def texts(item: dict[str, Any]) -> list[str]:
    return [value for value in item.values() if isinstance(value, str)]
