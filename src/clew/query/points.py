"""What a model found on the way to an answer: points with the numbers that they cite, and a rating."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from clew.prompts import fence
from clew.prompts.shape import WHOLE, Schema, listed, string, structure
from clew.query.bracketed import Cited, Splitter
from clew.query.context import Count, Packed
from clew.query.sources import Item

HIGHEST = 10
CHARS = 1200  # of a point; a longer one is a model that doesn't end
RATING: Schema = {"type": "integer", "minimum": 0, "maximum": HIGHEST}
POINTS = 6  # of a map call
FOR_POINT = 80  # tokens of a reply
POINT, QUESTION = 400, 200  # characters of a point and of a question, in a reply
ANSWER = 600
FOLLOW_UPS = 3  # each costs one search
# Characters in a token, rather few: numbers and marks have one each. And tokens around a text in JSON.
CHARS_PER_TOKEN, AROUND = 2, 14


def rated(reports: int) -> Schema:
    """Return the form of the ratings of so many reports."""
    return structure(ratings=listed(structure(number=WHOLE, rating=RATING), reports))


def mapped(tokens: int) -> Schema:
    """Return the form of the points that a reply of at most ``tokens`` tokens has room for."""
    most = points_of(tokens)
    chars = min(CHARS_PER_TOKEN * (tokens // most - AROUND), POINT)
    return structure(points=listed(structure(text=string(max(chars, 40)), rating=RATING), most))


def points_of(tokens: int) -> int:
    """Return how many points a reply has room for."""
    return max(min(POINTS, tokens // FOR_POINT), 1)


def followed(tokens: int) -> Schema:
    """Return the form of an answer in part, with follow-up questions, in at most ``tokens`` tokens."""
    chars = CHARS_PER_TOKEN * max(tokens - AROUND * (FOLLOW_UPS + 1), 0)
    question = string(min(max(chars // (2 * FOLLOW_UPS), 60), QUESTION))
    return structure(
        answer=string(min(max(chars // 2, 60), ANSWER)),
        rating=RATING,
        follow_ups=listed(structure(question=question, rating=RATING), FOLLOW_UPS),
    )


@dataclass(frozen=True, slots=True)
class Point:
    """A statement with its citations ``[n]``, all of items that there are; it helps so much (0 to 10)."""

    text: str
    rating: float


def rating(value: Any) -> float:
    """Return a rating within its range, whatever a model has said."""
    try:
        return min(max(float(value), 0.0), float(HIGHEST))
    except (TypeError, ValueError):
        return 0.0


def point(text: str, rated: Any, items: Sequence[Item]) -> Point | None:
    """Return what a model said as a point: on one line, without citations of what it wasn't given. None if
    nothing is left, or if it helps nothing."""
    known = {item.number for item in items}
    splitter = Splitter()
    parts = [*splitter.feed(" ".join(text.split())[:CHARS]), *splitter.end()]
    out = ""
    for part in parts:
        if isinstance(part, Cited):
            kept = [number for number in part.numbers if number in known]
            out += part.space + "".join(f"[{number}]" for number in kept) if kept else ""
        else:
            out += part
    value = rating(rated)
    return Point(out.strip(), value) if value > 0 and any(char.isalnum() for char in out) else None


def ranked(points: Iterable[Point]) -> list[Point]:
    """Return points, the most helpful first, each text once."""
    once: dict[str, Point] = {}
    for one in points:
        if one.text not in once or once[one.text].rating < one.rating:
            once[one.text] = one
    return sorted(once.values(), key=lambda one: -one.rating)


def pack_points(points: Sequence[Point], items: Sequence[Item], budget: int, count: Count) -> Packed:
    """Return the best points as a context, as many as fit; its items are all that they may cite."""
    lines: list[str] = []
    for one in points:
        if count(fence("\n".join([*lines, f"- {one.text}"]))) > budget:
            break
        lines.append(f"- {one.text}")
    text = fence("\n".join(lines)) if lines else ""
    return Packed(tuple(items), text, count(text))
