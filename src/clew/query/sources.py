"""What is packed into a prompt, numbered, with the places in the notes that it comes from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from clew.query.cite import characters
from clew.query.model import Engine
from clew.text.display import plain
from clew.text.units import units
from clew.types import Chunk, Document

SEPARATOR = " › "
ItemKind = Literal["report", "edge", "text"]


@dataclass(frozen=True, slots=True)
class Place:
    """Characters ``start``..``end`` of a chunk's text."""

    chunk: Chunk
    document: Document
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence, row or code block of a place: its characters in the chunk, and what a reader sees."""

    place: Place
    start: int
    end: int
    text: str


@dataclass(frozen=True)
class Item:
    """Something that a prompt holds under ``[number]``: its text, its tokens, and where it comes from.

    ``about`` names what it is about (titles, headings), which its sentences needn't repeat.
    """

    number: int
    kind: ItemKind
    text: str
    tokens: int
    places: tuple[Place, ...]
    about: str = field(default="")

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The units of its places, in order; a place without any is one."""
        return tuple(line for place in self.places for line in lines_of(place))

    @cached_property
    def source_text(self) -> str:
        """All that its places hold."""
        return "\n".join(place.chunk.text[place.start : place.end] for place in self.places)


def lines_of(place: Place) -> list[Line]:
    """Return the units of a place, in order; the whole of it, if it has none."""
    text = place.chunk.text
    found = [
        Line(place, unit.start, unit.end, plain(text[unit.start : unit.end]))
        for unit in units(text, markdown=place.document.media_type == "markdown")
        if unit.start < place.end and unit.end > place.start
    ]
    return found or [Line(place, place.start, place.end, plain(text[place.start : place.end]))]


def whole(chunk: Chunk, document: Document) -> Place:
    return Place(chunk, document, 0, len(chunk.text))


def places_at(spots: Sequence[tuple[int, int, int]], engine: Engine) -> list[Place]:
    """Return places given as chunk and source bytes; the whole chunk, where they can't be placed."""
    wanted = sorted({chunk for chunk, _, _ in spots})
    chunks = dict(zip(wanted, engine.space.chunks(wanted), strict=True))
    documents = engine.space.documents({chunk.doc for chunk in chunks.values()})
    found = []
    for at, start, end in spots:
        chunk = chunks[at]
        document = documents[chunk.doc]
        inside = characters(chunk, document, start, end) or (0, len(chunk.text))
        found.append(Place(chunk, document, *inside))
    return found


def about(document: Document, chunk: Chunk) -> str:
    """Return a passage's title and headings on one line, each once."""
    return SEPARATOR.join(
        dict.fromkeys(" ".join(part.split()) for part in [document.title, *chunk.heading_path])
    )
