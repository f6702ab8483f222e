"""Recall@2/5/10 of each method on each retrieval set.

    python benchmarks/retrieval.py BENCH [--sets 2wiki,musique] [--embedder minilm] [--limit N]

Every method ranks the same passages of the same index in one run: bm25, dense, hybrid (min-max sum),
rrf (reciprocal rank fusion), walk (the gated walk without the choice), and auto, the product's default.
"all@5" is the share of questions for which every gold passage is among the first five: what an answer
needs. The latency is the median over questions of ranking alone, the question's embedding included.
Indexes are kept in --work; results go to benchmarks/results/retrieval-EMBEDDER-COMMIT.json.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from clew import Index, IndexOptions
from clew.algo.bm25 import bm25
from clew.algo.fuse import rrf, top
from clew.options import EmbedOptions
from clew.query import rank as ranking
from clew.query.engine import IndexEngine
from clew.types import Ints
from common import existing, save
from sets import Question, RetrievalSet, interval, load_sets, recalls

KS = (2, 5, 10)
Method = Callable[[IndexEngine, str], Ints]


def _vector(engine: IndexEngine, question: str):  # type: ignore[no-untyped-def]
    return engine.embedder.embed_question(question) if engine.embedder is not None else None


def _bm25(engine: IndexEngine, question: str) -> Ints:
    terms = [(at, 1.0) for at in engine.lexicon.positions(question)]
    return top(bm25(engine.space.postings, terms), KS[-1])


def _dense(engine: IndexEngine, question: str) -> Ints:
    return top(engine.space.cosines(_vector(engine, question)), KS[-1])


def _rrf(engine: IndexEngine, question: str) -> Ints:
    terms = [(at, 1.0) for at in engine.lexicon.positions(question)]
    lexical = top(bm25(engine.space.postings, terms), 100)
    dense = top(engine.space.cosines(_vector(engine, question)), 100)
    return top(rrf([lexical, dense], engine.space.n_chunks), KS[-1])


def _ranked(mode: str) -> Method:
    def method(engine: IndexEngine, question: str) -> Ints:
        vector = _vector(engine, question)
        return ranking.rank(engine.space, engine.lexicon, question, vector, KS[-1], mode).chunks

    return method


def _walk(engine: IndexEngine, question: str) -> Ints:
    scores = ranking.relevance(engine.space, engine.lexicon.positions(question), _vector(engine, question))
    seeds = ranking.node_seeds(engine.space, engine.lexicon.names(question))
    return top(ranking.restart_walk(engine.space, scores, seeds).chunks, KS[-1])


def methods(dense: bool) -> dict[str, Method]:
    found: dict[str, Method] = {"bm25": _bm25}
    if dense:
        found |= {"dense": _dense, "rrf": _rrf}
    found |= {"hybrid": _ranked("basic"), "walk": _walk}
    return found | {"local": _ranked("local"), "auto": _ranked("auto")}


def open_index(one: RetrievalSet, embedder: str, work: Path) -> Index:
    """Open the set's index, made anew (its cache spares the embedding)."""
    work.mkdir(parents=True, exist_ok=True)
    options = IndexOptions(embed=EmbedOptions(embedder=embedder))
    return Index.build([one.corpus], work / one.name / "index.duckdb", options=options)


def run(one: RetrievalSet, index: Index, limit: int) -> list[dict[str, object]]:
    """Return a row of figures for each method."""
    engine = index.engine
    keys = [document.key for document in engine.reader.documents()]
    questions: Sequence[Question] = one.questions[: limit or None]
    rows: list[dict[str, object]] = []
    for name, method in methods(engine.embedder is not None).items():
        method(engine, questions[0].text)
        took, ranked = [], []
        for question in questions:
            begin = time.perf_counter()
            chunks = method(engine, question.text)
            took.append(1000 * (time.perf_counter() - begin))
            ranked.append([keys[doc] for doc in engine.space.chunk_doc[chunks].tolist()])
        found = recalls(ranked, questions, KS)
        rows.append(
            {
                "set": one.name,
                "method": name,
                "questions": len(questions),
                **{f"recall@{k}": round(100 * float(found[:, i].mean()), 1) for i, k in enumerate(KS)},
                "recall@5_interval": [round(100 * edge, 1) for edge in interval(found[:, 1])],
                "all@5": round(100 * float((found[:, 1] >= 1).mean()), 1),
                "median_ms": round(float(np.median(took)), 1),
            }
        )
    return rows


def table(rows: Sequence[dict[str, object]]) -> str:
    """Return the rows as a Markdown table."""
    head = "| set | method | recall@2 / @5 / @10 | 95 % of @5 | all@5 | median ms |"
    lines = [head, "|---|---|---|---|---|---|"]
    for row in rows:
        recall = " / ".join(f"{row[f'recall@{k}']:.1f}" for k in KS)
        low, high = row["recall@5_interval"]  # type: ignore[misc]
        cells = (row["set"], row["method"], recall, f"{low}–{high}", row["all@5"], row["median_ms"])
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("bench", type=Path)
    parser.add_argument("--sets", default="", help="names, separated by commas; all without")
    parser.add_argument("--embedder", default=EmbedOptions().embedder)
    parser.add_argument("--limit", type=int, default=0, help="only so many questions of each set")
    parser.add_argument("--work", type=Path, default=Path(".clew/benchmarks"), help="where indexes are kept")
    chosen = parser.parse_args(arguments)
    rows: list[dict[str, object]] = []
    for one in load_sets(existing(chosen.bench), [name for name in chosen.sets.split(",") if name]):
        with open_index(one, chosen.embedder, chosen.work / chosen.embedder.replace(":", "-")) as index:
            found = run(one, index, chosen.limit)
        rows += found
        print(table(found), flush=True)
    path = save("retrieval", {"embedder": chosen.embedder, "rows": rows}, chosen.embedder)
    print(f"saved {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
