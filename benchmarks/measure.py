"""Asking every question of a set by a method, and the figures of the answers."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clew import Index, IndexOptions
from clew.options import EmbedOptions
from clew.query.engine import IndexEngine
from clew.types import Floats, Ints
from sets import Question, RetrievalSet, interval, recalls

KS = (2, 5, 10)
Method = Callable[[str], Ints]  # from a question to the passages' positions, best first
Vectors = Callable[[str], Floats]  # from a text to its unit vector


@dataclass(frozen=True)
class Asked:
    """One method's answers to the questions of a set: ``recall`` (n, 3) at KS; ``took`` and ``cpu`` (n,) are
    the milliseconds that passed and those of computing, all threads together."""

    recall: NDArray[np.float64]
    took: NDArray[np.float64]
    cpu: NDArray[np.float64]

    def figures(self) -> dict[str, object]:
        """Return recall in %, the 95 % interval of Recall@5, the share of questions with all gold among the
        first five, and the median times."""
        five = self.recall[:, 1]
        return {
            "questions": len(five),
            **{f"recall@{k}": round(100 * float(self.recall[:, i].mean()), 1) for i, k in enumerate(KS)},
            "recall@5_interval": [round(100 * edge, 1) for edge in interval(five)],
            "all@5": round(100 * float((five >= 1).mean()), 1),
            "median_ms": round(float(np.median(self.took)), 1),
            "cpu_ms": round(float(np.median(self.cpu)), 1),
        }


def open_index(one: RetrievalSet, embedder: str, work: Path) -> Index:
    """Open the set's index, made anew (its cache spares the embedding)."""
    work.mkdir(parents=True, exist_ok=True)
    options = IndexOptions(embed=EmbedOptions(embedder=embedder))
    return Index.build([one.corpus], work / one.name / "index.duckdb", options=options)


def work_folder(work: Path, embedder: str) -> Path:
    """Return where the indexes with this embedder are kept."""
    return work / embedder.replace(":", "-")


def ask(engine: IndexEngine, method: Method, questions: Sequence[Question]) -> Asked:
    """Ask the questions by a method; the first is asked twice, so that loading isn't counted."""
    keys = [document.key for document in engine.reader.documents()]
    method(questions[0].text)
    took, cpu, ranked = [], [], []
    for question in questions:
        begin, computed = time.perf_counter(), time.process_time()
        chunks = method(question.text)
        cpu.append(1000 * (time.process_time() - computed))
        took.append(1000 * (time.perf_counter() - begin))
        ranked.append([keys[doc] for doc in engine.space.chunk_doc[chunks].tolist()])
    return Asked(recalls(ranked, questions, KS), np.array(took), np.array(cpu))


def run(
    one: RetrievalSet, engine: IndexEngine, methods: Mapping[str, Method], limit: int = 0
) -> list[dict[str, object]]:
    """Return a row of figures for each method."""
    questions = one.questions[: limit or None]
    return [
        {"set": one.name, "method": name, **ask(engine, method, questions).figures()}
        for name, method in methods.items()
    ]


def remembered(engine: IndexEngine) -> Vectors | None:
    """Return the index's embedder, asked only once for each text; None without one."""
    embedder = engine.embedder
    return lru_cache(maxsize=None)(embedder.embed_question) if embedder is not None else None


def residual_shares(engine: IndexEngine, questions: Sequence[Question]) -> dict[str, float]:
    """Return in % for how many questions the default doesn't walk, and of the others how many residual
    questions it asks (none means that the first passage holds enough)."""
    found = [engine.search(question.text, KS[-1]) for question in questions]
    kinds = [str(one.counts["residual_questions"]) if one.walked else "no walk" for one in found]
    return {kind: round(100 * kinds.count(kind) / len(kinds), 1) for kind in ("no walk", "0", "1", "2")}


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return the rows as a Markdown table."""
    head = "| set | method | recall@2 / @5 / @10 | 95 % of @5 | all@5 | ms | ms of CPU |"
    lines = [head, "|---|---|---|---|---|---|---|"]
    for row in rows:
        recall = " / ".join(f"{row[f'recall@{k}']:.1f}" for k in KS)
        low, high = row["recall@5_interval"]  # type: ignore[misc]
        cells = (
            row["set"],
            row["method"],
            recall,
            f"{low}–{high}",
            row["all@5"],
            row["median_ms"],
            row["cpu_ms"],
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def markdown(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return any table as Markdown."""
    lines = [list(head), ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(map(str, cells)) + " |" for cells in lines)
