"""What a language model has said about passages, checked and placed, on its way into the graph.

Nothing here is beside the graph that is made without a model: a name that a model uses goes through the
same register, its key meets the keys of titles, headings and names in text, and a form of a known name is
that name.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clew.text.forms import INFLECTS_NAMES
from clew.text.stem import has_stemmer
from clew.text.tokens import normal_name, normal_words
from clew.types import Ints

if TYPE_CHECKING:
    from clew.ingest.inflect import Forms
    from clew.ingest.resolve import Register
    from clew.ingest.spans import Line

SURE_TOLD = 0.85  # that what a model names and quotes is a name; a link is surer, a heading less so
MOST_DESCRIPTIONS = 3  # joined in a node's description
DESCRIPTION = 600  # characters of it


@dataclass(frozen=True, slots=True, order=True)
class ToldEntity:
    """An entity that a passage names at source offsets ``start``..``end``; ``type`` and ``description`` may
    be empty."""

    chunk: int
    start: int
    end: int
    name: str
    type: str = ""
    description: str = ""


@dataclass(frozen=True, slots=True, order=True)
class ToldRelation:
    """A relation between two names that the source offsets ``start``..``end`` state; ``strength`` is from
    0 to 1."""

    chunk: int
    start: int
    end: int
    source: str
    target: str
    phrase: str
    strength: float


@dataclass(frozen=True, slots=True)
class Told:
    """All that a model has said of the corpus, each list ascending."""

    entities: tuple[ToldEntity, ...] = ()
    relations: tuple[ToldRelation, ...] = ()

    @staticmethod
    def of(entities: Iterable[ToldEntity], relations: Iterable[ToldRelation]) -> Told:
        """Return them sorted and without repeats."""
        return Told(tuple(sorted(set(entities))), tuple(sorted(set(relations))))


NOTHING = Told()


def add_told(register: Register, line: Line, told: Told, forms: Forms) -> None:
    """Give each name that a model used its entry: the one that has its key, or of whose name it is a form."""
    for name, key, language in _names(line, told):
        words = normal_words(name)
        if key not in register.by_key and has_stemmer(language):
            inflects = len(words) > 1 or language in INFLECTS_NAMES or name.islower()
            other = forms.find(words, language) if inflects and words else -1
            if other >= 0:
                register.spell(other, name, words)
                register.by_key[key] = other
        at = register.entity(name, key, SURE_TOLD, structural=True)
        if words and has_stemmer(language):
            forms.note(words, language, at)


def _names(line: Line, told: Told) -> list[tuple[str, str, str]]:
    """Return (name, key, language) of each key, the name as it is used most, by key."""
    corpus = line.corpus
    used: dict[str, Counter[str]] = defaultdict(Counter)
    language: dict[str, str] = {}
    for entity in told.entities:
        key = normal_name(entity.name)
        used[key][entity.name] += 1
        language.setdefault(key, corpus.documents[int(corpus.chunk_doc[entity.chunk])].language)
    most = {key: min(names, key=lambda name: (-names[name], name)) for key, names in used.items()}
    return [(most[key], key, language[key]) for key in sorted(most)]


def told_mentions(register: Register, told: Told) -> tuple[Ints, Ints, Ints, Ints]:
    """Return the columns entry, chunk, start, end of what a model has found."""
    rows = [(register.by_key[normal_name(e.name)], e.chunk, e.start, e.end) for e in told.entities]
    return tuple(np.array([row[i] for row in rows], dtype=np.int32) for i in range(4))  # type: ignore[return-value]


def related(register: Register, number: Ints, told: Told) -> list[tuple[int, int, ToldRelation]]:
    """Return the relations with the nodes of their ends; those of a node with itself are left out."""
    rows = []
    for relation in told.relations:
        ends = [register.by_key.get(normal_name(name), -1) for name in (relation.source, relation.target)]
        source, target = (int(number[at]) if at >= 0 else -1 for at in ends)
        if source >= 0 and target >= 0 and source != target:
            rows.append((source, target, relation))
    return rows


def phrases_of(rows: Iterable[tuple[int, int, ToldRelation]]) -> dict[tuple[int, int], str]:
    """Return what each pair's relation is called: by its strongest statement, of several the first."""
    best: dict[tuple[int, int], ToldRelation] = {}
    for source, target, relation in rows:
        other = best.get((source, target))
        if other is None or relation.strength > other.strength:
            best[source, target] = relation
    return {pair: relation.phrase for pair, relation in best.items()}


def describe(register: Register, number: Ints, n_nodes: int, told: Told) -> tuple[list[str], list[str]]:
    """Return each node's type, the one that is told most, and description, of the first that are told."""
    types: dict[int, Counter[str]] = defaultdict(Counter)
    texts: dict[int, list[str]] = defaultdict(list)
    for entity in told.entities:
        node = int(number[register.by_key[normal_name(entity.name)]])
        if entity.type:
            types[node][entity.type] += 1
        if entity.description and len(texts[node]) < MOST_DESCRIPTIONS:
            _add(texts[node], entity.description)
    type_of, description = [""] * n_nodes, [""] * n_nodes
    for node, counts in types.items():
        type_of[node] = min(counts, key=lambda name: (-counts[name], name))
    for node, parts in texts.items():
        description[node] = " ".join(parts)
    return type_of, description


def _add(texts: list[str], text: str) -> None:
    """Add a text unless it is there or there is no room."""
    known = {tuple(normal_words(other)) for other in texts}
    if tuple(normal_words(text)) not in known and sum(map(len, texts)) + len(text) <= DESCRIPTION:
        texts.append(text)
