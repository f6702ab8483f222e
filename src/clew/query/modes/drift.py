"""Drift: a look at the reports, local follow-ups on what they bring up, and a synthesis."""

from __future__ import annotations

import time

from clew.options import AnswerOptions
from clew.query.around import nodes_around
from clew.query.compose import compose, finish
from clew.query.model import Engine, Mode, Retrieval
from clew.query.question import Closeness, read_question
from clew.query.themes import Selection, select
from clew.types import Answer, Hit, Node

PASSAGES = 8
FOLLOW_UPS = 3  # each costs one search
FOLLOW_PASSAGES = 4
PRIMER = 3  # reports whose members are favoured as follow-ups
FOLLOW_SCORE = 0.6  # what a follow-up's hit counts against one of the question itself


class Drift:
    """Reports first, then local searches from entities that bridge them, best first."""

    name = "drift"
    summary = "A look at the reports, then local follow-ups"

    def answer(self, question: str, engine: Engine, options: AnswerOptions) -> Answer:
        begin = time.perf_counter()
        asked = read_question(question, engine)
        first = engine.search(question, PASSAGES, "auto")
        closeness = Closeness(engine, asked.vector)
        primer = select(asked, first.hits, closeness, engine, options.reports)
        read = time.perf_counter()
        members = frozenset(n for item in primer.kept[:PRIMER] for n in item.report.members)
        bridges = nodes_around(first.hits, engine, asked.named, FOLLOW_UPS, favour=members)
        hits = _follow(question, first, bridges, engine)
        composed = compose(question, hits, engine, options)
        retrieval = Retrieval(
            hits, first.seeds, first.walked, _reason(primer, bridges), first.counts, first.milliseconds
        )
        related = nodes_around(hits, engine, asked.named, options.related) if composed.sentences else []
        counts = {
            "reports_considered": primer.considered,
            "reports_total": primer.total,
            "follow_ups": len(bridges),
        }
        took = {"primer": 1000 * (read - begin), "follow": 1000 * (time.perf_counter() - read)}
        return finish(question, self.name, composed, retrieval, related, counts=counts, milliseconds=took)


def _follow(question: str, first: Retrieval, bridges: list[Node], engine: Engine) -> tuple[Hit, ...]:
    """Return the hits of the question and of its follow-ups, best first, each once."""
    best = max((hit.score for hit in first.hits), default=0.0) or 1.0
    found: dict[int, tuple[float, Hit]] = {h.chunk.chunk: (h.score / best, h) for h in first.hits}
    for bridge in bridges:
        follow = engine.search(f"{bridge.name} {question}", FOLLOW_PASSAGES, "local")
        top = max((hit.score for hit in follow.hits), default=0.0) or 1.0
        for hit in follow.hits:
            score = FOLLOW_SCORE * hit.score / top
            if hit.chunk.chunk not in found:
                found[hit.chunk.chunk] = (score, hit)
    ranked = sorted(found.values(), key=lambda item: (-item[0], item[1].chunk.chunk))
    return tuple(hit for _, hit in ranked)


def _reason(primer: Selection, bridges: list[Node]) -> str:
    looked = f"{primer.considered} of {primer.total} reports were looked at"
    if not bridges:
        return f"{looked}; they bring up nothing to follow, so the first search answers."
    return f"{looked}; then searches followed " + ", ".join(node.name for node in bridges) + "."


def make() -> Mode:
    return Drift()
