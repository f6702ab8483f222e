"""What a filter costs a search: medians with filters that pass more and less of the documents.

    python benchmarks/filters.py BENCH [--sets musique] [--embedder none] [--work DIR]

Each set's records are indexed with a tag by their place, so that filters pass all, half, a tenth and a
hundredth of them. "make" is what the first use of a filter takes, "ms" the median over the questions of the
default search's computing time, the question's embedding included. Results go to
benchmarks/results/filters-EMBEDDER-COMMIT.json.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from clew import Filter, Index, IndexOptions
from clew.options import EmbedOptions
from clew.query.scope import scope_of
from common import existing, save, table

SHARES = {"all": 1, "half": 2, "tenth": 10, "hundredth": 100}
ROUNDS = 2  # over the questions; the first warms up


def tagged(corpus: Path, folder: Path) -> Path:
    """Write a corpus whose records have a tag for each share that they belong to."""
    out = folder / "corpus.jsonl"
    with out.open("w", encoding="utf-8") as file:
        for at, line in enumerate(corpus.read_text(encoding="utf-8").splitlines()):
            tags = [name for name, step in SHARES.items() if at % step == 0]
            file.write(json.dumps({**json.loads(line), "tags": tags, "date": "2026-01-31"}) + "\n")
    return out


def measure(index: Index, questions: Sequence[str], name: str) -> list[dict[str, object]]:
    """Return a row for each filter: its share, what making it took, and the median of the questions."""
    space = index.engine.space
    filters: dict[str, Filter | None] = {"no filter": None}
    filters |= {name: Filter(tags=(name,)) for name in SHARES}
    filters["all, by time and kind"] = Filter(since="2026-01", until="2026-01", kinds=("record",))
    rows: list[dict[str, object]] = []
    for label, where in filters.items():
        begin = time.process_time()
        scope = scope_of(space, where)
        passing = space.n_chunks if scope is None else int(scope.chunks.sum())
        made = time.process_time() - begin
        for _ in range(ROUNDS):
            times = []
            for question in questions:
                begin = time.process_time()
                index.search(question, where=where)
                times.append(time.process_time() - begin)
        rows.append(
            {
                "set": name,
                "filter": label,
                "chunks": passing,
                "make": round(1000 * made, 2),
                "ms": round(1000 * statistics.median(times), 2),
            }
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("bench", type=Path, help="folder of retrieval sets")
    parser.add_argument("--sets", default="musique")
    parser.add_argument("--embedder", default="none")
    parser.add_argument("--limit", type=int, default=100, help="questions of each set")
    chosen = parser.parse_args(arguments)
    rows: list[dict[str, object]] = []
    for name in chosen.sets.split(","):
        folder = existing(chosen.bench) / name
        lines = (folder / "questions.jsonl").read_text(encoding="utf-8").splitlines()[: chosen.limit]
        questions = [json.loads(line)["question"] for line in lines]
        with tempfile.TemporaryDirectory() as work:
            corpus = tagged(folder / "corpus.jsonl", Path(work))
            options = IndexOptions(embed=EmbedOptions(chosen.embedder))
            with Index.build([corpus], Path(work) / "index.duckdb", options=options) as index:
                rows += measure(index, questions, name)
    print(table(list(rows[0]), [[str(value) for value in row.values()] for row in rows]), flush=True)
    print(f"\nsaved {save('filters', rows, chosen.embedder)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
