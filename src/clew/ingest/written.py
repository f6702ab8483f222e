"""Corpus stage with a model: the reports on communities, written from numbered statements of the notes.

Deepest communities come first, so that a larger one can use its children's reports where what its own members
say doesn't fit. A request is a function of the statements: a community whose statements haven't changed makes
the request that it made before, to which the reply is kept.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from clew.errors import BudgetSpent, ProviderError
from clew.ingest.asking import DONE, Left, count_messages, fit, reply_room
from clew.ingest.model import Corpus, Graph, Partition
from clew.ingest.replies import sentence
from clew.ingest.telling import Telling
from clew.ingest.type_nodes import shares_words
from clew.options import ReportOptions
from clew.ports import Caller, ChatModel, Progress
from clew.prompts import Prompt, fence
from clew.prompts.shape import NUMBER, WHOLE, Schema, listed, string, structure
from clew.text.display import plain
from clew.text.language import UNKNOWN
from clew.types import ChatMessage, ChatRequest, Finding, Report

# Statements of a member: its telling sentences, from so many passages, and what relates it.
SENTENCES, LOOKED_AT, RELATIONS = 2, 6, 3
SHOWN = 400  # characters of a statement
MOST_FINDINGS = 8
TITLE, SUMMARY, FINDING = 100, 800, 400  # characters
REPLY = 1200  # tokens of a reply, at most; estimates go by REPLY_USUAL
REPLY_USUAL = 350
FOR_FINDING = 125  # tokens of a reply for each finding that it may list: all of it in English at its longest
# Words of a finding that the statements it cites have, at least: less, and they don't say it.
SHARED = 0.2
CITED = re.compile(r"\s*\[(\d{1,4})\]")

CITED_BY_ONE = 6  # statements that a finding cites, at most


def form(tokens: int) -> Schema:
    """Return the form of a report of at most ``tokens`` tokens."""
    finding = structure(text=string(FINDING), evidence=listed(WHOLE, CITED_BY_ONE))
    findings = listed(finding, min(MOST_FINDINGS, tokens // FOR_FINDING))
    return structure(title=string(TITLE), summary=string(SUMMARY), rating=NUMBER, findings=findings)


@dataclass(frozen=True, slots=True)
class Statement:
    """A line of a prompt and the place that it is taken from."""

    text: str
    chunk: int
    start: int
    end: int


@dataclass(slots=True)
class Written:
    """Reports in the order of communities, and what became of the calls."""

    reports: list[Report]
    by_model: int = 0
    failures: list[tuple[int, ProviderError]] = field(default_factory=list)
    left: Left = DONE
    dropped: int = 0  # findings


class Writer:
    """Makes the requests for reports, for one model, prompt and options."""

    def __init__(
        self,
        corpus: Corpus,
        graph: Graph,
        partition: Partition,
        model: ChatModel,
        options: ReportOptions,
        prompt: Prompt,
    ) -> None:
        self.corpus = corpus
        self.graph = graph
        self.model = model
        self._prompt = prompt
        self._telling = Telling(corpus, graph)
        self._edges = _edges_by_node(graph)
        self._statements: dict[int, list[Statement]] = {}
        self._size: dict[str, int] = {}
        self.children: dict[int, list[int]] = defaultdict(list)
        for community, parent in enumerate(partition.parent.tolist()):
            if parent >= 0:
                self.children[parent].append(community)
        self._members: dict[int, set[int]] = defaultdict(set)
        for community, node in zip(
            partition.member_community.tolist(), partition.member_node.tolist(), strict=True
        ):
            self._members[community].add(node)
        fixed = count_messages(model, self._messages([], ""))
        self._budget = fit(model.window, fixed, options.tokens)

    def request(
        self, report: Report, done: Mapping[int, Report]
    ) -> tuple[ChatRequest, list[Statement]] | None:
        """Return the request for a community and its statements; None if the notes state nothing about it.

        ``report`` is the one that was made without a model: its members are in the order of their
        importance. ``done`` are the reports of deeper levels.
        """
        statements = self._choose(report, done)
        if not statements:
            return None
        lines = [f"[{i}] {statement.text}" for i, statement in enumerate(statements, 1)]
        messages = self._messages(lines, self._language(statements))
        tokens = reply_room(self.model, messages, REPLY)
        return ChatRequest(messages, tokens, schema=form(tokens)), statements

    def _choose(self, report: Report, done: Mapping[int, Report]) -> list[Statement]:
        """Return what the members say, most important first, as far as the budget goes; where it doesn't go
        far enough, the children's findings stand for their members, the largest child's first."""
        own = [s for node in report.members for s in self._of(node)]
        if self._fits(own):
            return list(dict.fromkeys(own))
        standing: list[Statement] = []
        members = list(report.members)
        order = sorted(
            (child for child in self.children.get(report.community, ()) if child in done),
            key=lambda child: (-len(self._members[child]), child),
        )
        for child in order:
            standing += _findings(done[child])
            members = [node for node in members if node not in self._members[child]]
            if self._fits([*standing, *(s for node in members for s in self._of(node))]):
                break
        rest = [s for node in members for s in self._of(node)]
        return self._cut([*standing, *rest])

    def _fits(self, statements: Sequence[Statement]) -> bool:
        return sum(map(self._tokens, dict.fromkeys(statements))) <= self._budget

    def _cut(self, statements: Sequence[Statement]) -> list[Statement]:
        kept, size = [], 0
        for statement in dict.fromkeys(statements):
            size += self._tokens(statement)
            if size > self._budget:
                break
            kept.append(statement)
        return kept or list(statements[:1])

    def _tokens(self, statement: Statement) -> int:
        if statement.text not in self._size:
            self._size[statement.text] = self.model.count(statement.text) + 4
        return self._size[statement.text]

    def _of(self, node: int) -> list[Statement]:
        """Return what the notes say about a node: what relates it to others, and its telling sentences."""
        found = self._statements.get(node)
        if found is None:
            telling = self._telling.about(node, self._telling.chunks_of(node, LOOKED_AT), SENTENCES)
            found = [_statement(f.text, f.chunk, f.start, f.end) for f in telling]
            found = self._statements[node] = [*found, *self._relations(node)]
        return found

    def _relations(self, node: int) -> list[Statement]:
        graph = self.graph
        found = []
        for edge, row in self._edges.get(node, ())[:RELATIONS]:
            a, b = (graph.name[int(end)] for end in (graph.edge_source[edge], graph.edge_target[edge]))
            place = [
                int(column[row])
                for column in (graph.evidence_chunk, graph.evidence_start, graph.evidence_end)
            ]
            found.append(_statement(f"{a} {graph.edge_phrase[edge]} {b}", *place))
        return found

    def _messages(self, lines: Sequence[str], language: str) -> tuple[ChatMessage, ...]:
        values = {"findings": str(MOST_FINDINGS), "language": language, "statements": fence("\n".join(lines))}
        return self._prompt.fill(**values)

    def _language(self, statements: Sequence[Statement]) -> str:
        """Return the code of most statements' language, for a model that would rather write English."""
        counts: dict[str, int] = defaultdict(int)
        for statement in statements:
            counts[self.corpus.documents[int(self.corpus.chunk_doc[statement.chunk])].language] += 1
        code = min(counts, key=lambda code: (-counts[code], code))
        return f" (ISO 639-1: {code})" if code != UNKNOWN else ""


