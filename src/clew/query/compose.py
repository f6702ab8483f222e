"""Extractive answers: the sentences that answer best, in reading order, each with its citation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from clew.options import AnswerOptions
from clew.query.candidates import Candidate, candidates, score
from clew.query.cite import Citer
from clew.query.model import Engine, Retrieval
from clew.query.question import Closeness, Question, Relevance, judge, read_question
from clew.types import Answer, Citation, Hit, Node, Sentence, Trace

WORTH_DEFINING = 0.45  # the same of a sentence that defines one of the things that are named
HITS = 10  # passages that are read; later ones seldom hold the answer and cost a fifth of a millisecond each
NEW = 0.6  # weight of question words that no chosen sentence has
SAME = 0.6  # weight of the overlap with a chosen sentence
SAME_AT_ALL = 0.75  # overlap above which a sentence says nothing new
# A sentence worth less than this share of the best one is padding.
WORTH = 0.6
# Beside a sentence that defines the one thing that is asked about: others of as much worth, or that do too.
WORTH_BESIDE = 0.85
NOTHING = "The notes hold nothing on this."
NO_SENTENCE = "Passages match, but none has a sentence that answers; `search` shows them."
FULL = 3  # sentences; a shorter answer goes on with what follows its best one
LIST_ITEMS = 5  # of a list that a chosen sentence announces with a colon


@dataclass(frozen=True, slots=True)
class Composed:
    """An answer's text with its sentences and citations; empty, with a note, if nothing answers."""

    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    relevance: Relevance
    notes: tuple[str, ...] = ()
    lines: bool = False

    @property
    def text(self) -> str:
        return join(self.sentences, lines=self.lines)


def join(sentences: Sequence[Sentence], *, lines: bool = False) -> str:
    """Return sentences as one text with their numbers.

    Code blocks, and with ``lines`` all sentences, stand on lines of their own.
    """
    out = ""
    for sentence in sentences:
        numbers = "".join(f"[{number}]" for number in sentence.citations)
        block = "\n" in sentence.text
        gap = "\n" if out and (lines or block or out.endswith("\n")) else " " if out else ""
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
        return Composed((), (), relevance, (relevance.reason, *relevance.hints))
    citer = citer or Citer()
    pool = candidates(asked, hits[:HITS], engine)
    score(pool, asked, hits, engine, closeness)
    chosen = _choose(pool, asked, options.sentences)
    chosen = _with_next(chosen, pool, min(options.sentences, FULL))
    chosen = _with_lists(chosen, pool, options.sentences)
    sentences = []
    for candidate in _reading_order(chosen):
        hit = hits[candidate.hit]
        citation = citer.at(hit.chunk, hit.document, candidate.unit.start, candidate.unit.end)
        sentences.append(Sentence(candidate.text, (citation.number,)))
    if not sentences:
        return Composed((), (), relevance, (NO_SENTENCE,))
    return Composed(tuple(sentences), citer.citations, relevance, relevance.hints)


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


def _choose(pool: list[Candidate], asked: Question, most: int) -> list[Candidate]:
    """Pick one by one: own value, question words that are still missing, less what is said already."""
    chosen: list[Candidate] = []
    covered: set[int] = set()
    rest = sorted((c for c in pool if c.answers), key=lambda c: (-c.value, c.hit, c.unit.start))
    top = rest[0].value if rest else 0.0
    while rest and len(chosen) < most:
        best: Candidate | None = None
        best_value = 0.0
        for candidate in rest:
            overlap = max((_overlap(candidate.terms, c.terms) for c in chosen), default=0.0)
            if overlap > SAME_AT_ALL:
                continue
            value = candidate.value + NEW * asked.share(set(candidate.words) - covered) - SAME * overlap
            if best is None or value > best_value:
                best, best_value = candidate, value
        if best is None:
            break
        worth = WORTH_BESIDE if chosen and chosen[0].defines >= 1.0 > best.defines else WORTH
        if 0.0 < best.defines < 1.0:
            worth = WORTH_DEFINING
        if chosen and best_value < worth * top:
            break
        chosen.append(best)
        covered.update(best.words)
        rest.remove(best)
    return chosen


def _overlap(a: frozenset[str], b: frozenset[str]) -> float:
    return len(a & b) / max(min(len(a), len(b)), 1)


def _with_next(chosen: list[Candidate], pool: list[Candidate], most: int) -> list[Candidate]:
    """Go on with the sentences that follow the best one in its paragraph, up to ``most``.

    "The tent is in the shed. It leaks." – what says something about a thing often names it only before.
    """
    out = list(chosen)
    if not chosen or chosen[0].unit.kind != "sentence":
        return out
    best = chosen[0]
    after = [
        c
        for c in pool
        if (c.hit, c.unit.block, c.unit.kind) == (best.hit, best.unit.block, "sentence")
        and c.unit.start > best.unit.start
    ]
    for candidate in sorted(after, key=lambda c: c.unit.start):
        if len(out) >= most:
            break
        if candidate not in out:
            out.append(candidate)
    return out


def _with_lists(chosen: list[Candidate], pool: list[Candidate], most: int) -> list[Candidate]:
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


def _reading_order(chosen: list[Candidate]) -> list[Candidate]:
    """Group by passage, the passage of the best sentence first; in a passage as it is written."""
    first: dict[int, int] = {}
    for place, candidate in enumerate(chosen):
        first.setdefault(candidate.hit, place)
    return sorted(chosen, key=lambda c: (first[c.hit], c.unit.start))
