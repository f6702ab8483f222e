"""Recall@2/5/10 of each method on each retrieval set.

    python benchmarks/retrieval.py BENCH [BENCH …] [--sets 2wiki,musique] [--embedder minilm] [--baselines]

Every method ranks the same passages of the same index in one run: bm25, dense, hybrid (min-max sum),
rrf (reciprocal rank fusion), walk (the gated walk without the choice), local (with it), and auto, the
product's default. With --baselines also what others publish (``baselines/``), with the same embedder.
"all@5" is the share of questions for which every gold passage is among the first five: what an answer
needs. The times are medians over questions of ranking alone, the question's embedding included: those that
passed, and those of computing (a busy machine lengthens only the first).
Indexes are kept in --work; results go to benchmarks/results/retrieval-EMBEDDER-COMMIT.json.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from clew.options import EmbedOptions
from common import existing, save
from measure import open_index, residual_shares, run, table, work_folder
from methods import all_methods
from sets import load_sets


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("bench", type=Path, nargs="+", help="folders of retrieval sets")
    parser.add_argument("--sets", default="", help="names, separated by commas; all without")
    parser.add_argument("--embedder", default=EmbedOptions().embedder)
    parser.add_argument("--limit", type=int, default=0, help="only so many questions of each set")
    parser.add_argument("--baselines", action="store_true", help="also methods of other projects")
    parser.add_argument("--work", type=Path, default=Path(".clew/benchmarks"), help="where indexes are kept")
    chosen = parser.parse_args(arguments)
    rows: list[dict[str, object]] = []
    asked: dict[str, dict[str, float]] = {}
    names = [name for name in chosen.sets.split(",") if name]
    work = work_folder(chosen.work, chosen.embedder)
    for one in load_sets([existing(bench) for bench in chosen.bench], names):
        with open_index(one, chosen.embedder, work) as index:
            methods = all_methods(index.engine, work / one.name, chosen.baselines)
            found = run(one, index.engine, methods, chosen.limit)
            asked[one.name] = residual_shares(index.engine, one.questions[: chosen.limit or None])
        rows += found
        print(table(found), flush=True)
        shares = ", ".join(f"{kind}: {share} %" for kind, share in asked[one.name].items())
        print(f"{one.name}: residual questions of the default: {shares}\n", flush=True)
    results = {"embedder": chosen.embedder, "rows": rows, "residual_questions": asked}
    path = save("retrieval", results, chosen.embedder)
    print(f"saved {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
