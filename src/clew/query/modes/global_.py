"""Global: the themes of the notes, from the reports on communities."""

from __future__ import annotations

import time
from collections.abc import Sequence

from clew.options import AnswerOptions
from clew.query.candidates import Candidate, candidates, score
from clew.query.cite import Citer
from clew.query.compose import Composed, finish
from clew.query.model import Engine, Mode, Retrieval
from clew.query.question import Closeness, Question, Relevance, judge, read_question
from clew.query.themes import Scored, Selection, best_finding, member_nodes, roots, select, tell
from clew.query.whole import asks_for_whole
from clew.types import Answer, Hit, Sentence

PASSAGES = 32  # of a plain search; the themes that they share are the relevant ones
WORTH = (
    0.5  # a theme whose best sentence is worth less than this share of the best one isn't about the question
)
COVERED = 0.5  # share of the question in a report's own finding, for one that tells a theme
READ = 14  # passages whose sentences may tell a theme
WHOLE = "The themes of highest rating answer a question that picks no part of the notes"
PART = "The themes that the best passages share answer it"
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
