"""Whether a sentence of an answer says what its sources say.

Three looks, none of which knows a language's grammar: the share of the sentence's weight (idf of its words,
none for everyday ones) that the source's best lines hold; how close these are in meaning, where there is an
embedder that reads the language; and that each number and each name of the sentence stands in the source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import regex

from clew.algo.bm25 import idf
from clew.query.model import Engine
from clew.query.question import Closeness, language_of
from clew.query.sources import Item, Line
from clew.text.display import plain
from clew.text.terms import is_single
from clew.text.tokens import normalise, surface_words
from clew.text.wording import is_everyday
from clew.types import Floats

# A sentence is supported from this support on; `tests/unit/query/test_support.py` tells what it gets right.
WITH_MEANING, WITHOUT_MEANING = 0.5, 0.5
MEANING = 0.5  # the weight of closeness in meaning against that of the words
NEXT = 0.15  # what a further line must add to be cited too
MOST_LINES = 3
READ = 6  # lines of an item that are embedded, the best by words
CHARS = 300  # of a line that is embedded
SPACE = r"[ \u00a0\u202f]"  # between thousands
NUMBER = regex.compile(rf"\p{{Nd}}+(?:[.,'’٫٬:/]\p{{Nd}}+|{SPACE}\p{{Nd}}{{3}}(?!\p{{Nd}}))*")
LIST_MARK = regex.compile(r"^\s*(?:[-*+•]|\p{Nd}{1,3}[.)])\s+")
SENTENCE_START = regex.compile(r"(?:^|[.!?…:;。！？\n])[\s\"'“„«(*_\[]*$")
LIKE = 0.6  # share of a word's letters at its beginning that another form of it has, at least …
LETTERS = 4  # … and as many letters


@dataclass(frozen=True, slots=True)
class Verdict:
    """How far sources support a sentence (0 to 1), what of it they lack, and their lines that say it.

    ``lines`` has an entry for each item that was asked about, in order.
    """

    supported: bool
    support: float
    missing: tuple[str, ...]
    lines: tuple[tuple[Line, ...], ...]


@dataclass(frozen=True, slots=True)
class _Word:
    text: str
    forms: frozenset[str]
    weight: float
    name: bool


class Supporter:
    """Compares sentences with items. It keeps what it has read of an item."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._chunks = max(engine.reader.count("chunks"), 1)
        self._terms: dict[str, frozenset[str]] = {}
        self._vectors: dict[str, Floats] = {}
        self._defined = set(engine.reader.array("graph.def_node").tolist())

    def check(self, sentence: str, items: Sequence[Item]) -> Verdict:
        """Compare a sentence with the items that it cites, together. Without any it isn't supported."""
        said = plain(LIST_MARK.sub("", sentence))
        words = self._words(said)
        if not items or not any(char.isalnum() for char in said):
            return Verdict(False, 0.0, (), tuple(() for _ in items))
        missing = self._missing(said, words, items)
        best = [self._best(words, self._ranked(said, words, item), item) for item in items]
        lines = [line for chosen in best for line in chosen]
        terms = frozenset().union(*(self._known(line) for line in lines), *map(self._about, items))
        covered = _share(words, terms)
        near = self._near(said, lines)
        if near is None:
            support, least = covered, WITHOUT_MEANING
        else:
            support, least = (1 - MEANING) * covered + MEANING * near, WITH_MEANING
        supported = support >= least and not missing
        return Verdict(supported, round(min(max(support, 0.0), 1.0), 4), missing, tuple(map(tuple, best)))

    def nearest(self, sentence: str, items: Sequence[Item]) -> Item | None:
        """Return the item that supports a sentence which cites none, or None."""
        words = self._words(plain(LIST_MARK.sub("", sentence)))
        scored = []
        for item in items:
            known = [self._known(line) for line in item.lines]
            most = max((_share(words, terms | self._about(item)) for terms in known), default=0.0)
            scored.append((-most, item.kind != "text", item.number))
        numbers = [number for _, _, number in sorted(scored)[:MOST_LINES]]
        for item in sorted((i for i in items if i.number in numbers), key=lambda i: numbers.index(i.number)):
            if self.check(sentence, [item]).supported:
                return item
        return None

    # --- words ---

    def _words(self, text: str) -> list[_Word]:
        """Return a sentence's words with their weights; those that name something are marked."""
        surfaces = surface_words(text)
        normal = [normalise(word) for word in surfaces]
        language = language_of(text, self._engine)
        usual = is_everyday(normal, [language])
        named = self._named(text, normal)
        starts = _starts(text, surfaces)
        rare = float(idf(1, self._chunks))
        upper = [w[:1].isupper() and not s for w, s in zip(surfaces, starts, strict=True)]
        # Where every third word has a capital (German nouns), one by itself tells no name, but two together.
        tells = sum(upper) * 3 <= max(len(surfaces), 1)
        out = []
        for at, (surface, word) in enumerate(zip(surfaces, normal, strict=True)):
            forms = frozenset({word, *self._engine.lexicon.terms(word, language)})
            if is_single(word) and at + 1 < len(normal) and is_single(normal[at + 1]):
                forms = frozenset({word + normal[at + 1]})
            weights = [w for w in self._engine.lexicon.weights(surface).values() if w > 0]
            beside = any(upper[near] for near in (at - 1, at + 1) if 0 <= near < len(upper))
            capital = upper[at] and (tells or beside)
            weight = 0.0 if usual[at] and not capital else max(weights, default=rare)
            if word.isdecimal() or is_single(word):
                weight *= 0.5  # numbers are compared by themselves; each character is in two pairs
            name = (capital or at in named) and not usual[at] and len(word) > 1
            out.append(_Word(surface, forms, weight, name))
        return out

    def _named(self, text: str, normal: Sequence[str]) -> set[int]:
        """Return the places of the words by which the notes' defined names occur in a text.

        A name of one small word may be a common noun ("soil"): a paraphrase needn't have it.
        """
        found: set[int] = set()
        for name in self._engine.lexicon.names(text):
            proper = name.end - name.start > 1 or any(
                is_single(word) for word in normal[name.start : name.end]
            )
            if proper and name.end - name.start > 1 and any(node in self._defined for node in name.nodes):
                found.update(range(name.start, name.end))
        return {at for at in found if not is_single(normal[at])}

    def _missing(self, said: str, words: Sequence[_Word], items: Sequence[Item]) -> tuple[str, ...]:
        """Return the numbers and names of a sentence that none of the items holds."""
        source = "\n".join(part for item in items for part in (item.source_text, item.about, _keys(item)))
        have = numbers(source)
        missing = [
            shown
            for shown, value in _numbered(said)
            if value not in have and not (regex.search(SPACE, shown) and numbers(shown) - {value} <= have)
        ]
        known = [normalise(word) for word in surface_words(source)]
        terms = {term for item in items for p in item.places for term in self._source_terms(p.chunk.text, p)}
        terms.update(known)
        for word in words:
            if word.name and _same_script(word.text, source) and word.forms.isdisjoint(terms):
                normal = normalise(word.text)
                if not any(_like(normal, other) for other in known):
                    missing.append(word.text)
        return tuple(dict.fromkeys(missing))

    def _source_terms(self, text: str, place: object) -> frozenset[str]:
        language = getattr(getattr(place, "document", None), "language", "und")
        key = f"{language}\0{text}"
        if key not in self._terms:
            terms = self._engine.lexicon.terms(text, language)
            self._terms[key] = frozenset(terms) | {normalise(word) for word in surface_words(text)}
        return self._terms[key]

    def _known(self, line: Line) -> frozenset[str]:
        return self._source_terms(line.text, line.place)

    def _about(self, item: Item) -> frozenset[str]:
        return self._source_terms(item.about, item.places[0] if item.places else None)

    # --- lines ---

    def _ranked(self, said: str, words: Sequence[_Word], item: Item) -> list[tuple[float, Line]]:
        """Return an item's lines with what each holds of a sentence, best first."""
        about = self._about(item)
        held = [(_share(words, self._known(line)), line) for line in item.lines]
        held.sort(key=lambda pair: -pair[0])
        near = self._nearness(said, [line for _, line in held[:READ]])
        scored = []
        for place, (share, line) in enumerate(held):
            value = share + 0.2 * _share(words, self._known(line) | about)
            value += MEANING * near[place] if place < len(near) else 0.0
            scored.append((value, line))
        return sorted(scored, key=lambda pair: -pair[0])

    def _best(self, words: Sequence[_Word], ranked: list[tuple[float, Line]], item: Item) -> list[Line]:
        """Return the best line of an item, with those beside it that add to what it holds, in order."""
        if not ranked:
            return []
        chosen = [ranked[0][1]]
        terms = self._known(chosen[0]) | self._about(item)
        order = list(item.lines)
        while len(chosen) < MOST_LINES:
            low, high = order.index(chosen[0]), order.index(chosen[-1])
            beside = [order[at] for at in (low - 1, high + 1) if 0 <= at < len(order)]
            beside = [line for line in beside if line.place is chosen[0].place]
            gains = [
                (_share(words, terms | self._known(line)) - _share(words, terms), line) for line in beside
            ]
            gain, line = max(gains, key=lambda pair: pair[0], default=(0.0, None))
            if line is None or gain < NEXT:
                break
            chosen = sorted([*chosen, line], key=lambda one: one.start)
            terms |= self._known(line)
        return chosen

    # --- meaning ---

    def _near(self, said: str, lines: Sequence[Line]) -> float | None:
        """Return how close the closest of the lines is, or they together; None where nobody can tell."""
        readable = self._nearness(said, lines)
        if not readable:
            return None
        if len(lines) > 1:
            readable += self._closeness(said, [" ".join(line.text for line in lines)[: 2 * CHARS]])
        return float(max(readable))

    def _nearness(self, said: str, lines: Sequence[Line]) -> list[float]:
        embedder = self._engine.embedder
        if embedder is None or not lines:
            return []
        codes = {language_of(said, self._engine), *(line.place.document.language for line in lines)}
        if embedder.languages and not codes <= {*embedder.languages, "und"}:
            return []
        return self._closeness(said, [line.text[:CHARS] for line in lines])

    def _closeness(self, said: str, texts: Sequence[str]) -> list[float]:
        embedder = self._engine.embedder
        assert embedder is not None
        new = [text for text in dict.fromkeys([said, *texts]) if text not in self._vectors]
        if new:
            self._vectors.update(zip(new, embedder.embed(new), strict=True))
        vector = self._vectors[said]
        closeness = Closeness(self._engine, vector)
        rows = np.stack([self._vectors[text] for text in texts])
        return [max(float(value), 0.0) for value in closeness.relative(rows @ vector)]


