"""One writer at a time, named to those who wait."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest

from clew.errors import PublishError
from clew.stores.lock import Holder, holder, index_lock, lock_path

HOLD = """
    import pathlib, sys
    from clew.stores.lock import index_lock
    with index_lock(pathlib.Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.readline()
"""


@pytest.fixture
def index(tmp_path: Path) -> Path:
    return tmp_path / ".clew" / "index.duckdb"


def hold(index: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", textwrap.dedent(HOLD), str(index)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "held\n"
    return process


def test_where_it_is() -> None:
    assert lock_path(Path("notes/.clew/index.duckdb")) == Path("notes/.clew/lock")
    assert lock_path(Path("notes.duckdb")) == Path("notes.duckdb.lock")


def test_a_held_lock_names_its_holder(index: Path) -> None:
    with hold(index) as process:
        began = time.monotonic()
        with (
            pytest.raises(PublishError, match=f"process {process.pid}, since 20") as caught,
            index_lock(index, wait=0.3),
        ):
            pass
        assert time.monotonic() - began >= 0.3
        assert caught.value.remedy
        found = holder(lock_path(index))
        assert found is not None
        assert found.pid == process.pid  # who failed to take it hasn't written over the note
        process.kill()


def test_a_killed_holder_holds_nothing(index: Path) -> None:
    with hold(index) as process:
        process.kill()
        process.wait()
    with index_lock(index, wait=0):
        found = holder(lock_path(index))
    assert found is not None
    assert found.pid == os.getpid()


def test_it_waits_for_a_holder_that_finishes(index: Path) -> None:
    with hold(index) as process:
        assert process.stdin is not None
        timer = threading.Timer(0.3, process.stdin.close)
        timer.start()
        with index_lock(index, wait=30):
            assert process.wait(30) == 0
        timer.join()


def test_in_one_process(index: Path) -> None:
    with index_lock(index), pytest.raises(PublishError), index_lock(index, wait=0):
        pass
    with index_lock(index, wait=0):
        pass


def test_an_error_inside_frees_it(index: Path) -> None:
    with pytest.raises(KeyError), index_lock(index):
        raise KeyError
    with index_lock(index, wait=0):
        pass


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}', "\0"])
def test_a_note_that_says_nothing(index: Path, text: str) -> None:
    path = lock_path(index)
    path.parent.mkdir()
    path.write_text(text)
    assert holder(path) is None
    with index_lock(index, wait=0):
        pass


def test_a_holder_elsewhere_is_named_with_its_machine() -> None:
    assert str(Holder(7, "elsewhere.example", 0)).startswith("process 7 on elsewhere.example, since 19")


def test_nowhere_to_lock(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(PublishError, match="--index"), index_lock(tmp_path / "file" / "index.duckdb"):
        pass
