"""Whether a process has room in memory: asked before libraries are loaded, and of what they raise.

Where the address space is limited (``ulimit -v``, a strict overcommit), a library that finds no room while it
is being loaded fails in words of its own, ends the process, or never returns: OpenBLAS, which numpy and scipy
bring along, goes round asking for memory for ever.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

# Megabytes of address space that importing takes, measured on two cores; of scipy, with its linear algebra.
LIBRARIES = {"numpy": 130, "duckdb": 90, "scipy.linalg": 150}
READING = ("numpy", "duckdb")
INDEXING = tuple(LIBRARIES)
MEGABYTE = 1 << 20
# glibc gives blocks beyond a size (32 MB at most, by itself) back to the system once they are freed, and
# an array of that size is filled with zeros by the system page by page whenever one is made: a tenth of the
# time of indexing a large vault, more on virtual machines. Blocks up to KEPT stay, up to MOST_FREE in all.
KEPT, MOST_FREE = 64 * MEGABYTE, 2048 * MEGABYTE
USUAL = 32 * MEGABYTE  # what glibc comes to by itself
TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # glibc's numbers of these settings (malloc.h)

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


@contextmanager
def memory_kept() -> Iterator[None]:
    """Let the C library keep freed memory for what comes next, and give it all back at the end. Where the C
    library isn't glibc, nothing is changed."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    if library is None or not hasattr(library, "mallopt") or not hasattr(library, "malloc_trim"):
        yield
        return
    library.mallopt(MMAP_THRESHOLD, KEPT)
    library.mallopt(TRIM_THRESHOLD, MOST_FREE - 1)
    try:
        yield
    finally:
        library.mallopt(MMAP_THRESHOLD, USUAL)
        library.mallopt(TRIM_THRESHOLD, 2 * USUAL)
        library.malloc_trim(0)


def lacks_memory(error: BaseException) -> bool:
    """Tell whether an exception of any library says that there isn't enough memory."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    text = str(error).casefold()
    return any(words in text for words in WORDS)
