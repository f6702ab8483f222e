"""What updates of a large vault cost: no change, an edit, a rename, a deletion, an addition.

    python benchmarks/updates.py [VAULTS] [--megabytes 46] [--embedder none]

Notes are made from the paragraphs of real folders (`speed.py`): 46 MB are about 10,000 of them. They are
indexed, then changed one at a time, each time indexed again in a process of its own; printed are its seconds
(in `Index.build`: starting Python takes 0.2 s more), its processor seconds, and the seconds of each stage.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from clew import Index, IndexOptions
from clew.options import EmbedOptions
from common import existing, parser, save, table
from speed import apart_from, cpu_seconds, paragraphs, write_notes

EDITED = "A sentence about Marlow Venn and the Ninth Lantern, who weren't there before.\n"


def nothing(_notes: list[Path]) -> None: ...


def edit(notes: list[Path]) -> None:
    with notes[7].open("a", encoding="utf-8") as file:
        file.write("\n" + EDITED)


def rename(notes: list[Path]) -> None:
    notes[70].rename(notes[70].with_name("Renamed.md"))


def delete(notes: list[Path]) -> None:
    notes[700].unlink()


def add(notes: list[Path]) -> None:
    notes[0].with_name("Added.md").write_text(f"# The Ninth Lantern\n\n{EDITED}", "utf-8")


CHANGES: dict[str, Callable[[list[Path]], None]] = {
    "first": nothing,
    "no change": nothing,
    "an edit": edit,
    "a rename": rename,
    "a deletion": delete,
    "an addition": add,
}


def job(folder: str, index: str, embedder: str) -> dict[str, Any]:
    """Index and tell what it took."""
    options = IndexOptions(embed=EmbedOptions(embedder=embedder))
    began, cpu = time.perf_counter(), cpu_seconds()
    with Index.build([folder], index, options=options) as made:
        took, spent, result = time.perf_counter() - began, cpu_seconds() - cpu, made.result
    assert result is not None
    return {
        "documents": result.counts["documents"],
        "seconds": round(took, 2),
        "CPU s": round(spent, 2),
        "stages": {name: round(value, 2) for name, value in result.seconds.items()},
    }


def measure(vaults: Path, size: float, embedder: str, work: Path) -> dict[str, Any]:
    """Return a row for each change, in order; each stands on those before it."""
    folder = work / "notes"
    folder.mkdir()
    write_notes(folder, paragraphs(vaults), int(size * 1e6))
    rows = {}
    for name, change in CHANGES.items():
        change(sorted(folder.rglob("*.md")))
        rows[name] = apart_from(__file__, str(folder), str(work / "x.duckdb"), embedder)
        print(name, rows[name], file=sys.stderr, flush=True)
    return rows


def main() -> int:
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(job(*sys.argv[2:])))
        return 0
    options = parser(__doc__ or "", "vaults")
    options.formatter_class = argparse.RawDescriptionHelpFormatter
    options.add_argument("--megabytes", type=float, default=46.0, help="size of the notes")
    options.add_argument("--embedder", default="none", help="embedder; minilm takes hours at first")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as work:
        rows = measure(existing(chosen.data), chosen.megabytes, chosen.embedder, Path(work))
    head = ["documents", "seconds", "CPU s"]
    print(table(["change", *head], [[name, *(row[one] for one in head)] for name, row in rows.items()]))
    print(f"saved {save('updates', rows, chosen.embedder)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
