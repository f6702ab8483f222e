"""A JSONL corpus: one document a line, ``{"id", "title", "text", …}``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from clew.errors import SourceError
from clew.options import SourceOptions
from clew.text.files import file_status, shown_name
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
        yield from read_records(data, shown_name(self.path.name))

    def stamp(self) -> str:
        """Return what differs once the file has been written to or replaced. Raises SourceError."""
        try:
            return file_status(self.path)
        except OSError as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: OSError) -> SourceError:
        reason = f"it can't be read ({error.strerror})"
        return SourceError(shown_name(str(self.path)), reason, "Check its name and permissions")


def open_source(path: Path, options: SourceOptions, name: str) -> JsonlSource:
    """Return the source for a JSONL file."""
    return JsonlSource(path, name)
