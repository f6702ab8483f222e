"""Global: the themes of the notes, from the reports on communities."""

from __future__ import annotations

import time
from collections.abc import Sequence

from clew.options import AnswerOptions
from clew.query.cite import Citer
from clew.query.compose import Composed, finish
from clew.query.model import Engine, Mode, Retrieval
from clew.query.question import Closeness, Question, Relevance, asks_for_whole, closest, read_question
from clew.query.themes import Scored, Selection, best_finding, member_nodes, roots, select, tell
from clew.types import Answer, Sentence

WHOLE = "The themes of highest rating answer a question that picks no part of the notes"
PART = "The reports that hold the question's words or meaning answer it"
NO_REPORTS = "The index has no reports, because its notes hold nothing to group."


class Global:
    """Dynamic selection over community reports."""

    name = "global"
    summary = "The themes, from reports on communities"

    def answer(self, question: str, engine: Engine, options: AnswerOptions) -> Answer:
        begin = time.perf_counter()
        asked = read_question(question, engine)
        closeness = Closeness(engine, asked.vector)
        close = closest(asked, engine)
        whole = asks_for_whole(asked, engine, close)
        chosen = _whole(engine) if whole else select(asked, closeness, engine, options.reports)
        if not chosen.kept and asks_for_whole(asked, engine, close, lenient=True):
            whole, chosen = True, _whole(engine)
        reason = WHOLE if whole else PART
        citer = Citer()
        sentences = _tell(chosen.kept, None if whole else asked, engine, citer, options.sentences)
        looked = f"{chosen.considered} of {chosen.total} reports were looked at"
        nothing = (
            NO_REPORTS if not chosen.total else f"The notes hold nothing on this: {looked}, none is about it."
        )
        composed = Composed(
            sentences,
            citer.citations,
            Relevance(bool(sentences), 0.0, 0.0, ()),
            () if sentences else (nothing,),
        )
        counts = {
            "reports_considered": chosen.considered,
            "reports_total": chosen.total,
            "reports_kept": len(chosen.kept),
        }
        took = {"reports": 1000 * (time.perf_counter() - begin)}
        retrieval = Retrieval((), (), False, f"{reason}; {looked}.", counts, took)
        related = member_nodes(chosen.kept, engine, options.related) if sentences else []
        return finish(question, self.name, composed, retrieval, related)


def _whole(engine: Engine) -> Selection:
    """Keep all themes, highest rating first."""
    found = roots(engine)
    kept = tuple(Scored(report, 0, 0.0, 0.0, True) for report in found if report.findings)
    return Selection(kept, len(found), engine.reader.count("reports"))


def _tell(
    kept: Sequence[Scored], asked: Question | None, engine: Engine, citer: Citer, most: int
) -> tuple[Sentence, ...]:
    """Return one sentence a report, best first."""
    used: set[tuple[int, int]] = set()
    out: list[Sentence] = []
    for item in kept:
        finding = best_finding(item.report, asked, engine, used)
        if finding is not None:
            out.append(tell(item.report, finding, engine, citer))
        if len(out) == most:
            break
    return tuple(out)


def make() -> Mode:
    return Global()
