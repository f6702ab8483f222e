"""What kind of question it is: told by labelled examples, compared by embedding, and by what the graph names.

The names that the notes define are replaced by X, Y and Z, and tags by #T, so that what is left is what is
asked *about* them. Its vector, with how many names there are, goes to a ridge regression on the vectors of
the examples in ``routing/examples.tsv`` (one output a kind; a further language is further lines there).
Vectors of the examples are shipped for the embedders that come with Clew; for others they are made at the
first question.

Without an embedder that knows the question's language, how it is worded takes the place of the vector (see
:mod:`clew.query.worded`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.ids import make_id
from clew.ports import Embedder
from clew.query.model import Engine
from clew.query.question import language_of, question_words
from clew.query.when import spans_in
from clew.query.worded import Wording
from clew.text.language import UNKNOWN
from clew.text.tokens import normal_name, normal_words, spans
from clew.text.wording import is_everyday
from clew.types import Floats

KINDS = ("direct", "entity", "relational", "structural", "temporal", "global")
# Chosen among three values each by looking at the 300 questions of benchmarks/router.py, whose figures are
# therefore a little too good.
RIDGE = 1.0
CUES = 0.3  # weight of the counted cues beside a vector of length 1
AHEAD = {"vectors": 0.1, "words": 0.15}  # wording tells less: it has to be clearer
SIGNS = re.compile(r"#([^\w\s#,;.:!?()\[\]\"'“”„«»？。，、：；！]+)")
LEAST_WORDS = 2  # beside the names: "keel and rudder" asks nothing about how they are connected
MOST_NAMES = 3  # that are told apart


@dataclass(frozen=True, slots=True)
class Example:
    """A labelled question; ``form`` is what it asks of its kind (which pattern, which question of time)."""

    kind: str
    form: str
    language: str
    text: str


@dataclass(frozen=True, slots=True)
class Name:
    """A name in the question: its text there and the nodes that bear it; ``tag``: written with a ``#``;
    ``sure``: it is meant as a name, not a word that a tag's name is too."""

    text: str
    nodes: tuple[int, ...]
    tag: bool = False
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Judged:
    """A question's kind with how far it is ahead of the next one (0 to about 1), what it names, and how it
    was told: ``vectors``, ``words`` or empty if it can't be. ``forms`` are the forms of the kind, nearest
    first."""

    kind: str
    margin: float
    names: tuple[Name, ...]
    by: str
    forms: tuple[str, ...] = ()

    @property
    def clear(self) -> bool:
        """Whether it is far enough ahead. A wrong guess costs an answer, a missed one the neat form of it."""
        return self.margin >= AHEAD.get(self.by, 1.0)


@cache
def examples() -> tuple[Example, ...]:
    """Return the labelled examples, in the order of the file."""
    text = (files("clew.query") / "routing" / "examples.tsv").read_text("utf-8")
    return tuple(Example(*line.split("\t")) for line in text.splitlines() if line)


@cache
def worded_for(kind: str) -> frozenset[str]:
    """Return the words of the examples of a kind, pairs of characters in scripts without spaces."""
    words: set[str] = set()
    for row in examples():
        if row.kind == kind:
            words.update(question_words(row.text))
    return frozenset(words)


def mask(question: str, engine: Engine, *, loosely: bool = False) -> tuple[str, tuple[Name, ...]]:
    """Return the question with its names replaced, and the names in order, each once.

    Names are those that the notes define and those of people; ``loosely``, those of tags too, written
    without a ``#``. A name of one everyday word ("notes") counts only where it is written as a tag.
    """
    places = spans(question)
    language = language_of(question, engine)
    space = engine.space
    certain = (space.defined > 0) | space.of_kind("person")
    stated = certain | space.of_kind("tag") if loosely else certain
    listed = [
        (places[named.start][0], places[named.end - 1][1], named.nodes, named.end - named.start == 1)
        for named in engine.lexicon.names(question)
    ]
    out, at, found = "", 0, dict[tuple[int, ...], Name]()
    for start, end, nodes, single in sorted([*listed, *_signs(question, engine)]):
        tag = question[start - 1 : start] == "#"
        surface = question[start:end]
        usual = single and not tag and is_everyday(normal_words(surface), [language])[0]
        if not tag and (usual or not stated[list(nodes)].any()):
            continue
        sure = tag or bool(certain[list(nodes)].any())
        known = found.setdefault(nodes, Name(surface, nodes, tag, sure))
        others = [name for name in found.values() if not name.tag]
        letter = "T" if tag else "XYZ"[min(others.index(known) if known in others else 0, MOST_NAMES - 1)]
        out += question[at:start] + letter
        at = end
    return out + question[at:], tuple(found.values())


def _signs(question: str, engine: Engine) -> Iterator[tuple[int, int, tuple[int, ...], bool]]:
    """Yield the tags of signs alone (``#🌊``), which have no words to be found by."""
    for match in SIGNS.finditer(question):
        nodes = engine.reader.find_nodes(normal_name(match[1]))
        tags = tuple(node.node for node in nodes if node.kind == "tag")
        if tags:
            yield match.start(1), match.end(1), tags, True


