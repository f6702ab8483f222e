"""How often `auto` takes a question for what it is: 300 held-out questions in five languages, and 60 in ten.

    python benchmarks/router.py [--embedders minilm,use,e5,none] [--sets router,router-fresh] [--errors]
                                [--write-vectors]

The questions (tests/data/router.tsv) ask about the notes that come with Clew; none is among the examples
that the router compares with (src/clew/query/routing/examples.tsv). Half of the 60 (router-fresh.tsv) are in
languages that no example is in. An embedder is asked in the languages that it knows.
``--write-vectors`` makes anew the examples' vectors that are shipped.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from clew import Index, registry
from clew.demo import copy_vault
from clew.ids import make_id
from clew.options import EmbedOptions, IndexOptions
from clew.query import kinds
from clew.query.ask import Remembering
from clew.query.route import choose
from common import ROOT, save, table

SETS = {name: ROOT / "tests" / "data" / f"{name}.tsv" for name in ("router", "router-fresh")}
VECTORS = ROOT / "src" / "clew" / "query" / "routing" / "vectors.npz"
KIND_OF = {"basic": "direct", "local": "entity"}  # a mode's kind, where it isn't called so


def held_out(name: str) -> list[tuple[str, str, str]]:
    """Return (kind, language, question) of a set."""
    lines = SETS[name].read_text("utf-8").splitlines()
    return [(kind, language, text) for kind, language, text in (line.split("\t") for line in lines)]


def write_vectors(embedders: list[str]) -> None:
    """Write the examples' vectors of each embedder, 8 bits a component."""
    found = {}
    for name in embedders:
        embedder = registry.make_embedder(EmbedOptions(embedder=name))
        if embedder is None:
            continue
        rows = [row for row in kinds.examples() if kinds._reads(embedder, row.language)]
        vectors = np.concatenate([embedder.embed([row.text]) for row in rows])
        found[make_id(embedder.name)] = np.rint(127 * vectors / np.abs(vectors).max()).astype(np.int8)
    np.savez_compressed(VECTORS, **found)
    print(f"{VECTORS}: {VECTORS.stat().st_size:,} bytes")


def measure(name: str, folder: Path, asked_of: str, errors: bool) -> dict[str, Any]:
    """Return the share of a set that is right, by language and by kind, for an embedder."""
    options = IndexOptions(embed=EmbedOptions(embedder=name))
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    wrong: defaultdict[str, Counter[str]] = defaultdict(Counter)
    with Index.build([folder], folder.parent / f"{name}-{asked_of}.duckdb", options=options) as index:
        embedder = index.engine.embedder
        for kind, language, text in held_out(asked_of):
            if embedder is not None and embedder.languages and language not in embedder.languages:
                continue
            engine = Remembering(index.engine, me="Tomasz Okoye")
            mode = choose(text, engine).mode
            got = KIND_OF.get(mode, mode)
            for key in ("all", language, kind):
                asked[key] += 1
                right[key] += got == kind
            if got != kind:
                wrong[kind][got] += 1
                if errors:
                    print(f"{name}  {kind} taken for {got}: {text}")
    shares = {key: round(right[key] / asked[key], 4) for key in asked}
    return {"questions": asked["all"], "right": shares, "wrong": {k: dict(v) for k, v in wrong.items()}}


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--embedders", default="minilm,use,e5,none")
    made.add_argument("--sets", default="router,router-fresh")
    made.add_argument("--errors", action="store_true", help="list what is taken for something else")
    made.add_argument("--write-vectors", action="store_true")
    given = made.parse_args()
    embedders = given.embedders.split(",")
    if given.write_vectors:
        write_vectors(embedders)
        return
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes"
        copy_vault(notes)
        for name in embedders:
            for asked_of in given.sets.split(","):
                results[f"{name} {asked_of}"] = measure(name, notes, asked_of, given.errors)
    keys = ["all", "en", "de", "uk", "es", "zh", *kinds.KINDS]
    rows = [
        [
            name,
            found["questions"],
            *(f"{100 * found['right'][key]:.0f}" if key in found["right"] else "" for key in keys),
        ]
        for name, found in results.items()
    ]
    print(table(["embedder", "questions", *keys], rows))
    print(save("router", results), file=sys.stderr)


if __name__ == "__main__":
    main()
