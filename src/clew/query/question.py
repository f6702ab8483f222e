"""What a question's words are worth in this index, and whether anything found answers it."""

from __future__ import annotations

import math
import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from clew.algo.bm25 import idf
from clew.ports import Embedder
from clew.query.lexicon import Named
from clew.query.model import Engine
from clew.text.language import UNKNOWN, detect
from clew.text.terms import is_single
from clew.text.tokens import normal_words, spans
from clew.text.wording import everyday, is_everyday
from clew.types import Floats, Hit

# A word tells passages apart if it is in at most this share of them, or, in a small index, in at most
# the square root of their number.
TELLING_SHARE = 0.05
# Rows of the vector table that tell what an ordinary cosine is: models differ (two unrelated texts have
# 0.05 in one and 0.75 in another), so cosines are read relative to it.
SAMPLE = 512
# Something is found if the best passages hold this share of the question's weight, or if one is this
# close in meaning, or if there is some of both. The figures were set on questions that the four
# development folders can and can't answer.
COVERED_SURELY, COVERED, CLOSE = 0.75, 0.6, 0.5
SOME_COVERED, SOME_CLOSE = 0.3, 0.32
# The weight of a word that the question would mean the same without; and what it must mean to be telling.
LEAST_SALIENCE, SALIENT = 0.1, 0.3
LEAST_EVERYDAY = 1e-4  # the same of an everyday word: next to nothing, but a question may have no others
HALF_EVERYDAY = 0.25  # salience of a pair of characters of which one is an everyday word
SALIENCE_WORDS = 16  # a longer question isn't asked 17 times over
JUDGED = 8  # hits
LISTED = 5  # words that a reason names
# Without vectors the words alone decide. Where everyday words are known, half isn't enough: of the two words
# that "who invented the telephone" asks with, one by chance stands in many a folder.
COVERED_ALONE, COVERED_UNKNOWN = 0.53, 0.4
# A question that names what the notes define is found with this much of it; the rest are words about it.
COVERED_NAMED = 0.15
# In a small index even common words are missing, so that a missing word says little, if it may be an everyday
# one: it weighs as much as the rarest one only if there are this many passages.
TELLING_MISSING = 1000


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question, with the index terms that it may stand as, and where it stands: ``start`` and
    ``end`` count the question's tokens.

    ``weight`` is its idf (that of a rare word, if the notes don't have it) × its salience. ``salient``: the
    question would mean something else without it; ``telling``: it picks some of the passages.
    """

    name: str
    forms: frozenset[str]
    idf: float
    weight: float
    known: bool
    salient: bool
    telling: bool
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class Question:
    """A question as its distinct words and the nodes that it names and the notes define, in order.

    ``background`` tells whether everyday words of its language are known; ``vector`` is None without an
    embedder that knows it; ``names`` are the words by which it names those nodes.
    """

    text: str
    language: str
    background: bool
    words: tuple[Word, ...]
    named: tuple[int, ...]
    vector: Floats | None
    names: tuple[tuple[Word, ...], ...] = ()

    def covered(self, terms: Iterable[str]) -> list[int]:
        """Return the places of the words that occur among these index terms."""
        have = terms if isinstance(terms, (set, frozenset)) else set(terms)
        return [i for i, word in enumerate(self.words) if not word.forms.isdisjoint(have)]

    def written(self, words: Iterable[Word]) -> tuple[str, ...]:
        """Return words as the question has them, in order; what overlaps (pairs of characters) as one."""
        places = spans(self.text)
        runs: list[list[int]] = []
        for word in words:
            if runs and word.start < runs[-1][1]:
                runs[-1][1] = word.end
            else:
                runs.append([word.start, word.end])
        shown = (self.text[places[start][0] : places[end - 1][1]] for start, end in runs)
        return tuple(dict.fromkeys(shown))

    def share(self, places: Iterable[int]) -> float:
        """Return the share of the question's weight that these words have, 0 to 1.

        Weights are squared: three common words don't make up for the one that the question is about.
        Without a vector nobody knows which one that is ("differ" is as rare as "generics"): then they
        aren't.
        """
        power = 1 if self.vector is None else 2
        total = sum(word.weight**power for word in self.words)
        return float(sum(self.words[i].weight ** power for i in set(places)) / max(total, 1e-9))


def read_question(question: str, engine: Engine) -> Question:
    """Weigh the words of a question.

    Its vector is left out where the embedder doesn't know its language: closeness would tell the script.
    """
    count = max(engine.reader.count("chunks"), 1)
    least = _idf_at(TELLING_SHARE, count)
    names = engine.lexicon.names(question)
    language = language_of(question, engine)
    background = bool(everyday(language))
    vector = None
    if engine.embedder is not None and question.strip() and _reads(engine.embedder, language):
        vector = engine.embedder.embed_question(question)
    meant = _salience(question, engine.embedder) if vector is not None else {}
    floor = LEAST_SALIENCE
    missing = float(idf(1, count))
    if meant or not background:
        missing *= min(1.0, math.log1p(count) / math.log1p(TELLING_MISSING))
    if not meant:
        meant, floor = _background(question, language, names), LEAST_EVERYDAY
    words: list[Word] = []
    for name, (start, end) in question_words(question).items():
        weights = engine.lexicon.weights(name)
        if is_single(name[0]) and len(name) > 1:  # half a pair of characters isn't the pair
            weights = {name: weights.get(name, 0.0)}
        known = any(weights.values())
        rarity = max(weights.values(), default=0.0) if known else missing
        share = meant.get(name, 1.0)
        salient = share >= SALIENT
        telling = salient and rarity >= least
        weight = rarity * (floor + (1 - floor) * share)
        words.append(Word(name, frozenset(weights), rarity, weight, known, salient, telling, start, end))
    kept = tuple(_without_noise(words))
    named = _defined(names, engine)
    bearing = [name for name in names if not set(named).isdisjoint(name.nodes)]
    spelt = tuple(tuple(w for w in kept if n.start < w.end and w.start < n.end) for n in bearing)
    return Question(question, language, background, kept, named, vector, tuple(filter(None, spelt)))


def language_of(question: str, engine: Engine) -> str:
    """Return the language of a question: of the notes' languages and of what its letters tell the one that
    has most of its words as everyday ones; the notes' first one among equals.

    Statistics of letters alone are wrong for one short question in three.
    """
    counts = engine.reader.meta.get("languages", {})
    ordered = sorted(counts, key=lambda code: (-counts[code], code))
    known = [code for code in dict.fromkeys([*ordered, detect(question)]) if code != UNKNOWN]
    words = normal_words(question)
    found = [(sum(is_everyday(words, [code])), -place) for place, code in enumerate(known)]
    return known[-max(found)[1]] if found else UNKNOWN


def _reads(embedder: Embedder, language: str) -> bool:
    """Tell whether an embedder knows a language; one that names none knows all."""
    return not embedder.languages or language in embedder.languages or language == UNKNOWN


def _background(question: str, language: str, names: Sequence[Named]) -> dict[str, float]:
    """Return how much each word of a question says, 0 for everyday words, 1 for all others.

    What the notes name is never everyday ("test" is in English, but not to notes on testing). Of a pair
    of characters one may be everyday.
    """
    words = normal_words(question)
    usual = is_everyday(words, [language])
    for name in names:
        usual[name.start : name.end] = [False] * (name.end - name.start)
    if len(words) == 1:
        return {}
    out: dict[str, float] = {}
    for i, word in enumerate(words):
        after = i + 1 < len(words) and is_single(word) and is_single(words[i + 1])
        if after:
            word, value = word + words[i + 1], (0.0, HALF_EVERYDAY, 1.0)[2 - usual[i] - usual[i + 1]]
        else:
            value = float(not usual[i])
        out[word] = max(out.get(word, 0.0), value)
    return out


def _salience(question: str, embedder: Embedder | None) -> dict[str, float]:
    """Return how much of the question's meaning goes with each word, 0 to 1; 1 for the one it needs most.

    That is one minus the cosine of the question with and without the word: no list of any language tells
    "what" from what it asks about, and idf alone doesn't either, because notes seldom ask. Scripts
    without spaces, and questions that are long, are left alone.
    """
    words = normal_words(question)
    if embedder is None or not 2 <= len(words) <= SALIENCE_WORDS or any(map(is_single, words)):
        return {}
    texts = [" ".join(words), *(" ".join(words[:i] + words[i + 1 :]) for i in range(len(words)))]
    vectors = embedder.embed(texts)
    lost = np.maximum(1.0 - vectors[1:] @ vectors[0], 0.0)
    most = float(lost.max())
    if most <= 0:
        return {}
    out: dict[str, float] = {}
    for word, value in zip(words, (lost / most).tolist(), strict=True):
        out[word] = max(out.get(word, 0.0), value)
    return out


def _defined(names: Sequence[Named], engine: Engine) -> tuple[int, ...]:
    """Return the nodes that the question names and that a title, an alias or a heading defines."""
    defined = engine.space.defined
    nodes = (node for name in names for node in name.nodes)
    return tuple(dict.fromkeys(node for node in nodes if defined[node] > 0))


def question_words(question: str) -> dict[str, tuple[int, int]]:
    """Return the distinct words with where each first stands (start, end: tokens); of scripts without spaces
    the pairs of characters that stand side by side."""
    words = normal_words(question)
    single = [is_single(word) for word in words]
    found: dict[str, tuple[int, int]] = {}
    for i, word in enumerate(words):
        if single[i] and i + 1 < len(words) and single[i + 1]:
            found.setdefault(word + words[i + 1], (i, i + 2))
        elif not (single[i] and i and single[i - 1]):
            found.setdefault(word, (i, i + 1))
    return found


def _without_noise(words: list[Word]) -> list[Word]:
    """Leave out pairs of characters that no text has because they straddle two words of the language."""
    kept: list[Word] = []
    for i, word in enumerate(words):
        near = words[max(i - 1, 0) : i + 2]
        straddles = (
            not word.known
            and len(word.name) == 2
            and is_single(word.name[0])
            and any(other.known and other.salient and not other.name.isascii() for other in near)
        )
        if not straddles:
            kept.append(word)
    return kept


# A word in more than this share of the passages picks none of them (in a small index: in more than
# the square root of their number).
COMMON_SHARE = 0.12


def common_idf(engine: Engine) -> float:
    """Return the idf up to which a word is common: in COMMON_SHARE of the passages, more in a small index."""
    return _idf_at(COMMON_SHARE, max(engine.reader.count("chunks"), 1))


def _idf_at(share: float, count: int) -> float:
    """Return the idf of a word in this share of ``count`` passages; in a small index, of a word in the
    square root of their number."""
    return min(math.log1p((1 - share) / share), float(idf(1, count)) / 2)


class Closeness:
    """Cosines to the question, relative to what is ordinary in this index."""

    def __init__(self, engine: Engine, vector: Floats | None) -> None:
        self.vector = vector
        self.ordinary = 0.0
        self.languages = engine.embedder.languages if engine.embedder is not None else frozenset()
        reader = engine.reader
        self.on = False
        if vector is None or not reader.has_array("dense.vectors"):
            return
        self.on = True
        self._chunk = reader.array("dense.chunk")
        self._vectors = reader.array("dense.vectors")
        step = max(1, len(self._vectors) // SAMPLE)
        sample = self._vectors[::step].astype(np.float32)
        if len(sample):
            self.ordinary = float((sample @ vector).mean())

    def relative(self, cosines: Floats) -> Floats:
        """Return 0 for an ordinary cosine, 1 for the same meaning."""
        return np.asarray((cosines - self.ordinary) / max(1.0 - self.ordinary, 1e-6), dtype=np.float32)

    def reads(self, language: str) -> bool:
        """Tell whether the embedder knows a language. In others it sees the script and little more, so that
        any two texts are close."""
        return not self.languages or language in self.languages or language == UNKNOWN

    def of_hits(self, hits: Sequence[Hit]) -> float:
        """Return how close the closest of these hits is; 0 if there is none to compare."""
        known = [hit.chunk.chunk for hit in hits if self.reads(hit.document.language)]
        return max(self.of_chunks(known), default=0.0)

    def of_chunks(self, chunks: Sequence[int]) -> list[float]:
        """Return how close each chunk is (its closest window); 0 for one without vectors."""
        if not self.on or self.vector is None:
            return [0.0] * len(chunks)
        low = np.searchsorted(self._chunk, chunks, side="left")
        high = np.searchsorted(self._chunk, chunks, side="right")
        out = []
        for a, b in zip(low.tolist(), high.tolist(), strict=True):
            rows = self._vectors[a:b].astype(np.float32)
            out.append(float(self.relative(rows @ self.vector).max()) if b > a else 0.0)
        return out


@dataclass(frozen=True, slots=True)
class Relevance:
    """Whether the hits answer the question at all. ``covered`` and ``close`` are 0 to 1. ``missing`` are the
    question's words that the notes don't have, ``held`` those of the others that pick some passages."""

    found: bool
    covered: float
    close: float
    missing: tuple[str, ...]
    held: tuple[str, ...] = ()

    @property
    def reason(self) -> str:
        if self.found:
            return ""
        if self.missing:
            return f"The notes hold nothing on this: they don't have {_quoted(self.missing)}."
        return "The notes hold nothing on this: no passage has enough of its words, or is close in meaning."

    @property
    def hints(self) -> tuple[str, ...]:
        """What helps a person to judge: which words an answer is without, or what there is instead of one."""
        if not self.missing:
            return ()
        if self.found:
            return (f"The notes don't have {_quoted(self.missing)}.",)
        if not self.held:
            return ()
        words = " ".join(word if word.isalnum() else shlex.quote(word) for word in self.held[:LISTED])
        return (f"They do have {_quoted(self.held)}: `clew search {words}` shows where.",)


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(f"“{word}”" for word in words[:LISTED])


def judge(question: Question, hits: Sequence[Hit], engine: Engine, closeness: Closeness) -> Relevance:
    """Decide whether any of the first hits is about the question.

    What counts is the share of the question's weight (idf × salience; a word that the notes don't have
    weighs most) that one passage holds with its title and headings, and its cosine.
    """
    covered = max(
        (question.share(question.covered(hit_terms(hit, engine))) for hit in hits[:JUDGED]), default=0.0
    )
    telling = any(word.telling and word.known for word in question.words)
    close = closeness.of_hits(hits[:JUDGED])
    missing = question.written(word for word in question.words if not word.known and word.salient)
    held = question.written(word for word in question.words if word.known and word.telling)
    if closeness.on:
        found = close >= CLOSE or (telling and covered >= COVERED and close >= SOME_CLOSE / 2)
        found = found or (telling and covered >= COVERED_SURELY)
        found = found or (covered >= SOME_COVERED and close >= SOME_CLOSE)
    else:
        least = COVERED_ALONE if question.background else COVERED_UNKNOWN
        found = covered >= least and any(
            word.known and word.idf > common_idf(engine) for word in question.words
        )
    # Common words pick nothing, but a passage that has all of the question ("traits", in a
    # book on Rust) is about it. With vectors that holds for one word only; of more, the meaning tells better.
    if not closeness.on or len(question.words) == 1:
        found = found or (covered >= COVERED_SURELY and not missing)
    found = found or bool(question.named and covered >= COVERED_NAMED)
    return Relevance(bool(hits) and found, covered, close, missing, held)


def hit_terms(hit: Hit, engine: Engine) -> set[str]:
    """Return the index terms of a hit: its text, its document's title and its headings."""
    text = "\n".join([hit.chunk.text, hit.document.title, *hit.chunk.heading_path])
    return set(engine.lexicon.terms(text, hit.document.language))
