"""Lack of memory is known by what libraries say of it, and asked for before they are loaded."""

from __future__ import annotations

import ctypes
import errno
import platform
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from clew.room import INDEXING, lacks_memory, memory_kept, need


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.ENOMEM, "Cannot allocate memory"),
        ImportError("libscipy_openblas.so: failed to map segment from shared object"),
        ImportError("numpy failed\nOriginal error was: lib.so: cannot allocate memory in static TLS block"),
        RuntimeError("can't start new thread"),
        RuntimeError("std::bad_alloc"),
        RuntimeError("[ONNXRuntimeError] : 6 : bad allocation"),
        Exception("TransactionContext Error: Failed to commit: Failed to allocate block of 262144 bytes"),
    ],
)
def test_it_is_known_by_what_libraries_say(error: Exception) -> None:
    assert lacks_memory(error)


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, "No space left on device"),
        ImportError("No module named 'numpy'"),
        RuntimeError("can't start new session"),
        ValueError(""),
    ],
)
def test_other_errors_are_not_that(error: Exception) -> None:
    assert not lacks_memory(error)


def test_what_is_loaded_needs_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mmap.mmap", lambda *_: pytest.fail("it asked"))
    for name in INDEXING:
        monkeypatch.setitem(sys.modules, name, sys)
    need(INDEXING)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
@pytest.mark.parametrize(("megabytes", "said"), [(100, "not"), (4000, "enough")])
def test_a_limited_address_space(megabytes: int, said: str) -> None:
    code = f"""
        import resource
        resource.setrlimit(resource.RLIMIT_AS, ({megabytes << 20},) * 2)
        from clew.room import INDEXING, need
        try:
            need(INDEXING)
        except MemoryError:
            print("not")
        else:
            print("enough")
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True)
    assert done.stdout == f"{said}\n", done.stderr


def faults_of(rounds: int) -> int:
    """Return how many pages the system has to fill while an array of 24 MB is made so many times."""
    resource = pytest.importorskip("resource")
    begin = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(rounds):
        np.ones(3 << 20)
    return int(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - begin)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries are left as they are")
def test_memory_is_kept_while_it_is_needed_again() -> None:
    script = f"""
import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_room import faults_of, memory_kept
first = faults_of(1)
with memory_kept():
    faults_of(1)
    print(first, faults_of(10))
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    first, later = map(int, run.stdout.split())
    assert later < first


def test_where_the_c_library_cannot_keep_memory_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _: object())
    with memory_kept():
        pass
