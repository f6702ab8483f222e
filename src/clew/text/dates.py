"""When something was written: the dates that people write into frontmatter, records and file names.

A time without a zone is taken as UTC, and a day as its beginning: the same notes give the same index
wherever they are read. What can be read in two ways, 03/04/2024, isn't read.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime, timedelta, timezone
from email.utils import parsedate_to_datetime
from pathlib import PurePosixPath
from typing import Any

# Names of fields, without case and what isn't a letter or digit ("Date Created", "date_created"), surest
# first: a note that says when it was made and when it was changed was written when it was made.
CREATED = ("created", "createdat", "createdon", "createdtime", "datecreated", "creationdate", "dccreated")
DATED = ("date", "datetime", "timestamp", "dcdate")
PUBLISHED = ("published", "publishedat", "publishedon", "datepublished", "publishdate", "pubdate")
CHANGED = (
    *("updated", "updatedat", "dateupdated", "modified", "modifiedat", "datemodified"),
    *("lastmod", "lastmodified", "lastupdated", "mtime"),
)
FIELDS = (*CREATED, *DATED, *PUBLISHED)

SECONDS_A_DAY = 86_400
FIRST_YEAR, LAST_YEAR = 1900, 2199  # of what may be a date only because its digits make one
EPOCH = datetime(1970, 1, 1)

_CLOCK = (
    r"(?:[T\s,]+(?P<hour>\d{1,2})[:時시](?P<minute>\d{2})分?(?::(?P<second>\d{2})(?:[.,]\d+)?)?"
    r"\s*(?P<half>[AaPp]\.?[Mm]\.?)?\s*(?P<zone>Z|z|UTC|GMT|[+\-−]\d{2}:?(?:\d{2})?)?)?"
)
_WEEKDAY = r"(?:,?\s+[^\W\d_]+\.?)?"
FORMS = tuple(
    re.compile(form + _WEEKDAY + _CLOCK)
    for form in (
        r"(?P<year>\d{4})(?P<sep>[-/._])(?P<month>\d{1,2})(?P=sep)(?P<day>\d{1,2})",
        r"(?P<day>\d{1,2})\.\s?(?P<month>\d{1,2})\.\s?(?P<year>\d{4})",
        r"(?P<year>\d{4})\s?[年년]\s?(?P<month>\d{1,2})\s?[月월]\s?(?P<day>\d{1,2})\s?[日일]",
    )
)
MONTH = re.compile(r"(?P<year>\d{4})[-/](?P<month>\d{2})")
DIGITS = re.compile(
    r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})(?:(?P<hour>\d{2})(?P<minute>\d{2})(\d{2})?)?"
)
IN_NAME = re.compile(r"(?<!\d)(?P<year>\d{4})(?P<sep>[-_.])(?P<month>\d{2})(?P=sep)(?P<day>\d{2})(?!\d)")
IN_FOLDERS = re.compile(r"(?:.*/)?(?P<year>\d{4})/(?P<month>\d{2})/(?P<day>\d{2})")
WEEK = re.compile(r"\d{4}-?W\d{2}")
AGO = re.compile(r"(\d{1,6})\s?(min|h|d|w|mo|y)")
SECONDS = {"min": 60, "h": 3600, "d": SECONDS_A_DAY, "w": 7 * SECONDS_A_DAY}
TEMPLATE = re.compile(r"\{\{|<%|%>|\}\}")
AT_START = re.compile(r"(\d{14}|\d{12}|\d{8})(?!\d)")


def parse_time(value: Any) -> int | None:
    """Return a time in seconds since 1970 (UTC), or None if the value isn't one that can be read.

    Texts are ISO 8601 with or without a zone, year-month-day with other separators, day.month.year,
    年月日, RFC 2822, a year, a month, and any of these in a wikilink; numbers are seconds, milliseconds or
    microseconds since 1970, or digits such as 20240102 and 202401021504.
    """
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, (list, tuple)):
        return parse_time(value[0]) if value else None
    if isinstance(value, datetime):
        return _seconds(value)
    if isinstance(value, date):
        return _seconds(datetime(value.year, value.month, value.day))
    if isinstance(value, (int, float)):
        return _number(value)
    return _text(value.strip().strip("[]<>\"'").strip()) if isinstance(value, str) else None


def parse_span(text: str) -> tuple[int, int] | None:
    """Return the first and the last second of what a text names: a year, a month, a week, a day; a moment
    is one second. None if it names none (see :func:`parse_time`)."""
    text = text.strip()
    first = parse_time(text)
    if first is None:
        return None
    begin = EPOCH + timedelta(seconds=first)
    if re.fullmatch(r"\d{4}", text):
        after = begin.replace(year=begin.year + 1)
    elif MONTH.fullmatch(text):
        after = (begin.replace(day=1) + timedelta(days=32)).replace(day=1)
    elif WEEK.fullmatch(text):
        after = begin + timedelta(days=7)
    elif _has_clock(text):
        after = begin + timedelta(seconds=1)
    else:
        after = begin + timedelta(days=1)
    return first, int((after - EPOCH).total_seconds()) - 1


def parse_ago(text: str, now: int) -> int | None:
    """Return the time that lies so long before ``now`` (seconds since 1970): 30min, 12h, 7d, 2w, 3mo, 1y.

    Months and years are the calendar's; a day that a month lacks is its last. None for another text.
    """
    found = AGO.fullmatch(text.strip())
    if found is None:
        return None
    count, unit = int(found[1]), found[2]
    if unit in SECONDS:
        return now - count * SECONDS[unit]
    months = count * (12 if unit == "y" else 1)
    moment = EPOCH + timedelta(seconds=now)
    month = moment.year * 12 + moment.month - 1 - months
    if month < 12:
        return None
    year, month = divmod(month, 12)
    day = min(moment.day, calendar.monthrange(year, month + 1)[1])
    return _seconds(moment.replace(year=year, month=month + 1, day=day))


def _has_clock(text: str) -> bool:
    if text.isdecimal():
        return len(text) != 8
    return any(char in text for char in ":時시") or "T" in text


def written_at(metadata: Mapping[str, Any]) -> int | None:
    """Return when a document says that it was written; None if it doesn't, or not so that it can be read."""
    return next(_times(metadata, FIELDS), None)


