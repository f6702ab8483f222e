"""Whether a process has room in memory: asked before libraries are loaded, and of what they raise.

Where the address space is limited (``ulimit -v``, a strict overcommit), a library that finds no room while it
is being loaded fails in words of its own, ends the process, or never returns: OpenBLAS, which numpy and scipy
bring along, goes round asking for memory for ever.
"""

from __future__ import annotations

import errno
import mmap
import sys
from collections.abc import Iterable

# Megabytes of address space that importing takes, measured on two cores; of scipy, with its linear algebra.
LIBRARIES = {"numpy": 130, "duckdb": 90, "scipy.linalg": 150}
READING = ("numpy", "duckdb")
INDEXING = tuple(LIBRARIES)
MEGABYTE = 1 << 20

# What is said instead of MemoryError by the system's loader, Python's threads, C++, ONNX Runtime, DuckDB.
WORDS = (
    "failed to map segment",
    "cannot allocate memory",
    "can't start new thread",
    "bad_alloc",
    "bad allocation",
    "failed to allocate",
)


def need(libraries: Iterable[str]) -> None:
    """Raise MemoryError if there is no room for those of the libraries that aren't loaded yet. The room is
    asked for and given back: that takes microseconds, and no memory."""
    size = sum(LIBRARIES[name] for name in libraries if name not in sys.modules)
    if not size:
        return
    try:
        mmap.mmap(-1, size * MEGABYTE).close()
    except OSError as error:
        raise MemoryError(f"{size} MB can't be had: {error}") from error


def lacks_memory(error: BaseException) -> bool:
    """Tell whether an exception of any library says that there isn't enough memory."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    text = str(error).casefold()
    return any(words in text for words in WORDS)
