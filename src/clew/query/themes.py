"""Community reports against a question: which to look at, which to keep, which to prune."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from clew.query.cite import Citer
from clew.query.model import Engine
from clew.query.question import Closeness, Question
from clew.text.display import plain
from clew.types import Finding, Node, Report, Sentence

NAMES = 12  # members of a report whose names are read
# A report is relevant with this much of the question's weight in it, or this close in meaning …
COVERED, CLOSE = 0.5, 0.45
# … or both at this much.
SOME_COVERED, SOME_CLOSE = 0.25, 0.3
ALONE = 0.35  # without vectors
# A child takes its parent's place if it is worth at least this share of it: the nearer, the better cited.
CHILD = 0.8


@dataclass(frozen=True, slots=True)
class Scored:
    """A report with what it holds of the question (0 to 1) and how close it is; ``score`` joins both."""

    report: Report
    level: int
    covered: float
    close: float
    relevant: bool

    @property
    def score(self) -> float:
        return self.covered + self.close


@dataclass(frozen=True, slots=True)
class Selection:
    """The reports kept, best first, and how many were looked at of how many."""

    kept: tuple[Scored, ...]
    considered: int
    total: int


def roots(engine: Engine) -> list[Report]:
    """Return the reports of the coarsest level, highest rating first."""
    ids = [community.community for community in engine.reader.communities(0)]
    return sorted(engine.reader.reports(ids), key=lambda report: (-report.rating, report.community))


def select(asked: Question, closeness: Closeness, engine: Engine, most: int) -> Selection:
    """Start at the coarsest level, descend below the relevant reports only, prune the rest.

    At most ``most`` reports are looked at, the most promising branches first.
    """
    reader = engine.reader
    total = reader.count("reports")
    level = 0
    kept: list[Scored] = []
    open_: dict[int, Scored] = {}
    ids = [community.community for community in reader.communities(0)][:most]
    considered = 0
    while ids:
        scored = [_score(report, level, asked, closeness, engine) for report in reader.reports(ids)]
        considered += len(scored)
        relevant = [item for item in scored if item.relevant]
        kept = _replace(kept, open_, relevant, engine, level)
        open_ = {item.report.community: item for item in relevant}
        level += 1
        below = [c for c in reader.communities(level) if c.parent in open_] if open_ else []
        below.sort(key=lambda c: (-open_[c.parent].score, c.community))
        ids = [community.community for community in below[: max(most - considered, 0)]]
    kept.sort(key=lambda item: (-item.score, -item.report.rating, item.report.community))
    return Selection(tuple(kept), considered, total)


def _replace(
    kept: list[Scored], parents: dict[int, Scored], relevant: list[Scored], engine: Engine, level: int
) -> list[Scored]:
    """Let relevant children take the place of the parents that they are nearly worth."""
    if not parents:
        return kept + relevant
    parent_of = {c.community: c.parent for c in engine.reader.communities(level)}
    gone: set[int] = set()
    out: list[Scored] = []
    for item in relevant:
        parent = parents[parent_of[item.report.community]]
        if item.score >= CHILD * parent.score:
            gone.add(parent.report.community)
            out.append(item)
    return [item for item in kept if item.report.community not in gone] + out


def _score(report: Report, level: int, asked: Question, closeness: Closeness, engine: Engine) -> Scored:
    names = [node.name for node in engine.reader.nodes(list(report.members[:NAMES]))]
    text = "\n".join([report.title, *names, *(finding.text for finding in report.findings)])
    terms: set[str] = set()
    for language in _languages(engine):
        terms.update(engine.lexicon.terms(text, language))
    covered = asked.share(asked.covered(terms))
    chunks = sorted({finding.chunk for finding in report.findings})
    close = max(closeness.of_chunks(chunks), default=0.0)
    if closeness.on:
        relevant = covered >= COVERED or close >= CLOSE or (covered >= SOME_COVERED and close >= SOME_CLOSE)
    else:
        relevant = covered >= ALONE
    return Scored(report, level, covered, close, relevant)


def _languages(engine: Engine) -> Sequence[str]:
    """Return the languages that the index's documents are in, most documents first, at most three."""
    return list(engine.reader.meta.get("languages", {}))[:3] or ["und"]


def tell(report: Report, finding: Finding, engine: Engine, citer: Citer) -> Sentence:
    """Return a theme as a sentence: its title, a dash, its finding with a citation."""
    chunk = engine.reader.chunks([finding.chunk])[0]
    document = engine.reader.documents([chunk.doc])[0]
    citation = citer.at_source(chunk, document, finding.start, finding.end)
    return Sentence(f"{report.title} — {plain(finding.text)}", (citation.number,))


def best_finding(
    report: Report, asked: Question | None, engine: Engine, used: set[tuple[int, int]]
) -> Finding | None:
    """Return the finding that holds most of the question, the first among equals; None if all are used.

    Without a question, that is the most telling one.
    """
    free = [f for f in report.findings if (f.chunk, f.start) not in used]
    if not free:
        return None
    shares: list[float] = []
    for finding in free:
        terms: set[str] = set()
        for language in _languages(engine):
            terms.update(engine.lexicon.terms(finding.text, language))
        shares.append(0.0 if asked is None else asked.share(asked.covered(terms)))
    finding = free[max(range(len(free)), key=lambda i: (shares[i], -i))]
    used.add((finding.chunk, finding.start))
    return finding


def member_nodes(kept: Sequence[Scored], engine: Engine, most: int) -> list[Node]:
    """Return the members that matter most in the kept reports, in turns, without repeats."""
    found: dict[int, None] = {}
    longest = max((len(item.report.members) for item in kept), default=0)
    for place in range(longest):
        for item in kept:
            if place < len(item.report.members):
                found.setdefault(item.report.members[place])
        if len(found) >= most:
            break
    return engine.reader.nodes(list(found)[:most])
