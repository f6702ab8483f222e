"""Community reports against a question: which to look at, which to keep, which to prune."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from clew.query.cite import Citer
from clew.query.model import Engine
from clew.query.question import Closeness, Question
from clew.text.display import plain
from clew.types import Finding, Hit, Node, Report, Sentence

NAMES = 12  # members of a report whose names are read
# What a report is worth: the share of the best passages that belong to its community; the share of the
# question's words in it; its closeness. Its own text alone is too short to be found by.
PASSAGES, WORDS, MEANING = 2.0, 0.5, 0.7
# A report is relevant with this share of the passages, or with this much of the question's weight in its
# text, or this close in meaning.
SOME_PASSAGES, COVERED, CLOSE = 0.12, 0.8, 0.5
# A child takes its parent's place if it has this share of its parent's passages: the nearer, the better told.
CHILD = 0.5


@dataclass(frozen=True, slots=True)
class Scored:
    """A report with its share of the passages, what it holds of the question and how close it is (0 to 1).

    ``hits`` are the places of the hits that belong to it.
    """

    report: Report
    level: int
    passages: float = 0.0
    covered: float = 0.0
    close: float = 0.0
    hits: frozenset[int] = frozenset()

    @property
    def score(self) -> float:
        return PASSAGES * self.passages + WORDS * self.covered + MEANING * self.close

    @property
    def relevant(self) -> bool:
        return self.passages >= SOME_PASSAGES or self.covered >= COVERED or self.close >= CLOSE


@dataclass(frozen=True, slots=True)
class Selection:
    """The reports kept, best first, and how many were looked at of how many."""

    kept: tuple[Scored, ...]
    considered: int
    total: int


def roots(engine: Engine) -> list[Report]:
    """Return the reports of the coarsest level, highest rating first."""
    ids = [community.community for community in engine.reader.communities(0)]
    return sorted(_reports(ids, engine), key=lambda report: (-report.rating, report.community))


def _reports(communities: Sequence[int], engine: Engine) -> list[Report]:
    """Return reports with the findings that pass the question's filter; their summaries are of all notes."""
    found = engine.reader.reports(communities)
    if engine.scope is None:
        return found
    allowed = engine.scope.chunks
    return [replace(one, findings=tuple(f for f in one.findings if allowed[f.chunk])) for one in found]


def select(
    asked: Question, hits: Sequence[Hit], closeness: Closeness, engine: Engine, most: int
) -> Selection:
    """Start at the coarsest level, descend below the relevant reports only, prune the rest.

    At most ``most`` reports are looked at, the most promising branches first. ``hits`` are the passages
    of a plain search: a theme is what they have in common.
    """
    reader = engine.reader
    belongs = _Belonging(hits, engine)
    kept: dict[int, Scored] = {}
    above: dict[int, Scored] = {}
    level = considered = 0
    rows = reader.communities(0)[:most]
    while rows:
        reports = _reports([row.community for row in rows], engine)
        considered += len(reports)
        shares = belongs.shares([row.community for row in rows])
        found = [
            _score(report, level, asked, share, closeness, engine, names)
            for report, share, names in zip(reports, shares, _names(reports, engine), strict=True)
        ]
        relevant = {item.report.community: item for item in found if item.relevant}
        parent = {row.community: row.parent for row in rows}
        for community, item in relevant.items():
            higher = above.get(parent[community])
            if higher is None:
                kept[community] = item
            elif item.passages >= CHILD * higher.passages and item.passages > 0:
                kept.pop(higher.report.community, None)
                kept[community] = item
        above, level = relevant, level + 1
        rows = [row for row in reader.communities(level) if row.parent in above] if above else []
        rows.sort(key=lambda row: (-above[row.parent].score, row.community))
        rows = rows[: max(most - considered, 0)]
    order = sorted(kept.values(), key=lambda i: (-i.score, -i.report.rating, i.report.community))
    return Selection(tuple(order), considered, reader.count("reports"))


