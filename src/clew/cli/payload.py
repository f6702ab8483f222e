"""Results as JSON values. docs/json.md describes them; a field is never renamed within a schema version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from clew.types import (
        Activity,
        Answer,
        Bridges,
        Brief,
        BuildResult,
        CacheState,
        Chunk,
        Citation,
        CommunityView,
        Connection,
        Cost,
        Costs,
        Diagnosis,
        Document,
        EdgeView,
        Exported,
        Forecast,
        GraphPath,
        Hit,
        Matches,
        Named,
        Neighbourhood,
        Node,
        NodeCard,
        PathStep,
        Related,
        Seed,
        Step,
    )
    from clew.watching import Update


def node(value: Node) -> dict[str, Any]:
    return {
        "id": value.id,
        "kind": value.kind,
        "name": value.name,
        "passages": value.df,
        "degree": value.degree,
        "confidence": round(value.confidence, 4),
        "type": value.type or None,
        "description": value.description or None,
        "created_at": value.created_at,
        "pagerank": _number(value.pagerank),
    }


def citation(value: Citation) -> dict[str, Any]:
    return {
        "number": value.number,
        "key": value.key,
        "location": value.location,
        "title": value.title,
        "start_line": value.start_line,
        "end_line": value.end_line,
        "start": value.start,
        "end": value.end,
        "quote": value.quote,
        "chunk_id": value.chunk_id,
        "file": value.file or None,
    }


def document(value: Document) -> dict[str, Any]:
    return {
        "id": value.id,
        "key": value.key,
        "location": value.location,
        "title": value.title,
        "language": value.language,
        "file": value.file or None,
        "kind": value.kind,
        "created_at": value.created_at,
    }


def chunk(value: Chunk) -> dict[str, Any]:
    return {
        "id": value.id,
        "start_line": value.start_line,
        "end_line": value.end_line,
        "start": value.start,
        "end": value.end,
        "tokens": value.n_tokens,
        "heading_path": list(value.heading_path),
        "text": value.text,
    }


def step(value: Step) -> dict[str, Any]:
    return {"source": value.source, "edge": value.edge, "target": value.target}


def seed(value: Seed) -> dict[str, Any]:
    return {
        "kind": value.kind,
        "label": value.label,
        "weight": _number(value.weight),
        "reason": value.reason,
    }


def hit(value: Hit, rank: int) -> dict[str, Any]:
    return {
        "rank": rank,
        "score": _number(value.score),
        "parts": {name: _number(part) for name, part in value.parts.items()},
        "why": value.why,
        "path": [step(one) for one in value.path],
        "document": document(value.document),
        "chunk": chunk(value.chunk),
    }


def hits(values: Sequence[Hit]) -> list[dict[str, Any]]:
    return [hit(value, rank) for rank, value in enumerate(values, 1)]


def answer(value: Answer) -> dict[str, Any]:
    trace = value.trace
    return {
        "question": value.question,
        "mode": value.mode,
        "reason": value.reason,
        "read_as": value.read_as,
        "model": value.model,
        "answer": value.text,
        "sentences": [
            {
                "text": one.text,
                "citations": list(one.citations),
                "supported": one.supported,
                "support": _number(one.support),
            }
            for one in value.sentences
        ],
        "citations": [citation(one) for one in value.citations],
        "removed_citations": value.removed_citations,
        "left_out": value.left_out,
        "related": [node(one) for one in value.related],
        "trace": {
            "seeds": [seed(one) for one in trace.seeds],
            "hits": hits(trace.hits),
            "counts": dict(trace.counts),
            "notes": list(trace.notes),
            "milliseconds": {name: _number(ms) for name, ms in trace.milliseconds.items()},
        },
    }


def brief(value: Brief) -> dict[str, Any]:
    return {
        "question": value.question,
        "text": value.text,
        "tokens": value.tokens,
        "budget": value.budget,
        "tokenizer": value.tokenizer,
        "items": [
            {
                "number": one.number,
                "kind": one.kind,
                "text": one.text,
                "tokens": one.tokens,
                "citations": [citation(cited) for cited in one.citations],
            }
            for one in value.items
        ],
    }


def edge(value: EdgeView) -> dict[str, Any]:
    return {
        "id": value.edge.id,
        "kind": value.edge.kind,
        "source": node(value.source),
        "target": node(value.target),
        "weight": _number(value.edge.weight),
        "phrase": value.edge.phrase,
        "created_at": value.edge.created_at,
        "evidence": [citation(one) for one in value.evidence],
    }


def named(value: Named) -> dict[str, Any]:
    return {
        "name": value.name,
        "node": node(value.node),
        "exactly": value.exactly,
        "others": [{"node": node(one), "exactly": exactly} for one, exactly in value.others],
    }


def path_step(value: PathStep) -> dict[str, Any]:
    return {**edge(value.view), "forward": value.forward, "text": value.text}


def graph_path(value: GraphPath) -> dict[str, Any]:
    return {
        "cost": _number(value.cost),
        "nodes": [node(one) for one in value.nodes],
        "steps": [path_step(one) for one in value.steps],
    }


def connection(value: Connection) -> dict[str, Any]:
    best = value.paths[0].steps if value.paths else ()
    return {
        "from": value.start.name,
        "to": value.end.name,
        "steps": [edge(one.view) for one in best],
        "same": value.same,
        "start": named(value.start),
        "end": named(value.end),
        "paths": [graph_path(one) for one in value.paths],
    }


def bridges(value: Bridges) -> dict[str, Any]:
    return {
        "recent_since": value.recent_since,
        "older_until": value.older_until,
        "recent": value.recent,
        "older": value.older,
        "undated": value.undated,
        "bridges": [
            {
                "recent": node(one.recent),
                "recent_at": one.recent_at,
                "older": node(one.older),
                "older_at": one.older_at,
                "weight": _number(one.weight),
                "path": graph_path(one.path),
                "also": [node(other) for other in one.also],
            }
            for one in value.rows
        ],
    }


def activity(value: Activity) -> dict[str, Any]:
    return {
        "theme": value.theme,
        "by": value.by,
        "named": [node(one) for one in value.named],
        "documents": value.documents,
        "undated": value.undated,
        "periods": [
            {
                "label": one.label,
                "start": one.start,
                "documents": one.documents,
                "every": one.every,
                "examples": [node(other) for other in one.examples],
                "came": [node(other) for other in one.came],
                "went": [node(other) for other in one.went],
            }
            for one in value.periods
        ],
    }


def exported(value: Exported) -> dict[str, Any]:
    return {
        "format": value.format,
        "files": [{"file": file, "bytes": size} for file, size in value.files.items()],
        "nodes": value.nodes,
        "edges": value.edges,
        "generation": value.generation,
    }


def neighbourhood(value: Neighbourhood) -> dict[str, Any]:
    return {
        "start": named(value.start),
        "hops": value.hops,
        "found": list(value.found),
        "neighbours": [
            {"node": node(one.node), "hops": one.hops, "steps": [path_step(step) for step in one.steps]}
            for one in value.neighbours
        ],
        "sharing": [
            {
                "node": node(one.node),
                "tags": [node(tag) for tag in one.tags],
                "weight": _number(one.weight),
            }
            for one in value.sharing
        ],
        "thread": [
            {
                "node": node(one.node),
                "depth": one.depth,
                "edge": edge(one.step.view) if one.step is not None else None,
            }
            for one in value.thread
        ],
    }


def matches(value: Matches) -> dict[str, Any]:
    return {
        "pattern": value.pattern,
        "variables": list(value.variables),
        "rows": [
            {"nodes": [node(one) for one in row.nodes], "steps": [path_step(one) for one in row.steps]}
            for row in value.rows
        ],
        "more": value.more,
        "notes": list(value.notes),
    }


def card(value: NodeCard) -> dict[str, Any]:
    return {
        "node": node(value.node),
        "names": list(value.names),
        "definitions": [citation(one) for one in value.definitions],
        "mentions": [citation(one) for one in value.mentions],
        "edges": [edge(one) for one in value.edges],
    }


def related(value: Related) -> dict[str, Any]:
    return {
        "node": node(value.node),
        "score": _number(value.score),
        "why": value.why,
        "evidence": [citation(one) for one in value.evidence],
    }


def community(value: CommunityView) -> dict[str, Any]:
    report = value.report
    return {
        "number": value.community.community,
        "id": value.community.id,
        "level": value.community.level,
        "parent": value.community.parent if value.community.parent >= 0 else None,
        "children": list(value.children),
        "size": value.community.size,
        "rating": _number(report.rating),
        "title": report.title,
        "summary": report.summary,
        "members": [node(one) for one in value.members],
        "findings": [
            {"text": finding.text, "citation": citation(where)}
            for finding, where in zip(report.findings, value.citations, strict=True)
        ],
    }


def result(value: BuildResult) -> dict[str, Any]:
    return {
        "index": value.index,
        "unchanged": value.unchanged,
        "counts": dict(value.counts),
        "work": dict(value.work),
        "languages": dict(value.languages),
        "seconds": {name: _number(seconds) for name, seconds in value.seconds.items()},
        "notes": list(value.notes),
        "changes": [
            {"option": one.option, "before": plain(one.before), "after": plain(one.after)}
            for one in value.changes
        ],
        "reach": list(value.reach),
        "left": {stage: dict(one) for stage, one in value.left.items()},
        "model": [
            {
                "stage": one.stage,
                "model": one.model,
                "calls": one.calls,
                "kept": one.kept,
                "prompt_tokens": one.prompt_tokens,
                "reply_tokens": one.reply_tokens,
                "failed": one.failed,
                "money": None if one.unpriced else _number(one.money),
            }
            for one in value.costs
        ],
        "problems": [
            {"key": p.key, "reason": p.reason, "remedy": p.remedy, "skipped": p.skipped}
            for p in value.problems
        ],
    }


def forecast(value: Forecast) -> dict[str, Any]:
    stages = [
        {
            "stage": one.stage,
            "items": one.items,
            "calls": one.calls,
            "kept": one.kept,
            "prompt_tokens": one.prompt_tokens,
            "reply_tokens": one.reply_tokens,
            "money": None if one.money is None else _number(one.money),
        }
        for one in value.stages
    ]
    return {
        "index": value.index,
        "unchanged": value.unchanged,
        "counts": dict(value.counts),
        "work": dict(value.work),
        "model": stages,
        "problems": [
            {"key": p.key, "reason": p.reason, "remedy": p.remedy, "skipped": p.skipped}
            for p in value.problems
        ],
    }


def update(value: Update) -> dict[str, Any]:
    if value.result is None:
        raise ValueError("an update that failed publishes nothing")
    return {
        **result(value.result),
        "generation": value.generation,
        "changed": {"added": value.added, "edited": value.edited, "removed": value.removed},
    }


def cache(value: CacheState) -> dict[str, Any]:
    return {
        "file": value.file,
        "bytes": value.bytes,
        "entries": dict(value.entries),
        "unused": value.unused,
        "dropped": value.dropped,
        "problem": value.problem,
    }


def cost(value: Cost) -> dict[str, Any]:
    return {
        "stage": value.stage,
        "model": value.model,
        "calls": value.calls,
        "kept": value.kept,
        "prompt_tokens": value.prompt_tokens,
        "reply_tokens": value.reply_tokens,
        "seconds": _number(value.seconds),
        "money": _number(value.money),
        "unpriced": value.unpriced,
        "estimated": value.estimated,
        "failed": value.failed,
        "repaired": value.repaired,
        "asked_again": value.asked_again,
        "cut": value.cut,
        "saved": {
            "prompt_tokens": value.saved_prompt_tokens,
            "reply_tokens": value.saved_reply_tokens,
            "money": _number(value.saved_money),
        },
    }


def costs(value: Costs) -> dict[str, Any]:
    total = {name: one for name, one in cost(value.total).items() if name not in ("stage", "model")}
    return {
        "file": value.file,
        "stages": [cost(one) for one in value.rows],
        "total": total,
        "savings": [
            {"name": one.name, "times": one.times, "used": one.used, "instead": one.instead}
            for one in value.savings
        ],
        "problem": value.problem,
    }


def diagnosis(value: Diagnosis) -> dict[str, Any]:
    state = value.sources
    return {
        "whole": value.whole,
        "checks": [
            {"name": check.name, "checked": check.checked, "faults": list(check.faults)}
            for check in value.checks
        ],
        "sources": None
        if state is None
        else {
            "unchanged": state.unchanged,
            "changed": state.changed,
            "missing": state.missing,
            "new": state.new,
        },
        "reason": value.reason,
    }


def plain(value: Any) -> Any:
    """Return a value of ``stats`` as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    if isinstance(value, float):
        return _number(value)
    if value is None or isinstance(value, str | int | bool):
        return value
    return str(value)


def _number(value: float) -> float:
    """Round to six significant digits: the rest is noise that differs between machines."""
    return float(f"{float(value):.6g}")
