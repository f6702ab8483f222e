"""What is indexed: paths become sources and a place for their index; an index's sources open again."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from clew import registry
from clew.errors import NotFound, SourceError, UsageError
from clew.ingest.origins import describe
from clew.options import IndexOptions, SourceOptions
from clew.ports import Reader, Source

FOLDER = ".clew"
FILE = "index.duckdb"


def default_path(paths: Sequence[str | Path]) -> Path:
    """Return where the index of these paths goes unless told otherwise."""
    first = Path(_some(paths)[0])
    return (first if first.is_dir() else first.parent) / FOLDER / FILE


def _some(paths: Sequence[str | Path]) -> Sequence[str | Path]:
    """Return the paths. Raises UsageError if there are none."""
    if not paths:
        raise UsageError("index", "no folder or file was named", "Say which: clew index ~/notes")
    return paths


def open_sources(paths: Sequence[str | Path], options: IndexOptions) -> list[Source]:
    """Return a source for each path, by what it is; a path named twice is one. Raises NotFound."""
    found: dict[Path, Path] = {}
    for given in _some(paths):
        if not str(given):
            raise UsageError("index", "a path is empty", "A dot is the current folder")
        path = Path(given).expanduser()
        if not path.exists():
            raise NotFound(str(given), "there is no such file or folder", "Check the spelling")
        found.setdefault(path.resolve(), path)
    sources: list[Source] = []
    taken: set[str] = set()
    for resolved, path in sorted(found.items()):  # the order in which they were named says nothing
        base = name = resolved.name or "notes"
        number = 2
        while name in taken:
            name, number = f"{base}-{number}", number + 1
        taken.add(name)
        sources.append(_open_source(path, options.source, name))
    return sources


def _open_source(path: Path, options: SourceOptions, name: str) -> Source:
    kind = "jsonl" if path.is_file() and path.suffix.lower() in (".jsonl", ".ndjson") else "folder"
    source: Source = registry.load("sources", kind)(path, options, name)
    return source


def sources_of(reader: Reader) -> list[Source]:
    """Return the sources of an index, as it remembers them. Raises SourceError if one isn't there."""
    stored = reader.meta["options"]["source"]
    options = SourceOptions(tuple(stored["include"]), tuple(stored["exclude"]), stored["max_bytes"])
    sources = []
    for origin in reader.sources:
        path = Path(origin.root) / origin.file
        if not origin.root or not path.exists():
            raise SourceError(describe(origin), "the source isn't where it was indexed")
        sources.append(_open_source(path, options, origin.name))
    if not sources:
        raise SourceError("", "the index doesn't say where its sources were")
    return sources
