"""What the benchmarks share: where the data are, which commit is measured, where results go."""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"


def shared_dir() -> Path:
    """Return the folder with ``bench`` and ``vaults``: ``$CLEW_SHARED``, or ``../shared``."""
    return Path(os.environ.get("CLEW_SHARED") or ROOT.parent / "shared")


def parser(description: str, data: str) -> argparse.ArgumentParser:
    """Return an argument parser whose first argument is the data's folder, by default ``shared/data``."""
    made = argparse.ArgumentParser(description=description)
    made.add_argument("data", nargs="?", type=Path, default=shared_dir() / data, help="folder of the data")
    return made


def existing(folder: Path) -> Path:
    """Return the folder, or end the program with a message that says what to do."""
    if not folder.is_dir():
        sys.exit(f"{folder}: there is no such folder. Name one, or set CLEW_SHARED.")
    return folder


def commit() -> str:
    """Return the short commit id, with ``-changed`` if tracked files differ; ``unknown`` outside git."""
    try:
        head = _git("rev-parse", "--short=10", "HEAD")
        changed = _git("status", "--porcelain", "--untracked-files=no", "--", "src", "benchmarks")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{head}-changed" if changed else head


def _git(*words: str) -> str:
    run = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    return run.stdout.strip()


def save(name: str, results: Any, embedder: str = "") -> Path:
    """Write results with the commit and the machine to ``benchmarks/results/NAME[-EMBEDDER]-COMMIT.json``.

    What stands in the embedder's name beside letters, digits and ``. _ -`` becomes a hyphen.
    """
    RESULTS.mkdir(parents=True, exist_ok=True)
    at = commit()
    parts = [name, re.sub(r"[^\w.-]+", "-", embedder), at]
    path = RESULTS / ("-".join(part for part in parts if part) + ".json")
    machine = {"cores": os.cpu_count(), "processor": platform.machine(), "python": platform.python_version()}
    data = {"benchmark": name, "commit": at, "machine": machine, "results": results}
    path.write_text(json.dumps(data, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as text in aligned columns; the first is set left, the others right."""
    cells = [[str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    lines = []
    for first, *rest in cells:
        right = (cell.rjust(width) for cell, width in zip(rest, widths[1:], strict=True))
        lines.append("  ".join([first.ljust(widths[0]), *right]))
    return "\n".join(lines)