def judge_kind(question: str, engine: Engine, wanted: str = "") -> Judged:
    """Tell the kind of a question, with the forms of that kind or of the ``wanted`` one. Relational ones
    need two names.

    A word that is a tag's name too ("people", "bitcoin") is one or isn't: the clearer reading counts.
    """
    readings = dict.fromkeys(mask(question, engine, loosely=loosely) for loosely in (False, True))
    language = language_of(question, engine)
    found = [_read(masked, names, language, engine, wanted) for masked, names in readings]
    fitting = [one for one in found if one.kind == wanted] or found
    return max(fitting, key=lambda one: (one.clear, one.margin))


def _read(masked: str, names: tuple[Name, ...], language: str, engine: Engine, wanted: str) -> Judged:
    if len(normal_words(masked)) - len(names) < LEAST_WORDS:
        return Judged("", 0.0, names, "")
    counted = cues(masked, names, language)
    embedder = engine.embedder
    found = None
    if embedder is not None and _reads(embedder, language):
        vector = embedder.embed([masked])[0]
        found = _judge(_model(embedder), vector, counted, names, "vectors", wanted)
        if found.clear:
            return found
    wording, model = _worded()
    worded = _judge(model, wording.vectors([masked])[0], counted, names, "words", wanted)
    return worded if found is None or worded.clear else found


def _judge(
    model: Model, vector: Floats, counted: Floats, names: tuple[Name, ...], by: str, wanted: str
) -> Judged:
    scores = model.scores(vector, counted)
    if len(names) < 2:
        scores[KINDS.index("relational")] = -np.inf
    order = np.argsort(-scores, kind="stable")
    kind = KINDS[int(order[0])]
    margin = float(scores[order[0]] - scores[order[1]])
    return Judged(kind, margin, names, by, model.forms(vector, wanted or kind))


def _reads(embedder: Embedder, language: str) -> bool:
    return not embedder.languages or language in embedder.languages or language == UNKNOWN


def cues(masked: str, names: Sequence[Name], language: str) -> Floats:
    """Return what is counted beside the vector: no name, one, more; a tag; a time."""
    count = sum(not name.tag for name in names)
    tag = any(name.tag for name in names)
    time = bool(spans_in(masked, 0, language))
    return CUES * np.array([count == 0, count == 1, count > 1, tag, time], dtype=np.float32)


def _of_example(text: str) -> list[Name]:
    """Return the names of an example, which is masked already."""
    words = set(normal_words(text)) if text.isascii() else set(text)
    letters = [letter for letter in "XY" if letter in words or letter.casefold() in words]
    return [Name(letter, ()) for letter in letters] + ([Name("T", (), True)] if "#T" in text else [])


class Model:
    """The regression on the examples that an embedder reads: vectors (n, d), unit."""

    def __init__(self, rows: Sequence[Example], vectors: Floats) -> None:
        self.rows = rows
        self.vectors = vectors
        counted = np.array(
            [cues(row.text, _of_example(row.text), row.language) for row in rows], dtype=np.float64
        )
        labels = np.array([KINDS.index(row.kind) for row in rows])
        self._mean = vectors.mean(axis=0, dtype=np.float64)
        table = self._table(vectors, counted)
        # All kinds weigh the same, however many examples they have.
        weight = np.sqrt(len(labels) / len(KINDS) / np.bincount(labels, minlength=len(KINDS)))[labels][
            :, None
        ]
        goal = np.eye(len(KINDS))[labels]
        scaled = table * weight
        inner = scaled @ scaled.T + RIDGE * np.eye(len(rows))
        self._weights = scaled.T @ np.linalg.solve(inner, goal * weight)

    def _table(self, vectors: NDArray[Any], counted: NDArray[Any]) -> NDArray[np.float64]:
        ones = np.full((len(vectors), 1), CUES)
        return np.concatenate([vectors - self._mean, counted, ones], axis=1)

    def scores(self, vector: Floats, counted: Floats) -> NDArray[np.float64]:
        """Return a score for each kind, about 0 to 1."""
        scores: NDArray[np.float64] = (self._table(vector[None], counted[None]) @ self._weights)[0]
        return scores

    def forms(self, vector: Floats, kind: str) -> tuple[str, ...]:
        """Return the forms of a kind by their nearest example."""
        at = [place for place, row in enumerate(self.rows) if row.kind == kind]
        close = self.vectors[at] @ vector
        order = [at[place] for place in np.argsort(-close, kind="stable").tolist()]
        return tuple(dict.fromkeys(self.rows[place].form for place in order))


_models: dict[str, Model] = {}  # by embedder's name; half a megabyte each


def _model(embedder: Embedder) -> Model:
    if embedder.name not in _models:
        rows = tuple(row for row in examples() if _reads(embedder, row.language))
        vectors = shipped(embedder.name)
        if vectors is None or len(vectors) != len(rows):
            vectors = embedder.embed([row.text for row in rows])
        _models[embedder.name] = Model(rows, vectors)
    return _models[embedder.name]


def shipped(name: str) -> Floats | None:
    """Return the examples' vectors that come with Clew for an embedder, unit; None if there are none.

    They are 8-bit: a cosine differs in the third digit.
    """
    place = files("clew.query") / "routing" / "vectors.npz"
    if not place.is_file():
        return None
    with as_file(place) as path, np.load(path) as found:
        key = make_id(name)
        if key not in found:
            return None
        vectors: Floats = found[key].astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Floats = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return unit


@cache
def _worded() -> tuple[Wording, Model]:
    """Return the regression on how all examples are worded. Making it takes 0.3 s, once a process."""
    texts = [row.text for row in examples()]
    wording = Wording(texts)
    return wording, Model(examples(), wording.vectors(texts))
