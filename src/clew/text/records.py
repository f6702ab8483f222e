"""The records of a JSONL file: one a line, ``{"id", "title", "text", …}``."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from clew.types import Problem, RawDocument

IDS = ("id", "_id")
TEXTS = ("text", "contents")  # names under which corpora keep the passage
HUGE = re.compile(rb"[0-9][eE]\+?[0-9]{3}")  # numbers that may be infinite, and some ids and words
LISTED = 50  # problems of one file that are listed one by one
BOM = b"\xef\xbb\xbf"


def read_records(data: bytes, location: str, prefix: str = "") -> Iterator[RawDocument | Problem]:
    """Yield the records of a JSONL file's bytes in key order, problems as they come.

    ``prefix`` goes before every key. Blank lines are passed over; an invalid one is a problem.
    """
    where = prefix or f"{location}#"
    raws: dict[str, RawDocument] = {}
    problems: list[Problem] = []
    if data.startswith(BOM):
        data = data[len(BOM) :]
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            fields, replaced = _decode(line)
            raw = _record(fields, location, number)
        except ValueError as error:
            problems.append(
                Problem(f"{where}{number}", f"line {number}: {error}", "Correct or remove the line")
            )
            continue
        if replaced:
            reason = f"line {number}: half a character (a lone surrogate) was replaced by U+FFFD"
            problems.append(Problem(prefix + raw[0], reason, "Write the text anew", skipped=False))
        key = prefix + raw[0]
        if key in raws:
            unique = _free(key, raws)
            reason = f"line {number}: line {raws[key].line} has the same id; this one is kept as {unique}"
            problems.append(Problem(unique, reason, "Give every record an id of its own", skipped=False))
            key = unique
        raws[key] = RawDocument(key, location, raw[2].encode("utf-8"), "record", raw[1], raw[3], number)
    yield from (raws[key] for key in sorted(raws))
    yield from _listed(problems, where)


def _listed(problems: list[Problem], where: str) -> Iterator[Problem]:
    """Yield the problems; beyond a number of them, a count stands for the rest."""
    yield from problems[:LISTED]
    rest = problems[LISTED:]
    if rest:
        skipped = sum(problem.skipped for problem in rest)
        reason = f"{len(rest)} more of its lines have problems, {skipped} of them were skipped"
        yield Problem(f"{where}…", reason, "Is it a corpus of {id, title, text} lines?", skipped > 0)


def _free(key: str, taken: dict[str, RawDocument]) -> str:
    number = 2
    while f"{key}~{number}" in taken:
        number += 1
    return f"{key}~{number}"


def _decode(line: bytes) -> tuple[dict[str, Any], bool]:
    """Return the line's object, and whether a lone surrogate in it was replaced. Raises ValueError."""
    replaced = False
    try:
        if HUGE.search(line):
            raise ValueError("a number is beyond all bounds")
        value = msgspec.json.decode(line)
    except (msgspec.DecodeError, ValueError, RecursionError) as strict:
        # The standard library takes lone surrogates, NaN and huge numbers, which other writers produce.
        try:
            value = json.loads(line.decode("utf-8"), parse_constant=str, parse_float=_number)
        except UnicodeDecodeError:
            raise ValueError("it isn't valid UTF-8") from None
        except (ValueError, RecursionError):
            raise ValueError(f"it isn't valid JSON ({strict})") from None
        value, replaced = _without_surrogates(value)
    if not isinstance(value, dict):
        raise ValueError("it isn't a JSON object")
    return value, replaced


def _without_surrogates(value: Any) -> tuple[Any, bool]:
    """Return a JSON value with U+FFFD for each lone surrogate, and whether there was one."""
    text = json.dumps(value, ensure_ascii=False)
    clean = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return (json.loads(clean), True) if clean != text else (value, False)


def _record(
    fields: dict[str, Any], location: str, number: int
) -> tuple[str, str | None, str, dict[str, Any]]:
    """Return id, title, text and the other fields. Raises ValueError."""
    text_name = next((name for name in TEXTS if isinstance(fields.get(name), str)), None)
    if text_name is None:
        raise ValueError('it has no "text" that is a string')
    id_name = next((name for name in IDS if fields.get(name) not in (None, "")), None)
    key = _string(fields[id_name]) if id_name else str(number)
    title = fields.get("title")
    rest = {name: value for name, value in fields.items() if name not in (text_name, id_name, "title")}
    return key, _string(title).strip() or None if title is not None else None, fields[text_name], rest


def _number(text: str) -> float | str:
    """Return a number, or its text if it is too large for one: JSON has no infinity."""
    value = float(text)
    return value if math.isfinite(value) else text


def _string(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, sort_keys=True)
