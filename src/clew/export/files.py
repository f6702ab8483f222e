"""Where an export goes: written beside its place, then renamed over it; a file of another kind is spared."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clew.errors import PublishError


@contextmanager
def replaced(path: Path, ours: Callable[[bytes], bool], what: str) -> Iterator[Path]:
    """Give a new name beside ``path`` to write to, then rename it over ``path``: whoever reads the old file
    goes on with it whole, and a failure leaves it as it was.

    ``ours`` tells from its first bytes whether a file that is there is an earlier export. Raises
    PublishError if it isn't, or if the file can't be written.
    """
    new = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        _spare(path, ours, what)
        path.parent.mkdir(parents=True, exist_ok=True)
        yield new
        with new.open("rb+") as file:
            os.fsync(file.fileno())
        new.replace(path)
    except OSError as error:
        reason = error.strerror or str(error)
        raise PublishError(str(path), f"it can't be written ({reason})", "Name another file") from error
    finally:
        with suppress(OSError):
            new.unlink()


def _spare(path: Path, ours: Callable[[bytes], bool], what: str) -> None:
    if path.is_dir():
        raise PublishError(str(path), "it is a folder", "Name a file")
    if not path.exists() or not path.stat().st_size:
        return
    with path.open("rb") as file:
        head = file.read(4096)
    if not ours(head):
        reason = f"a file is there that isn't {what}"
        raise PublishError(str(path), reason, "Move it away, or name another")
