"""Whether the default ever loses to plain search: the best of BM25, dense and hybrid on every set, and auto.

    python benchmarks/safe.py [BENCH …] [--vaults VAULTS] [--embedder minilm]

Measured on the sets of each BENCH, on those of ``benchmarks/data``, and on the technical questions of
``docs.py`` where the vaults are. A set fails if auto's Recall@5 is more than half a point below the best
plain method; a failure that the 95 % paired bootstrap interval can't tell from chance says "fail?". The exit
status is 1 if any fails.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from clew.options import EmbedOptions
from common import ROOT, existing, save, shared_dir
from docs import load_docs
from measure import Asked, ask, markdown, open_index, work_folder
from methods import PLAIN, plain_methods, product_methods
from sets import RetrievalSet, load_sets, paired

ALLOWED = 0.5  # points of Recall@5
DATA = ROOT / "benchmarks" / "data"


def compare(name: str, asked: Mapping[str, Asked]) -> dict[str, object]:
    """Return a set's row: Recall@5 of the plain methods and of auto, and the verdict.

    ``asked`` holds auto's answers and those of some plain methods.
    """
    five = {method: round(100 * float(one.recall[:, 1].mean()), 1) for method, one in asked.items()}
    plain = [method for method in PLAIN if method in asked]
    best = max(plain, key=lambda method: asked[method].recall[:, 1].mean())
    margin, (low, high) = paired(asked["auto"].recall[:, 1], asked[best].recall[:, 1])
    passes = 100 * margin >= -ALLOWED
    return {
        "set": name,
        "questions": len(asked["auto"].recall),
        **{f"{method}@5": five.get(method) for method in (*PLAIN, "auto")},
        "best": best,
        "margin": round(100 * margin, 1),
        "margin_interval": [round(100 * low, 1), round(100 * high, 1)],
        "verdict": "pass" if passes else "fail" if high < 0 else "fail?",
    }


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return the rows as Markdown."""
    head = ["set", "questions", *(f"{method}@5" for method in (*PLAIN, "auto")), "margin", "verdict"]
    return markdown(head, [["" if row[name] is None else row[name] for name in head] for row in rows])


def every_set(benches: Sequence[Path], vaults: Path) -> list[RetrievalSet]:
    """Return all sets that are there."""
    found = load_sets([*map(existing, benches), DATA])
    if not vaults.is_dir():
        print(f"{vaults}: there is no such folder; the technical questions are left out", file=sys.stderr)
        return found
    return [*found, *load_docs(vaults)]


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("bench", type=Path, nargs="*", help="folders of retrieval sets")
    parser.add_argument("--vaults", type=Path, default=shared_dir() / "vaults", help="folder of the vaults")
    parser.add_argument("--embedder", default=EmbedOptions().embedder)
    parser.add_argument("--limit", type=int, default=0, help="only so many questions of each set")
    parser.add_argument("--work", type=Path, default=Path(".clew/benchmarks"), help="where indexes are kept")
    chosen = parser.parse_args(arguments)
    rows: list[dict[str, object]] = []
    for one in every_set(chosen.bench, chosen.vaults):
        with open_index(one, chosen.embedder, work_folder(chosen.work, chosen.embedder)) as index:
            methods = plain_methods(index.engine) | product_methods(index.engine)
            questions = one.questions[: chosen.limit or None]
            wanted = [name for name in (*PLAIN, "auto") if name in methods]
            asked = {name: ask(index.engine, methods[name], questions) for name in wanted}
        rows.append(compare(one.name, asked))
        print(table(rows[-1:]).splitlines()[-1], file=sys.stderr, flush=True)
    print(table(rows))
    path = save("safe", {"embedder": chosen.embedder, "rows": rows}, chosen.embedder)
    print(f"saved {path}", file=sys.stderr)
    return int(any(row["verdict"] != "pass" for row in rows))


if __name__ == "__main__":
    raise SystemExit(main())
