"""Memory of what was expensive: a SQLite file in WAL mode that may be lost at any time.

Nothing here raises for the state of the disk. A cache that can't be opened, read or written is done
without, and ``problem`` says why.
"""

from __future__ import annotations

import gc
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import astuple, fields
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.ports import AnalysisCodec
from clew.stores.codec import decode_analysis, encode_analysis
from clew.types import Analysis, Cost, Saving

CACHE_VERSION = 1  # raise it when a table or an encoding changes: the cache is then remade
BUSY_SECONDS = 20.0  # for another run that writes to the same cache
BRIEFLY = 2.0  # the same for a question, or a look: it does without rather than wait
KEYS_AT_ONCE = 500  # in one statement; SQLite's limit was 999 for long
KEEP_RUNS = 8  # an entry that nobody asked for in so many runs is pruned
TABLES = {
    "analyses": "key TEXT PRIMARY KEY, run INTEGER NOT NULL, data BLOB NOT NULL",
    "vectors": "key TEXT PRIMARY KEY, run INTEGER NOT NULL, data BLOB NOT NULL",
    "replies": "key TEXT PRIMARY KEY, run INTEGER NOT NULL, data BLOB NOT NULL",
    "runs": "run INTEGER PRIMARY KEY",
}
# What stages keep of a document besides its analysis. It came later: caches without it get it.
PARTS = "CREATE TABLE IF NOT EXISTS parts (key TEXT PRIMARY KEY, run INTEGER NOT NULL, data BLOB NOT NULL)"
REAL = ("seconds", "money", "saved_money")
# What the last whole run used: the run's number and 8 bytes of each key's hash. Writing a run's number into
# each entry that it uses would write the entries' data anew.
LAST = (
    "CREATE TABLE IF NOT EXISTS last_used (name TEXT PRIMARY KEY, run INTEGER NOT NULL, data BLOB NOT NULL)"
)
# The ledger of calls to language models. It is added to, in one statement, so that several processes may.
COST_FIELDS = tuple(one.name for one in fields(Cost))[2:]
LEDGER = (
    "CREATE TABLE IF NOT EXISTS costs (stage TEXT, model TEXT, "
    + "".join(f"{name} {'REAL' if name in REAL else 'INTEGER'} NOT NULL DEFAULT 0, " for name in COST_FIELDS)
    + "PRIMARY KEY (stage, model))",
    "CREATE TABLE IF NOT EXISTS savings (name TEXT PRIMARY KEY, times INTEGER NOT NULL, "
    "used INTEGER NOT NULL, instead INTEGER NOT NULL)",
)
ADD_COST = (
    f"INSERT INTO costs (stage, model, {', '.join(COST_FIELDS)}) "
    f"VALUES ({', '.join('?' * (len(COST_FIELDS) + 2))}) ON CONFLICT (stage, model) DO UPDATE SET "
    + ", ".join(f"{name} = {name} + excluded.{name}" for name in COST_FIELDS)
)
ADD_SAVING = (
    "INSERT INTO savings (name, times, used, instead) VALUES (?, ?, ?, ?) ON CONFLICT (name) DO UPDATE SET "
    "times = times + excluded.times, used = used + excluded.used, instead = instead + excluded.instead"
)
PRUNED = ("analyses", "parts", "vectors")  # replies were paid for and stay
STORED = ("analyses", "parts", "vectors", "replies")

Value = TypeVar("Value")


def open_cache(path: Path, *, new_run: bool = True) -> SqliteCache:
    """Open (or make) the cache at ``path``. A damaged one is moved aside; see ``problem``. Without
    ``new_run`` it isn't counted as a run, after so many of which what is unused is pruned."""
    return SqliteCache(path, new_run)


