"""Indexing never replaces a file that Clew didn't write."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import duckdb
import pytest

from clew import Index, __version__
from clew.errors import IndexTooNew, PublishError, UsageError
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


def write(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {path.stem}\n\nThe axolotl of {name} is well.\n", encoding="utf-8")
    return folder


def keys(index: Index) -> list[str]:
    return [document.key for document in index.engine.reader.documents()]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["notes"], ["notes/one.md"]),
        (["notes"], ["notes/one.md", "papers"]),
        (["notes", "papers"], ["notes"]),
        (["notes/one.md"], ["notes/two.md"]),
        (["notes/c.jsonl"], ["notes/one.md"]),
    ],
)
def test_an_index_of_other_sources_is_spared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: list[str], second: list[str]
) -> None:
    monkeypatch.chdir(write(tmp_path, "notes/one.md", "notes/two.md", "papers/three.md"))
    (tmp_path / "notes" / "c.jsonl").write_text('{"id": "r", "text": "The axolotl."}\n')
    with Index.build(first, options=NO_VECTORS) as index:
        before, file = keys(index), index.file
    data = file.read_bytes()
    with pytest.raises(UsageError, match="would be lost") as caught:
        Index.build(second, options=NO_VECTORS)
    assert f"clew index {' '.join(first)}. " in caught.value.remedy
    assert "--index notes/.clew/index.duckdb" in caught.value.remedy
    assert file.read_bytes() == data
    with Index.build(second, file, options=NO_VECTORS) as index:  # named, it is replaced
        assert keys(index) != before


def test_the_current_folder_is_named_by_its_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`clew index ..` in a sentence would be the folder above."""
    monkeypatch.chdir(write(tmp_path, "one.md", "two.md"))
    Index.build(["."], options=NO_VECTORS).close()
    with pytest.raises(UsageError, match="would be lost") as caught:
        Index.build(["one.md"], options=NO_VECTORS)
    assert f"clew index {tmp_path}. " in caught.value.remedy


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (["notes"], ["./notes/"]),
        (["notes"], ["notes", "papers"]),
        (["notes/one.md"], ["notes"]),
        (["notes/one.md"], ["notes/../notes/one.md"]),
        (["notes/deep", "notes/one.md"], ["notes"]),
    ],
)
def test_an_index_grows_without_ado(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: list[str], second: list[str]
) -> None:
    monkeypatch.chdir(write(tmp_path, "notes/one.md", "notes/deep/two.md", "papers/three.md"))
    home = None if first[0] != "notes/deep" else "notes/.clew/index.duckdb"
    Index.build(first, home, options=NO_VECTORS).close()
    with Index.build(second, options=NO_VECTORS) as index:
        assert "one.md" in " ".join(keys(index))


def test_a_moved_folder_is_indexed_again(tmp_path: Path) -> None:
    write(tmp_path, "notes/one.md")
    Index.build([tmp_path / "notes"], options=NO_VECTORS).close()
    (tmp_path / "notes").rename(tmp_path / "moved")
    with Index.build([tmp_path / "moved"], options=NO_VECTORS) as index:
        assert index.stats()["sources"] == [str(tmp_path / "moved")]


@pytest.mark.parametrize("place", [".clew/index.duckdb", "notes.duckdb"])
def test_a_newer_index_is_spared(tmp_path: Path, place: str) -> None:
    notes = write(tmp_path, "one.md")
    path = tmp_path / place
    Index.build([notes], path, options=NO_VECTORS).close()
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE meta SET value = '7' WHERE key = 'schema_version'")
        connection.execute("UPDATE meta SET value = '\"3.5\"' WHERE key = 'clew_version'")
    before = path.read_bytes()
    with pytest.raises(IndexTooNew, match=r"Clew 3\.5 with schema 7") as caught:
        Index.build([notes], path, options=NO_VECTORS)
    assert f"Clew {__version__}" in caught.value.reason
    assert "--index" in caught.value.remedy
    assert path.read_bytes() == before
