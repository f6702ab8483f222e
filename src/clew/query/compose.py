"""Extractive answers: the sentences that answer best, in reading order, each with its citation."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from clew.options import AnswerOptions
from clew.query.cite import Citer
from clew.query.model import Engine, Retrieval
from clew.query.question import Closeness, Question, Relevance, judge, read_question
from clew.text.display import plain
from clew.text.units import Unit, units
from clew.types import Answer, Citation, Hit, Node, Sentence, Trace

HITS = 10  # passages that are read; later ones seldom hold the answer and cost a fifth of a millisecond each
# Candidates that are embedded: at some 4,000 tokens a second, 24 sentences cost about 150 ms.
EMBEDDED = 24
EMBEDDED_CHARS = 300
SHORT, LONG = 12, 700  # characters of a sentence that may stand in an answer
CODE_CHARS, CODE_LINES = 900, 16  # a longer code block is cited by the sentences around it

# What a sentence is worth: the share of the question's weight in it; in its title and headings (which
# say what its "it" is); its meaning; its passage's rank; and being the first under its heading.
WORDS, CONTEXT, MEANING, RANK, LEAD = 1.0, 0.35, 0.9, 0.45, 0.15
NEW = 0.6  # weight of question words that no chosen sentence has
SAME = 0.6  # weight of the overlap with a chosen sentence
SAME_AT_ALL = 0.75  # overlap above which a sentence says nothing new
# A sentence worth less than this share of the best one is padding.
WORTH = 0.5
# A block that a generator fills in when the notes are published has nothing to show here.
DIRECTIVE = re.compile(r"^\s*\{\{[#%].*\}\}\s*$", re.MULTILINE)
NOTHING = "The notes hold nothing on this."
LIST_ITEMS = 5  # of a list that a chosen sentence announces with a colon


@dataclass(slots=True)
class _Candidate:
    hit: int
    unit: Unit
    text: str
    words: list[int]
    terms: frozenset[str]
    context: float
    value: float = 0.0
    near: float = 0.0


@dataclass(frozen=True, slots=True)
class Composed:
    """An answer's text with its sentences and citations; empty, with a note, if nothing answers."""

    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    relevance: Relevance
    notes: tuple[str, ...] = field(default=())

    @property
    def text(self) -> str:
        return join(self.sentences)


def join(sentences: Sequence[Sentence]) -> str:
    """Return sentences as one text with their numbers; code blocks stand on lines of their own."""
    out = ""
    for sentence in sentences:
        numbers = "".join(f"[{number}]" for number in sentence.citations)
        block = "\n" in sentence.text
        gap = "\n" if out and (block or out.endswith("\n")) else " " if out else ""
        mark = f"\n{numbers}\n" if block else f" {numbers}"
        out += gap + sentence.text + mark
    return out.strip()


def compose(
    question: str,
    hits: Sequence[Hit],
    engine: Engine,
    options: AnswerOptions,
    *,
    citer: Citer | None = None,
) -> Composed:
    """Answer from ranked hits. The time is bounded by HITS and EMBEDDED, whatever the index's size."""
    asked = read_question(question, engine)
    closeness = Closeness(engine, asked.vector)
    relevance = judge(asked, hits, engine, closeness)
    if not relevance.found:
        return Composed((), (), relevance, (relevance.reason,))
    citer = citer or Citer()
    pool = _candidates(asked, hits[:HITS], engine)
    _score(pool, asked, hits, engine, closeness)
    chosen = _choose(pool, asked, options.sentences)
    chosen = _with_lists(chosen, pool, options.sentences)
    sentences = []
    for candidate in _reading_order(chosen):
        hit = hits[candidate.hit]
        citation = citer.at(hit.chunk, hit.document, candidate.unit.start, candidate.unit.end)
        sentences.append(Sentence(candidate.text, (citation.number,)))
    return Composed(tuple(sentences), citer.citations, relevance)


def finish(
    question: str,
    mode: str,
    composed: Composed,
    retrieval: Retrieval,
    related: Sequence[Node],
    *,
    counts: Mapping[str, int] | None = None,
    notes: Sequence[str] = (),
    milliseconds: Mapping[str, float] | None = None,
) -> Answer:
    """Return the answer of a mode. Where nothing was found, ``reason`` says so and nothing is related."""
    found = bool(composed.sentences)
    trace = Trace(
        seeds=retrieval.seeds,
        hits=retrieval.hits,
        counts={**retrieval.counts, **(counts or {})},
        notes=(*composed.notes, *notes),
        milliseconds={**retrieval.milliseconds, **(milliseconds or {})},
    )
    return Answer(
        question=question,
        text=composed.text,
        sentences=composed.sentences,
        citations=composed.citations,
        related=tuple(related) if found else (),
        mode=mode,
        reason=retrieval.reason if found else composed.notes[0] if composed.notes else NOTHING,
        trace=trace,
    )


def _candidates(asked: Question, hits: Sequence[Hit], engine: Engine) -> list[_Candidate]:
    found: list[_Candidate] = []
    seen: set[str] = set()
    for place, hit in enumerate(hits):
        language = hit.document.language
        above = engine.lexicon.terms("\n".join([hit.document.title, *hit.chunk.heading_path]), language)
        context = asked.covered(above)
        for unit in units(hit.chunk.text, markdown=hit.document.media_type == "markdown"):
            text = _shown(hit.chunk.text, unit)
            if not text or text in seen:
                continue
            seen.add(text)
            terms = frozenset(engine.lexicon.terms(text, language))
            words = asked.covered(terms)
            share = asked.share(set(context) - set(words))
            found.append(_Candidate(place, unit, text, words, terms, share))
    return found