class SqliteCache:
    """A Cache. Threads and processes may share the file. ``problem`` is empty while all is well."""

    codec = AnalysisCodec(encode_analysis, decode_analysis)

    def __init__(self, path: Path, new_run: bool = True) -> None:
        self.path = path
        self._new_run = new_run
        self.problem = ""
        self._lock = threading.RLock()
        self._used: dict[str, set[str]] = {name: set() for name in PRUNED}
        self._run = 0
        self._db: sqlite3.Connection | None = None
        self._open()

    # --- the port ---

    def analyses(self, keys: Sequence[str]) -> dict[str, Analysis]:
        """Return the stored analyses among ``keys``; one that can't be decoded counts as missing."""
        with _no_collection():
            return self._get("analyses", keys, decode_analysis)

    def put_analyses(
        self, items: Mapping[str, Analysis], encoded: Mapping[str, bytes] = MappingProxyType({})
    ) -> None:
        """Store analyses, some of them ``encoded`` already. One that wouldn't come back exactly as it is
        isn't stored."""
        rows = ((key, encoded.get(key) or encode_analysis(analysis)) for key, analysis in items.items())
        self._put("analyses", [(key, data) for key, data in rows if data is not None])

    def vectors(self, embedder: str, keys: Sequence[str]) -> dict[str, NDArray[np.float16]]:
        """Return the stored vectors among ``keys``, each of shape (dimension,), read-only."""
        own = {f"{embedder}\0{key}": key for key in keys}
        found = self._get("vectors", list(own), lambda data: np.frombuffer(data, dtype="<f2"))
        return {own[key]: vector for key, vector in found.items()}

    def put_vectors(self, embedder: str, items: Mapping[str, NDArray[np.float16]]) -> None:
        """Store vectors."""
        rows = [(f"{embedder}\0{key}", np.asarray(v, dtype="<f2").tobytes()) for key, v in items.items()]
        self._put("vectors", rows)

    def parts(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return what stages have kept among ``keys``."""
        return self._get("parts", keys, bytes)

    def put_parts(self, items: Mapping[str, bytes]) -> None:
        """Store what stages keep."""
        self._put("parts", list(items.items()))

    def replies(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the stored replies of models among ``keys`` (hashes of the requests)."""
        return self._get("replies", keys, bytes)

    def put_replies(self, items: Mapping[str, bytes]) -> None:
        """Store replies."""
        self._put("replies", list(items.items()))

    def costs(self) -> list[Cost]:
        """Return the ledger's rows, by stage and model."""
        columns = ", ".join(("stage", "model", *COST_FIELDS))
        statement = f"SELECT {columns} FROM costs ORDER BY stage, model"
        rows: list[tuple[Any, ...]] = self._guard(lambda db: db.execute(statement).fetchall(), [])
        return [Cost(*row) for row in rows]

    def add_costs(self, costs: Sequence[Cost]) -> None:
        """Add to the ledger."""
        rows = [astuple(one) for one in costs]
        self._guard(lambda db: _in_transaction(db, lambda db: db.executemany(ADD_COST, rows)), None)

    def savings(self) -> list[Saving]:
        """Return what was done with fewer tokens than the plain way takes."""
        statement = "SELECT name, times, used, instead FROM savings ORDER BY name"
        rows: list[tuple[Any, ...]] = self._guard(lambda db: db.execute(statement).fetchall(), [])
        return [Saving(*row) for row in rows]

    def add_saving(self, saving: Saving) -> None:
        """Add to the savings."""
        row = astuple(saving)
        self._guard(lambda db: _in_transaction(db, lambda db: db.execute(ADD_SAVING, row)), None)

    def prune(self, keep: Iterable[str] = (), runs: int = KEEP_RUNS) -> int:
        """Drop analyses and vectors that this run didn't use and that are older than ``runs`` runs; replies
        were paid for and stay. ``keep`` names keys to spare. Return how many were dropped.

        Call it after a whole run: half a run has used half of the entries.
        """
        spared = set(keep)
        dropped = 0

        def work(db: sqlite3.Connection) -> None:
            nonlocal dropped
            for table in PRUNED:
                last = (table, self._run, b"".join(sorted(map(_digest, self._used[table]))))
                db.execute("INSERT OR REPLACE INTO last_used VALUES (?, ?, ?)", last)
                old = db.execute(f"SELECT key FROM {table} WHERE run <= ?", (self._run - runs,)).fetchall()
                gone = [row for row in old if row[0] not in self._used[table] and not _spares(spared, row[0])]
                db.executemany(f"DELETE FROM {table} WHERE key = ?", gone)
                # Seen again: they needn't be looked at for another ``runs`` runs.
                kept = [(self._run, key) for (key,) in old if key in self._used[table]]
                db.executemany(f"UPDATE {table} SET run = ? WHERE key = ?", kept)
                dropped += len(gone)

        self._guard(lambda db: _in_transaction(db, work), None)
        self._shrink(dropped)
        return dropped

    def unused(self) -> int:
        """Return how many entries ``drop_unused`` would drop."""
        return self._guard(lambda db: sum(len(_unused(db, table)) for table in PRUNED), 0)

    def drop_unused(self) -> int:
        """Drop what the last whole run didn't use, but for replies and what a run that was stopped after it
        has stored. Return how many were dropped."""
        dropped = 0

        def work(db: sqlite3.Connection) -> None:
            nonlocal dropped
            for table in PRUNED:
                gone = _unused(db, table)
                db.executemany(f"DELETE FROM {table} WHERE key = ?", [(key,) for key in gone])
                dropped += len(gone)

        self._guard(lambda db: _in_transaction(db, work), None)
        self._shrink(dropped)
        return dropped

    def _shrink(self, dropped: int) -> None:
        if dropped:
            # A script is stepped to its end; execute() would stop after the first page.
            self._guard(lambda db: db.executescript("PRAGMA incremental_vacuum"), None)
            self._guard(lambda db: db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall(), [])

    def stats(self) -> dict[str, int]:
        """Return the number of entries by table, and the file's size in bytes."""

        def work(db: sqlite3.Connection) -> dict[str, int]:
            return {t: int(db.execute(f"SELECT count(*) FROM {t}").fetchone()[0]) for t in STORED}

        counts: dict[str, int] = self._guard(work, dict.fromkeys(STORED, 0))
        with suppress(OSError):
            counts["bytes"] = self.path.stat().st_size
        return counts

    def close(self) -> None:
        """Close the file; the cache is then empty and stores nothing."""
        with self._lock:
            if self._db is not None:
                with suppress(sqlite3.Error):
                    self._db.close()
                self._db = None

    # --- the file ---

    def _open(self) -> None:
        """Open the file; move it aside if it is damaged and try once more; else do without."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            self._give_up(f"its folder can't be made ({error.strerror})")
            return
        try:
            self._db, self._run = _connect(self.path, self._new_run)
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                self._give_up(str(error))
                return
            self._set_aside(error)
        except (OSError, ValueError) as error:
            self._give_up(str(error))

    def _set_aside(self, error: sqlite3.Error) -> None:
        """Rename a damaged file, say so, and begin a new one."""
        aside = self.path.with_name(f"{self.path.name}.damaged")
        try:
            self.path.replace(aside)
            for suffix in ("-wal", "-shm"):
                self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
            self._db, self._run = _connect(self.path, self._new_run)
        except (OSError, sqlite3.Error) as second:
            self._give_up(f"it is damaged ({error}) and can't be replaced ({second})")
            return
        self.problem = f"The cache {self.path} was damaged ({error}); it is now {aside.name}, and begun anew."

    def _give_up(self, reason: str) -> None:
        self.close()
        self.problem = f"The cache {self.path} can't be used: {reason}. This run goes on without it."

    def _guard(self, work: Callable[[sqlite3.Connection], Value], otherwise: Value) -> Value:
        """Do something with the file. If it fails, do without the cache from now on."""
        with self._lock:
            if self._db is None:
                return otherwise
            try:
                return work(self._db)
            except sqlite3.DatabaseError as error:
                if _is_damage(error):
                    self.close()
                    self._set_aside(error)
                else:
                    self._give_up(str(error))
                return otherwise

    def _get(self, table: str, keys: Sequence[str], decode: Callable[[bytes], Value]) -> dict[str, Value]:
        def work(db: sqlite3.Connection) -> list[tuple[str, bytes]]:
            rows: list[tuple[str, bytes]] = []
            for at in range(0, len(wanted), KEYS_AT_ONCE):
                some = wanted[at : at + KEYS_AT_ONCE]
                marks = ",".join("?" * len(some))
                rows += db.execute(f"SELECT key, data FROM {table} WHERE key IN ({marks})", some).fetchall()
            return rows

        wanted = list(dict.fromkeys(keys))
        found: dict[str, Value] = {}
        nothing: list[tuple[str, bytes]] = []
        for key, data in self._guard(work, nothing):
            try:
                found[key] = decode(data)
            except (ValueError, TypeError):
                continue  # one damaged entry: as if it weren't there; it is overwritten
        self._use(table, found)
        return {key: found[key] for key in wanted if key in found}

    def _put(self, table: str, rows: Sequence[tuple[str, bytes]]) -> None:
        def work(db: sqlite3.Connection) -> None:
            statement = f"INSERT OR REPLACE INTO {table} (key, run, data) VALUES (?, ?, ?)"
            db.executemany(statement, [(key, self._run, data) for key, data in rows])

        if rows:
            self._guard(lambda db: _in_transaction(db, work), None)
            self._use(table, (key for key, _ in rows))

    def _use(self, table: str, keys: Iterable[str]) -> None:
        """Note what this run uses, where that decides what is pruned: of replies there may be any number."""
        if table in PRUNED:
            self._used[table].update(keys)


def _connect(path: Path, new_run: bool) -> tuple[sqlite3.Connection, int]:
    """Open the file, make its tables if they are another version's, and return it with this run's number."""
    patience = BUSY_SECONDS if new_run else BRIEFLY
    db = sqlite3.connect(path, timeout=patience, isolation_level=None, check_same_thread=False)
    try:
        if not db.execute("PRAGMA page_count").fetchone()[0]:
            db.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only an empty file can be set to it
        db.execute("PRAGMA journal_mode = WAL").fetchall()
        db.execute("PRAGMA synchronous = NORMAL")  # a crash may lose the last entries, never the file
        _in_transaction(db, lambda db: _make_tables(db, new_run))
        run = int(db.execute("SELECT max(run) FROM runs").fetchone()[0])
    except BaseException:
        db.close()
        raise
    return db, run


def _make_tables(db: sqlite3.Connection, new_run: bool) -> None:
    version = db.execute("PRAGMA user_version").fetchone()[0]
    if version != CACHE_VERSION:
        for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            quoted = name.replace('"', '""')
            db.execute(f'DROP TABLE "{quoted}"')
        for name, columns in TABLES.items():
            db.execute(f"CREATE TABLE {name} ({columns})")
        db.execute(f"PRAGMA user_version = {CACHE_VERSION}")
    for statement in (PARTS, LAST, *LEDGER):
        db.execute(statement)
    if new_run or db.execute("SELECT count(*) FROM runs").fetchone()[0] == 0:
        db.execute("INSERT INTO runs SELECT coalesce(max(run), 0) + 1 FROM runs")
        db.execute("DELETE FROM runs WHERE run < (SELECT max(run) FROM runs)")


def _digest(key: str) -> bytes:
    return blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()


def _unused(db: sqlite3.Connection, table: str) -> list[str]:
    """Return the keys that were there at the last whole run and that it didn't use; none if none is known."""
    found = db.execute("SELECT run, data FROM last_used WHERE name = ?", (table,)).fetchone()
    if found is None:
        return []
    run, data = found
    used = {data[at : at + 8] for at in range(0, len(data), 8)}
    keys = db.execute(f"SELECT key FROM {table} WHERE run <= ? ORDER BY key", (run,)).fetchall()
    return [key for (key,) in keys if _digest(key) not in used]


def _in_transaction(db: sqlite3.Connection, work: Callable[[sqlite3.Connection], Any]) -> None:
    db.execute("BEGIN IMMEDIATE")
    try:
        work(db)
        db.execute("COMMIT")
    except BaseException:
        with suppress(sqlite3.Error):
            db.execute("ROLLBACK")
        raise


def _is_damage(error: sqlite3.Error) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _spares(spared: set[str], key: str) -> bool:
    return key in spared or key.rpartition("\0")[2] in spared


@contextmanager
def _no_collection() -> Iterator[None]:
    """Many small immutable objects are made and none dropped: collecting garbage would only take time."""
    on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if on:
            gc.enable()
