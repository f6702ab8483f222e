"""Dates as people write them, in frontmatter, records and file names."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import pytest

from clew.text.dates import changed_at, named_after, parse_time, unread_dates, written_at


def at(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp())  # type: ignore[misc,arg-type]


READ: list[tuple[Any, int]] = [
    ("2024-01-02", at(2024, 1, 2)),
    (" 2024-1-2 ", at(2024, 1, 2)),
    ("2026-01-02 15:04", at(2026, 1, 2, 15, 4)),
    ("2026-01-02, 15:04:05", at(2026, 1, 2, 15, 4, 5)),
    ("2026-01-02 3:04 PM", at(2026, 1, 2, 15, 4)),
    ("2026-01-02 12:04 a.m.", at(2026, 1, 2, 0, 4)),
    ("2026-01-02T15:04:05", at(2026, 1, 2, 15, 4, 5)),
    ("2026-01-02T15:04:05.123Z", at(2026, 1, 2, 15, 4, 5)),
    ("2026-01-02T15:04:05+02:00", at(2026, 1, 2, 13, 4, 5)),
    ("2026-01-02 15:04:05 -0530", at(2026, 1, 2, 20, 34, 5)),
    ("20260102T150405Z", at(2026, 1, 2, 15, 4, 5)),
    ("2026-W02", at(2026, 1, 5)),
    ("2026-01", at(2026, 1, 1)),
    ("2026", at(2026, 1, 1)),
    ("2026/01/02", at(2026, 1, 2)),
    ("2026.01.02", at(2026, 1, 2)),
    ("02.01.2026", at(2026, 1, 2)),
    ("2. 1. 2026 8:05", at(2026, 1, 2, 8, 5)),
    ("2026年1月2日", at(2026, 1, 2)),
    ("2026년 1월 2일 15:04", at(2026, 1, 2, 15, 4)),
    ("2026-01-02 Fri 15:04", at(2026, 1, 2, 15, 4)),
    ("2026-01-02 пт", at(2026, 1, 2)),
    ("[[2026-01-02]]", at(2026, 1, 2)),
    ("Fri, 02 Jan 2026 10:00:00 +0200", at(2026, 1, 2, 8)),
    ("1851-05-01", at(1851, 5, 1)),
    ("202601021504", at(2026, 1, 2, 15, 4)),
    (20260102, at(2026, 1, 2)),
    (2026, at(2026, 1, 1)),
    (1_700_000_000, 1_700_000_000),
    (1_700_000_000.9, 1_700_000_000),
    (1_700_000_000_123, 1_700_000_000),
    ("1700000000", 1_700_000_000),
    (-1_000_000_000, -1_000_000_000),
    (date(2026, 1, 2), at(2026, 1, 2)),
    (["2026-01-02", "2027-01-01"], at(2026, 1, 2)),
]
UNREAD = (
    "03/04/2024",  # April or March
    "soon",
    "2024-13-45",
    "31.02.2024",
    "",
    "2024-01-02 and more words",
    "9" * 400,
    "²⁰²⁶",
    5,
    True,
    None,
    [],
    {"year": 2024},
    float("nan"),
    float("inf"),
)


@pytest.mark.parametrize(("value", "time"), READ, ids=repr)
def test_a_date_is_read(value: Any, time: int) -> None:
    assert parse_time(value) == time


@pytest.mark.parametrize("value", UNREAD, ids=lambda value: repr(value)[:30])
def test_what_is_no_date_or_two_is_not_read(value: Any) -> None:
    assert parse_time(value) is None


@pytest.mark.parametrize("text", ["9999-12-31T23:59:59-10:00", "0001-01-01T00:00:00+10:00"])
def test_the_ends_of_the_calendar_are_no_fault(text: str) -> None:
    assert isinstance(parse_time(text), int)


def test_a_note_was_written_when_it_was_made() -> None:
    fields = {"updated": "2026-03-03", "published": "2026-02-02", "date": "2026-01-01"}
    assert written_at(fields) == at(2026, 1, 1)
    assert written_at({**fields, "Date Created": "2025-01-01"}) == at(2025, 1, 1)
    assert written_at({**fields, "date": "some day"}) == at(2026, 2, 2)
    assert written_at({"updated": "2026-03-03"}) is None
    assert changed_at(fields) == at(2026, 3, 3)
    assert written_at({}) is changed_at({}) is None


def test_fields_with_a_date_that_cannot_be_read_are_told() -> None:
    assert unread_dates({"date": "03/04/2024", "created": "2024-01-01", "title": "soon"}) == ["date"]
    assert unread_dates({"date": "", "updated": None, "published": "soon", "created": "{{date:2026}}"}) == []


@pytest.mark.parametrize(
    ("key", "time"),
    [
        ("2026-01-02.md", at(2026, 1, 2)),
        ("journal/2026_01_02 The storm.md", at(2026, 1, 2)),
        ("Talk of 2026-01-02.md", at(2026, 1, 2)),
        ("journal/2026/01/02.md", at(2026, 1, 2)),
        ("2026-01.md", at(2026, 1, 1)),
        ("2026-W02.md", at(2026, 1, 5)),
        ("202601021504 On names.md", at(2026, 1, 2, 15, 4)),
        ("20260102.md", at(2026, 1, 2)),
        ("2026-13-02.md", None),
        ("chapter-01-02.md", None),
        ("12345678.md", None),
        ("1200-01-01.md", None),
        ("v2026-01-021.md", None),
        ("2026.md", None),
        ("", None),
    ],
)
def test_a_note_named_after_a_day(key: str, time: int | None) -> None:
    assert named_after(key) == time
