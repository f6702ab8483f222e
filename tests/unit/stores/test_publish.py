"""Publishing under bad circumstances, and what opening says of bad files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.errors import BadIndex, IndexFileError, IndexTooNew, IndexTooOld, NoIndex, PublishError
from clew.stores import schema
from clew.stores.columns import to_json
from clew.stores.duckdb import make
from clew.stores.duckdb_write import remove_strays
from clew.testing.factories import make_artifact
from clew.testing.store_contract import with_column

STORE = make()
ROOT = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "index.duckdb"


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", textwrap.dedent(code), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


# --- crashes -------------------------------------------------------------------------------------

# Kills itself just before one of the steps of publishing. 100,000 calls of SQL don't happen, so
# a number beyond the last step publishes.
KILLED = """
    import os, pathlib, signal, sys
    import duckdb
    from clew.stores import duckdb_files, duckdb_write
    from clew.testing.factories import make_artifact

    path, moment = pathlib.Path(sys.argv[1]), sys.argv[2]

    def die(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    class Wrapped:
        def __init__(self, real):
            self.real = real
        def execute(self, query, *rest):
            if query.startswith(moment):
                die()
            return self.real.execute(query, *rest)
        def __getattr__(self, name):
            return getattr(self.real, name)

    attach = duckdb_files.attach
    duckdb_files.attach = lambda *a, **k: Wrapped(attach(*a, **k))
    if moment == "sync":
        duckdb_write._sync = die
    if moment == "folder":
        duckdb_write._sync_folder = die
    if moment == "replace":
        pathlib.Path.replace = die
    duckdb_write.publish(path, make_artifact(40, seed=1))
"""
MOMENTS = (
    "CREATE TABLE nodes",
    "INSERT INTO chunks",
    "INSERT INTO arrays",
    "COMMIT",
    "CHECKPOINT",
    "sync",
    "replace",
)


@pytest.mark.parametrize("moment", MOMENTS)
def test_killed_before_the_rename_leaves_the_old_index(path: Path, moment: str) -> None:
    STORE.publish(path, make_artifact(20))
    assert run(KILLED, str(path), moment).returncode == -signal.SIGKILL
    reader = STORE.open(path)
    assert reader.count("chunks") == 20
    assert len(reader.chunks(range(20))) == 20
    reader.close()
    STORE.publish(path, make_artifact(30))  # removes what the killed process left
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_killed_after_the_rename_leaves_the_new_index(path: Path) -> None:
    STORE.publish(path, make_artifact(20))
    assert run(KILLED, str(path), "folder").returncode == -signal.SIGKILL
    reader = STORE.open(path)
    assert reader.count("chunks") == 40
    reader.close()


def test_killed_at_any_time_leaves_a_whole_index(path: Path) -> None:
    STORE.publish(path, make_artifact(20))
    code = textwrap.dedent("""
        import pathlib, sys
        from clew.stores.duckdb import make
        from clew.testing.factories import make_artifact
        artifacts = [make_artifact(300 + i, n_mentions=4000, seed=i) for i in range(3)]
        print("ready", flush=True)
        while True:
            for artifact in artifacts:
                make().publish(pathlib.Path(sys.argv[1]), artifact)
    """)
    for pause in (0.0, 0.02, 0.05, 0.11, 0.23, 0.4):
        command = [sys.executable, "-c", code, str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(pause)
            process.kill()
        reader = STORE.open(path)
        n = reader.count("chunks")
        assert n in (20, 300, 301, 302)
        assert len(reader.chunks(range(n))) == n
        assert len(reader.array("dense.vectors")) == n
        reader.close()


def test_strays_of_the_living_stay(path: Path) -> None:
    from clew.stores.duckdb_write import _host

    process = run("import os; print(os.getpid())")
    dead = path.with_name(f"{path.name}.{_host()}-{process.stdout.strip()}-0.new")
    living = path.with_name(f"{path.name}.{_host()}-{os.getpid()}-7.new")
    foreign = path.with_name(f"{path.name}.elsewhere-1-0.new")
    ancient = path.with_name(f"{path.name}.elsewhere-2-0.new.wal")
    others = [path.with_name("index.duckdb.backup"), path.with_name("other.elsewhere-2-0.new")]
    for entry in (dead, living, foreign, ancient, *others):
        entry.write_bytes(b"x")
    for entry in (ancient, *others):
        os.utime(entry, (0, 0))
    remove_strays(path)
    assert set(path.parent.iterdir()) == {living, foreign, *others}


# --- full disks and missing permissions ----------------------------------------------------------


@pytest.mark.skipif(sys.platform == "win32", reason="needs a limit on the size of files")
def test_a_full_disk_leaves_the_old_index(path: Path) -> None:
    STORE.publish(path, make_artifact(20))
    # A limit on the size of files fails writes as a full disk does.
    code = """
        import pathlib, resource, sys
        from clew.errors import PublishError
        from clew.stores.duckdb import make
        from clew.testing.factories import make_artifact
        artifact = make_artifact(20_000, words_per_chunk=100, dimension=64)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
        try:
            make().publish(pathlib.Path(sys.argv[1]), artifact)
        except PublishError as error:
            print(error)
    """
    done = run(code, str(path))
    assert done.returncode == 0, done.stderr
    assert "disk is full" in done.stdout
    assert "Free some space" in done.stdout
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]
    reader = STORE.open(path)
    assert reader.count("chunks") == 20
    reader.close()


@pytest.mark.skipif(ROOT, reason="root may write anywhere")
def test_a_read_only_folder(path: Path) -> None:
    STORE.publish(path, make_artifact(20))
    path.parent.chmod(0o555)
    try:
        with pytest.raises(PublishError, match=r"no permission.*--index"):
            STORE.publish(path, make_artifact(5))
        reader = STORE.open(path)  # reading needs no permission to write
        assert reader.count("chunks") == 20
        reader.close()
    finally:
        path.parent.chmod(0o755)


@pytest.mark.parametrize(
    ("code", "words"),
    [(13, "no permission"), (30, "read-only"), (28, "disk is full"), (5, "can't be written")],
)
def test_reasons_of_the_system(path: Path, monkeypatch: pytest.MonkeyPatch, code: int, words: str) -> None:
    STORE.publish(path, make_artifact(5))

    def refuse(*_: Any) -> int:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr("clew.stores.duckdb_write._sync", refuse)
    with pytest.raises(PublishError) as caught:
        STORE.publish(path, make_artifact(6))
    assert words in caught.value.reason
    assert caught.value.remedy.endswith("The index that was there is unchanged")
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


def test_a_path_that_duckdb_cannot_name(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"caf\xe9") / "index.duckdb"
    with pytest.raises(PublishError, match="UTF-8"):
        STORE.publish(path, make_artifact(5))


@pytest.mark.parametrize("folder", ["it's; a 'test' -- \"x\"", "שלום עולם", "日本 🧶", "a%20b {c} $HOME"])
def test_hard_folder_names(tmp_path: Path, folder: str) -> None:
    path = tmp_path / folder / "index.duckdb"
    STORE.publish(path, make_artifact(5))
    reader = STORE.open(path)
    assert reader.count("chunks") == 5
    reader.close()


def test_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    STORE.publish(Path("index.duckdb"), make_artifact(5))
    reader = STORE.open(Path("index.duckdb"))
    assert reader.count("chunks") == 5
    reader.close()


# --- opening -------------------------------------------------------------------------------------


def test_another_duckdb_file(path: Path) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE meta (key VARCHAR, value VARCHAR)")
        connection.execute("INSERT INTO meta VALUES ('format', '\"other\"')")
    with pytest.raises(BadIndex, match="not a Clew index"):
        STORE.open(path)
    path.unlink()
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE t (a INTEGER)")
    with pytest.raises(BadIndex, match="not a Clew index"):
        STORE.open(path)


def change_meta(path: Path, key: str, value: str) -> None:
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE meta SET value = ? WHERE key = ?", [value, key])


def test_a_newer_schema(path: Path) -> None:
    STORE.publish(path, make_artifact(5))
    change_meta(path, "schema_version", str(schema.SCHEMA_VERSION + 1))
    with pytest.raises(IndexTooNew, match="Upgrade"):
        STORE.open(path)


@pytest.mark.parametrize("value", ["null", '"1"', "not JSON"])
def test_a_damaged_version(path: Path, value: str) -> None:
    STORE.publish(path, make_artifact(5))
    change_meta(path, "schema_version", value)
    with pytest.raises(BadIndex, match="damaged"):
        STORE.open(path)


def test_an_older_schema(path: Path) -> None:
    STORE.publish(path, make_artifact(5))
    change_meta(path, "schema_version", str(schema.SCHEMA_VERSION - 1))
    with pytest.raises(IndexTooOld, match="Make it anew: clew index FOLDER --index"):
        STORE.open(path)
    imprint = STORE.imprint(path)
    assert imprint is not None
    assert (imprint.schema_version, imprint.readable) == (schema.SCHEMA_VERSION - 1, False)
    with STORE.writing(path):
        STORE.publish(path, make_artifact(6))
    imprint = STORE.imprint(path)
    assert imprint is not None
    assert imprint.readable


def test_damaged_blocks_are_found(path: Path) -> None:
    """Whatever bytes are damaged, reading everything gives what was published or says that it's damaged."""
    artifact = make_artifact(300)
    STORE.publish(path, artifact)
    whole = path.read_bytes()
    found = 0
    for at in np.linspace(4096, len(whole) - 600, 25).astype(int).tolist():
        path.write_bytes(whole[:at] + b"\xa5" * 512 + whole[at + 512 :])
        try:
            reader = STORE.open(path)
            texts = [chunk.text for chunk in reader.chunks(range(300))]
            vectors = reader.array("dense.vectors")
            reader.close()
        except IndexFileError:
            found += 1
            continue
        assert texts == artifact.tables["chunks"]["text"]
        assert np.array_equal(vectors, artifact.arrays["dense.vectors"])
    assert found


def test_a_closed_reader_says_so(path: Path) -> None:
    STORE.publish(path, make_artifact(5))
    reader = STORE.open(path)
    array = reader.array("dense.chunk")
    reader.close()
    reader.close()
    with pytest.raises(BadIndex, match="closed"):
        reader.documents()
    assert array.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.skipif(ROOT, reason="root may read anything")
def test_an_unreadable_index(path: Path) -> None:
    STORE.publish(path, make_artifact(5))
    path.chmod(0)
    with pytest.raises(BadIndex, match="permissions"):
        STORE.open(path)


def test_a_removed_index_stays_readable(path: Path) -> None:
    STORE.publish(path, make_artifact(5))
    reader = STORE.open(path)
    path.unlink()
    assert not reader.stale()
    assert len(reader.documents()) == 1
    reader.close()
    with pytest.raises(NoIndex):
        STORE.open(path)


def test_readers_beside_a_publisher(path: Path) -> None:
    """Two threads ask and re-open while a third publishes; each sees one whole generation at a time."""
    artifacts = [make_artifact(20 + i, seed=i) for i in range(4)]
    texts = {20 + i: list(artifact.tables["chunks"]["text"]) for i, artifact in enumerate(artifacts)}
    STORE.publish(path, artifacts[0])
    done = threading.Event()
    failures: list[BaseException] = []
    seen: set[int] = set()

    def read() -> None:
        try:
            reader = STORE.open(path)
            while not done.is_set() or reader.stale():
                n = reader.count("chunks")
                assert [chunk.text for chunk in reader.chunks(range(n))] == texts[n]
                seen.add(n)
                if reader.stale():
                    reader.close()
                    reader = STORE.open(path)
            assert reader.count("chunks") == 23
            reader.close()
        except BaseException as error:
            failures.append(error)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for thread in readers:
        thread.start()
    for artifact in artifacts[1:]:
        STORE.publish(path, artifact)
        time.sleep(0.05)
    done.set()
    for thread in readers:
        thread.join(60)
    assert not failures
    assert len(seen) > 1


def test_readers_in_other_processes(path: Path) -> None:
    STORE.publish(path, make_artifact(20))
    code = """
        import pathlib, sys
        from clew.stores.duckdb import make
        reader = make().open(pathlib.Path(sys.argv[1]))
        print(reader.count("chunks"), flush=True)
        sys.stdin.readline()
        print(reader.stale(), len(reader.chunks(range(20))), flush=True)
    """
    command = [sys.executable, "-c", textwrap.dedent(code), str(path)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == "20\n"
        STORE.publish(path, make_artifact(30))
        process.stdin.write("go\n")
        process.stdin.flush()
        assert process.stdout.readline() == "True 20\n"


# --- values --------------------------------------------------------------------------------------

TEXT = st.text(st.characters(), max_size=12)  # lone surrogates included
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.tuples(TEXT, TEXT, st.integers(-(2**31), 2**31 - 1), st.dictionaries(TEXT, JSON)), max_size=6
    ),
    meta=st.dictionaries(st.text(st.characters(exclude_categories=["Cs"]), max_size=5), JSON, max_size=3),
)
def test_any_row_comes_back(tmp_path: Path, rows: list[tuple[Any, ...]], meta: dict[str, Any]) -> None:
    n = len(rows)
    artifact = make_artifact(n * 10)
    columns = {
        "key": [f"{i}/{key}" for i, (key, _, _, _) in enumerate(rows)],
        "title": [title for _, title, _, _ in rows],
        "size": [size * 4 for _, _, size, _ in rows],
        "line": [line for _, _, line, _ in rows],
        "metadata": [fields for _, _, _, fields in rows],
    }
    artifact = replace(with_column(artifact, "documents", **columns), meta=meta)
    STORE.publish(tmp_path / "any.duckdb", artifact)
    reader = STORE.open(tmp_path / "any.duckdb")
    documents = reader.documents()
    reader.close()
    for name, values in columns.items():
        assert [getattr(document, name) for document in documents] == values
    assert {key: value for key, value in reader.meta.items() if key in meta} == {
        **meta,
        **{key: reader.meta[key] for key in ("format", "schema_version", "generation") if key in meta},
    }


