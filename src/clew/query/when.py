"""Which times a question speaks of, as spans of seconds since 1970 (UTC).

Dates in figures are read in any language; what times are called is looked up (see
:mod:`clew.query.timewords`).
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from clew.query.timewords import Phrase, counted, phrases
from clew.text.tokens import normal_words

Span = tuple[int, int]  # first and last second
Found = list[tuple[int, int, Span]]  # where a time stands in the question, and its span
_ISO = re.compile(r"(?<!\d)(\d{4})[-/.年](\d{1,2})(?:[-/.月](\d{1,2}))?(?!\d)")
_YEAR = re.compile(r"(?<!\d)(1[89]\d\d|20\d\d)(?!\d)")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
SEASONS = {1: 3, 2: 6, 3: 9, 4: 12}  # the month in which each begins, in the north
SINCE = ">"  # code of a word that makes the time beside it the beginning of one that lasts until now
BESIDE = 4  # characters between such a word, or a number, and the time
MOST_AGO = 10_000  # days, weeks, months or years


def spans_in(question: str, now: int, language: str = "") -> list[Span]:
    """Return the times that a question names, in the order in which they stand. ``language`` is the
    question's (ISO 639-1), if it is known."""
    moment = _EPOCH + timedelta(seconds=now)
    found = _dates(question)
    years = [
        (m.start(), m.end(), int(m[1])) for m in _YEAR.finditer(question) if not _inside(m.span(), found)
    ]
    folded = question.casefold()
    if any(letter.isdecimal() for letter in folded):
        found += _ago(folded, language, moment, found)
    since: list[tuple[int, int]] = []
    for phrase in phrases(language):
        at = _find(folded, phrase)
        if at < 0 or _inside((at, at + len(phrase.text)), found):
            continue
        if phrase.code == SINCE:
            since.append((at, at + len(phrase.text)))
            continue
        if phrase.code.startswith("M"):
            near = min(years, key=lambda year: abs(year[0] - at), default=None)
            span = _month(int(phrase.code[1:]), near[2] if near else None, moment)
            years = [year for year in years if year is not near]
        else:
            span = _span(phrase.code, moment)
        found.append((at, at + len(phrase.text), span))
    found += [(start, end, _year(year)) for start, end, year in years]
    return [_until_now(place, since, now) for place in sorted(found)]


def _dates(question: str) -> Found:
    """Return the dates and months that are written in figures."""
    found = []
    for match in _ISO.finditer(question):
        span = _date(int(match[1]), int(match[2]), int(match[3] or 0))
        if span is not None:
            found.append((match.start(), match.end(), span))
    return found


def _ago(text: str, language: str, now: datetime, known: Found) -> Found:
    """Return the times that are so many days, weeks, months or years ago."""
    found: Found = []
    for pattern, unit in counted(language):
        match = pattern.search(text)
        if match is None or not match[1].isdecimal() or _inside(match.span(), [*known, *found]):
            continue
        if 0 < int(match[1]) <= MOST_AGO:
            try:
                found.append((match.start(), match.end(), _span(f"-{match[1]}{unit}", now)))
            except (OverflowError, ValueError):  # before the year 1
                continue
    return found


def _until_now(place: tuple[int, int, Span], since: list[tuple[int, int]], now: int) -> Span:
    start, end, (first, last) = place
    beside = any(0 <= start - b <= BESIDE or 0 <= a - end <= BESIDE for a, b in since)
    return (first, max(now, last)) if beside and first <= now else (first, last)


def _find(text: str, phrase: Phrase) -> int:
    """Return where a phrase stands: as whole words, or where a word begins; anywhere in scripts without
    words."""
    if phrase.text not in text:  # nearly always: a pattern for each phrase would take 2 ms a question
        return -1
    if not phrase.text[0].isascii() and len(normal_words(phrase.text)) == len(phrase.text):
        return text.find(phrase.text)
    end = "" if phrase.stem else r"(?!\w)"
    for match in re.finditer(rf"(?<!\w){re.escape(phrase.text)}{end}", text):
        near = text[max(match.start() - BESIDE, 0) : match.end() + BESIDE]
        if not phrase.numbered or any(letter.isdecimal() for letter in near):
            return match.start()
    return -1


def _inside(span: tuple[int, int], found: list[tuple[int, int, Span]]) -> bool:
    return any(start <= span[0] < end or start < span[1] <= end for start, end, _ in found)


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
