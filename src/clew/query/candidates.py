"""Sentences that could stand in an answer, and what each is worth."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from clew.query.defining import titled, topics, unit_defines
from clew.query.model import Engine
from clew.query.question import Closeness, Question, hit_terms
from clew.text.display import link_share, plain
from clew.text.units import Unit, units
from clew.types import MARKDOWN_TYPES, Hit

# Candidates that are embedded, and how much of each: about 600 tokens, some 100 ms.
EMBEDDED, EMBEDDED_CHARS = 10, 240
SHORT, LONG = 12, 700  # characters of a sentence that may stand in an answer
CODE_CHARS, CODE_LINES = 900, 16  # a longer code block is cited by the sentences around it
LINKS = 0.7  # a sentence of which links are a greater share is an item of a table of contents
PROSE = 0.3  # a line of which less than this share stands outside inline code is a list of labels
CODE_SPAN = re.compile(r"`[^`]+`")
WORD_CHARS = 45  # a longer word is a key or an address; nobody reads it as part of an answer
LENGTHY = 280  # characters; a longer sentence holds the question's words by chance
# A block that a generator fills in when the notes are published has nothing to show here.
DIRECTIVE = re.compile(r"^\s*\{\{[#%].*\}\}\s*$", re.MULTILINE)
# What a sentence is worth: the share of the question's weight in it; in its title and headings (which
# say what its "it" is); its meaning; its passage's rank; being the first under its heading; and the form of a
# definition of what the question asks about.
WORDS, CONTEXT, MEANING, RANK, LEAD, DEFINES = 1.0, 0.4, 1.0, 0.4, 0.3, 0.6
# Without vectors, a passage that has none of the words by which the question names what the notes define may
# well be about something else ("handle", in a question on how backlinks are handled).
ELSEWHERE = 0.7
# A sentence with less of the question's words than this, and less close in meaning, answers nothing.
LEAST_WORDS, LEAST_NEAR = 0.25, 0.35


@dataclass(slots=True)
class Candidate:
    """A unit of hit number ``hit``: what is shown, the question's words in it (places), its terms, the
    question's share in the title and headings above it, whether it defines what is asked about (0 to 1), its
    closeness, and its value."""

    hit: int
    unit: Unit
    text: str
    words: list[int]
    terms: frozenset[str]
    context: float
    links: float
    defines: float
    value: float = 0.0
    near: float = 0.0
    answers: bool = False


def candidates(asked: Question, hits: Sequence[Hit], engine: Engine) -> list[Candidate]:
    """Return the units of the hits that a reader could be shown, each text once."""
    found: list[Candidate] = []
    about, worth = topics(asked, hits, engine)
    seen: set[str] = set()
    for place, hit in enumerate(hits):
        language = hit.document.language
        above = engine.lexicon.terms("\n".join([hit.document.title, *hit.chunk.heading_path]), language)
        context = asked.covered(above)
        heads = [run for run in about if titled(hit, run, asked, engine)]
        for unit in units(hit.chunk.text, markdown=hit.document.media_type in MARKDOWN_TYPES):
            text = _shown(hit.chunk.text, unit)
            if not text or text in seen:
                continue
            seen.add(text)
            terms = frozenset(engine.lexicon.terms(text, language))
            words = asked.covered(terms)
            share = asked.share(set(context) - set(words))
            links = link_share(hit.chunk.text[unit.start : unit.end], text) if unit.kind != "code" else 0.0
            defines = 0.0
            if words and about:
                runs = heads or about
                told = (
                    unit_defines(hit.chunk.text, unit, run, asked, engine, leads=run in heads) for run in runs
                )
                defines = worth * max(told)
            heads = []
            found.append(Candidate(place, unit, text, words, terms, share, links, defines))
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
    if sum(map(str.isalnum, plain(CODE_SPAN.sub("", raw)))) < PROSE * sum(map(str.isalnum, shown)):
        return ""
    address = "://" in shown and " " not in shown
    if address or link_share(raw, shown) > LINKS:
        return ""
    good = len(shown) + 2 * wide >= SHORT and len(shown) + wide <= LONG and 2 * letters > len(shown)
    return shown if good else ""


def score(
    pool: list[Candidate],
    asked: Question,
    hits: Sequence[Hit],
    engine: Engine,
    closeness: Closeness,
) -> None:
    """Set each candidate's value; the best by words and rank are embedded too."""
    if not pool:
        return
    best = max((hit.score for hit in hits), default=0.0)
    first: dict[int, int] = {}
    apart = _apart(asked, hits, {candidate.hit for candidate in pool}, engine)
    for candidate in pool:
        hit = hits[candidate.hit]
        here = 1.0 if candidate.hit not in apart else ELSEWHERE
        rank = hit.score / best if best > 0 else 1.0 / (1 + candidate.hit)
        rank = 0.5 * min(max(rank, 0.0), 1.0) + 0.5 / (1 + candidate.hit)
        leads = first.setdefault(candidate.hit, candidate.unit.start) == candidate.unit.start
        candidate.value = (
            WORDS * asked.share(candidate.words)
            + CONTEXT * candidate.context
            + RANK * rank
            + LEAD * leads * candidate.context
            + DEFINES * candidate.defines
        ) * (_form(candidate) * here)
        candidate.answers = asked.share(candidate.words) >= LEAST_WORDS or (
            leads and candidate.context >= 0.5
        )
    if engine.embedder is None or asked.vector is None or not closeness.on:
        return
    pool.sort(key=lambda candidate: (-candidate.value, candidate.hit, candidate.unit.start))
    read = [c for c in pool if closeness.reads(hits[c.hit].document.language)][:EMBEDDED]
    if not read:
        return
    near = closeness.relative(engine.embedder.embed([c.text[:EMBEDDED_CHARS] for c in read]) @ asked.vector)
    for candidate, value in zip(read, near.tolist(), strict=True):
        candidate.near = max(value, 0.0)
        candidate.answers |= candidate.near >= LEAST_NEAR
        candidate.value += MEANING * candidate.near * _form(candidate)


def _apart(asked: Question, hits: Sequence[Hit], places: Iterable[int], engine: Engine) -> set[int]:
    """Return the places of the hits that have none of the words by which a question without a vector names
    what the notes define."""
    if asked.vector is not None or not asked.names:
        return set()
    forms = frozenset().union(*(word.forms for name in asked.names for word in name))
    return {at for at in places if forms.isdisjoint(hit_terms(hits[at], engine))}


def _form(candidate: Candidate) -> float:
    """Return how well a unit stands as a sentence of an answer, 0 to 1."""
    text = candidate.text
    if candidate.unit.kind == "code":
        return 0.6
    value = 1.0 - 0.5 * candidate.links
    if any(len(word) > WORD_CHARS for word in text.split()) and text.isascii():
        value *= 0.5
    if len(text) > LENGTHY:
        value *= max(0.5, 1 - (len(text) - LENGTHY) / LENGTHY)
    if candidate.unit.kind == "row":
        return 0.8 * value
    last = text.rstrip("\"'”’»)*_")[-1:]
    if last in "?？؟":
        return 0.6 * value
    if last in ":：":
        return 0.8 * value
    return value if last in ".!。！…؟۔।॥" else 0.75 * value