class _Belonging:
    """How much of each hit belongs to a community: the share of its nodes' idf that members have."""

    def __init__(self, hits: Sequence[Hit], engine: Engine) -> None:
        reader = engine.reader
        self.reader = reader
        best = max((hit.score for hit in hits), default=0.0)
        self.weight = [hit.score / best if best > 0 else 1.0 for hit in hits]
        self.nodes: list[NDArray[np.int64]] = []
        self.idf: list[NDArray[np.float64]] = []
        if not hits:
            return
        ptr, node_of = reader.array("graph.chunk_ptr"), reader.array("graph.chunk_node")
        df = reader.array("graph.node_df")
        chunks = max(reader.count("chunks"), 1)
        for hit in hits:
            at = hit.chunk.chunk
            nodes = np.asarray(node_of[int(ptr[at]) : int(ptr[at + 1])], dtype=np.int64)
            self.nodes.append(nodes)
            self.idf.append(np.log1p(chunks / np.maximum(df[nodes], 1).astype(np.float64)))

    def shares(self, communities: Sequence[int]) -> list[tuple[float, frozenset[int]]]:
        """Return each community's share of the passages, and the places of the hits that belong to it.

        A hit belongs to the one that has most of it: what hubs leave in all the others says nothing.
        """
        among = np.unique(np.concatenate(self.nodes)) if self.nodes else np.empty(0, dtype=np.int64)
        share = np.zeros((len(among), len(self.nodes)))  # of each hit's weight that each node has
        for place, (nodes, idf) in enumerate(zip(self.nodes, self.idf, strict=True)):
            share[np.searchsorted(among, nodes), place] = idf / idf.sum()
        held = np.array(self.reader.belonging(among.tolist(), communities), dtype=np.int64).reshape(-1, 2)
        row_of = {community: row for row, community in enumerate(communities)}
        table = np.zeros((len(communities), len(self.nodes)))
        rows = [row_of[community] for community in held[:, 0].tolist()]
        np.add.at(table, rows, share[np.searchsorted(among, held[:, 1])])
        total = sum(self.weight)
        if not table.size or total <= 0:
            return [(0.0, frozenset())] * len(communities)
        winner = np.where(table.max(axis=0) > 0, table.argmax(axis=0), -1)
        found = []
        for row in range(len(communities)):
            mine = np.flatnonzero(winner == row).tolist()
            found.append((sum(self.weight[place] for place in mine) / total, frozenset(mine)))
        return found


def _names(reports: Sequence[Report], engine: Engine) -> list[list[str]]:
    """Return the names of each report's first members."""
    name = engine.space.node_names({node for report in reports for node in report.members[:NAMES]})
    return [[name[node] for node in report.members[:NAMES]] for report in reports]


def _score(
    report: Report,
    level: int,
    asked: Question,
    share: tuple[float, frozenset[int]],
    closeness: Closeness,
    engine: Engine,
    names: Sequence[str],
) -> Scored:
    covered = asked.share(asked.covered(_report_terms(report, names, engine)))
    chunks = sorted({finding.chunk for finding in report.findings})
    close = max(closeness.of_chunks(chunks), default=0.0)
    return Scored(report, level, share[0], covered, close, share[1])


def _report_terms(report: Report, names: Sequence[str], engine: Engine) -> set[str]:
    """Return the terms of a report: its title, members and findings. They are kept, as every question asks
    for those of dozens of reports, but not those of what a filter leaves of one."""
    kept = engine.space.report_terms
    found = kept.get(report.community) if engine.scope is None else None
    if found is None:
        text = "\n".join([report.title, *names, *(finding.text for finding in report.findings)])
        found = _terms(text, engine)
        if engine.scope is None:
            kept[report.community] = found
    return found


def _terms(text: str, engine: Engine) -> set[str]:
    """Return the terms of a text in the three languages that most of the documents are in."""
    terms: set[str] = set()
    for language in list(engine.reader.meta.get("languages", {}))[:3] or ["und"]:
        terms.update(engine.lexicon.terms(text, language))
    return terms


def tell(report: Report, finding: Finding, engine: Engine, citer: Citer) -> Sentence:
    """Return a theme as a sentence: its title, a dash, its finding with a citation."""
    chunk = engine.space.chunks([finding.chunk])[0]
    document = engine.space.documents([chunk.doc])[chunk.doc]
    citation = citer.at_source(chunk, document, finding.start, finding.end)
    return Sentence(f"{report.title} — {plain(finding.text)}", (citation.number,))


def best_finding(
    report: Report, asked: Question | None, engine: Engine, least: float = 0.0
) -> Finding | None:
    """Return the finding that holds most of the question, the first among equals; without a question
    the most telling one. None if there is none that holds the share ``least`` of it."""
    if not report.findings:
        return None
    shares = [
        0.0 if asked is None else asked.share(asked.covered(_terms(finding.text, engine)))
        for finding in report.findings
    ]
    best = max(range(len(shares)), key=lambda i: (shares[i], -i))
    return report.findings[best] if shares[best] >= least else None


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
