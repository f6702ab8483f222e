"""Global: the themes of the notes, from the reports on communities."""

from __future__ import annotations

import time
from collections.abc import Generator, Sequence
from dataclasses import replace

from clew.errors import BudgetSpent, ProviderError
from clew.options import AnswerOptions
from clew.query.candidates import Candidate, candidates, score
from clew.query.cite import Citer
from clew.query.compose import Composed, finish
from clew.query.context import batches
from clew.query.model import Engine, Mode, Retrieval
from clew.query.points import Point, mapped, point, points_of, ranked
from clew.query.question import Closeness, Question, Relevance, judge, read_question
from clew.query.rated import Rated, full, select_rated, static_tokens
from clew.query.read import reduce
from clew.query.sources import Item
from clew.query.themes import Scored, Selection, best_finding, member_nodes, roots, select, tell
from clew.query.whole import asks_for_whole
from clew.query.writer import Writer, language_for
from clew.types import Answer, Hit, Sentence

PASSAGES = 32  # of a plain search; the themes that they share are the relevant ones
WORTH = (
    0.5  # a theme whose best sentence is worth less than this share of the best one isn't about the question
)
COVERED = 0.5  # share of the question in a report's own finding, for one that tells a theme
READ = 14  # passages whose sentences may tell a theme
WHOLE = "The themes of highest rating answer a question that picks no part of the notes"
PART = "The themes that the best passages share answer it"
STATIC = "global: all reports of the deepest level"
TEXT = "global: all text of the notes"
NO_REPORTS = "The index has no reports, because its notes hold nothing to group."


class Global:
    """Dynamic selection over community reports."""

    name = "global"
    summary = "The themes, from reports on communities"

    def answer(self, question: str, engine: Engine, options: AnswerOptions) -> Answer:
        begin = time.perf_counter()
        asked = read_question(question, engine)
        closeness = Closeness(engine, asked.vector)
        whole = not asked.words or asks_for_whole(asked, engine, closeness)
        retrieval = Retrieval((), (), False, "")
        citer = Citer()
        if not whole:
            retrieval = engine.search(question, PASSAGES, "basic")
            relevance = judge(asked, retrieval.hits, engine, closeness)
            whole = not relevance.found and asks_for_whole(asked, engine, closeness, lenient=True)
            hits = retrieval.hits if relevance.found else ()
            chosen = select(asked, hits, closeness, engine, options.reports)
            if not relevance.found:
                chosen = Selection((), chosen.considered, chosen.total)
            sentences = _part(chosen, asked, hits, engine, closeness, citer, options.sentences)
        if whole:
            chosen = _all(engine)
            sentences = _whole(chosen.kept, engine, citer, options.sentences)
        composed = _composed(sentences, citer, chosen, WHOLE if whole else PART)
        looked = _looked(chosen)
        counts = {
            "reports_considered": chosen.considered,
            "reports_total": chosen.total,
            "reports_kept": len(chosen.kept),
        }
        found = Retrieval(
            () if whole else retrieval.hits,
            (),
            False,
            f"{WHOLE if whole else PART}; {looked}.",
            {**retrieval.counts, **counts},
            {**retrieval.milliseconds, "reports": 1000 * (time.perf_counter() - begin)},
        )
        related = member_nodes(chosen.kept, engine, options.related) if sentences else []
        return finish(question, self.name, composed, found, related)

    def write(
        self, question: str, engine: Engine, options: AnswerOptions, writer: Writer
    ) -> Generator[str, None, Answer]:
        """Map-reduce over the reports that a model finds relevant."""
        begin = time.perf_counter()
        rated = select_rated(question, engine, writer)
        asked = read_question(question, engine)
        language = language_for(asked.language)
        points, items, read = _map(question, language, rated, engine, writer)
        static = static_tokens(engine, writer, *_prompt_room(question, language, writer))
        used = rated.tokens + read
        writer.caller.saved(STATIC, used=used, instead=static.deepest)
        writer.caller.saved(TEXT, used=used, instead=static.text)
        writer.counts.update(
            reports_considered=rated.considered,
            reports_total=rated.total,
            reports_kept=len(rated.kept),
            reports_tokens=used,
            reports_tokens_static=static.deepest,
            reports_tokens_roots=static.roots,
            text_tokens=static.text,
            points=len(points),
        )
        if not points:
            writer.notes.append("The model found nothing in the reports; these are themes without it.")
            answer = self.answer(question, engine, options)
            if answer.text:
                yield answer.text
            trace = replace(
                answer.trace,
                counts={**answer.trace.counts, **writer.counts},
                notes=(*answer.trace.notes, *writer.notes),
            )
            return replace(answer, trace=trace)
        took = {"reports": 1000 * (time.perf_counter() - begin)}
        reason = (
            f"{rated.considered} of {rated.total} reports were rated, {len(rated.kept)} were relevant; "
            f"{used:,} tokens were read, where all {static.leaves:,} reports of the deepest level take "
            f"{static.deepest:,}, and the notes {static.text:,}"
        )
        found = Retrieval((), (), False, reason, {}, took)
        related = member_nodes([Scored(one, 0) for one, _ in rated.kept], engine, options.related)
        return (yield from reduce(question, self.name, points, items, asked, engine, found, related, writer))


