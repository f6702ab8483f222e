"""After a deletion nothing is left that only the deleted text supported; the rest stays with its evidence."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from letters import plugged_in
from whole_index import Rows, array, holds, read_whole

from clew import Index, IndexOptions
from clew.options import EmbedOptions

OPTIONS = IndexOptions(embed=EmbedOptions("letters:32"))
# Every file has words of its own (OWN) wherever words can be: name, folder, frontmatter, heading, tag, alias,
# link, names in text, code. What they share: the tide gauge and the harbour office, and a link between them.
NOTES = {
    "Quibbleton/Zephyrine.md": """---
aliases: [Vexillum Prime]
tags: [wyvernish]
author: Odalric Fennimore
cellar: Plumbago
---
# Zephyrine

Odalric Fennimore of the Harbour Office repaired the Tide Gauge with a Gorblimey Spanner. #brouhaha
The Gorblimey Spanner belongs to the [[Tide Gauge]] and to [[Nowhere Known]]. See `kerfuffle_code`.

## Xanthous Days

In the Xanthous Days the Gorblimey Spanner hung beside the Tide Gauge in the Harbour Office.
""",
    "Tide Gauge.md": """# Tide Gauge

The Tide Gauge stands by the [[Harbour Office]] and counts the waves. #sea
Ada Lindqvist reads the Tide Gauge every morning before the Harbour Office opens.
""",
    "Harbour Office.md": """---
tags: [sea]
---
# Harbour Office

The Harbour Office keeps the records of the [[Tide Gauge]]. Bergamot tea is served at nine.
""",
    "Чорний Маяк.md": "# Чорний Маяк\n\nЛеся Бойко доглядає Чорний Маяк щовечора. #гагатовий\n",
    "大桥.md": "# 黄河大桥\n\n李明在黄河大桥旁边种了一棵榕树。\n",
    "log.jsonl": "\n".join(
        json.dumps(record)
        for record in (
            {"id": "a", "title": "Logbook", "text": "Ada Lindqvist wrote of the Tide Gauge in May."},
            {
                "id": "b",
                "title": "Snollygoster",
                "text": "The Tide Gauge was painted Gamboge.",
                "by": "Ulf Trask",
            },
        )
    ),
}
OWN = {
    "Quibbleton/Zephyrine.md": (
        "en",
        "Quibbleton Zephyrine Vexillum wyvernish Odalric Fennimore Plumbago Gorblimey Spanner brouhaha "
        "kerfuffle Xanthous Nowhere hung repaired",
    ),
    "Tide Gauge.md": ("en", "waves morning stands opens"),
    "Harbour Office.md": ("en", "Bergamot records nine"),
    "Чорний Маяк.md": ("uk", "Чорний Маяк Леся Бойко доглядає гагатовий"),
    "大桥.md": ("zh", "黄河 大桥 李明 榕树 棵"),
    "log.jsonl": ("en", "log.jsonl Logbook wrote May Snollygoster Gamboge Trask painted"),
}


@pytest.fixture(scope="module", autouse=True)
def _letters():
    with plugged_in():
        yield


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> tuple[Path, dict[str, Rows]]:
    """Return a folder with the notes and their index, and what that holds."""
    home = tmp_path_factory.mktemp("made")
    for key, text in NOTES.items():
        path = home / "notes" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    index(home)
    return home, read_whole(home / "i.duckdb")


@pytest.fixture
def home(made, tmp_path) -> Path:
    """Return a copy of that folder."""
    shutil.copytree(made[0], tmp_path / "copy")
    return tmp_path / "copy"


def index(home: Path) -> dict[str, Rows]:
    with Index.build([home / "notes"], home / "i.duckdb", options=OPTIONS) as built:
        assert built.doctor().whole  # every passage and mention is where it says, byte for byte
    return read_whole(home / "i.duckdb")


@pytest.mark.parametrize("key", OWN)
def test_a_deleted_document_leaves_no_trace(made, home, key):
    language, words = OWN[key]
    for word in words.split():
        assert holds(made[1], word, language), f"{word} isn't in the index that it is to be deleted from"
    (home / "notes" / key).unlink()
    after = index(home)
    for word in words.split():
        assert not holds(after, word, language), word
    assert key not in repr(after)
    raw = (home / "i.duckdb").read_bytes()
    assert not [word for word in words.split() if word.encode() in raw]


def test_the_deleted_document_was_in_every_kind_of_place(made):
    """Were it not, the test above would pass for want of anything to leave behind."""
    whole = made[1]
    words = OWN["Quibbleton/Zephyrine.md"][1].split()
    places = {told.partition(":")[0] for word in words for told in holds(whole, word, "en")}
    graph = {"nodes", "names", "mentions", "edge_evidence"}  # evidence in frontmatter is quoted
    texts = {"documents", "sections", "chunks", *graph, "reports", "report_findings"}
    assert places == {*texts, "arrays"}


def test_an_edit_leaves_no_trace_of_what_was_edited_away(home):
    path = home / "notes/Quibbleton/Zephyrine.md"
    head, _, tail = path.read_text().partition("## Xanthous Days")
    assert "Xanthous" in tail
    path.write_text(head)
    after = index(home)
    assert not holds(after, "Xanthous", "en")
    assert not holds(after, "hung", "en")
    assert holds(after, "Gorblimey", "en")


def test_a_removed_record_leaves_no_trace(home):
    path = home / "notes/log.jsonl"
    path.write_text(path.read_text().splitlines()[0])
    after = index(home)
    for word in ("Snollygoster", "Gamboge", "Trask", "painted"):
        assert not holds(after, word, "en"), word
    assert holds(after, "Logbook", "en")


def test_what_others_support_stays_with_their_evidence(made, home):
    before, gone = made[1], "Quibbleton/Zephyrine.md"
    (home / "notes" / gone).unlink()
    after = index(home)
    for kind, one, other in (
        ("co_occurs_with", "Harbour Office", "Tide Gauge"),
        ("tagged_with", "Tide Gauge", "sea"),
        ("references", "Tide Gauge", "Harbour Office"),
    ):
        stated, left = evidence(before, kind, one, other), evidence(after, kind, one, other)
        assert stated, (kind, one, other)
        assert left
        assert gone not in {key for key, _, _ in left}
        assert left >= {place for place in stated if place[0] != gone}  # more where a pair keeps a few places
    assert gone in {key for key, _, _ in evidence(before, "co_occurs_with", "Harbour Office", "Tide Gauge")}
    for name in ("Tide Gauge", "Harbour Office", "Ada Lindqvist", "黄河大桥"):
        assert mentions(after)[name] == {place for place in mentions(before)[name] if place[0] != gone}


def test_the_vectors_that_stay_are_those_of_the_passages_that_stay(made, home):
    (home / "notes/Quibbleton/Zephyrine.md").unlink()
    before, after = vectors(made[1]), vectors(index(home))
    assert after
    assert after.items() < before.items()
    gone = {vector for chunk, found in before.items() if chunk not in after for vector in found}
    assert gone
    assert not gone & {vector for found in after.values() for vector in found}


# --- reading the tables --------------------------------------------------------------------------


def places(whole: dict[str, Rows]) -> dict[int, str]:
    """Return the key of each chunk's document."""
    keys = {row[0]: row[2] for row in whole["documents"]}
    return {row[0]: keys[row[2]] for row in whole["chunks"]}