def test_metadata_that_json_does_not_know() -> None:
    import datetime

    loop: list[Any] = []
    loop.append(loop)
    value = {
        1: datetime.date(2024, 2, 29),
        "t": datetime.datetime(2024, 2, 29, 12, 30),
        "n": [float("nan"), float("inf"), (1, 2), {"b", "a"}],
        "x": np.int32(3),
        "p": Path("a"),
    }
    assert to_json(value) == (
        '{"1":"2024-02-29","n":[null,null,[1,2],["a","b"]],"p":"a","t":"2024-02-29T12:30:00","x":3}'
    )
    assert "…" in to_json(loop)


@pytest.mark.parametrize(
    "values", [[2**31], [1.5], ["1"], [[1]], [None]], ids=["large", "fraction", "text", "nested", "none"]
)
def test_numbers_that_do_not_fit(path: Path, values: list[Any]) -> None:
    with pytest.raises(ValueError, match=r"documents\.line"):
        STORE.publish(path, with_column(make_artifact(5), "documents", line=values))


def test_no_other_file_can_be_read_through_an_index(path: Path) -> None:
    from clew.stores.duckdb_files import attach

    STORE.publish(path, make_artifact(5))
    connection = attach(path, read_only=True)
    for query in (f"SELECT * FROM read_csv('{__file__}')", "INSTALL fts", "SET threads = 64"):
        with pytest.raises(duckdb.Error):
            connection.execute(query).fetchall()
    connection.close()


def test_speed_and_size(path: Path) -> None:
    """A smoke test with wide margins; benchmarks measure."""
    artifact = make_artifact(5000, n_nodes=2000, n_mentions=100_000, n_edges=20_000, dimension=384)
    began = time.process_time()
    STORE.publish(path, artifact)
    published = time.process_time()
    assert published - began < 10
    text = sum(len(text.encode()) for text in artifact.tables["chunks"]["text"])
    assert path.stat().st_size - text < 4096 * 5000
    reader = STORE.open(path)
    for at in range(0, 5000, 500):
        reader.chunks(range(at, at + 10))
    assert time.process_time() - published < 3
    reader.close()
