"""Publishing: a new DuckDB file beside the old one, synced, and renamed over it."""

from __future__ import annotations

import errno
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import duckdb
from numpy.typing import NDArray

from clew.errors import PublishError
from clew.room import lacks_memory
from clew.stores.columns import (
    Columns,
    ContentHash,
    array_parts,
    artifact_columns,
    portable,
    to_json,
)
from clew.stores.duckdb_files import writing
from clew.stores.places import MADE_KEY, META_KEY, pack_origins
from clew.stores.schema import ARTIFACT_TABLES, FORMAT, META, SCHEMA_VERSION, TABLES
from clew.stores.strings import escape
from clew.types import UNDATED, Artifact

PART_BYTES = 1 << 20  # of an array: one row; 1 MB wrote and read fastest
STRAY_SECONDS = 24 * 3600.0  # a temporary file older than this belongs to nobody
_TEMPORARY = re.compile(r"\.(?P<host>[^.]+)-(?P<pid>\d+)-\d+\.new(\.wal)?")
_numbers = count()  # tells two publications of one process apart


def publish(path: Path, artifact: Artifact) -> None:
    """Publish an artifact at ``path``. Raises PublishError; what stood there is whole then.

    A ValueError says that the artifact doesn't fit the schema.
    """
    content = ContentHash()
    tables = artifact_columns(artifact, content)
    arrays = {name: portable(name, artifact.arrays[name]) for name in sorted(artifact.arrays)}
    for name, array in arrays.items():
        content.add(f"{name}:{array.dtype.str}:{array.shape}", array.reshape(-1))
    meta = {str(key): to_json_value(artifact.meta[key]) for key in sorted(artifact.meta)}
    for key, value in meta.items():
        content.add(key, value.encode("utf-8", "surrogatepass"))
    meta |= {
        "format": to_json_value(FORMAT),
        "schema_version": to_json_value(SCHEMA_VERSION),
        "generation": to_json_value(content.hexdigest()),
        META_KEY: to_json_value(pack_origins(artifact.sources, path)),
        MADE_KEY: to_json_value(artifact.made),
    }
    with replacing(path) as new, writing(new) as connection:
        for table in TABLES.values():
            connection.execute(table.sql)
        for name in ARTIFACT_TABLES:
            if name in tables:
                _insert(connection, name, tables[name])
        _insert_arrays(connection, arrays)
        rows = [[key, escape(meta[key])] for key in sorted(meta)]
        connection.executemany(f"INSERT INTO {META.name} VALUES (?, ?)", rows)


def to_json_value(value: Any) -> str:
    """Return a value as JSON; unlike in a table's columns, a text is a value here."""
    return to_json([value])[1:-1]


def _insert(connection: duckdb.DuckDBPyConnection, name: str, columns: Columns) -> None:
    """Scan the columns where they lie in memory; this does about two million rows a second."""
    if not len(next(iter(columns.values()))):
        return
    connection.register("columns_given", columns)
    listed = ", ".join(columns)
    optional = {column.name for column in TABLES[name].columns if column.optional}
    given = ", ".join(f"nullif({one}, {UNDATED + 1} - 1)" if one in optional else one for one in columns)
    connection.execute(f"INSERT INTO {name} ({listed}) SELECT {given} FROM columns_given")
    connection.unregister("columns_given")  # not after a failure: it would hide the reason


def _insert_arrays(connection: duckdb.DuckDBPyConnection, arrays: Mapping[str, NDArray[Any]]) -> None:
    for name, array in arrays.items():
        shape = to_json(list(array.shape))
        for part, data in enumerate(array_parts(array, PART_BYTES)):
            row = [escape(name), array.dtype.str, shape, part, data]
            connection.execute("INSERT INTO arrays VALUES (?, ?, ?, ?, ?)", row)


# --- files ---------------------------------------------------------------------------------------


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a name beside ``path`` to write to; then sync that file and rename it over ``path``.

    If anything fails, the new file is removed and ``path`` is as it was.
    """
    new = path.with_name(f"{path.name}.{_host()}-{os.getpid()}-{next(_numbers)}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_strays(path)
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, "it is a folder")
        # DuckDB's own message doesn't tell a missing permission from other reasons; this does.
        os.close(os.open(new, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
        new.unlink()
        yield new
        _sync(new)
        new.replace(path)
        _sync_folder(path.parent)
    except (OSError, duckdb.Error, MemoryError) as error:
        raise _explain(path, error) from error
    finally:
        for left in (new, new.with_name(f"{new.name}.wal")):
            with suppress(OSError):
                left.unlink()


def remove_strays(path: Path) -> None:
    """Remove temporary files that killed processes left beside ``path``."""
    for entry in sorted(path.parent.iterdir()):
        if not entry.name.startswith(f"{path.name}."):
            continue
        match = _TEMPORARY.fullmatch(entry.name[len(path.name) :])
        if match is None:
            continue
        with suppress(OSError):
            old = time.time() - entry.stat().st_mtime > STRAY_SECONDS
            mine = match["host"] == _host()
            if old or (mine and not _alive(int(match["pid"]))):
                entry.unlink()


def _host() -> str:
    """Process numbers mean something on their own machine alone."""
    return re.sub(r"[^A-Za-z0-9-]", "_", socket.gethostname()) or "host"


def _alive(pid: int) -> bool:
    if os.name == "nt":  # os.kill would end it there; a file in use can't be removed anyway
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OverflowError:
        return False
    except PermissionError:
        return True
    return True


def _sync(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    if os.name == "nt":  # folders can't be opened there
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOTSUP):  # some network file systems can't
            raise
    finally:
        os.close(handle)


def _explain(path: Path, error: Exception) -> PublishError:
    code = error.errno if isinstance(error, OSError) else None
    text = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    kept = "The index that was there is unchanged"
    if code in (errno.EACCES, errno.EPERM):
        return PublishError(str(path), "no permission to write in that folder", _elsewhere(kept))
    if code == errno.EROFS:
        return PublishError(str(path), "the folder is read-only", _elsewhere(kept))
    if code == errno.EISDIR:
        return PublishError(str(path), "it is a folder", "Name a file, as in --index notes.duckdb")
    if code in (errno.ENOTDIR, errno.EEXIST):
        return PublishError(
            str(path), "a part of its path is a file, not a folder", "Name another with --index"
        )
    if code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or _disk_full(text):
        return PublishError(
            str(path), f"the disk is full ({text})", f"Free some space, then index again. {kept}"
        )
    if isinstance(error, duckdb.OutOfMemoryException) or lacks_memory(error):
        return PublishError(str(path), "not enough memory", f"Close other programs, then index again. {kept}")
    return PublishError(str(path), f"it can't be written ({text})", _elsewhere(kept))


def _elsewhere(kept: str) -> str:
    return f"Choose another place with --index FILE. {kept}"


def _disk_full(text: str) -> bool:
    reasons = (os.strerror(code) for code in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG))
    return any(reason.casefold() in text.casefold() for reason in reasons)
