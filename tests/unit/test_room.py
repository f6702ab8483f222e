"""Lack of memory is known by what libraries say of it, and asked for before they are loaded."""

from __future__ import annotations

import errno
import subprocess
import sys
import textwrap

import pytest

from clew.room import INDEXING, lacks_memory, need


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
