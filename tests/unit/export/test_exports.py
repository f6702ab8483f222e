"""Exports: read back by other libraries, the same each time, whatever the notes hold."""

from __future__ import annotations

import csv
import json
import os
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import networkx
import numpy as np
import pytest

from clew import Index
from clew.errors import OptionError, PublishError
from clew.export.changes import APPLY
from clew.export.graph_files import csv_cell, xml_text
from clew.export.mobile import packed
from clew.options import EmbedOptions, IndexOptions

FRONT = "---\ntags: [garden, '=tag']\nauthor: Ada Lovelace\ndate: 2024-05-01\n---\n"
NOTES = {
    "plain.md": f"{FRONT}# Plain\n\nSee [[Formula]].\n",
    "formula.md": '# =HYPERLINK("http://x","y")\n\nSee [[Plain]] and <b>&amp;</b>, "quotes", a, comma.\n',
    "control.md": "# Bell \x07 and \x1b[31m and \x00 end ]]>\n\nSee [[Plain]]. Ada wrote Плав 绿茶 🍵.\r\n",
    "-minus.md": "# +1 minus\n\nLinks to [[Plain]], [[Bell]].\n\nA second passage of it.\n",
}


def make(folder, embedder):
    (folder / "notes").mkdir()
    for key, text in NOTES.items():
        (folder / "notes" / key).write_text(text, encoding="utf-8", newline="")
    options = IndexOptions(embed=EmbedOptions(embedder=embedder))
    return Index.build([folder / "notes"], folder / "index.duckdb", options=options)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    with make(tmp_path_factory.mktemp("hostile"), "minilm") as index:
        yield index


@pytest.fixture(scope="module")
def known(hostile):
    """The nodes by id and the edges, as the index has them."""
    reader = hostile.engine.reader
    nodes = reader.nodes(range(reader.count("nodes")))
    edges = reader.edge_rows(range(reader.count("edges")))
    return nodes, edges


@pytest.mark.parametrize("form", ["sqlite", "graphml", "json", "csv"])
def test_the_same_index_gives_the_same_bytes_and_may_be_written_again(hostile, tmp_path, form):
    written = []
    for name in ("one", "two", "one"):
        found = hostile.export(form, tmp_path / name)
        written.append([open(file, "rb").read() for file in found.files])  # noqa: SIM115, PTH123
        assert [len(data) for data in written[-1]] == list(found.files.values())
    assert written[0] == written[1] == written[2]
    assert sorted(os.listdir(tmp_path)) == ["one", "two"]  # noqa: PTH208  nothing is left beside them


def test_sqlite_has_the_schema_and_all_of_the_graph(hostile, known, tmp_path):
    hostile.export("sqlite", tmp_path / "graph.db")
    nodes, edges = known
    with closing(sqlite3.connect(tmp_path / "graph.db")) as db:
        columns = {
            table: [row[1] for row in db.execute(f"PRAGMA table_info({table})")]
            for table in ("graph_nodes", "graph_edges", "communities", "community_members")
        }
        assert columns["graph_nodes"] == [
            "id", "node_type", "label", "content", "embedding", "created_at", "metadata",
        ]  # fmt: skip
        assert columns["graph_edges"] == ["source_id", "target_id", "edge_type", "weight", "created_at"]
        keys = [row[1] for row in db.execute("PRAGMA table_info(graph_edges)") if row[5]]
        assert keys == ["source_id", "target_id", "edge_type"]
        indexed = {
            (table, tuple(row[2] for row in db.execute(f"PRAGMA index_info({name})")))
            for name, table in db.execute("SELECT name, tbl_name FROM sqlite_master WHERE type = 'index'")
        }
        assert ("graph_nodes", ("node_type",)) in indexed
        assert {("graph_edges", ("source_id",)), ("graph_edges", ("target_id",))} <= indexed
        found = {
            row[0]: row[1:] for row in db.execute("SELECT id, node_type, label, metadata FROM graph_nodes")
        }
        assert found.keys() == {node.id for node in nodes}
        for node in nodes:
            assert json.loads(found[node.id][2])["degree"] == node.degree
        ids = [node.id for node in nodes]
        expected = {(ids[e.source], ids[e.target], e.kind) for e in edges}
        assert set(db.execute("SELECT source_id, target_id, edge_type FROM graph_edges")) == expected
        members = db.execute("SELECT count(*) FROM community_members JOIN communities ON id = community_id")
        assert members.fetchone()[0] > 0
        assert db.execute("SELECT count(*) FROM communities WHERE title != '' AND summary != ''").fetchone()[
            0
        ]
        orphans = "SELECT count(*) FROM graph_edges WHERE source_id NOT IN (SELECT id FROM graph_nodes)"
        assert db.execute(orphans).fetchone() == (0,)
        row = db.execute("SELECT content, created_at FROM graph_nodes WHERE label = 'Plain'").fetchone()
        assert "See [[Formula]]" in row[0]
        assert row[1] == 1714521600
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def rows_of(path):
    """Return every table of an export, as sets of rows."""
    tables = ("graph_nodes", "graph_edges", "communities", "community_members", "export_info")
    with closing(sqlite3.connect(path)) as db:
        return {table: set(db.execute(f"SELECT * FROM {table}")) for table in tables}


