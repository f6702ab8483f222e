"""The cache gives back exactly what was put in, and never ends a run."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import textwrap
import threading
from contextlib import closing
from dataclasses import fields, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.stores.cache import CACHE_VERSION, SqliteCache, open_cache
from clew.stores.codec import decode_analysis, encode_analysis
from clew.text.tokens import tokenize
from clew.types import Analysis, ChunkSpan, Link, Mark, Section

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


def analysis(text: str = "# Кава\n\nDocker-Compose, 日本 and C++.", **changes: Any) -> Analysis:
    size = len(text.encode("utf-8", "surrogatepass"))
    made = Analysis(
        content_hash="00ff",
        encoding="utf-8",
        language="uk",
        title="Кава",
        metadata={"tags": ["a", "b"], "n": 3, "x": None, "f": 0.1, "deep": {"k": [True, "y"]}},
        size=size,
        sections=(Section(0, "", (), 0, 0), Section(1, "Кава", ("Кава",), 0, size)),
        chunks=(ChunkSpan(1, 0, size, 9),),
        texts=(text,),
        lines=((1, 3),),
        links=(Link("wikilink", "A", "b", "c", 1, 4),),
        marks=(Mark("title", "Кава", 2, 10), Mark("tag", "#x", 1, 2, "x")),
        tokens=tokenize(text, [(0, size)]),
        warnings=("one",),
    )
    return replace(made, **changes)


def assert_same(a: Analysis, b: Analysis) -> None:
    for field in fields(Analysis):
        if field.name != "tokens":
            assert getattr(a, field.name) == getattr(b, field.name), field.name
            assert type(getattr(a, field.name)) is type(getattr(b, field.name)), field.name
    assert a.tokens.words == b.tokens.words
    for name in ("form", "start", "end", "flags"):
        left, right = getattr(a.tokens, name), getattr(b.tokens, name)
        assert left.dtype == right.dtype, name
        assert np.array_equal(left, right), name


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / ".clew" / "cache.sqlite"


# --- round trips ---------------------------------------------------------------------------------


def test_an_analysis_comes_back(path: Path) -> None:
    given_ = {"a": analysis(), "b": analysis("word " * 40_000), "c": analysis("")}
    cache = open_cache(path)
    cache.put_analyses(given_)
    cache.close()
    again = open_cache(path)
    found = again.analyses(["c", "missing", "a", "b", "a"])
    assert list(found) == ["c", "a", "b"]
    for key, value in found.items():
        assert_same(value, given_[key])
    again.close()


def test_thousands_of_keys(path: Path) -> None:
    cache = open_cache(path)
    cache.put_analyses({f"{i}": analysis(f"note {i}") for i in range(1300)})
    found = cache.analyses([f"{i}" for i in range(0, 2600, 2)])
    assert list(found) == [f"{i}" for i in range(0, 1300, 2)]
    assert found["1298"].texts == ("note 1298",)
    cache.close()


TEXT = st.text(st.characters(), max_size=20)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    text=TEXT, title=TEXT, metadata=st.dictionaries(TEXT, TEXT | st.integers() | st.floats(allow_nan=False))
)
def test_any_analysis_comes_back_or_is_not_stored(text: str, title: str, metadata: dict[str, Any]) -> None:
    tokens = tokenize(text.encode("utf-8", "replace").decode(), [(0, 1000)])
    value = analysis(title=title, texts=(text,), metadata=metadata, tokens=tokens)
    data = encode_analysis(value)
    if data is None:  # a number beyond 64 bits
        assert any(isinstance(item, int) and not -(2**63) <= item < 2**64 for item in metadata.values())
    else:
        assert_same(decode_analysis(data), value)


@pytest.mark.parametrize("metadata", [{"d": date(2024, 1, 2)}, {"t": (1, 2)}, {"i": 2**80}, {"o": object()}])
def test_what_would_come_back_otherwise_is_not_stored(path: Path, metadata: dict[str, Any]) -> None:
    cache = open_cache(path)
    cache.put_analyses({"odd": analysis(metadata=metadata), "even": analysis()})
    assert list(cache.analyses(["odd", "even"])) == ["even"]
    assert not cache.problem
    cache.close()


def test_lone_surrogates_come_back(path: Path) -> None:
    value = analysis(title="a\ud800b", metadata={"\udcff": ["\ufdd0"]}, warnings=("\ufdd0\ud800",))
    cache = open_cache(path)
    cache.put_analyses({"k": value})
    assert_same(cache.analyses(["k"])["k"], value)
    cache.close()


def test_vectors_are_kept_by_embedder(path: Path) -> None:
    one = {f"{i}": np.random.default_rng(i).random(8).astype(np.float16) for i in range(5)}
    cache = open_cache(path)
    cache.put_vectors("small", one)
    cache.put_vectors("large", {"0": np.zeros(16, np.float16)})
    cache.close()
    cache = open_cache(path)
    found = cache.vectors("small", ["4", "0", "9"])
    assert list(found) == ["4", "0"]
    assert found["4"].dtype == np.float16
    assert np.array_equal(found["4"], one["4"])
    assert cache.vectors("large", ["0", "1"])["0"].shape == (16,)
    assert cache.vectors("other", ["0"]) == {}
    cache.close()


def test_replies_come_back(path: Path) -> None:
    cache = open_cache(path)
    cache.put_replies({"a": b"\0reply", "b": b""})
    assert cache.replies(["b", "c", "a"]) == {"b": b"", "a": b"\0reply"}
    cache.close()


def test_a_cache_from_before_parts_were_kept_gets_their_table(path: Path) -> None:
    cache = open_cache(path)
    cache.put_replies({"paid": b"x"})
    cache.close()
    with closing(sqlite3.connect(path)) as db, db:
        db.execute("DROP TABLE parts")
    cache = open_cache(path)
    cache.put_parts({"a": b"x"})
    assert (cache.parts(["a", "b"]), cache.replies(["paid"])) == ({"a": b"x"}, {"paid": b"x"})
    assert cache.problem == ""
    cache.close()


# --- growth --------------------------------------------------------------------------------------


def test_what_no_run_uses_is_pruned(path: Path) -> None:
    cache = open_cache(path)
    cache.put_analyses({"kept": analysis(), "spared": analysis(), "old": analysis()})
    cache.put_vectors("m", {"kept": np.ones(4, np.float16), "old": np.ones(4, np.float16)})
    cache.put_parts({"kept": b"x", "old": b"y"})
    cache.put_replies({"paid": b"x"})
    assert cache.prune() == 0
    cache.close()
    for number in range(1, 5):
        cache = open_cache(path)
        cache.analyses(["kept"])
        cache.parts(["kept"])
        cache.vectors("m", ["kept"])
        assert cache.prune(["spared"], runs=3) == (3 if number == 3 else 0)
        cache.close()
    cache = open_cache(path)
    stats = cache.stats()
    assert stats.pop("bytes") > 0
    assert stats == {"analyses": 2, "parts": 1, "vectors": 1, "replies": 1}
    assert set(cache.analyses(["kept", "spared", "old"])) == {"kept", "spared"}
    cache.close()


def test_what_the_last_whole_run_used_is_known(path: Path) -> None:
    cache = open_cache(path)
    assert cache.unused() == cache.drop_unused() == 0  # no run is known
    cache.put_analyses({"kept": analysis(), "old": analysis("many words " * 5000)})
    cache.put_vectors("m", {"kept": np.ones(4, np.float16), "old": np.ones(4, np.float16)})
    cache.put_replies({"paid": b"x"})
    cache.prune()
    assert cache.unused() == 0
    cache.close()
    cache = open_cache(path)  # the next whole run
    cache.analyses(["kept"])
    cache.vectors("m", ["kept"])
    cache.prune()
    cache.close()
    cache = open_cache(path)  # one that is stopped
    cache.put_analyses({"stopped": analysis()})
    cache.close()
    size = path.stat().st_size
    for dropped in (2, 0):
        cache = open_cache(path, new_run=False)
        assert cache.unused() == dropped
        assert cache.drop_unused() == dropped
        assert set(cache.analyses(["kept", "old", "stopped"])) == {"kept", "stopped"}
        assert set(cache.vectors("m", ["kept", "old"])) == {"kept"}
        assert cache.replies(["paid"])
        cache.close()
    assert path.stat().st_size < size


def test_looking_is_no_run(path: Path) -> None:
    cache = open_cache(path)
    cache.put_analyses({"old": analysis()})
    cache.close()
    for _ in range(5):
        cache = open_cache(path, new_run=False)
        assert cache.stats()["analyses"] == 1
        cache.close()
    cache = open_cache(path)
    assert cache.prune(runs=2) == 0
    cache.close()


def test_pruning_gives_the_space_back(path: Path) -> None:
    cache = open_cache(path)
    cache.put_analyses({f"{i}": analysis("many words " * 2000) for i in range(40)})
    cache.close()
    large = path.stat().st_size
    cache = open_cache(path)
    assert cache.prune(runs=1) == 40
    cache.close()
    assert path.stat().st_size < large / 2


# --- bad files -----------------------------------------------------------------------------------


def test_another_version_is_remade(path: Path) -> None:
    cache = open_cache(path)
    cache.put_analyses({"k": analysis()})
    cache.close()
    with sqlite3.connect(path) as db:
        db.execute(f"PRAGMA user_version = {CACHE_VERSION + 1}")
        db.execute('CREATE TABLE "new ""table" (a)')
    db.close()
    cache = open_cache(path)
    assert cache.analyses(["k"]) == {}
    cache.put_analyses({"k": analysis()})
    assert list(cache.analyses(["k"])) == ["k"]
    assert not cache.problem
    cache.close()


@pytest.mark.parametrize("data", [b"not a database, but a note" * 500, b"SQLite format 3\0" + b"\xff" * 9000])
def test_a_damaged_file_is_moved_aside(path: Path, data: bytes) -> None:
    path.parent.mkdir()
    path.write_bytes(data)
    cache = open_cache(path)
    assert "damaged" in cache.problem
    assert str(path) in cache.problem
    assert path.with_name("cache.sqlite.damaged").read_bytes() == data
    cache.put_analyses({"k": analysis()})
    assert list(cache.analyses(["k"])) == ["k"]
    cache.close()


def test_a_file_damaged_in_the_middle(path: Path) -> None:
    cache = open_cache(path)
    cache.put_analyses({f"{i}": analysis(f"some words {i} " * 50) for i in range(300)})
    cache.close()
    data = bytearray(path.read_bytes())
    data[4096 * 2 :] = b"\x5a" * (len(data) - 4096 * 2)
    path.write_bytes(data)
    cache = open_cache(path)
    found = cache.analyses([f"{i}" for i in range(300)])
    assert len(found) < 300
    cache.put_analyses({"new": analysis()})
    assert cache.problem
    again = open_cache(path)
    again.put_analyses({"newer": analysis()})
    assert list(again.analyses(["newer"])) == ["newer"]
    again.close()
    cache.close()


def test_one_damaged_entry_counts_as_missing(path: Path) -> None:
    cache = open_cache(path)
    cache.put_analyses({"a": analysis(), "b": analysis(), "c": analysis()})
    cache.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE analyses SET data = x'00ff' WHERE key = 'a'")
        db.execute("UPDATE analyses SET data = substr(data, 1, length(data) - 5) WHERE key = 'b'")
    db.close()
    cache = open_cache(path)
    assert list(cache.analyses(["a", "b", "c"])) == ["c"]
    cache.put_analyses({"a": analysis()})
    assert_same(cache.analyses(["a"])["a"], analysis())
    assert not cache.problem
    cache.close()


def works_without(cache: SqliteCache) -> None:
    """Every method can still be called."""
    cache.put_analyses({"k": analysis()})
    assert cache.analyses(["k"]) == {}
    cache.put_vectors("m", {"k": np.ones(3, np.float16)})
    assert cache.vectors("m", ["k"]) == {}
    assert cache.prune() == 0
    assert cache.stats()["analyses"] == 0
    cache.close()


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    cache = open_cache(tmp_path / "file" / "cache.sqlite")
    assert "goes on without" in cache.problem
    works_without(cache)


def test_a_folder_in_its_place(path: Path) -> None:
    path.mkdir(parents=True)
    cache = open_cache(path)
    assert "goes on without" in cache.problem
    works_without(cache)


@pytest.mark.skipif(ROOT, reason="root may write anywhere")
def test_a_read_only_folder(path: Path) -> None:
    path.parent.mkdir()
    path.parent.chmod(0o555)
    try:
        cache = open_cache(path)
        assert "goes on without" in cache.problem
        works_without(cache)
    finally:
        path.parent.chmod(0o755)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk(path: Path) -> None:
    code = """
        import pathlib, resource, sys
        import numpy as np
        from clew.stores.cache import open_cache
        cache = open_cache(pathlib.Path(sys.argv[1]))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 18, 1 << 18))
        for at in range(40):
            cache.put_vectors("m", {f"{at}-{i}": np.ones(384, np.float16) for i in range(100)})
        assert cache.vectors("m", ["0-0"]) == {}
        cache.close()
        print(cache.problem)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "goes on without" in done.stdout
    cache = open_cache(path)  # what was committed before is there
    assert cache.vectors("m", ["0-0"])
    assert not cache.problem
    cache.close()


