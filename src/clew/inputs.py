"""What is indexed: paths become sources and a place for their index; an index's sources open again."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path

from clew import registry
from clew.errors import NotFound, SourceError, UsageError
from clew.ingest.origins import describe
from clew.nostr.dump import is_dump
from clew.nostr.shared import share_events
from clew.options import FILE, FOLDER, IndexOptions, SourceOptions
from clew.ports import Reader, Source

VERIFIED = "verified"  # the file that remembers which events were verified
EVENTS = "events.jsonl"  # the events that were fetched from relays
STATE = "events.state"  # up to where they were fetched
RELAY = re.compile(r"(wss?):/{1,2}([^\s/].*)", re.IGNORECASE)


def default_path(paths: Sequence[str | Path]) -> Path:
    """Return where the index of these paths goes unless told otherwise: to the folder that files which were
    named together are in, or to the first path's."""
    paths = [one for one in _some(paths) if not relay_of(one)]
    if not paths:  # relays alone
        return Path(FOLDER) / FILE
    group = _together([Path(one).expanduser() for one in paths])
    if group is not None:
        here = Path.cwd()
        root = group.root.relative_to(here) if group.root.is_relative_to(here) else group.root
        return root / FOLDER / FILE
    first = Path(paths[0])
    return (first if first.is_dir() else first.parent) / FOLDER / FILE


def _some(paths: Sequence[str | Path]) -> Sequence[str | Path]:
    """Return the paths. Raises UsageError if there are none."""
    if not paths:
        raise UsageError("index", "no folder or file was named", "Say which: clew index ~/notes")
    return paths


def open_sources(
    paths: Sequence[str | Path], options: IndexOptions, index: Path | None = None
) -> list[Source]:
    """Return a source for each path, by what it is; a path named twice is one, and files that are named
    together are one. What they may remember is kept beside ``index``. Raises NotFound."""
    found: dict[Path, Path] = {}
    relays = sorted({relay for relay in map(relay_of, _some(paths)) if relay})
    for given in paths:
        if relay_of(given):
            continue
        if not str(given):
            raise UsageError("index", "a path is empty", "A dot is the current folder")
        path = Path(given).expanduser()
        if not path.exists():
            raise NotFound(str(given), "there is no such file or folder", "Check the spelling")
        found.setdefault(path.resolve(), path)
    dumps = [path for path in found.values() if path.is_file() and is_dump(path)] if relays else []
    found = {real: path for real, path in found.items() if path not in dumps}
    group = _together(list(found.values()))
    single = [(real, path, ()) for real, path in found.items() if group is None or path not in group.members]
    every = [*single, (group.root, group.root, group.parts)] if group else single
    sources: list[Source] = []
    taken: set[str] = set()
    for resolved, path, parts in sorted(every):  # the order in which they were named says nothing
        base = name = resolved.name or "notes"
        number = 2
        while name in taken:
            name, number = f"{base}-{number}", number + 1
        taken.add(name)
        sources.append(_open_source(path, options.source, name, parts, index))
    if relays:
        name = "nostr" if "nostr" not in taken else "nostr-2"
        sources.append(_open_relays(relays, dumps, options.source, name, index or default_path(paths)))
    share_events(sources)
    return sources


def relay_of(given: str | Path) -> str:
    """Return the address of a relay, or an empty text for a path. A path has lost one of two slashes."""
    match = RELAY.fullmatch(given.as_posix() if isinstance(given, Path) else given.strip())
    return f"{match[1].lower()}://{match[2].rstrip('/')}" if match else ""


def _open_relays(
    relays: Sequence[str], dumps: Sequence[Path], options: SourceOptions, name: str, index: Path
) -> Source:
    files = (beside(index, file) for file in (EVENTS, STATE, VERIFIED))
    store, state, verified = files
    made: Source = registry.load("sources", "nostr")(store, options, name, relays, dumps, state, verified)
    return made


@dataclass(frozen=True, slots=True)
class _Group:
    """Paths of one folder, as a shell makes them of ``notes/*``: they are read as that folder would be, so
    far as they were named. ``parts`` are their paths within it; a folder's ends with a slash."""

    root: Path
    members: frozenset[Path]
    parts: tuple[str, ...]


def _together(paths: Sequence[Path]) -> _Group | None:
    """Return the files among ``paths``, with the folders beside them, as one source; None if there are fewer
    than two, or if they have nothing in common. JSONL corpora stay apart."""
    files = {path: path.parent.resolve() / path.name for path in paths if _is_note(path)}
    try:
        root = Path(os.path.commonpath([place.parent for place in files.values()]))
    except ValueError:  # none, or on several drives
        return None
    folders = {path: path.resolve() for path in paths if path.is_dir()}
    beside = {path: place for path, place in folders.items() if place.parent == root}
    if len(files) + len(beside) < 2 or root == root.parent or root in folders.values():
        return None
    parts = [place.relative_to(root).as_posix() for place in files.values()]
    parts += [f"{place.name}/" for place in beside.values()]
    return _Group(root, frozenset((*files, *beside)), tuple(sorted(set(parts))))


def _is_note(path: Path) -> bool:
    return path.is_file() and not _is_corpus(path)


def _is_corpus(path: Path) -> bool:
    """Tell whether a file is a JSONL corpus. A dump of Nostr events isn't one: it is read with the notes."""
    return path.is_file() and path.suffix.lower() in (".jsonl", ".ndjson") and not is_dump(path)


def _open_source(
    path: Path, options: SourceOptions, name: str, parts: Sequence[str] = (), index: Path | None = None
) -> Source:
    if not parts and _is_corpus(path):
        corpus: Source = registry.load("sources", "jsonl")(path, options, name)
        return corpus
    verified = beside(index, VERIFIED) if index is not None else None
    folder: Source = registry.load("sources", "folder")(path, options, name, parts, verified)
    return folder


def beside(index: Path, name: str) -> Path:
    """Return the file ``name`` that goes with an index: in its folder ``.clew``, or ``FILE.name`` for an
    index elsewhere, where a file so called may be somebody else's."""
    return index.with_name(name if index.parent.name == FOLDER else f"{index.name}.{name}")


def sources_of(reader: Reader, file: Path | None = None) -> list[Source]:
    """Return the sources of the index in ``file``, as it remembers them. Raises SourceError if one isn't
    there."""
    stored = reader.meta["options"]["source"]
    known = {one.name for one in fields(SourceOptions)}
    given = {name: value for name, value in stored.items() if name in known}
    lists = {name: tuple(value) for name, value in given.items() if isinstance(value, list | tuple)}
    options = SourceOptions(**{**given, **lists})
    sources = []
    for origin in reader.sources:
        path = Path(origin.root) / origin.file
        if origin.also and origin.root and path.exists() and file is not None:
            dumps = [Path(one) for one in origin.also if not relay_of(one)]
            made: Source = registry.load("sources", "nostr")(path, options, origin.name, (), dumps)
            sources.append(made)
            continue
        if not origin.root or not path.exists():
            raise SourceError(describe(origin), "the source isn't where it was indexed")
        sources.append(_open_source(path, options, origin.name, origin.parts, file))
    if not sources:
        raise SourceError("", "the index doesn't say where its sources were")
    share_events(sources)
    return sources
