"""Where sources are, and paths that open from the current folder."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from clew.stores.duckdb import make
from clew.stores.places import Places, pack_origins
from clew.testing.factories import make_artifact
from clew.types import Origin


def places(index: Path, *origins: Origin) -> Places:
    return Places(pack_origins(origins, index), index)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    (folder / "deep" / "er").mkdir(parents=True)
    (folder / ".clew").mkdir()
    return folder


@pytest.mark.parametrize("where", ["notes/.clew/index.duckdb", "elsewhere.duckdb"])
def test_a_path_opens_from_any_folder(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    (notes / "deep" / "a.md").write_text("x")
    found = places(tmp_path / where, Origin("notes", notes.as_posix()))
    full = (notes / "deep" / "a.md").as_posix()
    for here, shown in (
        (tmp_path, "notes/deep/a.md"),
        (notes, "deep/a.md"),
        (notes / "deep", "a.md"),
        (notes / "deep" / "er", full),
    ):
        monkeypatch.chdir(here)
        assert found.show("deep/a.md", "deep/a.md") == (shown, full)
        assert Path(shown).read_text() == "x"
        assert found.stored(shown) == found.stored(f"./{shown}" if shown != full else full) != []
        assert found.stored(shown) == [(0, "deep/a.md")]
    monkeypatch.chdir("/")
    assert found.show("a.md", "a.md")[0] == f"{notes.as_posix()[1:]}/a.md"


def test_an_index_within_its_source_holds_no_path_of_the_machine(notes: Path, tmp_path: Path) -> None:
    index = notes / ".clew" / "index.duckdb"
    packed = pack_origins([Origin("notes", notes.as_posix())], index)
    assert str(tmp_path) not in str(packed)
    moved = notes.rename(tmp_path / "moved")
    found = Places(packed, moved / ".clew" / "index.duckdb")
    assert found.origins[0].root == moved.as_posix()
    # Copied out of its source, an index can't know where the source is: it says the path in it.
    assert Places(packed, tmp_path / "index.duckdb").show("a.md", "a.md") == ("a.md", "")


def test_a_source_that_is_gone_is_named_where_there_are_several(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    gone, there = Origin("a", (tmp_path / "a").as_posix()), Origin("b", (tmp_path / "b").as_posix())
    index = tmp_path / "i.duckdb"
    assert places(index, gone).show("README.md", "README.md") == ("README.md", "")
    both = places(index, gone, there)
    assert both.show("a/README.md", "README.md") == ("a/README.md", "")
    assert both.show("b/README.md", "README.md")[1] == f"{there.root}/README.md"
    assert both.is_in("b/README.md", 1)
    assert not both.is_in("b/README.md", 0)


def test_locations_that_are_no_paths_stay(tmp_path: Path) -> None:
    relay = Origin("relay", "")
    index = tmp_path / "i.duckdb"
    assert places(index, relay).show("e1", "wss://relay/e1") == ("wss://relay/e1", "")
    assert places(index).show("e1", "wss://relay/e1") == ("wss://relay/e1", "")
    assert places(index, relay).stored("e1") == []


def test_symbolic_links_on_the_way(notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "link").symlink_to(notes, target_is_directory=True)
    through = tmp_path / "link" / ".clew" / "index.duckdb"
    packed = pack_origins([Origin("notes", os.path.realpath(notes))], through)
    assert packed == [{"name": "notes", "file": "", "index": ".clew/index.duckdb"}]
    monkeypatch.chdir(notes)
    assert Places(packed, through).show("a.md", "a.md")[0] == "a.md"
    assert Places(packed, through).origins[0].root == (tmp_path / "link").as_posix()
    (tmp_path / "file.duckdb").symlink_to(notes / ".clew" / "index.duckdb")
    assert Places(packed, tmp_path / "file.duckdb").origins[0].root == os.path.realpath(notes)


def test_where_a_source_is_does_not_enter_the_generation(tmp_path: Path) -> None:
    store, artifact = make(), make_artifact(5)
    generations = set()
    for number, origin in enumerate([(), (Origin("a", "/a"),), (Origin("b", "/b", "x.md"),)]):
        path = tmp_path / f"{number}.duckdb"
        given = type(artifact)(artifact.tables, artifact.arrays, artifact.meta, origin)
        store.publish(path, given)
        reader = store.open(path)
        generations.add(reader.generation)
        assert reader.sources == origin
        reader.close()
    assert len(generations) == 1


def test_documents_are_found_by_the_path_that_is_shown(
    notes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    artifact = make_artifact(5)
    keys = list(artifact.tables["documents"]["key"])
    tables = {**artifact.tables, "documents": {**artifact.tables["documents"], "location": keys}}
    index = notes / ".clew" / "index.duckdb"
    make().publish(
        index, type(artifact)(tables, artifact.arrays, artifact.meta, (Origin("n", notes.as_posix()),))
    )
    shutil.copytree(notes, tmp_path / "copy")
    for folder in (notes, tmp_path / "copy"):
        monkeypatch.chdir(folder / "deep")
        reader = make().open(folder / ".clew" / "index.duckdb")
        first = reader.documents([0])[0]
        assert first.location == first.file == f"{folder.as_posix()}/{keys[0]}"
        for name in (first.location, f"../{keys[0]}", keys[0]):
            assert [one.doc for one in reader.find_documents(name)] == [0]
        reader.close()
