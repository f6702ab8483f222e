"""Recall@2/5/10 of each method on questions that a reader asks of technical folders.

    python benchmarks/docs.py [--vaults ../shared/vaults] [--embedder minilm]

The questions are in ``data/docs-questions.jsonl``: ``{"id", "question", "gold"}``, gold being the
documents that hold the answer as ``vault/key``. Each vault is indexed whole and ranks its own questions;
a passage counts for its document. The methods and the table are those of ``retrieval.py``.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from clew.options import EmbedOptions
from common import existing, save, shared_dir
from measure import open_index, run, table, work_folder
from methods import all_methods
from sets import Question, RetrievalSet

QUESTIONS = Path(__file__).resolve().parent / "data" / "docs-questions.jsonl"


def load_docs(vaults: Path, questions: Path = QUESTIONS) -> list[RetrievalSet]:
    """Return a set for each vault that the questions name, by name."""
    asked: dict[str, list[Question]] = {}
    for line in questions.read_text("utf-8").splitlines():
        row = json.loads(line)
        parts = [gold.split("/", 1) for gold in row["gold"]]
        vault = parts[0][0]
        gold = frozenset(key for _, key in parts)
        asked.setdefault(vault, []).append(Question(row["id"], row["question"], gold))
    return [RetrievalSet(f"docs-{name}", vaults / name, tuple(asked[name])) for name in sorted(asked)]


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--vaults", type=Path, default=shared_dir() / "vaults", help="folder of the vaults")
    parser.add_argument("--embedder", default=EmbedOptions().embedder)
    parser.add_argument("--work", type=Path, default=Path(".clew/benchmarks"), help="where indexes are kept")
    chosen = parser.parse_args(arguments)
    rows: list[dict[str, object]] = []
    work = work_folder(chosen.work, chosen.embedder)
    for one in load_docs(existing(chosen.vaults)):
        with open_index(one, chosen.embedder, work) as index:
            rows += run(one, index.engine, all_methods(index.engine, work / one.name))
    print(table(rows))
    path = save("docs", {"embedder": chosen.embedder, "rows": rows}, chosen.embedder)
    print(f"saved {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