def _statement(said: str, chunk: int, start: int, end: int) -> Statement:
    shown = plain(said)
    return Statement(shown if len(shown) <= SHOWN else shown[: SHOWN - 1] + "…", chunk, start, end)


def _findings(report: Report) -> list[Statement]:
    return [_statement(f.text, f.chunk, f.start, f.end) for f in report.findings]


def _edges_by_node(graph: Graph) -> dict[int, list[tuple[int, int]]]:
    """Return each node's edges that a model has told, strongest first, each with its first evidence's row."""
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    kinds = np.array([kind == "related" for kind in graph.edge_kind], dtype=bool)
    for edge in np.flatnonzero(kinds)[np.argsort(-graph.edge_weight[kinds], kind="stable")].tolist():
        row = int(np.searchsorted(graph.evidence_edge, edge))
        if row < len(graph.evidence_edge) and graph.evidence_edge[row] == edge:
            for node in (int(graph.edge_source[edge]), int(graph.edge_target[edge])):
                found[node].append((edge, row))
    return found


def write_reports(
    writer: Writer, partition: Partition, reports: Sequence[Report], caller: Caller, progress: Progress
) -> Written:
    """Let the model write each report, deepest level first; one that fails stays as it is without a model."""
    written = Written(list(reports))
    place = {report.community: i for i, report in enumerate(reports)}
    progress.stage("reports", len(reports))
    done: dict[int, Report] = {}
    for level in range(int(partition.level.max(initial=-1)), -1, -1):
        here = [report for report in reports if partition.level[report.community] == level]
        asked = []
        for report in here:
            made = writer.request(report, done)
            if made is None:
                progress.advance()
            else:
                asked.append((report, *made))
        for at, answer in caller.structured_all([request for _, request, _ in asked], stage="report"):
            progress.advance()
            report, request, statements = asked[at]
            result = _take(written, report, request, statements, answer, caller.model)
            if result is not None:
                written.reports[place[report.community]] = result
        done.update({report.community: written.reports[place[report.community]] for report in here})
    written.failures.sort(key=lambda failure: failure[0])
    return written


