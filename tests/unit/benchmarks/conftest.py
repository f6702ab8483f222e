"""The benchmarks' modules, and small linked notes to measure on."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from clew import Index, IndexOptions
from clew.options import EmbedOptions

sys.path.insert(0, str(Path(__file__).parents[3] / "benchmarks"))

PLACES = ("Orlath", "Vennick", "Tarsk", "Melhain", "Bruvik", "Quessa", "Donmar", "Ystrel")
PEOPLE = ("Ina Kolvar", "Per Asmund", "Lute Farrow", "Oda Brekke", "Sim Tolland", "Ruth Ackley")


def notes() -> dict[str, str]:
    """Return notes of towns and of people who were born in one and keep something in another."""
    found = {}
    for at, town in enumerate(PLACES):
        neighbour = PLACES[(at + 1) % len(PLACES)]
        found[town] = f"{town} is a town on the river Nolme. Its market is older than that of {neighbour}."
    for at, who in enumerate(PEOPLE):
        town, other = PLACES[at], PLACES[-1 - at]
        found[who] = f"{who} was born in {town}. Later {who.split()[1]} kept a mill near {other}."
    return found


def build(folder: Path, embedder: str) -> Index:
    (folder / "notes").mkdir()
    for title, text in notes().items():
        (folder / "notes" / f"{title}.md").write_text(f"# {title}\n\n{text}\n", "utf-8")
    options = IndexOptions(embed=EmbedOptions(embedder=embedder))
    return Index.build([folder / "notes"], folder / "index.duckdb", options=options)


@pytest.fixture(scope="session")
def engine(tmp_path_factory):
    """An engine with vectors."""
    with build(tmp_path_factory.mktemp("bench"), "minilm") as index:
        yield index.engine


@pytest.fixture(scope="session")
def lexical(tmp_path_factory):
    """An engine without vectors."""
    with build(tmp_path_factory.mktemp("bench-none"), "none") as index:
        yield index.engine


@pytest.fixture(scope="session")
def questions():
    from sets import Question

    asked = {
        "On which river is the town where Ina Kolvar was born?": ("Ina Kolvar", "Orlath"),
        "Which market is younger than that of the birthplace of Per Asmund?": ("Per Asmund", "Vennick"),
        "Where did Lute Farrow keep a mill?": ("Lute Farrow",),
    }
    return [
        Question(str(at), text, frozenset(f"{title}.md" for title in gold))
        for at, (text, gold) in enumerate(asked.items())
    ]