def _share(words: Sequence[_Word], terms: frozenset[str]) -> float:
    total = sum(word.weight for word in words)
    if total <= 0:
        return 0.0
    return sum(word.weight for word in words if not word.forms.isdisjoint(terms)) / total


def _starts(text: str, surfaces: Sequence[str]) -> list[bool]:
    """Tell which of the words begin a sentence, where a capital tells nothing."""
    out, at = [], 0
    for surface in surfaces:
        at = text.index(surface, at)
        out.append(SENTENCE_START.search(text[:at]) is not None)
        at += len(surface)
    return out


def _keys(item: Item) -> str:
    """Return the names of an item's files: a date may stand there alone."""
    return "\n".join(dict.fromkeys(place.document.key for place in item.places))


def numbers(text: str) -> frozenset[str]:
    """Return the numbers of a text by their digits: 1,000 and 1 000 are the same, 4,62 and 4.62 too; of a
    number with marks in it also its parts, since "3, 4" may be two."""
    return frozenset(value for _, value in _numbered(text, parts=True))


def _numbered(text: str, *, parts: bool = False) -> list[tuple[str, str]]:
    found = []
    for match in NUMBER.finditer(text):
        shown = match[0]
        pieces = regex.findall(r"\p{Nd}+", shown)
        digits = "".join(str(int(char)) for char in "".join(pieces))
        found.append((shown, digits.lstrip("0") or "0"))
        if parts and len(pieces) > 1:
            found += [(piece, "".join(str(int(c)) for c in piece).lstrip("0") or "0") for piece in pieces]
    return found


def _like(a: str, b: str) -> bool:
    """Tell whether two words may be forms of one: they begin alike."""
    same = 0
    for x, y in zip(a, b, strict=False):
        if x != y:
            break
        same += 1
    return same >= LETTERS and same >= LIKE * max(len(a), len(b))


SCRIPTS = [
    regex.compile(rf"\p{{{name}}}")
    for name in ("Latin", "Cyrillic", "Greek", "Arabic", "Hebrew", "Han", "Hangul", "Devanagari", "Thai")
]


def _same_script(word: str, source: str) -> bool:
    """Tell whether the source has letters of the word's script: else it can't hold the word as it is."""
    return any(script.search(word) and script.search(source) for script in SCRIPTS) or not any(
        script.search(word) for script in SCRIPTS
    )
