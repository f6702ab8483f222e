"""Indexes of all schema versions that there were: what opening each gives, and that none is forgotten."""

from __future__ import annotations

import json
import lzma
import shlex
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from command import call

from clew import Index
from clew.errors import IndexTooOld, UsageError
from clew.stores.schema import SCHEMA_VERSION
from clew.text.tokens import normal_name

KEPT = Path(__file__).parents[1] / "data" / "indexes"
FILES = sorted(KEPT.glob("*.duckdb.xz"))
QUESTION = "Who keeps the lamp of the harbour?"


def version(kept: Path) -> int:
    return int(kept.name.partition(".")[0].partition("-")[0])


def named(kept: Path) -> str:
    return kept.name.partition(".")[0]


OLD = [kept for kept in FILES if version(kept) < SCHEMA_VERSION]
CURRENT = [kept for kept in FILES if version(kept) == SCHEMA_VERSION]


def unpack(kept: Path, place: Path) -> Path:
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(lzma.decompress(kept.read_bytes()))
    return place


def vault(kept: Path, tmp_path: Path) -> Path:
    """Return a folder with the notes and an index of them as that version left it."""
    folder = tmp_path / "my notes"
    shutil.copytree(KEPT / "notes", folder)
    unpack(kept, folder / ".clew" / "index.duckdb")
    return folder


def test_an_index_of_each_version_is_kept() -> None:
    kept = Counter(map(version, FILES))
    assert set(kept) == set(range(1, SCHEMA_VERSION + 1)), "see tests/data/indexes/README.md"
    for file in FILES:
        assert file.stat().st_size < 300_000


@pytest.mark.parametrize("kept", OLD, ids=named)
@pytest.mark.parametrize("command", [("ask", QUESTION), ("search", "lamp"), ("show", "Harbour"), ("stats",)])
def test_an_older_index_is_refused_with_the_command_that_makes_it_anew(
    tmp_path: Path, kept: Path, command: tuple[str, ...]
) -> None:
    folder = vault(kept, tmp_path)
    file = folder / ".clew" / "index.duckdb"
    before = file.read_bytes()
    done = call(*command, cwd=folder)
    assert (done.code, done.out) == (4, "")
    assert f"with schema {version(kept)}; " in done.err
    assert f"reads schema {SCHEMA_VERSION}. Make it anew: clew index " in done.err
    assert file.read_bytes() == before
    words = shlex.split(done.err.partition("Make it anew: clew ")[2].strip())
    assert words == ["index", str(folder)]
    made = call(*words, cwd=tmp_path)  # from another folder
    assert made.code == 0, made.err
    assert f"The index there is of schema {version(kept)}: it is made anew." in made.err
    asked = call(*command, cwd=folder)
    assert (asked.code, asked.err) == (0, "")
    assert call("doctor", cwd=folder).code == 0


@pytest.mark.parametrize("kept", OLD, ids=named)
def test_a_replaced_older_index_costs_what_the_cache_lacks(tmp_path: Path, kept: Path) -> None:
    folder = vault(kept, tmp_path)
    assert call("index", ".", "-q", cwd=folder).code == 0
    unpack(kept, folder / ".clew" / "index.duckdb")
    before = call("cache", "--json", cwd=folder).json["entries"]
    assert call("index", ".", "-q", cwd=folder).code == 0
    assert call("cache", "--json", cwd=folder).json["entries"] == before  # nothing was parsed or embedded


