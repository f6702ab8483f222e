"""Precision and recall of mentions by language, on the passages of ``tests/data/entities.jsonl``.

    python benchmarks/entities.py [FILE] [--errors]

Each language's passages are one collection, indexed by itself. In ``marked`` a person put brackets
around what should be linked. "exact" compares spans. "near" counts a mention as right if it overlaps a marked
span, and a marked span as found if a mention overlaps it: that forgives "King Charles" for "Charles".
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clew.index import SilentProgress
from clew.ingest.analyse import analyse
from clew.ingest.gather import gather
from clew.ingest.graph import extract_graph
from clew.ingest.model import Corpus
from clew.options import IndexOptions
from clew.types import RawDocument

DATA = Path(__file__).parent.parent / "tests" / "data" / "entities.jsonl"
Span = tuple[int, int]


class Words:
    """Counts words instead of a model's tokens; passages are short, so that it doesn't matter."""

    name = "words"

    def offsets(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return [
            np.array([match.start() for match in re.finditer(r"\S+", text)], dtype=np.int32) for text in texts
        ]


@dataclass(frozen=True, slots=True)
class Score:
    """Shares of right mentions and of found marks, 0 to 1, exact and near, and how many marks there were."""

    marks: int
    precision: float
    recall: float
    near_precision: float
    near_recall: float


def read_marked(marked: str) -> tuple[str, list[Span]]:
    """Return the text without brackets and the UTF-8 spans of what they held."""
    text, spans = "", []
    for piece in re.split(r"(\[[^\]]*\])", marked):
        if piece.startswith("[") and piece.endswith("]"):
            begin = len(text.encode())
            text += piece[1:-1]
            spans.append((begin, len(text.encode())))
        else:
            text += piece
    return text, spans


def load(path: Path) -> dict[str, list[tuple[RawDocument, list[Span]]]]:
    """Return the passages by language."""
    found: dict[str, list[tuple[RawDocument, list[Span]]]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        text, spans = read_marked(record["marked"])
        raw = RawDocument(record["id"], record["id"], text.encode(), "record", record["title"])
        found[record["language"]].append((raw, spans))
    return dict(found)


def index(raws: Sequence[RawDocument]) -> tuple[Corpus, list[list[Span]]]:
    """Return a collection's corpus and the spans of each document's mentions."""
    kept, analyses, _ = analyse(raws, IndexOptions(), Words(), 512, [], None, SilentProgress())
    corpus = gather(kept, analyses)
    graph = extract_graph(corpus)
    spans: list[list[Span]] = [[] for _ in corpus.documents]
    rows = zip(
        graph.mention_chunk.tolist(), graph.mention_start.tolist(), graph.mention_end.tolist(), strict=True
    )
    for chunk, start, end in rows:
        spans[int(corpus.chunk_doc[chunk])].append((start, end))
    return corpus, spans


def score(marked: Sequence[Sequence[Span]], found: Sequence[Sequence[Span]]) -> Score:
    """Compare spans document by document."""
    n_marks = n_found = exact = right = hit = 0
    for marks, mentions in zip(marked, found, strict=True):
        n_marks, n_found = n_marks + len(marks), n_found + len(mentions)
        exact += len(set(marks) & set(mentions))
        right += sum(any(a < d and c < b for c, d in marks) for a, b in mentions)
        hit += sum(any(a < d and c < b for c, d in mentions) for a, b in marks)
    return Score(
        n_marks,
        exact / max(n_found, 1),
        exact / max(n_marks, 1),
        right / max(n_found, 1),
        hit / max(n_marks, 1),
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=DATA)
    parser.add_argument("--errors", action="store_true", help="print what was missed and what was wrong")
    options = parser.parse_args(arguments)
    print("| language | marks | precision | recall | near precision | near recall |")
    print("|---|---|---|---|---|---|")
    problems: list[str] = []
    for language, rows in load(options.file).items():
        rows.sort(key=lambda row: row[0].key)
        _, found = index([raw for raw, _ in rows])
        marked = [spans for _, spans in rows]
        result = score(marked, found)
        shares = (result.precision, result.recall, result.near_precision, result.near_recall)
        print(
            f"| {language} | {result.marks} | " + " | ".join(f"{100 * share:.1f}" for share in shares) + " |"
        )
        for (raw, marks), mentions in zip(rows, found, strict=True):
            text = raw.data
            missed = [text[a:b].decode() for a, b in marks if (a, b) not in mentions]
            wrong = [text[a:b].decode() for a, b in mentions if (a, b) not in marks]
            problems.append(f"{raw.key}: missed {missed}, wrong {wrong}")
    if options.errors:
        print("\n".join(problems))
    return 0


if __name__ == "__main__":
    sys.exit(main())