def _prompt_room(question: str, language: str, writer: Writer) -> tuple[int, int]:
    """Return how many tokens of reports a map call holds, and how many stand around them."""
    prompt = writer.prompt("map")
    values = {"question": question, "language": language, "most": str(points_of(writer.reply_tokens()))}
    around = sum(writer.count(message.text) for message in prompt.fill(context="", **values))
    return writer.room(prompt, values), around


def _map(
    question: str, language: str, rated: Rated, engine: Engine, writer: Writer
) -> tuple[list[Point], list[Item], int]:
    """Return the points that the model finds in the relevant reports, the reports' items, and the tokens of
    the prompts. Raises BudgetSpent, and ProviderError if no call succeeds."""
    prompt, tokens = writer.prompt("map"), writer.reply_tokens()
    values = {"question": question, "language": language, "most": str(points_of(tokens))}
    room = writer.room(prompt, values)
    packed = batches(full([one for one, _ in rated.kept], engine), room, writer.count, writer.options)
    requests = [
        writer.request(prompt.fill(context=one.text, **values), schema=mapped(tokens)) for one in packed
    ]
    points: dict[int, list[Point]] = {}
    failed: list[ProviderError] = []
    for place, value in writer.caller.structured_all(requests, stage="map"):
        if isinstance(value, BudgetSpent):
            raise value
        if isinstance(value, ProviderError):
            failed.append(value)
            continue
        said = [point(one["text"], one["rating"], packed[place].items) for one in value["points"]]
        points[place] = [one for one in said if one is not None]
    if failed and len(failed) == len(requests):
        raise failed[0]
    if failed:
        writer.notes.append(
            f"{len(failed)} of {len(requests)} parts of the reports weren't read: {failed[0]}"
        )
    read = sum(writer.count(message.text) for request in requests for message in request.messages)
    every = ranked(one for place in sorted(points) for one in points[place])
    return every, [item for one in packed for item in one.items], read


def _composed(sentences: Sequence[Sentence], citer: Citer, chosen: Selection, reason: str) -> Composed:
    nothing = f"The notes hold nothing on this: {_looked(chosen)}, none is about it."
    notes = () if sentences else (nothing if chosen.total else NO_REPORTS,)
    relevance = Relevance(bool(sentences), 0.0, 0.0, ())
    return Composed(tuple(sentences), citer.citations, relevance, notes, lines=True)


def _looked(chosen: Selection) -> str:
    return f"{chosen.considered} of {chosen.total} reports were looked at"


def _all(engine: Engine) -> Selection:
    """Keep all themes, highest rating first."""
    found = roots(engine)
    kept = tuple(Scored(report, 0) for report in found if report.findings)
    return Selection(kept, len(found), engine.reader.count("reports"))


def _whole(kept: Sequence[Scored], engine: Engine, citer: Citer, most: int) -> list[Sentence]:
    """Tell each theme by its most telling finding, highest rating first."""
    out: list[Sentence] = []
    for item in kept[:most]:
        finding = best_finding(item.report, None, engine)
        if finding is not None:
            out.append(tell(item.report, finding, engine, citer))
    return out


def _part(
    chosen: Selection,
    asked: Question,
    hits: Sequence[Hit],
    engine: Engine,
    closeness: Closeness,
    citer: Citer,
    most: int,
) -> list[Sentence]:
    """Tell each relevant theme by the sentence of its passages that answers best, else by a finding."""
    pool = candidates(asked, hits[:READ], engine)
    score(pool, asked, hits[:READ], engine, closeness)
    pool = sorted((c for c in pool if c.answers), key=lambda c: (-c.value, c.hit, c.unit.start))
    floor = WORTH * pool[0].value if pool else 0.0
    pool = [c for c in pool if c.value >= floor]
    used: set[str] = set()
    out: list[Sentence] = []
    for item in chosen.kept:
        if len(out) == most:
            break
        best = _best(pool, item, used)
        if best is not None:
            used.add(best.text)
            hit = hits[best.hit]
            citation = citer.at(hit.chunk, hit.document, best.unit.start, best.unit.end)
            out.append(Sentence(f"{item.report.title} — {best.text}", (citation.number,)))
            continue
        finding = best_finding(item.report, asked, engine, COVERED)
        if finding is not None:
            out.append(tell(item.report, finding, engine, citer))
    return out


def _best(pool: Sequence[Candidate], item: Scored, used: set[str]) -> Candidate | None:
    mine = (c for c in pool if c.unit.kind != "code" and c.text not in used and c.hit in item.hits)
    return next(mine, None)


def make() -> Mode:
    return Global()
