"""The store: one DuckDB file that is replaced whole, and a SQLite cache beside it."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import duckdb

from clew import __version__
from clew.errors import BadIndex, IndexFileError, IndexTooNew, IndexTooOld, NoIndex, PublishError
from clew.options import FOLDER
from clew.ports import Cache, Reader, Store
from clew.stores.duckdb_files import NAME, Cursors, attach
from clew.stores.duckdb_read import DuckReader, Stamp, file_stamp
from clew.stores.duckdb_write import publish
from clew.stores.places import MADE_KEY, META_KEY, Places
from clew.stores.queries import AGAIN, first_line
from clew.stores.rebuild import rebuild_command
from clew.stores.schema import FORMAT, META, SCHEMA_VERSION
from clew.types import Artifact, Imprint

MAGIC = b"DUCK"  # at byte 8 of every DuckDB file
HEADERS = 3 * 4096  # bytes before the first block
OPEN_TRIES = 20  # a file that is replaced while it is being opened is opened again


def make() -> Store:
    """Return the store."""
    return DuckStore()


class DuckStore:
    """Publishes to and reads from DuckDB files."""

    def publish(self, path: Path, artifact: Artifact) -> None:
        """Write beside ``path``, sync, and rename over it. Raises PublishError; the old index is whole
        then."""
        publish(Path(path), artifact)

    def open(self, path: Path) -> Reader:
        """Open an index for reading. Raises NoIndex, BadIndex, IndexTooNew, IndexTooOld."""
        path = Path(path)
        for left in reversed(range(OPEN_TRIES)):
            stamp = _check_file(path)
            try:
                reader = _open(path, stamp)
            except BadIndex:
                # Its size, say, was that of another file than the one that had been opened.
                if left and _replaced(path, stamp):
                    continue
                raise
            # Replaced as often as that, the one that is open is as good as any: a whole generation.
            if not left or not _replaced(path, stamp):
                return reader
            reader.close()
        raise AssertionError("the last try has returned or raised")

    def imprint(self, path: Path) -> Imprint | None:
        """Return what an index of this schema or an older one says of its making; None if there is none,
        or it can't be read."""
        path = Path(path)
        try:
            _check_file(path)
            connection, meta = _attach(path)
        except IndexFileError:
            return None
        connection.close()
        version: int = meta["schema_version"]
        sources = Places(meta.get(META_KEY) or (), path).origins
        return Imprint(version, version == SCHEMA_VERSION, meta, sources, meta.get(MADE_KEY))

    def writing(self, path: Path) -> AbstractContextManager[None]:
        """Hold the lock of whoever indexes to ``path``.

        Raises PublishError naming the holder, or if a file that Clew didn't write is at ``path``.
        """
        from clew.stores.lock import index_lock

        _spare_others(Path(path))
        return index_lock(Path(path))

    def cache(self, path: Path, *, new_run: bool = True) -> Cache:
        """Open (or make) the cache at ``path``; without ``new_run`` only to look after it."""
        from clew.stores.cache import open_cache

        return open_cache(Path(path), new_run=new_run)


def _spare_others(path: Path) -> None:
    """Raise PublishError if publishing at ``path`` would replace a file that Clew didn't write, and
    IndexTooNew if it is an index that a newer Clew wrote, which holds more than this one would put there.

    `clew index notes --index notes/diary.md` is one slip of the keyboard away. An index may be damaged
    past recognition; then its lock's note tells whose it is, or that it is in Clew's own folder.
    """
    from clew.stores.lock import holder, lock_path

    ours = path.parent.name == FOLDER or holder(lock_path(path)) is not None
    if not path.is_file() or not path.stat().st_size:
        return  # a folder is told of when publishing
    try:
        _check_file(path)
        _attach(path)[0].close()
    except IndexTooNew as error:
        remedy = f"{error.remedy}; or choose another file with --index; or remove this one, which loses it"
        raise IndexTooNew(error.thing, error.reason, remedy) from error
    except (BadIndex, NoIndex) as error:
        if ours:
            return
        reason = f"a file is there that Clew can't tell to be an index of its own ({error.reason})"
        raise PublishError(str(path), reason, "Move it away, or choose another with --index") from error


def _replaced(path: Path, stamp: Stamp) -> bool:
    """Tell whether another file is at ``path`` by now, or none."""
    try:
        return file_stamp(path) != stamp
    except OSError:
        return True