@pytest.fixture(scope="module")
def updated(tmp_path_factory):
    """A folder with two exports, before and after edits, and what differs."""
    folder = tmp_path_factory.mktemp("updated")
    with make(folder, "none") as index:
        index.export("sqlite", folder / "old.db")
    (folder / "notes" / "plain.md").unlink()
    (folder / "notes" / "new.md").write_text("# Newer\n\nIt leads to [[Formula]]. #fresh\n", "utf-8")
    options = IndexOptions(embed=EmbedOptions(embedder="none"))
    with Index.build([folder / "notes"], folder / "index.duckdb", options=options) as index:
        index.export("sqlite", folder / "new.db")
        index.export("sqlite", folder / "change.db", since=folder / "old.db")
        index.export("sqlite", folder / "nothing.db", since=folder / "new.db")
        yield folder, index


def test_an_app_that_has_an_export_takes_over_what_changed(updated, tmp_path):
    folder, _ = updated
    app = tmp_path / "app.db"
    shutil.copy(folder / "old.db", app)
    with closing(sqlite3.connect(app)) as db:
        db.execute("CREATE TABLE of_the_app (note TEXT)")
        db.execute("ATTACH ? AS change", (str(folder / "change.db"),))
        (since,) = db.execute("SELECT value FROM change.export_info WHERE key = 'since'").fetchone()
        assert (since,) == db.execute("SELECT value FROM export_info WHERE key = 'generation'").fetchone()
        db.executescript(f"BEGIN;\n{APPLY}\nCOMMIT;")
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert rows_of(app) == rows_of(folder / "new.db")
    assert rows_of(app)["graph_nodes"] != rows_of(folder / "old.db")["graph_nodes"]


def test_what_only_numbers_differ_in_comes_without_its_text(updated):
    folder, _ = updated
    with closing(sqlite3.connect(folder / "change.db")) as db:
        labels = {label for (label,) in db.execute("SELECT label FROM graph_nodes WHERE content IS NOT NULL")}
        assert labels == {"Newer"}
        assert db.execute("SELECT count(*) FROM node_metadata").fetchone()[0]
        assert db.execute("SELECT count(*) FROM gone_nodes").fetchone()[0]
        assert db.execute("SELECT count(*) FROM gone_edges").fetchone()[0]
    nothing = rows_of(folder / "nothing.db")
    assert [len(rows) for table, rows in nothing.items() if table != "export_info"] == [0, 0, 0, 0]


