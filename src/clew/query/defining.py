"""Passages and sentences that say what a thing is, in any language.

Search ranks by all of a question's words, and a walk leaves out names that are mentioned everywhere: "how are
backlinks handled?" may bring ten passages on handling and none of the note "Backlinks". So an answer also
reads the passages that define what is asked about. Which sentence defines it is told by form alone: it sets
the name apart ("a _trait_ is …"), or begins with it ("Медонос — це …").
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import regex

from clew.query.model import Engine, Retrieval
from clew.query.question import Question, Word, common_idf, read_question
from clew.query.scope import Bools
from clew.text.terms import is_single, term_hash
from clew.text.tokens import normal_words
from clew.text.units import Unit
from clew.text.wording import is_everyday
from clew.types import Hit, Ints, Step

MOST = 3  # passages that are added
READ = 48  # passages whose beginnings are compared, those with the shortest names first: some milliseconds
FURNITURE = 2000  # definitions by passages with the words; more headings of such passages single nothing out
# Of what the question's weightiest word weighs; less is no part of what is asked about.
LEAST = 0.25
SET_APART, BEGINS = 1.0, 0.5  # how much it tells that a sentence sets the name apart, or begins with it
NAMED = 0.5  # worth of the definition of what a question names beside other things
ARTICLES = 1  # everyday words that may stand before the name
EMPHASIS = regex.compile(r"(?<![\w*])([*_]{1,3})(?=[^\s*_])([^*_\n]{1,80})(?<=\S)\1(?![\w*])")
BEFORE = regex.compile(r"^[\s>#*_\-+]+")


def topic(asked: Question, hits: Sequence[Hit], engine: Engine) -> tuple[Word, ...]:
    """Return what a question asks about if it is one thing and nothing else: its weighty words, if they stand
    side by side ("what is a _daily note_?"); else nothing.

    An everyday word beside them belongs to it if the notes seldom have it, and have it there ("the never
    type").
    """
    most = max((word.weight for word in asked.words if word.salient), default=0.0)
    kept = [word for word in asked.words if word.salient and word.weight >= LEAST * most]
    if not kept or not all(word.known for word in kept):
        return ()
    kept.sort(key=lambda word: word.start)
    if any(b.start > a.end for a, b in pairwise(kept)):
        return ()
    tokens = normal_words(asked.text)
    beside = [word for word in asked.words if word.end == kept[0].start]
    after = [word for word in asked.words if word.start == kept[-1].end]
    common = common_idf(engine)
    for word in (one for one in (*beside, *after) if one.known and one.idf > common):
        low, high = min(word.start, kept[0].start), max(word.end, kept[-1].end)
        phrase = f" {' '.join(tokens[low:high])} "
        if any(phrase in f" {' '.join(normal_words(hit.chunk.text))} " for hit in hits):
            kept = sorted({*kept, word}, key=lambda one: one.start)
    return tuple(kept)


def topics(asked: Question, hits: Sequence[Hit], engine: Engine) -> tuple[Sequence[Sequence[Word]], float]:
    """Return what definitions are looked for, each as its words, and how much one is worth: 1 of the one
    thing that is asked about, NAMED of things that are named with others."""
    whole = topic(asked, hits, engine)
    if whole and (not asked.names or whole in asked.names):
        return [whole], 1.0
    return asked.names, NAMED


def with_definitions(question: str, retrieval: Retrieval, engine: Engine, read: int) -> Retrieval:
    """Return hits with up to MOST more that define what the question asks about, the last among the first
    ``read``. The others keep their order."""
    asked = read_question(question, engine)
    known = {hit.chunk.chunk for hit in retrieval.hits[: read - MOST]}
    places = [
        (node, chunk) for node, chunk in _defining(asked, retrieval.hits, engine) if chunk not in known
    ][:MOST]
    if not places or not retrieval.hits:
        return retrieval
    found = {hit.chunk.chunk: hit for hit in retrieval.hits}
    chunks = {chunk.chunk: chunk for chunk in engine.space.chunks([chunk for _, chunk in places])}
    documents = engine.space.documents({chunk.doc for chunk in chunks.values()})
    names = engine.space.node_names([node for node, _ in places])
    more = []
    for node, at in places:
        chunk, document = chunks[at], documents[chunks[at].doc]
        label = f"{document.location}:{chunk.start_line}"
        path = (Step("question", "names", names[node]), Step(names[node], "defined_by", label, at))
        why = f"it defines {names[node]}, which the question names"
        more.append(found.get(at) or Hit(chunk, document, 0.0, {}, why, path))
    rest = [hit for hit in retrieval.hits if hit.chunk.chunk not in chunks]
    at = read - len(more)
    return replace(retrieval, hits=(*rest[:at], *more, *rest[at:]))


def _defining(asked: Question, hits: Sequence[Hit], engine: Engine) -> list[tuple[int, int]]:
    """Return (node, chunk) of what defines the nodes that a question names, the first of each; where it names
    none, of the passages whose title or heading has the name, those that say best what it is."""
    node, chunk = engine.reader.array("graph.def_node"), engine.reader.array("graph.def_chunk")
    weight = engine.reader.array("graph.def_weight")
    open_to = np.ones(len(chunk), dtype=bool) if engine.scope is None else engine.scope.chunks[chunk]
    named = asked.named[:MOST]
    if named:
        rows = np.flatnonzero(np.isin(node, named) & open_to).tolist()
        rows.sort(key=lambda row: (-float(weight[row]), int(chunk[row])))
        first: dict[int, int] = {}
        for row in rows:
            first.setdefault(int(node[row]), int(chunk[row]))
        return [(one, first[one]) for one in named if one in first]
    words = topic(asked, hits, engine)
    if not words:
        return []
    held = np.flatnonzero(_holding(words, chunk, engine) & open_to).tolist()
    if len(held) > FURNITURE:
        return []
    return _telling(words, [(int(node[row]), int(chunk[row])) for row in held], asked, engine)


def _holding(words: Sequence[Word], chunks: Ints, engine: Engine) -> Bools:
    """Tell which chunks hold all of some words."""
    postings = engine.space.postings
    held = np.ones(len(chunks), dtype=bool)
    for word in words:
        at = [
            place for place in (postings.find(term_hash(form)) for form in sorted(word.forms)) if place >= 0
        ]
        here = [postings.chunks(place) for place in at]
        held &= np.isin(chunks, np.concatenate(here)) if here else False
    return held


def _telling(
    words: Sequence[Word], rows: Sequence[tuple[int, int]], asked: Question, engine: Engine
) -> list[tuple[int, int]]:
    """Order definitions of names that have all the words: those whose passage says what it is, then those
    with the shortest names. Each passage once."""
    names = engine.space.node_names({node for node, _ in rows})
    having: dict[int, tuple[int, int, int]] = {}
    for node, chunk in rows:
        terms = set(engine.lexicon.terms(names[node], asked.language))
        if all(not word.forms.isdisjoint(terms) for word in words):
            size = len(normal_words(names[node]))
            having[chunk] = min(having.get(chunk, (size, chunk, node)), (size, chunk, node))
    short = sorted(having.values())[:READ]
    texts = {chunk.chunk: chunk.text for chunk in engine.space.chunks([chunk for _, chunk, _ in short])}
    told = {chunk: defines(texts[chunk], words, asked, engine) for _, chunk, _ in short}
    order = sorted(short, key=lambda row: (-told[row[1]], row))
    return [(node, chunk) for _, chunk, node in order]


def defines(text: str, words: Sequence[Word], asked: Question, engine: Engine) -> float:
    """Return how much a text looks like a definition of what these words name, 0 to 1."""
    if not words:
        return 0.0
    for match in EMPHASIS.finditer(text):
        if _is(normal_words(match[2]), words, asked, engine):
            return SET_APART
    begin = normal_words(BEFORE.sub("", text)[:200])
    length = words[-1].end - words[0].start
    for skipped in range(ARTICLES + 1):
        if skipped and not all(is_everyday(begin[:skipped], [asked.language])):
            break
        if len(begin) > skipped + length and _is(begin[skipped : skipped + length], words, asked, engine):
            return BEGINS
    return 0.0


def titled(hit: Hit, words: Sequence[Word], asked: Question, engine: Engine) -> bool:
    """Tell whether a hit stands under a title or heading that is these words and no more."""
    headings = (hit.document.title, *hit.chunk.heading_path[-1:])
    return bool(words) and any(_is(normal_words(one), words, asked, engine) for one in headings)


def unit_defines(
    text: str, unit: Unit, words: Sequence[Word], asked: Question, engine: Engine, *, leads: bool
) -> float:
    """Return the same of a unit of a chunk's text; only sentences and list items define anything. One that
    ``leads`` under the name as its title and begins with it does so surely."""
    if unit.kind in ("code", "row"):
        return 0.0
    found = defines(text[unit.start : unit.end], words, asked, engine)
    return SET_APART if found and leads else found


def _is(tokens: Sequence[str], words: Sequence[Word], asked: Question, engine: Engine) -> bool:
    """Tell whether a run of tokens is the words, in any form; of scripts without spaces as they are."""
    wanted = normal_words(asked.text)[words[0].start : words[-1].end]
    if len(tokens) != len(wanted):
        return False
    for token, other in zip(tokens, wanted, strict=True):
        same = token == other
        if not same and not is_single(token):
            forms = engine.lexicon.terms(token, asked.language)
            same = bool(set(forms) & set(engine.lexicon.terms(other, asked.language)))
        if not same:
            return False
    return True
