"""A JSONL corpus: one document a line, ``{"id", "title", "text", …}``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clew.errors import SourceError
from clew.options import SourceOptions
from clew.text.records import read_records
from clew.types import Problem, RawDocument


class JsonlSource:
    """Reads the records of one file. A document's bytes are its text in UTF-8, its key its id."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name
        self.path = path

    def read(self) -> Iterator[RawDocument | Problem]:
        """Yield the records in key order, and the problems. Raises SourceError if the file can't be read."""
        try:
            data = self.path.read_bytes()
        except OSError as error:
            raise self._unreadable(error) from error
        yield from read_records(data, _text(self.path.name))

    def stamp(self) -> str:
        """Return what differs once the file has been written to or replaced. Raises SourceError."""
        try:
            found = self.path.stat()
        except OSError as error:
            raise self._unreadable(error) from error
        return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns} {found.st_mode}"

    def _unreadable(self, error: OSError) -> SourceError:
        reason = f"it can't be read ({error.strerror})"
        return SourceError(_text(str(self.path)), reason, "Check its name and permissions")


def _text(name: str) -> str:
    """Return a name with \\xNN for bytes that aren't UTF-8, as in the folder source."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def open_source(path: Path, options: SourceOptions, name: str) -> JsonlSource:
    """Return the source for a JSONL file."""
    return JsonlSource(path, name)
