"""Turns an artifact's columns into what DuckDB scans, and hashes them on the way."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, time
from hashlib import blake2b
from pathlib import PurePosixPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.stores.schema import ARTIFACT_TABLES, Column, Table
from clew.stores.strings import MARK, escape
from clew.text.tokens import normal_name
from clew.types import FILE_TYPES, Artifact

NUMBERS: Mapping[str, Any] = {"int": np.int32, "long": np.int64, "real": np.float64}
BATCH = 4096  # texts that are joined to be encoded at once
MAX_DEPTH = 64  # of nested metadata; deeper is cut, so that a YAML anchor to itself ends

Columns = dict[str, NDArray[Any]]


class ContentHash:
    """A hash over tables, arrays and meta, in a fixed order: equal content gives an equal generation."""

    def __init__(self) -> None:
        self._hash = blake2b(digest_size=16)

    def add(self, label: str, data: Any) -> None:
        """Add bytes (or a contiguous array) under a label."""
        self.begin(label, memoryview(data).nbytes)
        self.go_on(data)

    def begin(self, label: str, size: int) -> None:
        """Begin what has so many bytes and comes in parts."""
        self._hash.update(f"{label}\0{size}\0".encode("utf-8", "surrogatepass"))

    def go_on(self, data: Any) -> None:
        """Add a part of what was begun."""
        if len(data):  # an empty array can't be cast
            self._hash.update(memoryview(data).cast("B"))

    def hexdigest(self) -> str:
        return self._hash.hexdigest()


def table_columns(table: Table, given: Mapping[str, Any], content: ContentHash) -> Columns:
    """Return a table's columns by name: numbers as arrays of the schema's type, texts as objects.

    Raises ValueError if a column is missing or unknown, or if their lengths differ.
    """
    columns = {column.name: column for column in table.columns}
    unknown = sorted(set(given) - set(columns))
    if unknown:
        raise ValueError(f"table {table.name} has no column {unknown[0]!r}")
    out: Columns = {}
    for column in table.columns:
        if column.derived:
            continue
        if column.name not in given:
            raise ValueError(f"table {table.name} lacks the column {column.name!r}")
        out[column.name] = _values(table, column, given[column.name], content)
    if len({len(values) for values in out.values()}) > 1:
        sizes = ", ".join(f"{name} {len(values)}" for name, values in out.items())
        raise ValueError(f"the columns of table {table.name} differ in length: {sizes}")
    position = table.columns[0].name
    if table.positions and not np.array_equal(out[position], np.arange(len(out[position]))):
        raise ValueError(f"the rows of table {table.name} aren't in the order of {position}: 0, 1, 2, …")
    if table.name == "documents":
        out.update(_document_keys(given))
    return out


def artifact_columns(artifact: Artifact, content: ContentHash) -> dict[str, Columns]:
    """Return the columns of every table; one that the artifact doesn't give is empty."""
    unknown = sorted(set(artifact.tables) - set(ARTIFACT_TABLES))
    if unknown:
        raise ValueError(f"there is no table {unknown[0]!r}")
    return {
        name: table_columns(table, artifact.tables[name], content)
        for name, table in ARTIFACT_TABLES.items()
        if name in artifact.tables
    }


def _values(table: Table, column: Column, values: Any, content: ContentHash) -> NDArray[Any]:
    label = f"{table.name}.{column.name}"
    if column.kind in NUMBERS:
        array = _numbers(label, np.asarray(values), NUMBERS[column.kind])
        content.add(label, array)
        return array
    texts = list(map(to_json, values)) if column.kind == "json" else values
    out = np.empty(len(texts), dtype=object)
    out[:] = texts
    return _hashed_texts(label, out, content)


def _numbers(label: str, array: NDArray[Any], kind: Any) -> NDArray[Any]:
    if array.ndim != 1:
        raise ValueError(f"{label} has {array.ndim} dimensions instead of 1")
    if array.size == 0:
        return np.zeros(0, dtype=kind)
    if array.dtype.kind not in ("iu" if np.issubdtype(kind, np.integer) else "iuf"):
        raise ValueError(f"{label} holds {array.dtype}")
    if np.issubdtype(kind, np.integer):
        bounds = np.iinfo(kind)
        if int(array.min()) < bounds.min or int(array.max()) > bounds.max:
            raise ValueError(f"a value of {label} is out of range")
    return np.ascontiguousarray(array, dtype=kind)


def _hashed_texts(label: str, texts: NDArray[Any], content: ContentHash) -> NDArray[Any]:
    """Escape what UTF-8 can't hold; hash the rest by batches, as encoding each text alone is slow."""
    content.add(f"{label}#", np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
    for begin in range(0, len(texts), BATCH):
        batch = texts[begin : begin + BATCH]
        joined = "".join(batch)
        try:
            data = joined.encode()
            odd = MARK in joined
        except UnicodeEncodeError:
            data, odd = joined.encode("utf-8", "surrogatepass"), True
        content.add(label, data)
        if odd:
            escaped = np.empty(len(texts), dtype=object)
            escaped[:] = texts
            escaped[begin : begin + BATCH] = [escape(text) for text in batch]
            texts = escaped
    return texts


def _document_keys(documents: Mapping[str, Sequence[Any]]) -> Columns:
    """Return the normal names by which people ask for a document."""
    rows = zip(documents["key"], documents["media_type"], strict=True)
    files = [file_key(key, media_type) for key, media_type in rows]
    titles = list(map(normal_name, documents["title"]))
    out = {"title_key": np.empty(len(titles), dtype=object), "file_key": np.empty(len(files), dtype=object)}
    out["title_key"][:] = list(map(escape, titles))
    out["file_key"][:] = list(map(escape, files))
    return out


def file_key(key: str, media_type: str) -> str:
    """Return the normal form of a document's file name; a record's id has no extension to drop."""
    return normal_name(PurePosixPath(key).stem if media_type in FILE_TYPES else key)


def to_json(value: Any) -> str:
    """Return canonical JSON: sorted keys, no spaces. Text is taken to be JSON already.

    Dates become ISO 8601, what else JSON doesn't know its string; NaN and infinities become null.
    """
    if isinstance(value, str):
        return value
    return json.dumps(plain(value), sort_keys=True, ensure_ascii=False, separators=(",", ":"))


def plain(value: Any, depth: int = 0) -> Any:
    """Return a value as JSON's types."""
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, (date, datetime, time)):
        return value.isoformat()
    if isinstance(value, np.generic):
        return plain(value.item(), depth)
    if depth >= MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {str(key): plain(item, depth + 1) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item, depth + 1) for item in value), key=str)
    return str(value)


def array_parts(array: NDArray[Any], size: int) -> Iterator[bytes]:
    """Return the bytes of a contiguous array, in parts of at most ``size``; an empty array has one part."""
    if array.size == 0:
        yield b""
    view = array.reshape(-1).view(np.uint8)
    for at in range(0, len(view), size):
        yield view[at : at + size].tobytes()


def portable(name: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return an array as contiguous little-endian numbers. Raises ValueError for objects and texts."""
    if array.dtype.kind not in "biuf":
        raise ValueError(f"array {name} holds {array.dtype}, not numbers")
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("<"))