def _take(
    written: Written,
    report: Report,
    request: ChatRequest,
    statements: Sequence[Statement],
    answer: Any,
    model: ChatModel,
) -> Report | None:
    if isinstance(answer, BudgetSpent):
        written.left += Left(1, 1, count_messages(model, request.messages), REPLY_USUAL)
        return None
    if isinstance(answer, ProviderError):
        written.failures.append((report.community, answer))
        return None
    made, dropped = read_report(answer, report, statements)
    written.dropped += dropped
    if made is None:
        error = ProviderError(model.name, "its report cites nothing that it was given")
        written.failures.append((report.community, error))
    else:
        written.by_model += 1
    return made


def read_report(reply: Any, report: Report, statements: Sequence[Statement]) -> tuple[Report | None, int]:
    """Return the report that a reply makes, and how many of its findings were dropped: those that cite no
    statement, or statements that say nothing of the kind. None if no finding is left, or no title."""
    if not isinstance(reply, Mapping):
        return None, 0
    items = reply.get("findings")
    items = items if isinstance(items, list) else []
    findings: list[Finding] = []
    for item in items[: 2 * MOST_FINDINGS]:
        finding = _finding(item, statements)
        if finding is not None and len(findings) < MOST_FINDINGS:
            findings.append(finding)
    dropped = len(items) - len(findings)
    title, summary = sentence(reply.get("title"), TITLE), sentence(reply.get("summary"), SUMMARY)
    if not findings or not title or not summary:
        return None, dropped
    rating = reply.get("rating")
    known = isinstance(rating, int | float) and not isinstance(rating, bool) and rating == rating
    value = round(min(max(float(rating), 0.0), 10.0), 1) if known else report.rating  # type: ignore[arg-type]
    made = replace(
        report,
        title=CITED.sub("", title),
        summary=CITED.sub("", summary),
        rating=value,
        findings=tuple(findings),
    )
    return made, dropped


def _finding(item: Any, statements: Sequence[Statement]) -> Finding | None:
    """Return a finding at the first statement that it cites and that says something of it."""
    if not isinstance(item, Mapping):
        return None
    said = sentence(item.get("text"), FINDING)
    given = item.get("evidence")
    numbers = (
        [n for n in given if isinstance(n, int) and not isinstance(n, bool)]
        if isinstance(given, list)
        else []
    )
    numbers += [int(n) for n in CITED.findall(said)]
    said = CITED.sub("", said)
    cited = [statements[n - 1] for n in numbers if 1 <= n <= len(statements)]
    if not said or not shares_words(said, " ".join(one.text for one in cited), SHARED):
        return None
    best = max(cited, key=lambda one: _shared(said, one.text))
    return Finding(said, best.chunk, best.start, best.end)


def _shared(said: str, other: str) -> int:
    from clew.text.tokens import normal_words

    return len(set(normal_words(said)) & set(normal_words(other)))