def test_an_update_is_made_from_a_whole_export_alone(updated, tmp_path):
    folder, index = updated
    (tmp_path / "other.db").write_bytes(b"SQLite format 3\x00")
    (tmp_path / "cut.db").write_bytes((folder / "old.db").read_bytes()[:5000])
    for earlier in (tmp_path / "other.db", tmp_path / "cut.db", folder / "change.db", tmp_path / "none"):
        with pytest.raises(OptionError, match="--since-export"):
            index.export("sqlite", tmp_path / "out.db", since=earlier)
    with pytest.raises(OptionError, match="sqlite"):
        index.export("json", tmp_path / "out.json", since=folder / "old.db")
    assert not (tmp_path / "out.db").exists()
    assert index.export("sqlite", tmp_path / "deeper" / "u.db", since=folder / "old.db").nodes


def test_json_has_the_places_that_state_an_edge(hostile, tmp_path):
    hostile.export("json", tmp_path / "graph.json")
    found = json.loads((tmp_path / "graph.json").read_text("utf-8"))
    name = {node["id"]: node["name"] for node in found["nodes"]}
    texts = {key: text.encode() for key, text in NOTES.items()}
    kinds = set()
    for edge in found["edges"]:
        for place in edge["evidence"]:
            kinds.add(edge["kind"])
            said = texts[place["key"]][place["start"] : place["end"]].decode()
            assert said
            if edge["kind"] == "authored_by":
                assert (said, place["quote"], place["line"]) == ("Ada Lovelace", "Ada Lovelace", 3)
            if edge["kind"] == "references":
                assert name[edge["target"]].lower()[:4] in said.lower() or "[[" in said
    assert {"references", "authored_by", "tagged_with"} <= kinds


def test_vectors_of_documents_keep_their_angles(hostile, tmp_path):
    vectors = {}
    for form in ("float32", "int8", "none"):
        hostile.export("sqlite", tmp_path / form, vectors=form)
        with closing(sqlite3.connect(tmp_path / form)) as db:
            info = dict(db.execute("SELECT key, value FROM export_info"))
            rows = db.execute(
                "SELECT id, embedding, metadata FROM graph_nodes WHERE embedding IS NOT NULL ORDER BY id"
            )
            kind = {"float32": "<f4", "int8": np.int8}.get(form, "<f4")
            vectors[form] = [
                np.frombuffer(blob, kind).astype(np.float32) * json.loads(facts).get("embedding_scale", 1.0)
                for _, blob, facts in rows
            ]
        assert info["embedding"] == form
        assert info["generation"] == hostile.engine.reader.generation
    assert not vectors["none"]
    assert len(vectors["float32"]) == len(NOTES)
    for exact, small in zip(vectors["float32"], vectors["int8"], strict=True):
        assert np.linalg.norm(exact) == pytest.approx(1.0, abs=1e-3)
        assert float(exact @ small / np.linalg.norm(small)) > 0.9995
        assert np.abs(exact - small).max() < 0.005


def test_a_vector_survives_packing():
    random = np.random.default_rng(1)
    for _ in range(50):
        vector = random.standard_normal(384).astype(np.float32)
        vector /= np.linalg.norm(vector)
        blob, scale = packed(vector, "int8")
        back = np.frombuffer(blob, np.int8) * scale
        assert np.abs(back - vector).max() <= scale * 0.51
        assert np.array_equal(np.frombuffer(packed(vector, "float32")[0], "<f4"), vector)


def test_graphml_is_read_by_networkx(hostile, known, tmp_path):
    hostile.export("graphml", tmp_path / "graph.graphml")
    nodes, edges = known
    graph = networkx.read_graphml(tmp_path / "graph.graphml", force_multigraph=True)
    assert set(graph.nodes) == {node.id for node in nodes}
    ids = [node.id for node in nodes]
    found = sorted((a, b, data["kind"]) for a, b, data in graph.edges(data=True))
    assert found == sorted((ids[e.source], ids[e.target], e.kind) for e in edges)
    for node in nodes:
        assert graph.nodes[node.id]["degree"] == node.degree
        assert graph.nodes[node.id]["name"] == xml_plain(node.name)


def xml_plain(text):
    return "".join(c if c >= " " or c in "\t\n\r" else "\ufffd" for c in text)


