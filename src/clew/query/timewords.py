"""What times are called: "last spring", 上个月, "il y a 3 jours".

Two tables. ``routing/when.tsv`` has seasons, "long ago" and "since" too, in a few languages, and counts in
every question. What days, weeks, months and years are called in some 200 languages is in the data files of
dateparser (they are made from the Unicode CLDR); that of the question's language is read. dateparser itself
isn't imported: that takes 0.1 s, and it tells moments, not spans.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import regex

STEMS = ("uk",)  # languages whose phrases are stems in our table, since their names of months take endings
MONTHS = ("january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
          "november", "december")  # fmt: skip
UNITS = {"day": "d", "week": "w", "month": "m", "year": "y"}
SHORT = 4  # letters: a shorter name of a month ("mar", "do") is one beside a number alone
LEAST = 3  # letters of any phrase; in scripts with thousands of characters one says as much


@dataclass(frozen=True, slots=True)
class Phrase:
    """A phrase in lower case and its code (see :func:`clew.query.when.spans_in`). ``stem``: words begin with
    it; ``numbered``: it counts beside a number only."""

    text: str
    code: str
    stem: bool = False
    numbered: bool = False


@cache
def table() -> tuple[Phrase, ...]:
    """Return the phrases of our own table, the longest first."""
    text = (files("clew.query") / "routing" / "when.tsv").read_text("utf-8")
    rows = [line.split("\t") for line in text.splitlines() if line]
    return _ordered(Phrase(phrase, code, language in STEMS) for _, code, language, phrase in rows)


@cache
def phrases(language: str) -> tuple[Phrase, ...]:
    """Return the phrases of our table and of a language (ISO 639-1), the longest first."""
    found = {phrase.text: phrase for phrase in _of_language(language)}
    found.update((phrase.text, phrase) for phrase in table())
    return _ordered(iter(found.values()))


def _ordered(found: Iterator[Phrase]) -> tuple[Phrase, ...]:
    return tuple(sorted(found, key=lambda phrase: (-len(phrase.text), phrase.text, phrase.code)))


def _of_language(language: str) -> Iterator[Phrase]:
    info = _data(language)
    for said, words in info.get("relative-type", {}).items():
        number, unit, *rest = said.split()
        if number.isdecimal() and unit in UNITS and rest == ["ago"]:
            code = f"-{number}{UNITS[unit]}" if int(number) else f"0{UNITS[unit]}"
            yield from (Phrase(word.casefold(), code) for word in words if _telling(word, LEAST))
    for number, month in enumerate(MONTHS, 1):
        for word in info.get(month, ()):
            if _telling(word, LEAST) and not any(letter.isdecimal() for letter in word):
                yield Phrase(word.casefold(), f"M{number}", numbered=not _telling(word, SHORT))


def _telling(word: str, least: int) -> bool:
    """Tell whether a phrase is long enough to be no part of something else."""
    return len(word) >= (least if word.isascii() or word[0] < "\u2e80" else 2)


@cache
def counted(language: str) -> tuple[tuple[regex.Pattern[str], str], ...]:
    """Return the patterns of a language for "3 days ago", each with its unit; the number is its group."""
    found = []
    for said, patterns in _data(language).get("relative-type-regex", {}).items():
        number, unit, *rest = said.split()
        if number == "\\1" and unit in UNITS and rest == ["ago"]:
            # The longest first; single letters ("il y a 3 j") are no words that one would ask with.
            found += [
                (regex.compile(rf"(?<!\w)(?:{one})(?!\w)", regex.IGNORECASE), UNITS[unit])
                for one in sorted(set(patterns), key=lambda one: (-len(one), one))
            ]
    return tuple(found)


@cache
def _data(language: str) -> dict[str, Any]:
    """Return dateparser's table of a language, empty if there is none: its file holds one literal."""
    spec = importlib.util.find_spec("dateparser")  # of a top-level package this imports nothing
    if spec is None or spec.origin is None or not language.isalpha():
        return {}
    path = Path(spec.origin).parent / "data" / "date_translation_data" / f"{language}.py"
    made = importlib.util.spec_from_file_location(f"clew_dates_{language}", path)
    if made is None or made.loader is None or not path.is_file():
        return {}
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    info: dict[str, Any] = module.info
    return info
