"""What each ingredient of the default is worth: Recall with it taken out, on every set.

    python benchmarks/ablation.py BENCH [BENCH …] [--embedder minilm] [--sets …] [--limit N]

A cell is the change of Recall@5 in points against the default on the same questions; * marks a change whose
95 % paired bootstrap interval leaves out 0. The file of results also holds Recall@2 and @10, the share of
questions with all gold among the first five, and the intervals. Times are medians of
ranking over all threads, the question's vector being given and those of residual questions where another row
has asked them too: a busy machine doesn't lengthen them.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from clew.options import EmbedOptions
from clew.query import rank as ranking
from clew.query.engine import IndexEngine
from clew.types import Ints
from common import existing, save
from ingredients import INGREDIENTS
from measure import KS, Asked, Method, Vectors, ask, markdown, open_index, remembered, work_folder
from sets import RetrievalSet, load_sets, paired

DEFAULT = "default"


def ranked(engine: IndexEngine, mode: str = "auto", embed: Vectors | None = None) -> Method:
    """Return the product's ranking; each text is embedded once, by ``embed`` if given."""
    embed = embed or remembered(engine)

    def method(question: str) -> Ints:
        # ranking.rank is looked up at each call: it sees what an ingredient has replaced
        return ranking.rank(engine.space, engine.lexicon, question, KS[-1], mode, embed).chunks

    return method


def ablate(one: RetrievalSet, engine: IndexEngine, limit: int = 0) -> list[dict[str, object]]:
    """Return a row of figures for the default and for each ingredient taken out."""
    questions = one.questions[: limit or None]
    embed = remembered(engine)
    for question in questions:
        if embed is not None:
            embed(question.text)  # so that no row is charged with it
    methods = {mode: ranked(engine, mode, embed) for mode in ("auto", "local", "basic")}
    full = ask(engine, methods["auto"], questions)
    rows = [_row(one.name, DEFAULT, "", full, full)]
    for ingredient in INGREDIENTS:
        if ingredient.vectors and engine.embedder is None:
            continue
        with ingredient.off(engine):
            without = ask(engine, methods[ingredient.mode], questions)
        rows.append(_row(one.name, ingredient.name, ingredient.group, without, full))
    return rows


def _row(name: str, off: str, group: str, without: Asked, full: Asked) -> dict[str, object]:
    change, (low, high) = paired(without.recall[:, 1], full.recall[:, 1])
    return {
        "set": name,
        "without": off,
        "group": group,
        **without.figures(),
        "change@2": round(100 * paired(without.recall[:, 0], full.recall[:, 0])[0], 1),
        "change@5": round(100 * change, 1),
        "change@5_interval": [round(100 * low, 1), round(100 * high, 1)],
    }


def table(rows: Sequence[dict[str, object]]) -> str:
    """Return the ingredients as Markdown rows and the sets as columns, with the means over sets."""
    sets = list(dict.fromkeys(str(row["set"]) for row in rows))
    found = {(row["without"], row["set"]): row for row in rows}
    lines = []
    for off in dict.fromkeys(row["without"] for row in rows):
        mine = [found[off, name] for name in sets]
        all5, took = (np.mean([float(str(row[key])) for row in mine]) for key in ("all@5", "cpu_ms"))
        lines.append([off, *map(_cell, mine), f"{all5:.1f}", f"{took:.1f}"])
    return markdown(["without", *sets, "all@5", "ms of CPU"], lines)


def _cell(row: dict[str, object]) -> str:
    if row["without"] == DEFAULT:
        return f"{row['recall@5']}"
    low, high = row["change@5_interval"]  # type: ignore[misc]
    change = float(str(row["change@5"]))
    return f"{change:+.1f}{'*' if low > 0 or high < 0 else ''}" if change else "0"


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("bench", type=Path, nargs="+", help="folders of retrieval sets")
    parser.add_argument("--sets", default="", help="names, separated by commas; all without")
    parser.add_argument("--embedder", default=EmbedOptions().embedder)
    parser.add_argument("--limit", type=int, default=0, help="only so many questions of each set")
    parser.add_argument("--work", type=Path, default=Path(".clew/benchmarks"), help="where indexes are kept")
    chosen = parser.parse_args(arguments)
    rows: list[dict[str, object]] = []
    names = [name for name in chosen.sets.split(",") if name]
    for one in load_sets([existing(bench) for bench in chosen.bench], names):
        with open_index(one, chosen.embedder, work_folder(chosen.work, chosen.embedder)) as index:
            rows += ablate(one, index.engine, chosen.limit)
        print(f"{one.name} is done", file=sys.stderr, flush=True)
    print(table(rows))
    path = save("ablation", {"embedder": chosen.embedder, "rows": rows}, chosen.embedder)
    print(f"saved {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
