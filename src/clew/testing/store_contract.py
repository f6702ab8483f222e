"""What every Store must do, as a pytest class.

A store outside this package is tested by::

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self):
            return my_package.make()
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from clew.errors import BadIndex, IndexFileError, NoIndex, PublishError
from clew.ports import Reader, Store
from clew.testing.factories import make_artifact
from clew.types import UNDATED, Artifact, Edge, Mention

# Texts that stores have stumbled over: NUL, a lone surrogate, right-to-left, quotes, escapes, markup.
HARD_TEXTS = (
    "",
    "a\0b",
    "\0",
    "lone \ud800 surrogate",
    "\udcff",
    "\ufdd0 internal \ufdd0\ufdd0",
    "שלום עולם",
    "مرحبا \u202eabc",
    "'; DROP TABLE documents; --",
    'quote " and \\ back`slash',
    "{title} %s <|endoftext|> ## <SEP>",
    "日本語 🧶 👩‍👩‍👧",
    "line\nfeed\r\n\ttab",
    "e\u0301 é",
    "\U0010d800 \U0010ffff \ufffd",
)


def with_column(artifact: Artifact, table: str, **columns: Any) -> Artifact:
    """Return an artifact with some columns of a table replaced."""
    tables = {**artifact.tables, table: {**artifact.tables[table], **columns}}
    return replace(artifact, tables=tables)


class StoreContract:
    """Tests of publishing and reading. Subclasses give a ``store`` fixture."""

    @pytest.fixture
    def store(self) -> Store:
        raise NotImplementedError("give the store that is to be tested")

    @pytest.fixture
    def path(self, tmp_path: Path) -> Path:
        return tmp_path / "notes" / ".clew" / "index.duckdb"

    def publish(self, store: Store, path: Path, artifact: Artifact) -> Reader:
        store.publish(path, artifact)
        return store.open(path)

    # --- publishing ---

    def test_rows_come_back(self, store: Store, path: Path) -> None:
        artifact = make_artifact(25)
        reader = self.publish(store, path, artifact)
        for name, table in artifact.tables.items():
            assert reader.count(name) == len(next(iter(table.values())))
        chunks = artifact.tables["chunks"]
        got = reader.chunks([24, 0, 3, 3])
        assert [chunk.chunk for chunk in got] == [24, 0, 3, 3]
        assert [chunk.text for chunk in got] == [chunks["text"][i] for i in (24, 0, 3, 3)]
        assert got[0].heading_path == ("Heading",)
        assert [d.key for d in reader.documents()] == list(artifact.tables["documents"]["key"])
        contents = zip(
            artifact.tables["documents"]["key"], artifact.tables["documents"]["content_hash"], strict=True
        )
        assert list(reader.contents().items()) == list(contents)
        assert reader.documents([1])[0].metadata == {"tags": ["a", "b"]}
        assert [chunk.chunk for chunk in reader.chunks_of(1)] == list(range(10, 20))
        times = list(artifact.tables["documents"]["created_at"])
        assert [(one.kind, one.created_at) for one in reader.documents()] == [("note", at) for at in times]
        reader.close()

    def test_graph_comes_back(self, store: Store, path: Path) -> None:
        artifact = make_artifact(25)
        reader = self.publish(store, path, artifact)
        given = artifact.tables["edges"]
        rows = list(zip(*(list(given[name]) for name in given), strict=True))
        everything = [
            Edge(int(e), i, k, int(s), int(t), float(w), p, None if at == UNDATED else int(at))
            for e, i, k, s, t, w, p, at in rows
        ]
        assert {None, everything[0].created_at} < {edge.created_at for edge in everything}
        node = int(given["source"][0])
        mine = [edge for edge in everything if node in (edge.source, edge.target)]
        mine.sort(key=lambda edge: (-edge.weight, edge.edge))
        assert reader.edges(node=node) == mine
        assert reader.edges(node=node, limit=1) == mine[:1]
        kinds = ("references",)
        assert reader.edges(node=node, kinds=kinds) == [edge for edge in mine if edge.kind in kinds]
        assert reader.edge_rows([3, 1]) == [everything[3], everything[1]]
        assert {edge: [e.edge for e in found] for edge, found in reader.evidence([2, 0]).items()} == {
            2: [2],
            0: [0],
        }
        chunk = int(artifact.tables["edge_evidence"]["chunk"][2])
        [place] = reader.evidence([2])[2]
        assert (place.chunk, place.doc, place.line, place.quote) == (chunk, chunk // 10, 0, "")
        node_times = [None if at == UNDATED else at for at in artifact.tables["nodes"]["created_at"]]
        assert [one.created_at for one in reader.nodes(range(12))] == node_times
        assert {one.type for one in reader.nodes(range(12))} == {"", "place"}
        assert sum(one.pagerank for one in reader.nodes(range(12))) == pytest.approx(1)
        assert reader.evidence([]) == {}
        assert reader.evidence_outside() == []
        assert reader.evidence([1], limit=0) == {1: []}
        assert [n.name for n in reader.nodes([2, 1])] == ["Entity 000002", "Entity 000001"]
        assert [n.node for n in reader.find_nodes("entity000004")] == [4]
        assert reader.find_nodes("nothing") == []
        assert reader.names_of(4) == ["E. 000004", "Entity 000004"]
        reader.close()

    def test_mentions_come_back(self, store: Store, path: Path) -> None:
        artifact = make_artifact(25)
        reader = self.publish(store, path, artifact)
        given = artifact.tables["mentions"]
        columns = [list(given[name]) for name in ("node", "chunk", "start_byte", "end_byte", "surface")]
        rows = [Mention(int(n), int(c), int(a), int(b), s) for n, c, a, b, s in zip(*columns, strict=True)]
        chunk, node = rows[0].chunk, rows[0].node
        assert reader.mentions(chunk=chunk) == [m for m in rows if m.chunk == chunk]
        assert reader.mentions(node=node) == [m for m in rows if m.node == node]
        both = [m for m in rows if (m.node, m.chunk) == (node, chunk)]
        assert reader.mentions(node=node, chunk=chunk) == both
        assert reader.mentions(limit=4) == rows[:4]
        few = range(chunk, chunk + 3)
        assert reader.mentions_within(few) == [m for m in rows if m.chunk in few]
        reader.close()

    def test_communities_come_back(self, store: Store, path: Path) -> None:
        reader = self.publish(store, path, make_artifact(25))
        assert [c.community for c in reader.communities()] == [0, 1, 2]
        assert [c.parent for c in reader.communities(level=1)] == [0]
        assert reader.members(1) == [1, 3, 5, 7, 9, 11]
        assert reader.belonging([11, 0, 3], [1]) == [(1, 3), (1, 11)]
        assert reader.belonging([], [1]) == reader.belonging([3], []) == []
        reports = reader.reports([2, 0])
        assert [report.community for report in reports] == [2, 0]
        assert [len(report.findings) for report in reports] == [1, 1]
        assert reports[1].members == (0,)
        assert reader.reports([]) == []
        reader.close()

    def test_arrays_come_back_read_only(self, store: Store, path: Path) -> None:
        kinds = (np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64, np.bool_)
        arrays: dict[str, NDArray[Any]] = {
            f"a.{np.dtype(kind).name}": np.arange(6).reshape(2, 3).astype(kind) for kind in kinds
        }
        arrays |= {"empty": np.zeros((0, 7), np.float16), "large": np.arange(700_000, dtype=np.int32)}
        reader = self.publish(store, path, replace(make_artifact(3), arrays=arrays))
        for name, array in arrays.items():
            got = reader.array(name)
            assert (got.dtype, got.shape) == (array.dtype, array.shape)
            assert np.array_equal(got, array)
            assert got is reader.array(name)
            assert not got.flags.writeable
        assert reader.has_array("empty")
        assert not reader.has_array("none")
        with pytest.raises(BadIndex):
            reader.array("none")
        reader.close()

    def test_hard_texts_come_back(self, store: Store, path: Path) -> None:
        n = len(HARD_TEXTS)
        artifact = make_artifact(n, n_nodes=n)
        artifact = with_column(artifact, "chunks", text=list(HARD_TEXTS))
        artifact = with_column(artifact, "nodes", name=list(HARD_TEXTS))
        names = {"node": list(range(n)), "surface": list(HARD_TEXTS), "key": list(HARD_TEXTS)}
        artifact = with_column(artifact, "names", **names)
        reader = self.publish(store, path, artifact)
        assert tuple(chunk.text for chunk in reader.chunks(range(n))) == HARD_TEXTS
        assert tuple(node.name for node in reader.nodes(range(n))) == HARD_TEXTS
        for at, text in enumerate(HARD_TEXTS):
            assert [node.node for node in reader.find_nodes(text)] == [at]
            assert reader.names_of(at) == [text]
        reader.close()

    def test_an_empty_index(self, store: Store, path: Path) -> None:
        reader = self.publish(store, path, make_artifact(0, n_nodes=0))
        assert reader.documents() == []
        assert reader.chunks([]) == []
        assert reader.communities() == []
        assert reader.mentions() == []
        assert reader.count("edges") == 0
        assert reader.find_documents("x") == []
        reader.close()

    def test_tables_that_are_left_out_are_empty(self, store: Store, path: Path) -> None:
        reader = self.publish(store, path, Artifact({}, {}, {}))
        assert reader.count("chunks") == 0
        reader.close()

    def test_an_artifact_that_does_not_fit(self, store: Store, path: Path) -> None:
        good = make_artifact(3)
        wrong = [
            with_column(good, "chunks", text=["one"]),
            with_column(good, "chunks", other=[1, 2, 3]),
            with_column(good, "chunks", chunk=[0, 2, 1]),
            replace(good, tables={**good.tables, "other": {}}),
            replace(good, arrays={"words": np.array(["a"])}),
        ]
        for artifact in wrong:
            with pytest.raises(ValueError):
                store.publish(path, artifact)
        assert not path.exists()

    # --- generations ---

    def test_generation_follows_content(self, store: Store, tmp_path: Path) -> None:
        a = self.publish(store, tmp_path / "a.duckdb", make_artifact(5))
        b = self.publish(store, tmp_path / "b.duckdb", make_artifact(5))
        c = self.publish(store, tmp_path / "c.duckdb", make_artifact(5, seed=1))
        d = self.publish(store, tmp_path / "d.duckdb", make_artifact(5, meta={"x": 1}))
        assert a.generation == b.generation
        assert len({a.generation, c.generation, d.generation}) == 3
        assert d.meta["x"] == 1
        assert d.meta["options"] == {"embed": {"embedder": "none"}}

    def test_a_reader_sees_the_index_it_opened(self, store: Store, path: Path) -> None:
        old = self.publish(store, path, make_artifact(5))
        assert not old.stale()
        new = self.publish(store, path, make_artifact(7, seed=1))
        assert old.stale()
        assert not new.stale()
        assert (old.count("chunks"), new.count("chunks")) == (5, 7)
        assert len(old.chunks(range(5))) == 5
        assert len(new.array("dense.chunk")) == 7
        assert len(old.array("dense.chunk")) == 5
        old.close()
        new.close()

    def test_only_the_index_is_left(self, store: Store, path: Path) -> None:
        store.publish(path, make_artifact(5))
        store.publish(path, make_artifact(6))
        assert [entry.name for entry in path.parent.iterdir()] == [path.name]

    # --- looking up ---

    def test_documents_by_name(self, store: Store, path: Path) -> None:
        keys = ["a/README.md", "b/Café Notes.md", "b/README.md", "c/größe.txt", "x'y\"z.md"]
        titles = ["Read me", "Menu", "Read me too", "Über Größe", "Quotes"]
        artifact = make_artifact(50)
        locations = [f"/home/me/{key}" for key in keys]
        artifact = with_column(artifact, "documents", key=keys, title=titles, location=locations)
        reader = self.publish(store, path, artifact)

        def found(name: str) -> list[int]:
            return [document.doc for document in reader.find_documents(name)]

        assert found("b/README.md") == [2]
        assert found("/home/me/b/README.md") == [2]
        assert found("README.md") == [0, 2]
        assert found("readme") == [0, 2]
        assert found("a/readme") == [0]
        assert found("Cafe notes") == [1]
        assert found("cafe\u0301 notes.md") == [1]
        assert found("MENU") == [1]
        assert found("uber grosse") == [3]
        assert found("x'y\"z.md") == [4]
        assert found("EADME.md") == []
        assert found("%") == []
        assert found("") == []
        reader.close()

    def test_positions_that_are_not_there(self, store: Store, path: Path) -> None:
        reader = self.publish(store, path, make_artifact(5))
        for wrong in (5, -1):
            with pytest.raises(IndexError):
                reader.chunks([0, wrong])
        reader.close()

    def test_threads_share_a_reader(self, store: Store, path: Path) -> None:
        artifact = make_artifact(200)
        reader = self.publish(store, path, artifact)
        texts = artifact.tables["chunks"]["text"]
        failures: list[BaseException] = []

        def work(number: int) -> None:
            try:
                random = np.random.default_rng(number)
                for _ in range(20):
                    wanted = random.integers(0, 200, 5).tolist()
                    assert [c.text for c in reader.chunks(wanted)] == [texts[at] for at in wanted]
                    assert reader.array("dense.chunk")[-1] == 199
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures
        reader.close()

    # --- what isn't an index ---

    def test_no_index(self, store: Store, path: Path) -> None:
        with pytest.raises(NoIndex, match="clew index"):
            store.open(path)
        assert store.imprint(path) is None
        path.mkdir(parents=True)
        assert store.imprint(path) is None
        with pytest.raises(NoIndex, match="clew index"):
            store.open(path)

    @pytest.mark.parametrize(
        "data", [b"", b"# A note\n", b"\0" * 20_000, b"SQLite format 3\0" + b"\0" * 4096]
    )
    def test_not_an_index(self, store: Store, path: Path, data: bytes) -> None:
        path.parent.mkdir(parents=True)
        path.write_bytes(data)
        with pytest.raises(BadIndex):
            store.open(path)
        assert store.imprint(path) is None

    def test_an_index_says_what_made_it(self, store: Store, path: Path) -> None:
        reader = self.publish(store, path, make_artifact(5))
        imprint = store.imprint(path)
        assert imprint is not None
        assert imprint.readable
        assert imprint.meta == reader.meta
        assert imprint.sources == reader.sources
        reader.close()

    def test_a_truncated_index(self, store: Store, path: Path) -> None:
        store.publish(path, make_artifact(300))
        whole = path.read_bytes()
        for kept in (100, 4096, 5000, len(whole) // 3, len(whole) // 2, len(whole) - 1):
            path.write_bytes(whole[:kept])
            with pytest.raises(IndexFileError):
                store.open(path)

    def test_publishing_over_what_is_not_an_index(self, store: Store, path: Path) -> None:
        path.parent.mkdir(parents=True)
        path.write_bytes(b"damaged")
        reader = self.publish(store, path, make_artifact(5))
        assert reader.count("chunks") == 5
        reader.close()

    def test_nowhere_to_publish(self, store: Store, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("x")
        for path in (tmp_path / "file" / "index.duckdb", tmp_path):
            with pytest.raises(PublishError) as caught:
                store.publish(path, make_artifact(5))
            assert caught.value.remedy
        assert [entry.name for entry in tmp_path.iterdir()] == ["file"]

    def test_the_writers_lock(self, store: Store, path: Path) -> None:
        with store.writing(path):
            store.publish(path, make_artifact(5))
        with store.writing(path):
            pass
