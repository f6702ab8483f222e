"""Questions on structure: what they cost on a graph of 5,000 nodes and on one of a million edges.

    python benchmarks/structure.py [--graphs small,large] [--keep FOLDER]

Notes are made up (fixed seed): each has a title, an author, tags, sentences that link to other notes and
speak of made-up things, by a Zipf law, so that there are hubs. They are indexed without an embedder:
retrieval is by words and the walk, and the cosine is measured by itself on random unit vectors. Every figure
is the median of many calls on an open index, after one that warms up, in milliseconds of this process' CPU
time, since other processes may be running. ``--keep`` keeps the indexes there for the next time: the large
one takes minutes to make.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import numpy as np

from clew import Index
from clew.options import ContextOptions, EmbedOptions, IndexOptions
from clew.query.brief import PASSAGES, SHARES, counter, offer
from clew.query.context import pack
from clew.query.limits import Limits
from clew.query.match import candidates, node_words, rows_of
from clew.query.neighbourhood import reach
from clew.query.paths import best_paths
from clew.query.pattern import parse
from clew.query.question import read_question
from common import save, table

SEED = 11
LETTERS = "bacedifogujekilomunapequirosutavewixoyuzabrocludafle"
SYLLABLES = [LETTERS[at : at + 2] for at in range(0, len(LETTERS), 2)]
DIMENSION = 384
# Notes, and links, tags and things that one speaks of: they give about 5,000 nodes, and a million edges.
PATTERNS = (
    "note -references-> note -tagged_with-> tag",
    '"NAME" -references-> note -tagged_with-> tag <-tagged_with- note',
    "person <-authored_by- note -references-> note -authored_by-> person",
    "note as a -references-> note -references-> note as a",
    '* -- * -- "NAME"',
)
SIZES = {"small": (1600, 4, 2, 6), "large": (24_000, 14, 3, 20)}
LIMITS = {  # milliseconds that the project asks for
    "2-hop traversal": {"small": 2.0, "large": 20.0},
    "cosine over 1,000 notes": {"small": 1.0, "large": 1.0},
    "report look-up": {"small": 1.0, "large": 1.0},
    "context assembly": {"small": 1.0, "large": 1.0},
    "whole retrieval": {"small": 10.0, "large": 60.0},
}


def names(rng: random.Random, count: int, parts: int) -> list[str]:
    """Return distinct made-up names of so many words."""
    found: dict[str, None] = {}
    while len(found) < count:
        words = ("".join(rng.choices(SYLLABLES, k=rng.randint(2, 3))).capitalize() for _ in range(parts))
        found[" ".join(words)] = None
    return list(found)


class Zipf:
    """Draws from a list, the first most often: the n-th with weight 1 / n."""

    def __init__(self, rng: random.Random, items: list[str]) -> None:
        self.rng, self.items = rng, items
        self.weights = list(accumulate(1.0 / (n + 3) ** 0.8 for n in range(len(items))))

    def __call__(self, count: int) -> list[str]:
        return list(dict.fromkeys(self.rng.choices(self.items, cum_weights=self.weights, k=count)))


def write_notes(folder: Path, notes: int, links: int, tags: int, things: int) -> None:
    """Write a vault of ``notes`` notes, each with about so many links, tags and things."""
    rng = random.Random(SEED)
    titles = names(rng, notes, 2)
    linked = Zipf(rng, rng.sample(titles, len(titles)))
    tagged = Zipf(rng, [name.lower() for name in names(rng, max(notes // 20, 20), 1)])
    spoken = Zipf(rng, names(rng, notes * 3, 2))
    writers = names(rng, max(notes // 50, 5), 2)
    for number, title in enumerate(titles):
        place = folder / f"{number % 100:02d}" / f"{title}.md"
        place.parent.mkdir(parents=True, exist_ok=True)
        day = f"20{15 + number % 10}-{1 + number % 12:02d}-{1 + number % 28:02d}"
        listed = ", ".join(tagged(tags))
        text = [f"---\nauthor: {rng.choice(writers)}\ndate: {day}\ntags: [{listed}]\n---\n# {title}\n"]
        text += [f"It leads on to [[{other}]] in its turn." for other in linked(links) if other != title]
        text += [f"Then {thing} was seen near the old {rng.choice(SYLLABLES)}." for thing in spoken(things)]
        place.write_text("\n".join(text) + "\n", encoding="utf-8")


def make_index(folder: Path, size: str) -> Path:
    """Index the notes, unless that has been done."""
    path = folder / f"{size}.duckdb"
    if path.exists():
        return path
    notes = folder / size
    write_notes(notes, *SIZES[size])
    options = IndexOptions(embed=EmbedOptions(embedder="none"))
    Index.build([notes], path, options=options).close()
    return path


def median(call: Callable[[int], Any], times: int) -> float:
    """Return the median milliseconds of calls, each with its number, after one that warms up."""
    call(0)
    spent = []
    for number in range(1, times + 1):
        begin = time.process_time()
        call(number)
        spent.append(1000 * (time.process_time() - begin))
    return statistics.median(spent)


def measure(path: Path) -> dict[str, Any]:
    """Return the sizes of an index and the medians of its questions."""
    begin = time.process_time()
    with Index.open(path) as index:
        opened = 1000 * (time.process_time() - begin)
        space, reader = index.engine.space, index.engine.reader
        begin = time.process_time()
        graph = space.graph
        _ = graph.both, graph.edge_costs
        arrays = 1000 * (time.process_time() - begin)
        rng = np.random.default_rng(SEED)
        documents = np.flatnonzero(space.of_kind("document"))
        picked = rng.choice(documents, 240).tolist()
        names = space.node_names(picked)
        vectors = rng.standard_normal((1000, DIMENSION)).astype(np.float32)
        found = {
            "open": opened,
            "graph as arrays, once": arrays,
            "2-hop traversal": median(lambda n: reach(graph, picked[n], 2, Limits()), 100),
            "3 best paths": median(lambda n: best_paths(graph, [picked[n]], [picked[n + 120]], 3, 6), 40),
            **{f"match {text}": _match(index, text, names, picked) for text in PATTERNS},
            "cosine over 1,000 notes": median(lambda n: np.argsort(-(vectors @ vectors[n]))[:10], 200),
            "report look-up": median(lambda n: reader.reports([n % max(reader.count("reports"), 1)]), 100),
            "context assembly": _pack(index, [f"what leads on to {names[node]}?" for node in picked[:21]]),
            "`clew context`, whole": median(
                lambda n: index.context(f"what leads on to {names[picked[n]]}?"), 20
            ),
            "whole retrieval": median(
                lambda n: index.search(f"what leads on to {names[picked[n]]}?", 10), 40
            ),
        }
        sizes = {
            "nodes": reader.count("nodes"),
            "edges": reader.count("edges"),
            "chunks": reader.count("chunks"),
        }
    return {**sizes, "milliseconds": {name: round(value, 3) for name, value in found.items()}}


def _match(index: Index, text: str, names: dict[int, str], picked: list[int]) -> float:
    """Return the median of a pattern's rows as arrays: reading names and places for the screen comes on
    top."""
    space = index.engine.space

    def call(number: int) -> None:
        pattern = parse(text, node_words(space), space.graph.kinds)
        named = [(picked[number],) if node.name else None for node in pattern.nodes]
        masks = candidates(space, pattern, named, Limits())
        list(islice(rows_of(space.graph, pattern, masks, Limits()), 20))

    return median(call, 30)


def _pack(index: Index, questions: list[str]) -> float:
    """Return the median of packing, under the budget, what has been found for a question."""
    engine, options = index.engine, ContextOptions()
    count, _ = counter(engine)
    found = [
        offer(read_question(text, engine), engine.search(text, PASSAGES), engine, options)
        for text in questions
    ]
    return median(lambda n: pack(found[n], options.budget, count, SHARES), len(questions) - 1)


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--graphs", default="small,large")
    made.add_argument("--keep", type=Path, help="folder of the indexes")
    given = made.parse_args()
    results = {}
    with tempfile.TemporaryDirectory() as temporary:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        for size in given.graphs.split(","):
            results[size] = measure(make_index(folder, size))
    for size, found in results.items():
        print(f"{size}: {found['nodes']:,} nodes, {found['edges']:,} edges, {found['chunks']:,} passages")
        asked = {name: limits[size] for name, limits in LIMITS.items()}
        rows = [[name, f"{ms:.2f}", asked.get(name, "")] for name, ms in found["milliseconds"].items()]
        print(table(["", "ms", "asked"], rows), "\n")
    print(save("structure", results), file=sys.stderr)


if __name__ == "__main__":
    main()
