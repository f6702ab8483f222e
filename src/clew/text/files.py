"""Files by their names and states, as every source that reads files tells of them."""

from __future__ import annotations

from pathlib import Path


def shown_name(name: str) -> str:
    """Return a file name that UTF-8 can hold: bytes that aren't UTF-8 are shown as ``\\xNN``."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def file_status(path: Path) -> str:
    """Return what differs once a file has been written to or replaced, or its rights have changed.

    Raises OSError.
    """
    found = path.stat()
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_mode}"
