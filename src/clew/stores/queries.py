"""Running queries on an index, with errors that name the file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import duckdb
from numpy.typing import NDArray

from clew.errors import BadIndex
from clew.stores.duckdb_files import Cursors

AGAIN = "Index again: clew index FOLDER --rebuild"


class Queries:
    """Queries on the file at ``path``. Threads may share it.

    A reader and what it keeps for later share this rather than each other: a cycle of references would hold
    an old generation's arrays until the garbage collector comes by.

    Raises BadIndex if the file was closed or is damaged, MemoryError if there is too little.
    """

    def __init__(self, path: Path, cursors: Cursors) -> None:
        self._path, self._cursors = path, cursors

    def rows(self, query: str, values: Iterable[Any] = ()) -> list[tuple[Any, ...]]:
        """Return the rows that a query with ``values`` for its question marks finds."""
        rows: list[tuple[Any, ...]] = self._run(query, values, "fetchall")
        return rows

    def columns(self, query: str) -> dict[str, NDArray[Any]]:
        """Return the columns of a query whose values are numbers, none of them NULL."""
        columns: dict[str, NDArray[Any]] = self._run(query, (), "fetchnumpy")
        return columns

    def _run(self, query: str, values: Iterable[Any], fetch: str) -> Any:
        try:
            return getattr(self._cursors.get().execute(query, list(values)), fetch)()
        except duckdb.ConnectionException as error:
            raise BadIndex(str(self._path), "it was closed", "Open it again") from error
        except duckdb.OutOfMemoryException as error:
            raise MemoryError(first_line(error)) from error
        except (duckdb.Error, UnicodeDecodeError) as error:
            raise BadIndex(str(self._path), f"it is damaged ({first_line(error)})", AGAIN) from error


def first_line(error: BaseException) -> str:
    """Return the first line of an error's text; DuckDB's go on for many."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
