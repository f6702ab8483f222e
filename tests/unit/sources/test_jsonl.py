"""JSONL corpora."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clew.errors import SourceError
from clew.options import SourceOptions
from clew.sources.jsonl import open_source
from clew.text.records import read_records
from clew.types import Problem, RawDocument


def read(text: str | bytes) -> tuple[list[RawDocument], list[Problem]]:
    data = text.encode() if isinstance(text, str) else text
    items = list(read_records(data, "c.jsonl"))
    return (
        [item for item in items if isinstance(item, RawDocument)],
        [item for item in items if isinstance(item, Problem)],
    )


def test_a_record_is_a_document() -> None:
    raws, problems = read(
        '{"id": "b", "title": "Бе", "text": "ü text", "year": 3}\n\n{"id": 1, "text": "one"}\n'
    )
    assert problems == []
    assert raws == [
        RawDocument("1", "c.jsonl", b"one", "record", None, {}, 3),
        RawDocument("b", "c.jsonl", "ü text".encode(), "record", "Бе", {"year": 3}, 1),
    ]


def test_lines_without_id_are_known_by_number() -> None:
    raws, _ = read('{"text": "a"}\n{"_id": "x", "text": "b"}\n{"id": "", "text": "c"}\n')
    assert [raw.key for raw in raws] == ["1", "3", "x"]


def test_invalid_lines_are_problems_with_their_number() -> None:
    raws, problems = read(
        b'{"id": 1, "text": "a"}\nnot json\n[1]\n{"id": 2}\n{"text": 5}\n\xff\xfe\n{"text": "z"}\n'
    )
    assert [raw.key for raw in raws] == ["1", "7"]
    assert [problem.key for problem in problems] == [f"c.jsonl#{n}" for n in (2, 3, 4, 5, 6)]
    assert all(
        problem.skipped and f"line {n}" in problem.reason
        for n, problem in zip(range(2, 7), problems, strict=True)
    )
    assert "JSON" in problems[0].reason
    assert "object" in problems[1].reason
    assert '"text"' in problems[2].reason
    assert "UTF-8" in problems[4].reason


def test_lone_surrogates_are_replaced_and_said_so() -> None:
    raws, problems = read(
        '{"id": "a", "text": "x \\ud800 y", "m": {"k": ["\\udfff"]}}\n{"id": "b", "text": "\\ud83c\\udf89"}\n'
    )
    assert raws[0].data.decode() == "x \ufffd y"
    assert raws[0].metadata == {"m": {"k": ["\ufffd"]}}
    assert raws[1].data.decode() == "🎉"
    assert [(problem.key, problem.skipped) for problem in problems] == [("a", False)]


def test_repeated_ids_are_made_unique() -> None:
    raws, problems = read('{"id": 1, "text": "a"}\n{"id": "1", "text": "b"}\n{"id": "1", "text": "c"}\n')
    assert [(raw.key, raw.line) for raw in raws] == [("1", 1), ("1~2", 2), ("1~3", 3)]
    assert len(problems) == 2
    assert not problems[0].skipped


def test_many_problems_are_counted() -> None:
    _, problems = read("x\n" * 1000)
    assert len(problems) < 100
    assert "950 more" in problems[-1].reason


@pytest.mark.parametrize("value", ["NaN", "1e999", "12345678901234567890123", "[" * 100000])
def test_odd_json_is_survived(value: str) -> None:
    raws, problems = read(f'{{"id": 1, "text": "a", "x": {value}}}\n{{"id": 2, "text": "b"}}')
    assert raws[-1].key == "2"
    for raw in raws:
        json.dumps(raw.metadata, allow_nan=False)
    assert len(raws) + len(problems) >= 2


def test_a_mark_and_windows_line_ends() -> None:
    raws, problems = read(b'\xef\xbb\xbf{"id": 1, "text": "a\\n b"}\r\n{"id": 2, "text": "c"}\r\n')
    assert [raw.data for raw in raws] == [b"a\n b", b"c"]
    assert problems == []


def test_unusual_line_separators_do_not_end_a_line() -> None:
    raws, problems = read('{"id": 1, "text": "a\u2028b\u0085c"}\n')
    assert [raw.data.decode() for raw in raws] == ["a\u2028b\u0085c"]
    assert problems == []


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    source = open_source(tmp_path / "no.jsonl", SourceOptions(), "no")
    with pytest.raises(SourceError, match=r"no\.jsonl"):
        list(source.read())
