"""The writer's lock: one process indexes to a place at a time; readers need none.

The operating system holds the lock and drops it when its holder ends, however it ends, so a lock
can't be left behind. The file's text only says who holds it; after a crash it is out of date, which
nobody minds, as it is read only by those who find the lock taken. So it never matters whether the process
that it names is alive, was on another machine of a shared folder, or has left its number to another.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from clew.errors import PublishError
from clew.options import FOLDER

WAIT_SECONDS = 5.0  # for a holder that is about to finish
POLL_SECONDS = 0.1
NOTE_BYTES = 4096  # a note has about 80
_LOCKED_BYTE = 1 << 30  # msvcrt forbids reading a locked byte, so lock one that is beyond the text
_BUSY = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}
_UNSUPPORTED = {errno.ENOLCK, errno.ENOTSUP, errno.ENOSYS}


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock: a process on a machine, since a time (seconds since 1970)."""

    pid: int
    host: str
    since: float

    def __str__(self) -> str:
        where = "" if self.host == socket.gethostname() else f" on {self.host}"
        return f"process {self.pid}{where}, since {_moment(self.since)}"


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def lock_path(index: Path) -> Path:
    """Return the lock of an index: ``.clew/lock``, or ``FILE.lock`` for an index elsewhere."""
    return index.with_name("lock" if index.parent.name == FOLDER else f"{index.name}.lock")


@contextmanager
def index_lock(index: Path, wait: float = WAIT_SECONDS) -> Iterator[None]:
    """Hold the writer's lock of an index.

    Raises PublishError if another process still holds it after ``wait`` seconds, naming it, or if
    the folder can't be written.
    """
    path = lock_path(index)
    handle = _open(path, index)
    try:
        _acquire(handle, path, index, wait)
        _note(handle)
        yield
    finally:
        # Closing drops the lock. The file stays: removing it would let two processes lock two files
        # of one name.
        os.close(handle)


def holder(path: Path) -> Holder | None:
    """Return who last took a lock, or None if the file doesn't say: it may be empty, or hold anything."""
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(NOTE_BYTES).decode("utf-8"))
        who = Holder(int(found["pid"]), str(found["host"]), float(found["since"]))
        _moment(who.since)  # no calendar has every number
    except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return None
    return who


def _open(path: Path, index: Path) -> int:
    """Return a handle of the lock's file, made where there is none. Raises PublishError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        what = f"its lock, {path}," if path.exists() else "its folder"
        reason = f"{what} can't be written ({error.strerror})"
        raise PublishError(str(index), reason, "Choose another place with --index FILE") from error


def _acquire(handle: int, path: Path, index: Path, wait: float) -> None:
    until = time.monotonic() + wait
    while not _try(handle):
        if time.monotonic() >= until:
            who = holder(path)
            reason = f"another run is indexing to it ({who})" if who else "another run is indexing to it"
            raise PublishError(str(index), reason, "Wait until it has finished, or end it")
        time.sleep(POLL_SECONDS)


def _note(handle: int) -> None:
    text = json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": time.time()})
    with suppress(OSError):  # a full disk: the lock holds without its note
        os.ftruncate(handle, 0)
        os.lseek(handle, 0, os.SEEK_SET)
        os.write(handle, text.encode())


if sys.platform == "win32":
    import msvcrt

    def _try(handle: int) -> bool:
        os.lseek(handle, _LOCKED_BYTE, os.SEEK_SET)
        try:
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            raise
        return True

else:
    import fcntl

    def _try(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _BUSY:
                return False
            # Some network file systems have no locks. Publishing is atomic without one: two runs
            # at once waste time, and the later index stays.
            if error.errno not in _UNSUPPORTED:
                raise
        return True
