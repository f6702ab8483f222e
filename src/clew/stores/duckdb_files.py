"""DuckDB connections as Clew wants them: no network, no extensions, no other files, little memory."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import duckdb

from clew.stores.schema import BLOCK, ROW_GROUP
from clew.stores.strings import is_utf8

THREADS = 2  # what one look-up or a load can use; more would only take cores from embedding
READ_MEMORY = "1GB"  # a bound, not a reservation: a reader takes what it touches
WRITE_MEMORY = "2GB"
# The oldest DuckDB that pyproject.toml allows can read this format, whichever version wrote it.
STORAGE_VERSION = "v1.5.0"
NAME = "clew_index"  # under which a file is attached


def _config(memory: str) -> dict[str, str | bool | int | float | list[str]]:
    return {
        "threads": THREADS,
        "memory_limit": memory,
        "temp_directory": "",  # no spilling into anybody's folder
        "autoload_known_extensions": "false",
        "autoinstall_known_extensions": "false",
        "preserve_insertion_order": "true",  # rows are in position order
        "python_enable_replacements": "false",  # a table's name never means a variable
        # All columns of objects are texts. Looking at the first 1,000 to find out takes DuckDB 1.5 most
        # of a second a column where pandas isn't installed.
        "pandas_analyze_sample": 0,
    }


def attach(path: Path, *, read_only: bool) -> duckdb.DuckDBPyConnection:
    """Attach a file to a new in-memory instance, and forbid it everything else.

    Opening the file directly would share one instance among all connections of the process to that
    path, and so show the old file after a new one has been renamed over it.
    """
    name = str(path.absolute())
    if not is_utf8(name):
        raise OSError("its path isn't valid UTF-8, which DuckDB needs")
    layout = f"ROW_GROUP_SIZE {ROW_GROUP}, BLOCK_SIZE {BLOCK}, STORAGE_VERSION '{STORAGE_VERSION}'"
    options = "READ_ONLY" if read_only else layout
    connection = duckdb.connect(":memory:", config=_config(READ_MEMORY if read_only else WRITE_MEMORY))
    try:
        literal = name.replace("'", "''")
        connection.execute(f"ATTACH '{literal}' AS {NAME} (TYPE duckdb, {options})")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        connection.execute(f"USE {NAME}")
    except BaseException:
        connection.close()
        raise
    return connection


@contextmanager
def writing(path: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a new file for writing; on success it is checkpointed and closed, so that no WAL is left."""
    connection = attach(path, read_only=False)
    try:
        connection.execute("BEGIN")
        yield connection
        connection.execute("COMMIT")
        connection.execute(f"CHECKPOINT {NAME}")
    finally:
        connection.close()


class Cursors:
    """One DuckDB cursor a thread, all on one attached file."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._local = threading.local()
        self._lock = threading.Lock()
        self._all: list[duckdb.DuckDBPyConnection] = []

    def get(self) -> duckdb.DuckDBPyConnection:
        """Return this thread's cursor."""
        cursor: duckdb.DuckDBPyConnection | None = getattr(self._local, "cursor", None)
        if cursor is None:
            with self._lock:
                cursor = self._connection.cursor()
                self._all.append(cursor)
            cursor.execute(f"USE {NAME}")
            self._local.cursor = cursor
        return cursor

    def close(self) -> None:
        """Close all cursors and the file; further use raises duckdb.Error."""
        with self._lock:
            for cursor in self._all:
                cursor.close()
            self._all.clear()
            self._connection.close()
