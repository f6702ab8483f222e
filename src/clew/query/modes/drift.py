"""Drift: a look at the reports, local follow-ups on what they bring up, and a synthesis."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence

from clew.errors import BudgetSpent, ProviderError
from clew.options import AnswerOptions
from clew.query.around import nodes_around
from clew.query.compose import compose, finish
from clew.query.context import Offer, pack, passages, reports
from clew.query.model import Engine, Mode, Retrieval
from clew.query.points import FOLLOW_UPS, Point, followed, point, ranked, rating
from clew.query.question import Closeness, Question, judge, read_question
from clew.query.read import read, readable, reduce
from clew.query.sources import Item
from clew.query.themes import Selection, select
from clew.query.writer import Writer, language_for, nothing
from clew.text.tokens import normal_name
from clew.types import Answer, Hit, Node

PASSAGES = 8
FOLLOW_PASSAGES = 4
PRIMER = 3  # reports whose members are favoured as follow-ups
REPORTS = 6  # that a model looks at first
BRIDGE = 3.0  # rating of a follow-up on an entity that the passages share: below a model's own good ones
QUESTION_CHARS = 300
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

    def write(
        self, question: str, engine: Engine, options: AnswerOptions, writer: Writer
    ) -> Generator[str, None, Answer]:
        """Let a model look at the reports, ask what to look up, and answer from what it finds."""
        begin = time.perf_counter()
        asked = read_question(question, engine)
        first = engine.search(question, PASSAGES, "auto")
        closeness = Closeness(engine, asked.vector)
        relevance = judge(asked, first.hits, engine, closeness)
        primer = select(asked, first.hits, closeness, engine, options.reports)
        if not primer.kept and not readable(asked, relevance, first, engine):
            return nothing(question, self.name, relevance, first)
        following = Following(question, language_for(asked.language), asked, engine, writer)
        offers = reports([one.report for one in primer.kept[:REPORTS]], engine)
        following.look(question, [*offers, *passages(first.hits, asked, engine, writer.count)])
        members = frozenset(n for item in primer.kept[:PRIMER] for n in item.report.members)
        bridges = nodes_around(first.hits, engine, asked.named, FOLLOW_UPS, favour=members)
        following.offer([(f"{question} ({node.name})", BRIDGE) for node in bridges])
        hits = list(first.hits)
        followed: list[str] = []
        while len(followed) < options.follow_ups and (next_one := following.next()) is not None:
            found = engine.search(next_one, FOLLOW_PASSAGES, "local")
            hits += [hit for hit in found.hits if all(hit.chunk.chunk != h.chunk.chunk for h in hits)]
            following.look(next_one, passages(found.hits, asked, engine, writer.count))
            followed.append(next_one)
        writer.counts.update(
            reports_considered=primer.considered,
            reports_total=primer.total,
            follow_ups=len(followed),
            points=len(following.points),
        )
        reason = f"{primer.considered} of {primer.total} reports were looked at"
        reason += "; then searches followed " + "; ".join(followed) if followed else ""
        took = {**first.milliseconds, "follow": 1000 * (time.perf_counter() - begin)}
        retrieval = Retrieval(tuple(hits), first.seeds, first.walked, reason, first.counts, took)
        related = nodes_around(hits, engine, asked.named, options.related)
        if not following.points:  # the passages themselves are left to answer from
            return (yield from read(question, self.name, retrieval, engine, writer, graph=True))
        points = ranked(following.points)
        return (
            yield from reduce(
                question, self.name, points, following.items, asked, engine, retrieval, related, writer
            )
        )


class Following:
    """What has been found, and what is still to be looked up, most promising first."""

    def __init__(self, question: str, language: str, asked: Question, engine: Engine, writer: Writer) -> None:
        self.points: list[Point] = []
        self.items: list[Item] = []
        self._language, self._engine, self._writer = language, engine, writer
        self._queue: list[tuple[float, int, str]] = []
        self._seen = {normal_name(question)}

    def look(self, question: str, offers: Sequence[Offer]) -> None:
        """Ask the model what some passages say on a question, and what to look up next. A call that fails is
        noted; raises BudgetSpent."""
        writer = self._writer
        prompt = writer.prompt("follow")
        values = {"question": question, "language": self._language, "most": str(FOLLOW_UPS)}
        room = writer.room(prompt, values)
        packed = pack(offers, room, writer.count, writer.options, first=len(self.items) + 1)
        if not packed.items:
            return
        self.items += packed.items
        request = writer.request(
            prompt.fill(context=packed.text, **values), schema=followed(writer.reply_tokens())
        )
        try:
            said = writer.caller.structured(request, stage="follow")
        except BudgetSpent:
            raise
        except ProviderError as error:
            writer.notes.append(f"“{question}” wasn't followed: {error}")
            return
        found = point(said["answer"], said["rating"], packed.items)
        if found is not None:
            self.points.append(found)
        self.offer([(one["question"], rating(one["rating"])) for one in said["follow_ups"][:FOLLOW_UPS]])

    def offer(self, questions: Sequence[tuple[str, float]]) -> None:
        """Put questions into the queue, each once."""
        for text, value in questions:
            asked = " ".join(text.split())[:QUESTION_CHARS]
            key = normal_name(asked)
            if key and key not in self._seen and value > 0:
                self._seen.add(key)
                self._queue.append((-value, len(self._seen), asked))

    def next(self) -> str | None:
        """Take the most promising question out of the queue."""
        if not self._queue:
            return None
        best = min(self._queue)
        self._queue.remove(best)
        return best[2]


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
