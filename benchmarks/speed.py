"""Speed and size: indexing, opening, search, the command line, peak memory.

    python benchmarks/speed.py [VAULTS] [--megabytes 1,5,20] [--chunks 7000,100000]

Notes of any size are made from the paragraphs of real folders (fixed seed), each note with a title, a
few headings and links to others. Indexing is timed with `--embedder none`, which is what happens before
the first publication. Search is timed with vectors: the passages' are random unit vectors of the
model's dimension (embedding 100,000 passages would take hours and time the model, not the search), the
question's is really embedded. Every figure is taken in a process of its own; each is printed beside the
limit that the project sets itself for two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clew import Index, IndexOptions, registry
from clew.options import EmbedOptions
from common import existing, parser, save, table

NONE = IndexOptions(embed=EmbedOptions(embedder="none"))
SEED = 7
NOTE_BYTES = 4600  # a mean note of a large vault: 46 MB in 10,000 files
QUESTIONS = (
    "how do traits differ from generics?",
    "what does a relay do with an event?",
    "borrow checker and lifetimes",
    "who signs a delegation token",
    "which note links to the graph view?",
    "ownership of values moved into a closure",
)


def paragraphs(vaults: Path) -> list[str]:
    """Return the distinct paragraphs of all notes of the vaults, sorted."""
    found = set()
    for path in vaults.rglob("*.md"):
        for block in path.read_text("utf-8", "replace").split("\n\n"):
            if 40 < len(block) < 2000 and not block.lstrip().startswith(("#", "---", "```")):
                found.add(block.strip())
    return sorted(found)


def write_notes(folder: Path, source: Sequence[str], size: int) -> None:
    """Write about ``size`` bytes of notes: shuffled paragraphs whose words are partly replaced by
    names of the note's own, so that the vocabulary and the graph grow with the notes."""
    rng = random.Random(SEED)
    written = number = 0
    while written < size:
        names = [
            f"{rng.choice(SYLLABLES)}{rng.choice(SYLLABLES).lower()}{rng.choice(SYLLABLES).lower()}"
            for _ in range(4)
        ]
        title = f"{names[0]} {names[1]}"
        parts = [f"# {title}\n"]
        length = 0
        while length < NOTE_BYTES:
            block = rng.choice(source)
            if rng.random() < 0.3:
                other = rng.randrange(number + 1)
                block += f" {rng.choice(names)} {rng.choice(names)} was there: [[Note {other}]]."
            if rng.random() < 0.2:
                parts.append(f"## {rng.choice(names)} {rng.choice(source)[:20].split()[0]}\n")
            parts.append(block + "\n")
            length += len(block)
        text = "\n".join(parts)
        path = folder / f"{number % 100:02}" / f"Note {number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        written += len(text.encode())
        number += 1


SYLLABLES = (
    "Ba",
    "Da",
    "Fe",
    "Go",
    "Jo",
    "Ka",
    "Lu",
    "Mo",
    "Or",
    "Qui",
    "Ro",
    "Te",
    "We",
    "Yo",
    "Shen",
    "Thal",
)


class RandomVectors:
    """The default embedder with random passage vectors; questions are really embedded."""

    def __init__(self) -> None:
        real = registry.make_embedder(EmbedOptions())
        assert real is not None
        self._real = real
        self.name, self.dimension = real.name, real.dimension
        self.window, self.languages, self.tokenizer = real.window, real.languages, real.tokenizer
        self.embed_question = real.embed_question

    def embed(self, texts: Sequence[str]) -> np.ndarray[Any, np.dtype[np.float32]]:
        rng = np.random.default_rng(len(texts))
        out = rng.standard_normal((len(texts), self.dimension)).astype(np.float32)
        return out / np.linalg.norm(out, axis=1, keepdims=True)


def peak_mb() -> float:
    """Return this process's peak memory in MB, without that of others that parse for it.

    ru_maxrss is in kB on Linux, in bytes on macOS.
    """
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)