def test_a_closed_cache_is_empty(path: Path) -> None:
    cache = open_cache(path)
    cache.close()
    works_without(cache)


# --- others at work ------------------------------------------------------------------------------


def test_a_killed_run_keeps_what_it_stored(path: Path) -> None:
    code = """
        import os, pathlib, signal, sys
        import numpy as np
        from clew.stores.cache import open_cache
        cache = open_cache(pathlib.Path(sys.argv[1]))
        for i in range(20):
            cache.put_vectors("m", {f"{i}": np.full(8, i, np.float16)})
        os.kill(os.getpid(), signal.SIGKILL)
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code), str(path)], timeout=60, check=False)
    cache = open_cache(path)
    assert len(cache.vectors("m", [f"{i}" for i in range(20)])) == 20
    assert not cache.problem
    cache.close()


def test_several_processes_write(path: Path) -> None:
    code = """
        import pathlib, sys
        import numpy as np
        from clew.stores.cache import open_cache
        cache = open_cache(pathlib.Path(sys.argv[1]))
        for i in range(50):
            cache.put_vectors(sys.argv[2], {f"{i}": np.full(8, i, np.float16)})
        assert not cache.problem, cache.problem
        cache.close()
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    processes = [subprocess.Popen([*command, name]) for name in ("a", "b", "c")]
    assert [process.wait(60) for process in processes] == [0, 0, 0]
    cache = open_cache(path)
    assert cache.stats()["vectors"] == 150
    cache.close()


def test_threads_share_a_cache(path: Path) -> None:
    cache = open_cache(path)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for i in range(20):
                key = f"{number}-{i}"
                cache.put_analyses({key: analysis(key)})
                assert cache.analyses([key])[key].texts == (key,)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert cache.stats()["analyses"] == 100
    cache.close()