def _check_file(path: Path) -> Stamp:
    """Tell what isn't an index by its first bytes; DuckDB's own messages speak of other things. Return the
    file's stamp."""
    try:
        if path.is_dir():
            raise NoIndex(str(path), "it is a folder, not an index", "Make one: clew index FOLDER")
        with path.open("rb") as file:
            head, stamp = file.read(12), file_stamp(path)
    except (FileNotFoundError, NotADirectoryError):
        raise NoIndex(str(path), "there is no index here", "Make one: clew index FOLDER") from None
    except OSError as error:
        reason = f"it can't be read ({error.strerror})"
        raise BadIndex(str(path), reason, "Check its permissions, or name another with --index") from error
    if head[8:12] != MAGIC:
        raise BadIndex(str(path), "it isn't a Clew index", "Name another with --index, or index again")
    return stamp


def _open(path: Path, stamp: Stamp) -> DuckReader:
    connection, meta = _attach(path)
    try:
        version = meta["schema_version"]
        if version < SCHEMA_VERSION:
            reason = f"it was written by Clew {_clew(meta)} with schema {version}; this is Clew {__version__}"
            remedy = f"Make it anew: {rebuild_command(path, meta)}"
            raise IndexTooOld(str(path), f"{reason}, which reads schema {SCHEMA_VERSION}", remedy)
    except BaseException:
        connection.close()
        raise
    return DuckReader(path, Cursors(connection), meta, stamp)


def _attach(path: Path) -> tuple[duckdb.DuckDBPyConnection, dict[str, Any]]:
    """Open the file of an index of this schema or an older one, and read what it says of itself."""
    try:
        connection = attach(path, read_only=True)
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(first_line(error)) from error
    except (duckdb.Error, OSError) as error:
        raise _explain(path, error) from error
    try:
        _check_size(path, connection)
        meta = _meta(path, connection)
        _check_version(path, meta)
    except BaseException:
        connection.close()
        raise
    return connection, meta


def _check_size(path: Path, connection: duckdb.DuckDBPyConnection) -> None:
    """Find a truncated file now, not at the first row that is missing."""
    query = "SELECT block_size, total_blocks FROM pragma_database_size() WHERE database_name = ?"
    for block, blocks in connection.execute(query, [NAME]).fetchall():
        whole = HEADERS + block * blocks
        size = path.stat().st_size
        if size < whole:
            raise BadIndex(str(path), f"it is truncated: {size} bytes of {whole}", AGAIN)


def _meta(path: Path, connection: duckdb.DuckDBPyConnection) -> dict[str, Any]:
    try:
        rows = connection.execute(f"SELECT key, value FROM {META.name}").fetchall()
        meta = {key: json.loads(value) for key, value in rows}
    except duckdb.CatalogException as error:
        raise BadIndex(str(path), "it is a DuckDB file, but not a Clew index", "Name another") from error
    except duckdb.OutOfMemoryException as error:
        raise MemoryError(first_line(error)) from error
    except (duckdb.Error, ValueError) as error:
        raise BadIndex(str(path), f"it is damaged ({first_line(error)})", AGAIN) from error
    if meta.get("format") != FORMAT:
        raise BadIndex(str(path), "it is a DuckDB file, but not a Clew index", "Name another")
    return meta


def _check_version(path: Path, meta: dict[str, Any]) -> None:
    version = meta.get("schema_version")
    if not isinstance(version, int) or "generation" not in meta:
        raise BadIndex(str(path), "it is damaged (its versions are missing)", AGAIN)
    if version > SCHEMA_VERSION:
        raise IndexTooNew(
            str(path),
            f"it was written by Clew {_clew(meta)} with schema {version}; "
            f"this is Clew {__version__}, which reads schema {SCHEMA_VERSION}",
            "Upgrade Clew: pip install -U clew",
        )


def _clew(meta: dict[str, Any]) -> str:
    return str(meta.get("clew_version") or "(unknown)")


def _explain(path: Path, error: Exception) -> BadIndex | IndexTooNew:
    text = first_line(error)
    if "newer" in text.casefold() or "storage version" in text.casefold():
        reason = f"it was written by a newer DuckDB ({text})"
        return IndexTooNew(str(path), reason, "Upgrade it: pip install -U duckdb")
    return BadIndex(str(path), f"it can't be opened ({text})", AGAIN)
