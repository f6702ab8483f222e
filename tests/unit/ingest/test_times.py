"""Times and people: of frontmatter, records and file names, on documents, nodes and edges."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from clew import Filter, Index, IndexOptions
from clew.options import EmbedOptions
from clew.query.views import edge_views
from clew.types import EdgeView, Node

OPTIONS = IndexOptions(embed=EmbedOptions("none"))
RECORDS = [
    {
        "id": "a",
        "text": "The Blue Heron waits.",
        "date": "2026-02-03",
        "author": "Jane Doe",
        "tags": ["bird", "sea"],
    },
    {
        "id": "b",
        "text": "The Blue Heron flies.",
        "created_at": 1_700_000_000,
        "authors": [{"name": "Ким"}],
        "tags": "bird",
    },
    {"id": "c", "text": "The Blue Heron sleeps.", "author": "", "tags": None},
]


def day(*parts: int) -> int:
    return int(datetime(*parts, tzinfo=UTC).timestamp())  # type: ignore[misc,arg-type]


def build(folder: Path, notes: dict[str, str | bytes]) -> Index:
    folder.mkdir(exist_ok=True)
    for name, text in notes.items():
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return Index.build([folder], options=OPTIONS)


def edges(index: Index, kind: str) -> list[EdgeView]:
    reader = index.engine.reader
    rows = [one for one in reader.edge_rows(range(reader.count("edges"))) if one.kind == kind]
    return list(edge_views(reader, rows))


def every_node(index: Index) -> list[Node]:
    return index.engine.reader.nodes(range(index.engine.space.n_nodes))


def times(index: Index) -> dict[str, int | None]:
    return {one.key: one.created_at for one in index.engine.reader.documents()}


def test_a_note_has_the_first_time_that_is_told(tmp_path: Path) -> None:
    notes: dict[str, str | bytes] = {
        "2026-03-04.md": "---\ndate: 2026-01-02 15:04\n---\nText.\n",
        "2026-03-05.md": "---\nupdated: 2026-01-02\n---\nText.\n",
        "plain.md": "---\nmodified: 2026-01-02T10:00:00+02:00\n---\nText.\n",
        "none.md": "Text.\n",
        "bad.md": "---\ndate: 03/04/2026\n---\nText.\n",
        "wide.md": "---\ncreated: 2026-05-06\n---\nTêxt.\n".encode("utf-16"),
    }
    with build(tmp_path / "n", notes) as index:
        assert times(index) == {
            "2026-03-04.md": day(2026, 1, 2, 15, 4),
            "2026-03-05.md": day(2026, 3, 5),
            "plain.md": day(2026, 1, 2, 8),
            "none.md": None,
            "bad.md": None,
            "wide.md": day(2026, 5, 6),
        }
        assert index.result is not None
        [problem] = [one for one in index.result.problems if one.key == "bad.md"]
        assert not problem.skipped
        assert "date" in problem.reason


def test_what_is_named_first_when_it_was_named_first(tmp_path: Path) -> None:
    notes: dict[str, str | bytes] = {
        "old.md": "---\ndate: 2020-01-01\n---\nThe Blue Heron waits for [[Pier]]. #bird\n",
        "new.md": "---\ndate: 2024-01-01\n---\nThe Blue Heron flies to [[Pier]]. #bird #sky\n",
        "none.md": "The Blue Heron sleeps at [[Pier]]. #night\n",
        "Pier.md": "---\ndate: 2026-01-01\n---\n# Pier\n",
    }
    with build(tmp_path / "n", notes) as index:
        found = {node.name: node.created_at for node in every_node(index)}
        assert found["bird"] == day(2020, 1, 1)
        assert found["sky"] == day(2024, 1, 1)
        assert found["night"] is None
        assert found["Pier"] == day(2026, 1, 1)  # its own, though it was linked before
        stated = {(v.source.name, v.target.name): v.edge.created_at for v in edges(index, "references")}
        assert stated == {
            ("old", "Pier"): day(2020, 1, 1),
            ("new", "Pier"): day(2024, 1, 1),
            ("none", "Pier"): None,
        }


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "latin-1"])
def test_authors_and_tags_of_frontmatter_have_their_place_there(tmp_path: Path, encoding: str) -> None:
    front = "---\ntitle: Über Öl\nauthors:\n  - 'Jürgen Weiß'\n  - [[Émile]]\ntags: [öl]\n---\n"
    text = front + "Ein Text über Öl.\n"
    with build(tmp_path / "n", {"n.md": text.encode(encoding)}) as index:
        data = (tmp_path / "n" / "n.md").read_bytes()
        encoding = index.engine.reader.documents([0])[0].encoding
        cited = [
            one
            for view in [*edges(index, "authored_by"), *edges(index, "tagged_with")]
            for one in view.evidence
        ]
        assert sorted((one.quote, one.start_line) for one in cited) == [
            ("Jürgen Weiß", 4),
            ("Émile", 5),
            ("öl", 6),
        ]
        for one in cited:
            assert data[one.start : one.end].decode(encoding) == one.quote
            assert one.chunk_id == ""
        assert index.doctor().whole


def test_fields_of_records_give_times_people_and_tags(tmp_path: Path) -> None:
    lines = "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in RECORDS)
    notes: dict[str, str | bytes] = {"c.jsonl": lines, "n.md": "---\nauthor: jane doe\n---\nText. #Bird\n"}
    with build(tmp_path / "n", notes) as index:
        assert [one.kind for one in index.engine.reader.documents()] == ["record"] * 3 + ["note"]
        assert times(index) == {
            "c.jsonl#a": day(2026, 2, 3),
            "c.jsonl#b": 1_700_000_000,
            "c.jsonl#c": None,
            "n.md": None,
        }
        wrote = {(v.source.name, v.target.name): v for v in edges(index, "authored_by")}
        assert {target for _, target in wrote} == {"Jane Doe", "Ким"}  # one Jane Doe, of a record and a note
        assert len(wrote) == 3
        [place] = wrote["c.jsonl#b", "Ким"].evidence
        assert (place.key, place.start_line, place.start, place.end, place.quote) == (
            "c.jsonl#b",
            2,
            0,
            0,
            "",
        )
        assert len(edges(index, "tagged_with")) == 4
        assert {hit.document.key for hit in index.search("heron", where=Filter(tags=("bird",)))} == {
            "c.jsonl#a",
            "c.jsonl#b",
        }
        assert all(mention.end > mention.start for mention in index.engine.reader.mentions())
        assert index.doctor().whole