def test_json_is_what_the_documentation_says(hostile, known, tmp_path):
    hostile.export("json", tmp_path / "graph.json")
    found = json.loads((tmp_path / "graph.json").read_text("utf-8"))
    nodes, edges = known
    assert (found["format"], found["version"]) == ("clew graph", 1)
    assert [node["id"] for node in found["nodes"]] == [node.id for node in nodes]
    assert [edge["id"] for edge in found["edges"]] == [edge.id for edge in edges]
    listed = {node["id"] for node in found["nodes"]}
    assert {member for one in found["communities"] for member in one["members"]} <= listed


def test_csv_is_read_back_and_is_no_formula(hostile, known, tmp_path):
    hostile.export("csv", tmp_path / "tables")
    nodes, edges = known
    with (tmp_path / "tables" / "nodes.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [node.id for node in nodes]
    risky = [row for row in rows if row["name"].startswith("'")]
    assert any("HYPERLINK" in row["name"] for row in risky)
    for row in rows:
        assert not row["name"].startswith(("=", "+", "-", "@"))
        assert not row["key"].startswith(("=", "+", "-", "@"))
    with (tmp_path / "tables" / "edges.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(edges)
    assert b"\r\n" in (tmp_path / "tables" / "nodes.csv").read_bytes()


def test_cells_and_elements_hold_any_text():
    for start in "=+-@\t\r":
        assert csv_cell(f"{start}1+1") == f"'{start}1+1"
    assert (csv_cell(-5), csv_cell(0.5), csv_cell(None), csv_cell("a-b")) == (-5, 0.5, "", "a-b")
    from xml.etree import ElementTree

    every = "".join(map(chr, (*range(0x300), 0xD7FF, 0xE000, 0xFFFD, 0xFFFE, 0xFFFF, 0x10000, 0x10FFFF)))
    text = ElementTree.fromstring(f"<a>{xml_text(every)}</a>").text
    assert len(text) == len(every)
    assert all(a == b or b == "\ufffd" for a, b in zip(every, text, strict=True))


def test_a_file_of_another_kind_is_spared(hostile, tmp_path):
    diary = tmp_path / "diary.md"
    for form in ("sqlite", "graphml", "json"):
        diary.write_text("dear diary", encoding="utf-8")
        with pytest.raises(PublishError, match="isn't"):
            hostile.export(form, diary)
        assert diary.read_text(encoding="utf-8") == "dear diary"
        with pytest.raises(PublishError, match="folder"):
            hostile.export(form, tmp_path)
    other = tmp_path / "other.db"
    with closing(sqlite3.connect(other)) as db:
        db.execute("CREATE TABLE t (x)")
    before = other.read_bytes()
    with pytest.raises(PublishError):
        hostile.export("sqlite", other)
    assert other.read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["diary.md", "other.db"]


def test_what_is_no_format_is_refused_with_the_nearest(hostile, tmp_path):
    with pytest.raises(OptionError, match="graphml"):
        hostile.export("graphlm", tmp_path / "x")
    with pytest.raises(OptionError, match="int8"):
        hostile.export("sqlite", tmp_path / "x", vectors="int4")
    with pytest.raises(OptionError, match="mobile"):
        hostile.export("sqlite", tmp_path / "x", profile="mobil")


def test_an_index_without_vectors_and_an_empty_one_are_exported(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "empty.md").write_text("", encoding="utf-8")
    options = IndexOptions(embed=EmbedOptions(embedder="none"))
    with Index.build([tmp_path / "notes"], tmp_path / "index.duckdb", options=options) as index:
        for form in ("sqlite", "graphml", "json", "csv"):
            assert index.export(form, tmp_path / form).files
    assert networkx.read_graphml(tmp_path / "graphml") is not None


def test_the_documentation_shows_what_an_app_runs():
    docs = Path(__file__).parents[3] / "docs" / "structure.md"
    assert APPLY in docs.read_text("utf-8")
