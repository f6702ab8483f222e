"""One table of all methods side by side, from results that ``retrieval.py`` saved, and published figures.

    python benchmarks/summary.py RESULTS [RESULTS …]

Several files (one an embedder) make one table; the columns are the sets, a cell is Recall@2 / @5.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from measure import markdown

# What their authors publish for 1,000 questions over 11,656 (MuSiQue), 6,119 (2Wiki) and 9,811 (HotpotQA)
# passages: Gutiérrez et al. (2025), "From RAG to Memory", and Wang & Han (2025), "PropRAG".
SIZES = {"2wiki": "6,119", "hotpot": "9,811", "musique": "11,656"}
PUBLISHED = (
    ("BM25", "no model", {"musique": "32.4 / 43.5", "2wiki": "55.3 / 65.3", "hotpot": "57.3 / 74.8"}),
    ("Contriever", "110M", {"musique": "34.8 / 46.6", "2wiki": "46.6 / 57.5", "hotpot": "58.4 / 75.3"}),
    ("NV-Embed-v2", "7B", {"musique": "52.7 / 69.7", "2wiki": "67.1 / 76.5", "hotpot": "84.1 / 94.5"}),
    ("RAPTOR", "70B + 7B", {"musique": "47.0 / 57.8", "2wiki": "58.3 / 66.2", "hotpot": "76.8 / 86.9"}),
    ("HippoRAG", "70B + 110M", {"musique": "41.2 / 53.2", "2wiki": "71.9 / 90.4", "hotpot": "60.4 / 77.3"}),
    ("HippoRAG 2", "70B + 7B", {"musique": "56.1 / 74.7", "2wiki": "76.2 / 90.4", "hotpot": "83.5 / 96.3"}),
    ("PropRAG", "70B + 7B", {"musique": "– / 78.3", "2wiki": "– / 94.1", "hotpot": "– / 97.4"}),
)
BASELINES = ("linearrag", "hipporag2", "fast-graphrag", "lightrag")


@dataclass(frozen=True, slots=True)
class Line:
    """A method with an embedder: its cells by set, its median milliseconds of computing, its command."""

    method: str
    embedder: str
    cells: dict[str, str]
    cpu: float
    command: str


def measured(path: Path) -> list[Line]:
    """Return the methods of a file of results, in its order."""
    results = json.loads(path.read_text("utf-8"))["results"]
    embedder, rows = results["embedder"], results["rows"]
    lines = []
    for method in dict.fromkeys(row["method"] for row in rows):
        mine = [row for row in rows if row["method"] == method]
        cells = {row["set"]: f"{row['recall@2']:.1f} / {row['recall@5']:.1f}" for row in mine}
        cpu = sum(row["cpu_ms"] for row in mine) / len(mine)
        more = " --baselines" if method in BASELINES else ""
        command = f"`retrieval.py BENCH --embedder {embedder}{more}`"
        lines.append(Line(method, embedder, cells, cpu, command))
    return lines


def table(paths: Sequence[Path]) -> str:
    """Return the summary as Markdown: what was measured, then what is published."""
    lines = [line for path in paths for line in measured(path)]
    sets = sorted({name for line in lines for name in line.cells})
    head = ["method", "models", *sets, "ms of CPU", "command"]
    rows = []
    for line in lines:
        cells = [line.cells.get(name, "") for name in sets]
        rows.append([line.method, line.embedder, *cells, f"{line.cpu:.0f}", line.command])
    rows += [
        [f"{method}, published", models, *(cells.get(name, "") for name in sets), "", "larger corpora"]
        for method, models, cells in PUBLISHED
    ]
    passages = ", ".join(f"{size} ({name})" for name, size in SIZES.items())
    return f"{markdown(head, rows)}\n\nPublished: 1,000 questions each, over {passages} passages."


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("results", type=Path, nargs="+", help="files that retrieval.py saved")
    print(table(parser.parse_args(arguments).results))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
