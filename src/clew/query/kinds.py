"""What kind of question it is: told by labelled examples, compared by embedding, and by what the graph names.

The names that the notes define are replaced by X, Y and Z, and tags by #T, so that what is left is what is
asked *about* them. Its vector, with how many names there are, goes to a ridge regression on the vectors of
the examples in ``routing/examples.tsv`` (one output a kind; a further language is further lines there).
Vectors of the examples are shipped for the embedders that come with Clew; for others they are made at the
first question.

Without an embedder that knows the question's language, only a question worded nearly like an example is told.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.ids import make_id
from clew.ports import Embedder
from clew.query.model import Engine
from clew.query.question import language_of
from clew.text.language import UNKNOWN
from clew.text.tokens import normal_words, spans
from clew.text.wording import is_everyday
from clew.types import Floats

KINDS = ("direct", "entity", "relational", "structural", "temporal", "global")
# Chosen among three values each by looking at the 300 questions of benchmarks/router.py, whose figures are
# therefore a little too good.
RIDGE = 1.0
CUES = 0.3  # weight of the counted cues beside a vector of length 1
ALIKE = 0.75  # share of words in common (Jaccard) with an example, where there are no vectors
AHEAD = 0.1
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
    """A name in the question: its text there and the nodes that bear it; ``tag``: written with a ``#``."""

    text: str
    nodes: tuple[int, ...]
    tag: bool = False


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
        return self.margin >= AHEAD


@cache
def examples() -> tuple[Example, ...]:
    """Return the labelled examples, in the order of the file."""
    text = (files("clew.query") / "routing" / "examples.tsv").read_text("utf-8")
    return tuple(Example(*line.split("\t")) for line in text.splitlines() if line)


def mask(question: str, engine: Engine) -> tuple[str, tuple[Name, ...]]:
    """Return the question with its names replaced, and the names in order, each once.

    A name of one everyday word ("notes") counts only where it is written as a tag.
    """
    places = spans(question)
    language = language_of(question, engine)
    defined = engine.space.defined
    out, at, found = "", 0, dict[tuple[int, ...], Name]()
    for named in engine.lexicon.names(question):
        start, end = places[named.start][0], places[named.end - 1][1]
        tag = question[start - 1 : start] == "#"
        surface = question[start:end]
        usual = named.end - named.start == 1 and is_everyday(normal_words(surface), [language])[0]
        if not tag and (usual or not (defined[list(named.nodes)] > 0).any()):
            continue
        known = found.setdefault(named.nodes, Name(surface, named.nodes, tag))
        others = [name for name in found.values() if not name.tag]
        letter = "T" if tag else "XYZ"[min(others.index(known) if known in others else 0, MOST_NAMES - 1)]
        out += question[at:start] + letter
        at = end
    return out + question[at:], tuple(found.values())


def judge_kind(question: str, engine: Engine, wanted: str = "") -> Judged:
    """Tell the kind of a question, with the forms of that kind or of the ``wanted`` one. Relational ones
    need two names."""
    masked, names = mask(question, engine)
    embedder = engine.embedder
    language = language_of(question, engine)
    if len(normal_words(masked)) - len(names) < LEAST_WORDS:
        return Judged("", 0.0, names, "")
    if embedder is None or not _reads(embedder, language):
        return _by_words(masked, names, wanted)
    model = _model(embedder)
    vector = embedder.embed([masked])[0]
    scores = model.scores(vector, cues(masked, names))
    if len(names) < 2:
        scores[KINDS.index("relational")] = -np.inf
    order = np.argsort(-scores, kind="stable")
    kind = KINDS[int(order[0])]
    margin = float(scores[order[0]] - scores[order[1]])
    return Judged(kind, margin, names, "vectors", model.forms(vector, wanted or kind))


def _reads(embedder: Embedder, language: str) -> bool:
    return not embedder.languages or language in embedder.languages or language == UNKNOWN


def cues(masked: str, names: Sequence[Name]) -> Floats:
    """Return what is counted beside the vector: no name, one, more; a tag."""
    count = sum(not name.tag for name in names)
    tag = any(name.tag for name in names)
    return CUES * np.array([count == 0, count == 1, count > 1, tag], dtype=np.float32)


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
        counted = np.array([cues(row.text, _of_example(row.text)) for row in rows], dtype=np.float64)
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


def _by_words(masked: str, names: tuple[Name, ...], wanted: str) -> Judged:
    """Tell a question that is worded nearly like an example, else no kind; the forms of the wanted kind in
    any case."""
    words = set(normal_words(masked))
    best: dict[tuple[str, str], float] = {}
    for row in examples():
        other = set(normal_words(row.text))
        alike = len(words & other) / max(len(words | other), 1)
        best[row.kind, row.form] = max(best.get((row.kind, row.form), 0.0), alike)
    order = sorted(best, key=lambda pair: -best[pair])
    order = [pair for pair in order if len(names) > 1 or pair[0] != "relational"]
    kind = order[0][0]
    alike = best[order[0]]
    rivals = max(best[pair] for pair in order if pair[0] != kind)
    forms = tuple(form for one, form in order if one == (wanted or kind) and best[one, form] > 0)
    if alike < ALIKE or rivals == alike:
        return Judged("", 0.0, names, "", forms if wanted else ())
    return Judged(kind, alike, names, "words", forms)
