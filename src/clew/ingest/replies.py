"""What a model says is data: read with bounds, checked against the passages, and placed in them.

A model may say anything, a note may have told it to. So nothing of a reply is taken on trust: types of
values, lengths and numbers are bounded, names are cleaned as names in notes are, and what quotes nothing that
stands in the passages is dropped and counted.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.ingest.asking import DESCRIPTION, MOST_ENTITIES, MOST_RELATIONS, NAME, PHRASE, TYPE
from clew.ingest.model import Corpus
from clew.ingest.resolve import EDGES, names_something
from clew.ingest.told import ToldEntity, ToldRelation
from clew.text.display import plain
from clew.text.quotes import Passage
from clew.text.tokens import normal_name, surface_words
from clew.text.units import source_span

NAME_WORDS = 16  # the dictionary pass looks for no longer names
READ = 4000  # characters of a value that are looked at at all
SHOWN = "\u200c\u200d"  # of the invisible characters, those that spell words of Persian or Hindi
STRENGTH = 0.5  # of a relation whose strength isn't a number


@dataclass(slots=True)
class Heard:
    """What a reply brought. ``dropped`` counts its items that weren't kept."""

    entities: list[ToldEntity] = field(default_factory=list)
    relations: list[ToldRelation] = field(default_factory=list)
    dropped: int = 0


class Passages:
    """The passages of one call, in which quotes are looked for."""

    def __init__(self, corpus: Corpus, chunks: Sequence[int]) -> None:
        self._corpus = corpus
        self._chunks = [(chunk, Passage(corpus.text(chunk))) for chunk in chunks]

    def find(self, quote: str, *, within: str = "") -> tuple[int, int, int] | None:
        """Return (chunk, start, end) of a quote in source offsets. ``within``: where it also holds this text,
        the place of that."""
        for chunk, passage in self._chunks:
            place = passage.find(quote)
            if place is None:
                continue
            start, end = place.start, place.end
            inner = Passage(passage.text[start:end]).find(within, near=False) if within else None
            if inner is not None:
                start, end = start + inner.start, start + inner.end
            return self._place(chunk, passage.text, start, end)
        return None

    def _place(self, chunk: int, text: str, start: int, end: int) -> tuple[int, int, int] | None:
        corpus = self._corpus
        encoding = corpus.documents[int(corpus.chunk_doc[chunk])].encoding
        low, high = int(corpus.chunk_start[chunk]), int(corpus.chunk_end[chunk])
        span = source_span(text, start, end, low, high, encoding)
        return None if span is None or not low <= span[0] < span[1] <= high else (chunk, *span)


def read_extraction(reply: Any, passages: Passages, types: Sequence[str]) -> Heard:
    """Return the entities and relations of a reply that are well-formed and stand in the passages.

    An end of a relation that isn't among the entities is one if the passages hold its name.
    """
    heard = Heard()
    known: set[str] = set()
    for item in _items(reply, "entities", MOST_ENTITIES, heard):
        entity = _entity(item, passages, types)
        if entity is None:
            heard.dropped += 1
            continue
        heard.entities.append(entity)
        known.add(normal_name(entity.name))
    for item in _items(reply, "relationships", MOST_RELATIONS, heard):
        relation = _relation(item, passages)
        if relation is None or not all(
            _is_known(name, passages, known, heard) for name in (relation.source, relation.target)
        ):
            heard.dropped += 1
            continue
        heard.relations.append(relation)
    return heard


def _entity(item: Mapping[str, Any], passages: Passages, types: Sequence[str]) -> ToldEntity | None:
    name = clean_name(item.get("name"))
    place = passages.find(text_of(item.get("quote"), READ), within=name) if name else None
    if place is None:
        return None
    kind = clean_type(item.get("type"), types)
    return ToldEntity(*place, name, kind, sentence(item.get("description"), DESCRIPTION))


def _relation(item: Mapping[str, Any], passages: Passages) -> ToldRelation | None:
    source, target = clean_name(item.get("source")), clean_name(item.get("target"))
    phrase = sentence(item.get("phrase"), PHRASE)
    if not source or not target or not phrase or normal_name(source) == normal_name(target):
        return None
    place = passages.find(text_of(item.get("quote"), READ))
    if place is None:
        return None
    return ToldRelation(*place, source, target, phrase, strength(item.get("strength")))


def _is_known(name: str, passages: Passages, known: set[str], heard: Heard) -> bool:
    """Tell whether a name is an entity of this reply; make it one if the passages hold it."""
    key = normal_name(name)
    if key not in known:
        place = passages.find(name)
        if place is None:
            return False
        heard.entities.append(ToldEntity(*place, name))
        known.add(key)
    return True


def _items(reply: Any, name: str, most: int, heard: Heard) -> list[Mapping[str, Any]]:
    """Return the objects of a list in a reply, at most so many; the rest is dropped."""
    found = reply.get(name) if isinstance(reply, Mapping) else None
    if not isinstance(found, list):
        return []
    kept = [item for item in found[:most] if isinstance(item, Mapping)]
    heard.dropped += len(found) - len(kept)
    return kept


# --- values --------------------------------------------------------------------------------------


def text_of(value: Any, most: int) -> str:
    """Return a text without control characters and with single spaces, cut at ``most`` characters; empty if
    the value is no text."""
    if not isinstance(value, str):
        return ""
    return " ".join("".join(map(_visible, value[:READ])).split())[:most]


def _visible(char: str) -> str:
    if char.isascii():
        return char if char.isprintable() else " "
    category = unicodedata.category(char)
    if category == "Cf":
        return char if char in SHOWN else ""
    return " " if category[0] in "CZ" else char


def clean_name(value: Any) -> str:
    """Return a name as names in notes are: without markup, and without what a sentence leaves at its edges;
    empty if it names nothing or is too long to be a name."""
    name = plain(text_of(value, READ)).strip(EDGES)
    if not name or len(name) > NAME or len(surface_words(name)) > NAME_WORDS:
        return ""
    return name if names_something(name) else ""


def clean_type(value: Any, types: Sequence[str]) -> str:
    """Return a type as it is written in ``types``, if it is one of them but for case; else in lower case."""
    found = text_of(value, READ).strip(EDGES)
    if not names_something(found) or len(found) > TYPE:
        return ""
    return next((known for known in types if known.casefold() == found.casefold()), found.lower())


def sentence(value: Any, most: int) -> str:
    """Return a text for a person, without markup, cut between words at ``most`` characters."""
    text = plain(text_of(value, READ))
    if len(text) <= most:
        return text
    cut = text[: most - 1]
    return (cut.rsplit(" ", 1)[0] if " " in cut[most // 2 :] else cut) + "…"


def strength(value: Any) -> float:
    """Return a number from 0 to 1."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return STRENGTH
    return round(min(max(float(value), 0.0), 1.0), 3)
