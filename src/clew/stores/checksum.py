"""The hash of a published index's content, made again from its rows: one column after the other, in parts.

It is that of :mod:`clew.stores.columns`, whose order is by table, then column; so memory holds a part of one
column, and a number for each of its rows where it is text.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clew.stores.columns import BATCH, NUMBERS, ContentHash
from clew.stores.places import MADE_KEY, META_KEY
from clew.stores.schema import ARTIFACT_TABLES, META, Column
from clew.stores.strings import unescape
from clew.types import UNDATED

if TYPE_CHECKING:
    from clew.stores.duckdb_read import DuckReader

UNHASHED = ("format", "schema_version", "generation", META_KEY, MADE_KEY)
ROWS = 8 * BATCH  # read at once


def content_hash(reader: DuckReader) -> str:
    """Return what ``generation`` must be. Raises BadIndex for what can't be read."""
    content = ContentHash()
    for table in ARTIFACT_TABLES.values():
        for column in table.columns:
            if column.derived:
                continue
            if column.kind in NUMBERS:
                _add_numbers(reader, table.name, column, content)
            else:
                _add_texts(reader, table.name, column, content)
    for name in sorted(reader._array_places()):
        kind, shape, size, parts = reader._array_parts(name)
        content.begin(f"{name}:{np.dtype(kind).str}:{tuple(json.loads(shape))}", size)
        for part in parts:
            content.go_on(part)
    rows = [(unescape(key), unescape(value)) for key, value in reader._rows(f"SELECT * FROM {META.name}")]
    for key, value in sorted(rows):
        if key not in UNHASHED:
            content.add(key, value.encode("utf-8", "surrogatepass"))
    return content.hexdigest()


def column_parts(reader: DuckReader, table: str, column: str) -> Iterator[list[Any]]:
    """Yield a column's values, in the order of rows."""
    for begin in range(0, reader.count(table), ROWS):
        query = (
            f"SELECT {column} FROM {table} WHERE rowid >= {begin} AND rowid < {begin + ROWS} ORDER BY rowid"
        )
        yield [value for (value,) in reader._rows(query)]


def column_array(reader: DuckReader, table: str, column: str) -> NDArray[Any]:
    """Return a column of numbers."""
    parts = [np.array(part, dtype=np.int64) for part in column_parts(reader, table, column)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=np.int64)


def _add_numbers(reader: DuckReader, table: str, column: Column, content: ContentHash) -> None:
    kind = np.dtype(NUMBERS[column.kind])
    content.begin(f"{table}.{column.name}", reader.count(table) * kind.itemsize)
    for values in column_parts(reader, table, column.name):
        if column.optional:
            values = [UNDATED if value is None else value for value in values]
        content.go_on(np.array(values, dtype=kind))


def _add_texts(reader: DuckReader, table: str, column: Column, content: ContentHash) -> None:
    """Add lengths, then texts; they are read twice, as all lengths come first."""
    label = f"{table}.{column.name}"
    content.begin(f"{label}#", reader.count(table) * np.dtype(np.int64).itemsize)
    for texts in column_parts(reader, table, column.name):
        content.go_on(np.array([len(unescape(text)) for text in texts], dtype=np.int64))
    for texts in column_parts(reader, table, column.name):
        for begin in range(0, len(texts), BATCH):
            joined = "".join(map(unescape, texts[begin : begin + BATCH]))
            content.add(label, joined.encode("utf-8", "surrogatepass"))