def cpu_seconds() -> float:
    """Return the processor time of this process and of those that it started and that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def job_index(folder: str, index: str) -> dict[str, Any]:
    began, cpu = time.perf_counter(), cpu_seconds()
    with Index.build([folder], index, options=NONE) as made:
        assert made.result is not None
        counts, seconds = dict(made.result.counts), dict(made.result.seconds)
    took = time.perf_counter() - began
    mb = counts["bytes"] / 1e6
    return {
        "MB": round(mb, 2),
        "chunks": counts["chunks"],
        "seconds": round(took, 2),
        "MB/s": round(mb / took, 2),
        "MB/CPU s": round(mb / (cpu_seconds() - cpu), 2),
        "peak MB": round(peak_mb()),
        "file MB": round(Path(index).stat().st_size / 1e6, 1),
        "stages": {name: round(value, 2) for name, value in seconds.items()},
    }


def job_vectors(folder: str, index: str) -> dict[str, Any]:
    """Index with random vectors, for the timing of search."""
    stand_in = RandomVectors()
    registry.make_embedder = lambda options: stand_in  # type: ignore[assignment,return-value]
    with Index.build([folder], index) as made:
        assert made.result is not None
        chunks, text = (
            made.result.counts["chunks"],
            sum(len(c.text.encode()) for c in made.engine.reader.chunks(range(made.result.counts["chunks"]))),
        )
    size = Path(index).stat().st_size
    return {
        "chunks": chunks,
        "peak MB": round(peak_mb()),
        "bytes a chunk over its text": round((size - text) / chunks),
    }


def job_search(index: str) -> dict[str, Any]:
    began = time.perf_counter()
    opened = Index.open(index)
    opening = time.perf_counter() - began
    began = time.perf_counter()
    opened.search(QUESTIONS[0])
    first = time.perf_counter() - began
    took: dict[str, list[float]] = {}
    for mode in ("auto", "basic", "local"):
        for _ in range(5):
            for question in QUESTIONS:
                began = time.perf_counter()
                opened.search(question, mode=mode)
                took.setdefault(mode, []).append(1000 * (time.perf_counter() - began))
    medians = {f"{mode} median ms": round(float(np.median(values)), 1) for mode, values in took.items()}
    return {
        "open s": round(opening, 3),
        "first search s": round(first, 3),
        **medians,
        "peak MB": round(peak_mb()),
    }


def job_commands(index: str) -> dict[str, Any]:
    clew = shutil.which("clew", path=str(Path(sys.executable).parent)) or "clew"

    def best(*words: str) -> float:
        times = []
        for _ in range(3):
            began = time.perf_counter()
            subprocess.run([clew, *words], check=True, capture_output=True)
            times.append(time.perf_counter() - began)
        return round(min(times), 3)

    return {"help s": best("--help"), "ask cold s": best("ask", QUESTIONS[0], "--index", index)}


JOBS = {"index": job_index, "vectors": job_vectors, "search": job_search, "commands": job_commands}


def apart(job: str, *arguments: str) -> dict[str, Any]:
    """Run a job in a process of its own, so that its peak memory is its own."""
    return apart_from(__file__, job, *arguments)


def apart_from(script: str, *arguments: str) -> dict[str, Any]:
    """Run a benchmark's ``--job`` in a process of its own and return what it prints."""
    words = [sys.executable, script, "--job", *arguments]
    run = subprocess.run(words, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(run.stdout.splitlines()[-1])
    return found


def measure(
    source: Sequence[str], megabytes: Sequence[float], chunks: Sequence[int], work: Path
) -> dict[str, Any]:
    results: dict[str, Any] = {"index": [], "search": []}
    for size in megabytes:
        folder = work / f"notes-{size}"
        write_notes(folder, source, int(size * 1e6))
        results["index"].append(apart("index", str(folder), str(work / f"{size}.duckdb")))
        print(results["index"][-1], flush=True)
    a_chunk = 1e6 * results["index"][0]["MB"] / results["index"][0]["chunks"]
    for count in chunks:
        folder, index = work / f"chunks-{count}", str(work / f"{count}.duckdb")
        write_notes(folder, source, int(count * a_chunk))
        row = apart("vectors", str(folder), index)
        row = {
            **row,
            "build peak MB": row.pop("peak MB"),
            **apart("search", index),
            **apart("commands", index),
        }
        results["search"].append(row)
        print(row, flush=True)
    return results


def main() -> int:
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(JOBS[sys.argv[2]](*sys.argv[3:])))
        return 0
    options = parser(__doc__ or "", "vaults")
    options.formatter_class = argparse.RawDescriptionHelpFormatter
    options.add_argument("--megabytes", default="1,5,20", help="sizes of notes to index")
    options.add_argument("--chunks", default="7000,100000", help="sizes of indexes to search")
    chosen = options.parse_args()
    megabytes = [float(size) for size in chosen.megabytes.split(",") if size]
    chunks = [int(count) for count in chosen.chunks.split(",") if count]
    with tempfile.TemporaryDirectory() as work:
        results = measure(paragraphs(existing(chosen.data)), megabytes, chunks, Path(work))
    head = ["MB", "chunks", "seconds", "MB/s", "MB/CPU s", "peak MB", "file MB"]
    print(table(head, [[row[name] for name in head] for row in results["index"]]))
    print(f"saved {save('speed', results)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
