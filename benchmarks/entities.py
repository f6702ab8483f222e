"""Precision and recall of mentions by language, and of resolving name variants, on labelled passages.

    python benchmarks/entities.py [FILE] [--errors]

The passages of a language are one collection, indexed by itself, and so are the ``held out`` ones, which were
labelled before anything was run on them. In ``marked`` a person put brackets around what should be linked.
"exact" compares spans. "near" counts a mention as right if it overlaps a marked span, and a marked span as
found if a mention overlaps it: that forgives "King Charles" for "Charles".

``names.jsonl`` has collections in which names at two places are the ``same`` or ``different``; a place is a
note's title and the text there, or no text for the note itself. Two places count as one if their mentions are
of one node, or of two that a `same_as` edge joins.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from clew.index import SilentProgress
from clew.ingest.analyse import analyse
from clew.ingest.gather import gather
from clew.ingest.graph import extract_graph
from clew.ingest.model import Corpus, Graph
from clew.options import IndexOptions
from clew.types import RawDocument

DATA = Path(__file__).parent.parent / "tests" / "data" / "entities.jsonl"
PAIRS = DATA.parent / "names.jsonl"
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


def load(path: Path) -> dict[tuple[str, str], list[tuple[RawDocument, list[Span]]]]:
    """Return the passages by split and language."""
    found: dict[tuple[str, str], list[tuple[RawDocument, list[Span]]]] = defaultdict(list)
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        text, spans = read_marked(record["marked"])
        raw = RawDocument(record["id"], record["id"], text.encode(), "record", record["title"])
        found[record.get("split", "seen"), record["language"]].append((raw, spans))
    return dict(found)


def extract(raws: Sequence[RawDocument]) -> tuple[Corpus, Graph]:
    """Return a collection's corpus and its graph."""
    kept, analyses, _ = analyse(raws, IndexOptions(), Words(), 512, [], None, SilentProgress())
    corpus = gather(kept, analyses)
    return corpus, extract_graph(corpus)


def index(raws: Sequence[RawDocument]) -> tuple[Corpus, list[list[Span]]]:
    """Return a collection's corpus and the spans of each document's mentions."""
    corpus, graph = extract(raws)
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


@dataclass(frozen=True, slots=True)
class Pairs:
    """How many pairs of places are the same, how many of these resolve to one, and likewise of different
    ones; ``wrong`` names the pairs that didn't come out as labelled."""

    same: int
    joined: int
    different: int
    blended: int
    wrong: tuple[str, ...]


def resolve_pairs(path: Path, split: str) -> Pairs:
    """Resolve the labelled pairs of a split."""
    counts, wrong = [0, 0, 0, 0], []
    for line in path.read_text("utf-8").splitlines():
        record = json.loads(line)
        if record["split"] != split:
            continue
        notes = record["notes"]
        raws = [RawDocument(title, title, text.encode(), "record", title) for title, text in notes]
        corpus, graph = extract(raws)
        joined = {(a, b) for kind, a, b in _edges(graph) if kind == "same_as"}
        for at, label in enumerate(("same", "different")):
            for one, other in record[label]:
                a, b = (_node(corpus, graph, title, surface) for title, surface in (one, other))
                is_one = a >= 0 and b >= 0 and (a == b or (a, b) in joined or (b, a) in joined)
                counts[2 * at] += 1
                counts[2 * at + 1] += is_one
                if is_one != (label == "same"):
                    wrong.append(f"{record['id']}: {one} and {other} are {label}")
    return Pairs(*counts, tuple(wrong))


def _edges(graph: Graph) -> Iterator[tuple[str, int, int]]:
    return zip(graph.edge_kind, graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True)


def _node(corpus: Corpus, graph: Graph, title: str, surface: str) -> int:
    """Return the node mentioned at a place, or that stands for the note; -1 if nothing is mentioned there."""
    doc = next(d for d in corpus.documents if d.title == title)
    if not surface:
        return graph.doc.tolist().index(doc.doc)
    chunk = int(corpus.doc_chunks[doc.doc])
    text = corpus.text(chunk)
    begin = len(text[: text.index(surface)].encode())
    end = begin + len(surface.encode())
    here = (graph.mention_chunk == chunk) & (graph.mention_start < end) & (graph.mention_end > begin)
    nodes = graph.mention_node[here].tolist()
    return int(nodes[0]) if nodes else -1


def _row(split: str, language: str, result: Score) -> str:
    shares = (result.precision, result.recall, result.near_precision, result.near_recall)
    return (
        f"| {split} | {language} | {result.marks} | "
        + " | ".join(f"{100 * share:.1f}" for share in shares)
        + " |"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path, default=DATA)
    parser.add_argument("--errors", action="store_true", help="print what was missed and what was wrong")
    options = parser.parse_args(arguments)
    print("| split | language | marks | precision | recall | near precision | near recall |")
    print("|---|---|---|---|---|---|---|")
    problems: list[str] = []
    total: dict[str, list[tuple[list[Span], list[Span]]]] = defaultdict(list)
    for (split, language), rows in sorted(load(options.file).items(), reverse=True):
        rows.sort(key=lambda row: row[0].key)
        _, found = index([raw for raw, _ in rows])
        marked = [spans for _, spans in rows]
        total[split] += zip(marked, found, strict=True)
        print(_row(split, language, score(marked, found)))
        for (raw, marks), mentions in zip(rows, found, strict=True):
            text = raw.data
            missed = [text[a:b].decode() for a, b in marks if (a, b) not in mentions]
            wrong = [text[a:b].decode() for a, b in mentions if (a, b) not in marks]
            if missed or wrong:
                problems.append(f"{raw.key}: missed {missed}, wrong {wrong}")
    for split, pairs in total.items():
        print(_row(split, "all", score(*zip(*pairs, strict=True))))
    print("\n| split | same | joined | different | blended |\n|---|---|---|---|---|")
    for split in total if options.file == DATA else ():
        result = resolve_pairs(PAIRS, split)
        print(f"| {split} | {result.same} | {result.joined} | {result.different} | {result.blended} |")
        problems += result.wrong
    if options.errors:
        print("\n".join(problems))
    return 0


if __name__ == "__main__":
    sys.exit(main())
