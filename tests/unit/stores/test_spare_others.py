"""Indexing never replaces a file that Clew didn't write."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import pytest

from clew import Index
from clew.errors import PublishError
from clew.index import cache_path
from clew.options import EmbedOptions, IndexOptions
from clew.stores.duckdb import make
from clew.testing.factories import make_artifact

STORE = make()
NO_VECTORS = IndexOptions(embed=EmbedOptions(embedder="none"))


def duckdb_of_somebody(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE mine AS SELECT 1 AS a")


def duckdb_with_a_meta_table(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE meta AS SELECT 'format' AS key, '\"other\"' AS value")


OTHERS = {
    "text": lambda path: path.write_text("# Diary\n\nDear diary.\n", encoding="utf-8"),
    "zeros": lambda path: path.write_bytes(b"\0" * 5000),
    "sqlite": lambda path: path.write_bytes(b"SQLite format 3\0" + b"\0" * 4096),
    "duckdb": duckdb_of_somebody,
    "duckdb with meta": duckdb_with_a_meta_table,
    "half of a duckdb": lambda path: path.write_bytes(b"\0" * 8 + b"DUCK" + b"\0" * 500),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_others_files_are_spared(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "diary.md"
    OTHERS[kind](path)
    before = path.read_bytes()
    for _ in range(2):  # the refusal itself leaves nothing that makes the file look like ours
        with pytest.raises(PublishError, match=r"diary\.md") as caught, STORE.writing(path):
            STORE.publish(path, make_artifact(5))
        assert "--index" in caught.value.remedy
        assert path.read_bytes() == before
        assert [entry.name for entry in tmp_path.iterdir()] == ["diary.md"]


def test_a_note_isnt_replaced_by_its_index(tmp_path: Path) -> None:
    note = tmp_path / "diary.md"
    note.write_text("# Diary\n\nDear diary.\n", encoding="utf-8")
    with pytest.raises(PublishError):
        Index.build([tmp_path], note, options=NO_VECTORS)
    assert note.read_text("utf-8").startswith("# Diary")


@pytest.mark.parametrize("damage", ["none", "empty", "short", "half", "overwritten"])
@pytest.mark.parametrize("place", [".clew/index.duckdb", "notes.duckdb"])
def test_our_own_index_is_replaced_however_damaged(tmp_path: Path, place: str, damage: str) -> None:
    path = tmp_path / place
    with STORE.writing(path):
        STORE.publish(path, make_artifact(5))
    whole = path.read_bytes()
    changed = {"none": whole, "empty": b"", "short": whole[:5], "half": whole[: len(whole) // 2]}
    path.write_bytes(changed.get(damage, b"\xa5" * len(whole)))
    with STORE.writing(path):
        STORE.publish(path, make_artifact(6))
    reader = STORE.open(path)
    assert reader.count("chunks") == 6
    reader.close()


def test_an_index_that_was_copied_here_is_replaced(tmp_path: Path) -> None:
    STORE.publish(tmp_path / "copy.duckdb", make_artifact(5))
    with STORE.writing(tmp_path / "copy.duckdb"):
        STORE.publish(tmp_path / "copy.duckdb", make_artifact(6))


def test_a_cache_of_somebody_is_spared(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# Alpha\n\nThe axolotl is well.\n", encoding="utf-8")
    with sqlite3.connect(tmp_path / "cache.sqlite") as connection:
        connection.execute("CREATE TABLE mine (a)")
    before = (tmp_path / "cache.sqlite").read_bytes()
    for name in ("one.duckdb", "two.duckdb"):
        Index.build([tmp_path / "notes"], tmp_path / name, options=NO_VECTORS).close()
        assert cache_path(tmp_path / name).is_file()
    assert (tmp_path / "cache.sqlite").read_bytes() == before
    assert cache_path(Path("a/.clew/index.duckdb")) == Path("a/.clew/cache.sqlite")
