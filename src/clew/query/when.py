"""Which times a question speaks of, as spans of seconds since 1970 (UTC).

Dates in figures are read in any language; what they are called ("last spring", 上个月) is looked up in
``routing/when.tsv``, where a further language is further lines.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from functools import cache
from importlib.resources import files

from clew.text.tokens import normal_words

Span = tuple[int, int]  # first and last second
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.年](\d{1,2})(?:[-/.月](\d{1,2}))?(?!\d)")
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
STEMS = ("uk",)  # languages whose phrases are stems, since their names of months take endings
SEASONS = {1: 3, 2: 6, 3: 9, 4: 12}  # the month in which each begins, in the north


def spans_in(question: str, now: int) -> list[Span]:
    """Return the times that a question names, in the order in which they stand."""
    found: list[tuple[int, int, Span]] = []
    moment = _EPOCH + timedelta(seconds=now)
    for match in _ISO.finditer(question):
        span = _date(int(match[1]), int(match[2]), int(match[3] or 0))
        if span is not None:
            found.append((match.start(), match.end(), span))
    years = [
        (m.start(), m.end(), int(m[1])) for m in _YEAR.finditer(question) if not _inside(m.span(), found)
    ]
    folded = question.casefold()
    for phrase, code, language in _phrases():
        at = _find(folded, phrase, whole=language not in STEMS)
        if at < 0 or _inside((at, at + len(phrase)), found):
            continue
        if code.startswith("M"):
            near = min(years, key=lambda year: abs(year[0] - at), default=None)
            span = _month(int(code[1:]), near[2] if near else None, moment)
            years = [year for year in years if year is not near]
        else:
            span = _span(code, moment)
        found.append((at, at + len(phrase), span))
    found += [(start, end, _year(year)) for start, end, year in years]
    return [span for _, _, span in sorted(found)]


def _find(text: str, phrase: str, *, whole: bool) -> int:
    """Return where a phrase stands: as whole words, or where a word begins; anywhere in scripts without
    words."""
    if not phrase[0].isascii() and len(normal_words(phrase)) == len(phrase):
        return text.find(phrase)
    end = r"(?!\w)" if whole else ""
    match = re.search(rf"(?<!\w){re.escape(phrase)}{end}", text)
    return match.start() if match else -1


def _inside(span: tuple[int, int], found: list[tuple[int, int, Span]]) -> bool:
    return any(start <= span[0] < end or start < span[1] <= end for start, end, _ in found)


@cache
def _phrases() -> tuple[tuple[str, str, str], ...]:
    """Return (phrase, code, language), the longest first."""
    text = (files("clew.query") / "routing" / "when.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line]
    return tuple(sorted(((row[3], row[1], row[2]) for row in rows), key=lambda row: (-len(row[0]), row)))


def _span(code: str, now: datetime) -> Span:
    """Return the span of a code: ``-1m`` the month before this one, ``7d`` the last seven days, ``365d`` (of
    a phrase for long ago) up to that day, ``-1s1`` the last spring that is over."""
    season = re.fullmatch(r"-1s(\d)", code)
    if season:
        return _season(int(season[1]), now)
    number, unit = int(code[:-1]), code[-1]
    day = now.replace(hour=0, minute=0, second=0, microsecond=0)
    if unit == "d" and number > 0:
        back = _seconds(now - timedelta(days=number))
        return (_seconds(datetime(1, 1, 1, tzinfo=UTC)), back) if number > 90 else (back, _seconds(now))
    if unit == "d":
        begin = day + timedelta(days=number)
        return _seconds(begin), _seconds(begin + timedelta(days=1)) - 1
    if unit == "w":
        begin = day - timedelta(days=day.weekday()) + timedelta(weeks=number)
        return _seconds(begin), _seconds(begin + timedelta(weeks=1)) - 1
    if unit == "y":
        return _year(now.year + number)
    month = now.year * 12 + now.month - 1 + number
    return _whole_month(month // 12, month % 12 + 1)


def _season(season: int, now: datetime) -> Span:
    begin = datetime(now.year, SEASONS[season], 1, tzinfo=UTC)
    while True:
        end = (begin + timedelta(days=95)).replace(day=1)
        if end <= now:
            return _seconds(begin), _seconds(end) - 1
        begin = begin.replace(year=begin.year - 1)


def _month(month: int, year: int | None, now: datetime) -> Span:
    """Return a month of a year; without one the last that has begun."""
    return _whole_month(year or (now.year if month <= now.month else now.year - 1), month)


def _whole_month(year: int, month: int) -> Span:
    begin = datetime(year, month, 1, tzinfo=UTC)
    return _seconds(begin), _seconds((begin + timedelta(days=32)).replace(day=1)) - 1


def _year(year: int) -> Span:
    return _seconds(datetime(year, 1, 1, tzinfo=UTC)), _seconds(datetime(year + 1, 1, 1, tzinfo=UTC)) - 1


def _date(year: int, month: int, day: int) -> Span | None:
    try:
        if not day:
            return _whole_month(year, month)
        begin = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
    return _seconds(begin), _seconds(begin + timedelta(days=1)) - 1


def _seconds(time: datetime) -> int:
    return int((time - _EPOCH).total_seconds())
