"""From a ranking to hits that a person can follow: parts, reasons, paths."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from clew.query.choose import covers
from clew.query.lexicon import IndexLexicon
from clew.query.rank import Ranking
from clew.query.space import Space
from clew.text.tokens import normal_words
from clew.types import Hit, Seed, Step

SHOWN_TERMS = 5
OPEN = 0.15  # a hit's share for the residual questions that is worth telling: half of the highest


def explain(
    space: Space, lexicon: IndexLexicon, question: str, ranking: Ranking
) -> tuple[tuple[Hit, ...], tuple[Seed, ...]]:
    """Return the hits of a ranking with their documents, reasons and paths, and its seeds with the place of
    each passage as its label, as nodes have their names. All passages are read in one query: about 2 ms."""
    order = ranking.chunks.tolist()
    seeding = [seed.position for seed in ranking.seeds if seed.kind == "chunk"]
    read = space.chunks(list(dict.fromkeys([*order, *seeding])))
    chunks = {chunk.chunk: chunk for chunk in read}
    documents = space.documents({chunk.doc for chunk in read})
    labels = {at: f"{documents[one.doc].location}:{one.start_line}" for at, one in chunks.items()}
    names = space.node_names({*ranking.node_seeds, *ranking.via.values()})
    terms = _matched_terms(space, lexicon, question, ranking)
    hits = []
    for place, at in enumerate(order):
        parts = {name: float(values[place]) for name, values in ranking.parts.items()}
        path = _path(space, at, order[:place], labels, names, ranking)
        why = _why(terms[place], path, parts)
        chunk = chunks[at]
        hits.append(Hit(chunk, documents[chunk.doc], float(ranking.scores[place]), parts, why, path))
    seeds = (
        replace(seed, label=labels[seed.position]) if seed.kind == "chunk" else seed for seed in ranking.seeds
    )
    return tuple(hits), tuple(seeds)


def _path(
    space: Space,
    chunk: int,
    before: list[int],
    labels: dict[int, str],
    names: dict[int, str],
    ranking: Ranking,
) -> tuple[Step, ...]:
    """Return the steps from the question to a chunk: straight over a node that it names, or over a
    better hit that mentions the node which led here. Empty where words alone led here."""
    straight = _straight(space, chunk, ranking)
    via = ranking.via.get(chunk, -1)
    if straight >= 0 and (via < 0 or straight in space.defined_in(chunk)):
        return _over(space, straight, chunk, labels, names, "question", "names")
    if via < 0:
        return ()
    mentioning = next((one for one in before if via in space.nodes_of(one)), -1)
    if mentioning < 0:
        return ()
    first = _straight(space, mentioning, ranking)
    begin = _over(space, first, mentioning, labels, names, "question", "names") if first >= 0 else ()
    verb = "defines" if via in space.defined_in(mentioning) else "mentions"
    step = Step(labels[mentioning], verb, names[via], mentioning)
    return (*begin, step, *_over(space, via, chunk, labels, names)[-1:])


def _over(
    space: Space, node: int, chunk: int, labels: dict[int, str], names: dict[int, str], *start: str
) -> tuple[Step, ...]:
    """Return the step from a node to a chunk that defines or mentions it, after a step to the node."""
    edge = "defined_by" if node in space.defined_in(chunk) else "mentioned_in"
    last = Step(names[node], edge, labels[chunk], chunk)
    return (Step(start[0], start[1], names[node]), last) if start else (last,)


def _straight(space: Space, chunk: int, ranking: Ranking) -> int:
    """Return the heaviest node that the question names and the chunk mentions, or -1."""
    mine = set(space.nodes_of(chunk).tolist())
    seeds = sorted(ranking.node_seeds, key=lambda node: (-ranking.node_seeds[node], node))
    return next((node for node in seeds if node in mine), -1)


def _matched_terms(space: Space, lexicon: IndexLexicon, question: str, ranking: Ranking) -> list[list[str]]:
    """Return for each hit the question's words that it holds, weightiest first."""
    written = _written(lexicon, question)
    words = [written.get(term, term) for term, weight in lexicon.weights(question).items() if weight > 0]
    table, weight = covers(space, lexicon.positions(question), ranking.chunks)
    order = np.argsort(-weight, kind="stable").tolist()
    return [list(dict.fromkeys(words[i] for i in order if row[i]))[:SHOWN_TERMS] for row in table]


def _written(lexicon: IndexLexicon, question: str) -> dict[str, str]:
    """Return for each term of the question the word that it stands for: a person doesn't read stems.

    Terms of scripts without spaces aren't of one word; they are shown as they are.
    """
    out: dict[str, str] = {}
    for word in dict.fromkeys(normal_words(question)):
        for term in lexicon.question_terms(word):
            out.setdefault(term, word)
    return out


def _why(terms: list[str], path: tuple[Step, ...], parts: dict[str, float]) -> str:
    reasons = []
    if terms:
        reasons.append("it has " + ", ".join(terms))
    if parts.get("dense", 0.0) >= 0.5:
        reasons.append("its meaning is close")
    if path and path[0].source == "question" and len(path) == 2:
        verb = "defines" if path[-1].edge == "defined_by" else "mentions"
        reasons.append(f"it {verb} {path[-1].source}, which the question names")
    elif path:
        verb = "defines" if path[-1].edge == "defined_by" else "mentions"
        reasons.append(f"it {verb} {path[-1].source}, to which a better hit leads")
    if parts.get("residual", 0.0) >= OPEN:
        reasons.append("it answers to what a better hit leaves open")
    return "; ".join(reasons) or "the walk leads here"