def changed_at(metadata: Mapping[str, Any]) -> int | None:
    """Return when a document says that it was changed."""
    return next(_times(metadata, CHANGED), None)


def unread_dates(metadata: Mapping[str, Any]) -> list[str]:
    """Return the fields of which the name says that they are dates, and the text isn't one.

    A template's text in braces isn't told: it becomes a date where the template is used.
    """
    if not metadata:
        return []
    named = {field_key(name): name for name in metadata}
    return [
        named[key]
        for key in (*FIELDS, *CHANGED)
        if key in named and _claims_a_date(metadata[named[key]]) and parse_time(metadata[named[key]]) is None
    ]


def _claims_a_date(value: Any) -> bool:
    return isinstance(value, str) and any(map(str.isdigit, value)) and not TEMPLATE.search(value)


def named_after(key: str) -> int | None:
    """Return the day after which a note is named: ``2026-01-02.md``, ``2026_01_02 Talk.md``,
    ``2026/01/02.md``, a month ``2026-01.md``, a week ``2026-W01.md``, or a number as 202601021504."""
    path = PurePosixPath(key)
    stem = path.stem
    for form in (MONTH, IN_FOLDERS):
        found = form.fullmatch(stem if form is MONTH else f"{path.parent}/{stem}")
        if found is not None:
            return _plausible(found)
    found = IN_NAME.search(stem)
    if found is not None:
        return _plausible(found)
    start = AT_START.match(stem)
    if start is not None:
        return _digits(start[1])
    return _iso(stem) if WEEK.fullmatch(stem) else None


def field_key(name: Any) -> str:
    """Return a field's name without what people write differently in it."""
    return "".join(filter(str.isalnum, str(name).casefold()))


def _times(metadata: Mapping[str, Any], names: tuple[str, ...]) -> Iterator[int]:
    if not metadata:
        return
    fields = {field_key(name): value for name, value in metadata.items()}
    for name in names:
        time = parse_time(fields[name]) if name in fields else None
        if time is not None:
            yield time


def _number(value: float) -> int | None:
    size = abs(value)
    if isinstance(value, int) and value > 0:
        digits = str(value)
        if len(digits) in (8, 12, 14):
            found = _digits(digits)
            if found is not None:
                return found
        if len(digits) == 4 and FIRST_YEAR <= value <= LAST_YEAR:
            return _seconds(datetime(value, 1, 1))
    if not 1e8 <= size < 1e18:  # before 1973, a small number is rather a count than a time
        return None
    for scale, most in ((1, 1e11), (10**3, 1e14), (10**6, 1e17)):
        if size < most:
            return int(value // scale)
    return int(value // 10**9)


def _text(text: str) -> int | None:
    if not text or len(text) > 100 or not any(map(str.isdigit, text)):
        return None
    if text.isdecimal() and text.isascii():
        return _number(int(text))
    for form in FORMS:
        found = form.fullmatch(text)
        if found is not None:
            return _match(found)
    month = MONTH.fullmatch(text)
    return _match(month) if month is not None else _iso(text)


def _iso(text: str) -> int | None:
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            return _seconds(read(text))
        except (ValueError, TypeError, IndexError, OverflowError):
            continue
    return None


def _digits(digits: str) -> int | None:
    found = DIGITS.fullmatch(digits)
    return _plausible(found) if found is not None else None


def _plausible(found: re.Match[str]) -> int | None:
    return _match(found) if FIRST_YEAR <= int(found["year"]) <= LAST_YEAR else None


def _match(found: re.Match[str]) -> int | None:
    part = found.groupdict()
    hour = int(part.get("hour") or 0)
    half = (part.get("half") or "").lower()
    if half:
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    try:
        time = datetime(
            int(part["year"]),
            int(part["month"]),
            int(part.get("day") or 1),
            hour,
            int(part.get("minute") or 0),
            int(part.get("second") or 0),
            tzinfo=_zone(part.get("zone") or ""),
        )
    except ValueError:  # a 32nd of May
        return None
    return _seconds(time)


def _zone(text: str) -> timezone | None:
    if not text or text.upper() in ("Z", "UTC", "GMT"):
        return None
    hours, minutes = int(text[1:3]), int(text[-2:] if len(text) > 3 else 0)
    offset = timedelta(hours=hours, minutes=minutes)
    return timezone(offset if text[0] == "+" else -offset)


def _seconds(time: datetime) -> int:
    """Return whole seconds since 1970; UTC, where no zone is given."""
    offset = time.utcoffset() or timedelta()
    return (time.replace(tzinfo=None) - EPOCH - offset) // timedelta(seconds=1)