def test_the_command_names_all_sources_options_and_the_place(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    for name in ("a b.md", "b/c.md"):
        (tmp_path / name).write_text("# Axolotl\n\nThe axolotl is well.\n", encoding="utf-8")
    place = tmp_path / "it's.duckdb"
    flags = (
        "--chunk-size",
        "64",
        "--exclude",
        "x *",
        "--exclude",
        "y",
        "--embedder",
        "none",
        "--threads",
        "1",
    )
    done = call("index", "b", "a b.md", "--index", place.name, *flags, "--git-times", cwd=tmp_path)
    assert done.code == 0, done.err
    whole = tables(place)
    with duckdb.connect(str(place)) as connection:
        connection.execute(f"UPDATE meta SET value = '{SCHEMA_VERSION - 1}' WHERE key = 'schema_version'")
    asked = call("ask", "axolotl", "--index", place.name, cwd=tmp_path)
    words = shlex.split(asked.err.partition("Make it anew: clew ")[2].strip())
    sources = [str(tmp_path / "a b.md"), str(tmp_path / "b")]
    # What makes no difference to the index (threads) isn't recorded, so it isn't said.
    made = [*flags[2:6], "--git-times", *flags[:2], *flags[6:8]]
    assert words == ["index", *sources, "--index", str(place), *made]
    again = call(*words, cwd=tmp_path / "b")
    assert again.code == 0, again.err
    assert "Options have changed" not in again.err
    assert tables(place) == whole


def tables(path: Path) -> list[Any]:
    with duckdb.connect(str(path), read_only=True) as connection:
        names = connection.execute("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall()
        return [(name, connection.execute(f"FROM {name} ORDER BY ALL").fetchall()) for (name,) in names]


@pytest.mark.parametrize("kept", [kept for kept in OLD if named(kept) == "1-last"], ids=named)
def test_an_older_index_isnt_replaced_by_one_of_less(tmp_path: Path, kept: Path) -> None:
    folder = vault(kept, tmp_path)
    with pytest.raises(UsageError, match="would be lost"):
        Index.build([folder / "Harbour.md"])
    with pytest.raises(IndexTooOld):
        Index.open(folder / ".clew" / "index.duckdb")


# --- the present version ---


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The notes, indexed now."""
    folder = tmp_path_factory.mktemp("fresh") / "notes"
    shutil.copytree(KEPT / "notes", folder)
    Index.build([folder]).close()
    return folder / ".clew" / "index.duckdb"


def shape(path: Path) -> dict[str, Any]:
    """Return the definitions of tables and columns, and the types and dimensions of arrays."""
    with duckdb.connect(str(path), read_only=True) as connection:
        columns = connection.execute(
            "SELECT table_name, column_name, data_type FROM duckdb_columns() WHERE NOT internal "
            "ORDER BY table_name, column_index"
        ).fetchall()
        arrays = connection.execute("SELECT DISTINCT name, dtype, shape FROM arrays ORDER BY name").fetchall()
    return {
        "columns": columns,
        "arrays": [(name, dtype, len(json.loads(dim))) for name, dtype, dim in arrays],
    }


def meta_keys(path: Path) -> set[str]:
    with duckdb.connect(str(path), read_only=True) as connection:
        return {key for (key,) in connection.execute("SELECT key FROM meta").fetchall()}


@pytest.mark.parametrize("kept", CURRENT, ids=named)
def test_the_schema_changes_with_its_version_only(tmp_path: Path, fresh: Path, kept: Path) -> None:
    old = unpack(kept, tmp_path / "index.duckdb")
    remedy = "raise SCHEMA_VERSION and keep an index (tests/data/indexes/README.md)"
    assert shape(fresh) == shape(old), remedy
    assert meta_keys(old) <= meta_keys(fresh), remedy  # keys that readers can do without may be added
    with duckdb.connect(str(old)) as connection:
        connection.execute("ALTER TABLE nodes ADD COLUMN more INTEGER")
    assert shape(fresh) != shape(old)


@pytest.mark.parametrize("kept", CURRENT, ids=named)
def test_what_readers_compute_changes_with_the_version_only(tmp_path: Path, fresh: Path, kept: Path) -> None:
    """A question is cut into terms and names as the index was: where the rules have changed since, an older
    index would silently find less."""
    place = unpack(kept, tmp_path / "index.duckdb")
    with Index.open(place) as old, Index.open(fresh) as new:
        readers = old.engine.reader, new.engine.reader
        for name in ("lex.terms", "lex.ptr", "lex.tf"):
            assert np.array_equal(*(reader.array(name) for reader in readers)), "raise SCHEMA_VERSION"
        for key in ("node_kinds", "edge_kinds"):
            assert readers[0].meta[key] == readers[1].meta[key], "raise SCHEMA_VERSION"
    with duckdb.connect(str(place), read_only=True) as connection:
        for surface, key in connection.execute("SELECT surface, key FROM names").fetchall():
            assert normal_name(surface) == key, "raise SCHEMA_VERSION"


@pytest.mark.parametrize("kept", CURRENT, ids=named)
def test_an_index_of_this_version_answers(tmp_path: Path, kept: Path) -> None:
    folder = vault(kept, tmp_path)
    asked = call("ask", QUESTION, cwd=folder)
    assert (asked.code, asked.err) == (0, "")
    assert "Ravi Osei" in asked.out
    assert call("show", "Гавань Брекватера", cwd=folder).code == 0
    checked = call("doctor", "--json", cwd=folder)
    assert checked.code == 0, checked.out
    assert checked.json["sources"]["unchanged"] == 5