def evidence(whole: dict[str, Rows], kind: str, one: str, other: str) -> set[tuple[str, int, int]]:
    """Return the places (document, start, end) that state an edge of a kind between two names."""
    names = {row[0]: row[3] for row in whole["nodes"]}
    edges = {row[0] for row in whole["edges"] if (row[2], names[row[3]], names[row[4]]) == (kind, one, other)}
    keys = {row[0]: row[2] for row in whole["documents"]}
    return {(keys[doc], a, b) for edge, doc, _, a, b, *_ in whole["edge_evidence"] if edge in edges}


def mentions(whole: dict[str, Rows]) -> dict[str, set[tuple[str, int, int]]]:
    """Return the places at which each name is mentioned."""
    names, key = {row[0]: row[3] for row in whole["nodes"]}, places(whole)
    found: dict[str, set[tuple[str, int, int]]] = {name: set() for name in names.values()}
    for node, chunk, start, end, _ in whole["mentions"]:
        found[names[node]].add((key[chunk], start, end))
    return found


def vectors(whole: dict[str, Rows]) -> dict[str, tuple[bytes, ...]]:
    """Return each chunk's vectors by the chunk's id."""
    ids = {row[0]: row[1] for row in whole["chunks"]}
    found: dict[str, tuple[bytes, ...]] = {}
    for chunk, vector in zip(
        array(whole, "dense.chunk").tolist(), array(whole, "dense.vectors"), strict=True
    ):
        found[ids[chunk]] = (*found.get(ids[chunk], ()), vector.tobytes())
    return found
