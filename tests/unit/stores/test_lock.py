"""One writer at a time, named to those who wait."""

from __future__ import annotations

import json
import os
import signal
import socket
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


def note(pid: object, host: object = socket.gethostname(), since: object = 1e9) -> bytes:
    return json.dumps({"pid": pid, "host": host, "since": since}).encode()


# What may stand in the file that a run left, or that somebody else wrote.
LEFT = {
    "empty": b"",
    "cut": note(7)[:20],
    "another thing": b"[]",
    "not a number": note("x"),
    "NUL": b"\0" * 40,
    "not UTF-8": b"\xff\xfe\x00",
    "deep": b"[" * 200_000,
    "long": b'"' + b"x" * 100_000 + b'"',
    "no time": note(7, since="now"),
    "a time that no calendar has": note(7, since=1e300),
    "no time at all": b'{"pid": 7, "host": "h", "since": NaN}',
    "endless": b'{"pid": 1e999, "host": "h", "since": 1}',
    "another machine's": note(7, "elsewhere.example"),
    "this process's": note(os.getpid()),
    "the first process's": note(1),
}
SAYS = {"another machine's", "this process's", "the first process's"}


@pytest.mark.parametrize("name", LEFT)
def test_a_note_that_was_left_holds_nothing(index: Path, name: str) -> None:
    path = lock_path(index)
    path.parent.mkdir()
    path.write_bytes(LEFT[name])
    found = holder(path)
    assert (found is not None) == (name in SAYS)
    with index_lock(index, wait=0):
        now = holder(path)
    assert now is not None
    assert (now.pid, now.host) == (os.getpid(), socket.gethostname())


@pytest.mark.parametrize("name", LEFT)
def test_a_lock_is_a_lock_whatever_its_note_says(index: Path, name: str) -> None:
    with hold(index) as process:
        lock_path(index).write_bytes(LEFT[name])
        with (
            pytest.raises(PublishError, match="another run is indexing to it") as caught,
            index_lock(index, wait=0),
        ):
            pass
        assert ("since" in str(caught.value)) == (name in SAYS)
        process.kill()


def test_the_number_of_a_killed_holder_that_another_process_has_now(index: Path) -> None:
    """Numbers of processes come round; this one stands for whoever got it."""
    with hold(index) as process:
        process.kill()
        process.wait()
    path = lock_path(index)
    killed = json.loads(path.read_bytes())
    assert killed["pid"] == process.pid
    path.write_bytes(json.dumps(killed | {"pid": os.getpid()}).encode())
    with index_lock(index, wait=0):
        pass


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_a_holder_that_stands_still_holds_on(index: Path) -> None:
    """Stopped with Ctrl-Z, it may go on at any time: only the dead hold nothing."""
    with hold(index) as process:
        process.send_signal(signal.SIGSTOP)
        with pytest.raises(PublishError, match=f"process {process.pid}"), index_lock(index, wait=0.2):
            pass
        process.kill()
        process.wait()
    with index_lock(index, wait=0):
        pass


def test_a_holder_elsewhere_is_named_with_its_machine() -> None:
    assert str(Holder(7, "elsewhere.example", 0)).startswith("process 7 on elsewhere.example, since 19")


def test_a_lock_that_cannot_be_written_is_named(index: Path) -> None:
    lock_path(index).mkdir(parents=True)
    with pytest.raises(PublishError, match=r"its lock, .*lock, can't be written"), index_lock(index):
        pass


def test_nowhere_to_lock(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(PublishError, match="--index"), index_lock(tmp_path / "file" / "index.duckdb"):
        pass