def _shown(text: str, unit: Unit) -> str:
    """Return what a reader sees of a unit; empty if it can't stand in an answer."""
    raw = text[unit.start : unit.end]
    if unit.kind == "code":
        short = len(raw) <= CODE_CHARS and raw.count("\n") <= CODE_LINES
        return raw if short and not DIRECTIVE.search(raw) else ""
    if unit.kind == "row":
        cells = [plain(cell) for cell in raw.strip("|").split("|")]
        shown = " | ".join(cell for cell in cells if cell)
    else:
        shown = plain(raw)
    wide = sum(char >= "\u2e80" for char in shown) if not shown.isascii() else 0
    letters = sum(char.isalnum() for char in shown)
    good = SHORT <= len(shown) + wide <= LONG and 2 * letters > len(shown)
    return shown if good else ""


def _score(
    pool: list[_Candidate],
    asked: Question,
    hits: Sequence[Hit],
    engine: Engine,
    closeness: Closeness,
) -> None:
    """Set each candidate's value; the best by words and rank are embedded too."""
    best = max((hit.score for hit in hits), default=0.0)
    first: dict[int, int] = {}
    for candidate in pool:
        hit = hits[candidate.hit]
        rank = hit.score / best if best > 0 else 1.0 / (1 + candidate.hit)
        rank = 0.5 * min(max(rank, 0.0), 1.0) + 0.5 / (1 + candidate.hit)
        leads = first.setdefault(candidate.hit, candidate.unit.start) == candidate.unit.start
        candidate.value = (
            WORDS * asked.share(candidate.words)
            + CONTEXT * candidate.context
            + RANK * rank
            + LEAD * leads * (candidate.context > 0)
        ) * _form(candidate)
    if engine.embedder is None or asked.vector is None or not pool:
        return
    pool.sort(key=lambda candidate: (-candidate.value, candidate.hit, candidate.unit.start))
    texts = [candidate.text[:EMBEDDED_CHARS] for candidate in pool[:EMBEDDED]]
    near = closeness.relative(engine.embedder.embed(texts) @ asked.vector)
    for candidate, value in zip(pool, near.tolist(), strict=False):
        candidate.near = max(value, 0.0)
        candidate.value += MEANING * candidate.near * _form(candidate)
    floor = float(np.median(near))  # those that weren't embedded are taken to be ordinary at best
    for candidate in pool[EMBEDDED:]:
        candidate.value += MEANING * max(0.0, min(floor, 0.2)) * _form(candidate)


def _form(candidate: _Candidate) -> float:
    """Return how well a unit stands as a sentence of an answer, 0 to 1."""
    if candidate.unit.kind == "code":
        return 0.6
    if candidate.unit.kind == "row":
        return 0.8
    last = candidate.text.rstrip("\"'”’»)*_")[-1:]
    if last in "?？؟":
        return 0.6
    if last in ":：":
        return 0.8
    size = len(candidate.text)
    return 1.0 if size >= 40 or last in ".!。！…؟۔।॥" else 0.75


def _choose(pool: list[_Candidate], asked: Question, most: int) -> list[_Candidate]:
    """Pick one by one: own value, question words that are still missing, less what is said already."""
    chosen: list[_Candidate] = []
    covered: set[int] = set()
    rest = sorted(pool, key=lambda c: (-c.value, c.hit, c.unit.start))
    top = rest[0].value if rest else 0.0
    while rest and len(chosen) < most:
        best: _Candidate | None = None
        best_value = 0.0
        for candidate in rest:
            overlap = max((_overlap(candidate.terms, c.terms) for c in chosen), default=0.0)
            if overlap > SAME_AT_ALL:
                continue
            value = candidate.value + NEW * asked.share(set(candidate.words) - covered) - SAME * overlap
            if best is None or value > best_value:
                best, best_value = candidate, value
        if best is None or (chosen and best_value < WORTH * top):
            break
        chosen.append(best)
        covered.update(best.words)
        rest.remove(best)
    return chosen


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / max(min(len(a), len(b)), 1)


def _with_lists(chosen: list[_Candidate], pool: list[_Candidate], most: int) -> list[_Candidate]:
    """After a sentence that ends with a colon, put what it announces: the items or the code below it."""
    out = list(chosen)
    for candidate in chosen:
        if candidate.unit.kind != "sentence" or candidate.text[-1:] not in ":：":
            continue
        below = [c for c in pool if c.hit == candidate.hit and c.unit.block > candidate.unit.block]
        below.sort(key=lambda c: c.unit.start)
        for taken, item in enumerate(below[:LIST_ITEMS]):
            if item.unit.block > candidate.unit.block + 1 + taken:
                break  # what stands between was no item of the list
            if item not in out and len(out) < most + LIST_ITEMS:
                out.append(item)
            if item.unit.kind == "code":
                break
    return out


def _reading_order(chosen: list[_Candidate]) -> list[_Candidate]:
    """Group by passage, the passage of the best sentence first; in a passage as it is written."""
    first: dict[int, int] = {}
    for place, candidate in enumerate(chosen):
        first.setdefault(candidate.hit, place)
    return sorted(chosen, key=lambda c: (first[c.hit], c.unit.start))
