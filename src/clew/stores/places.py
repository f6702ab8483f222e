"""Where an index's sources are, and how their files are called from the current folder.

A table holds paths within a source only, so that the same notes give the same index wherever they are and
however the folder was typed. Where a source is goes to ``meta`` beside what is hashed: for an index
within the source, the index's own place in it, which still holds after both have been moved; for any
other, the source's absolute path.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew.types import Origin

META_KEY = "sources"
MADE_KEY = "made"  # what made the index, of what; see :mod:`clew.ingest.unchanged`


def pack_origins(origins: Sequence[Origin], index: Path) -> list[dict[str, Any]]:
    """Return the sources as ``meta`` holds them, for an index at ``index``."""
    folder = os.path.realpath(index.parent)
    packed: list[dict[str, Any]] = []
    for origin in origins:
        inside = _below(f"{folder}/{index.name}", os.path.realpath(origin.root)) if origin.root else None
        place = {"root": origin.root} if inside is None else {"index": inside}
        parts = {"parts": list(origin.parts)} if origin.parts else {}
        also = {"also": list(origin.also)} if origin.also else {}
        packed.append({"name": origin.name, "file": origin.file, **place, **parts, **also})
    return packed


@dataclass(frozen=True, slots=True)
class _Root:
    """A source's folder, as it was named and without symbolic links; empty if it isn't there."""

    named: str
    real: str


class Places:
    """The sources of an opened index."""

    def __init__(self, packed: Sequence[Any], index: Path) -> None:
        self.origins = tuple(_unpack(one, index) for one in packed if isinstance(one, dict))
        self._number = {origin.name: number for number, origin in enumerate(self.origins)}
        self._roots = [_root(origin) for origin in self.origins]

    def show(self, key: str, location: str) -> tuple[str, str]:
        """Return a file's path to show and its absolute path ("" if its source isn't there).

        Shown is the path from the current folder if the file is below it, else the absolute one; where
        the source isn't there, the path within it, after its name if there are several.
        """
        number = self._source(key)
        if number is None or location.startswith("nostr:"):
            return location, ""
        root = self._roots[number]
        if not root.named:
            several = len(self.origins) > 1 and self.origins[number].root
            return (f"{self.origins[number].name}/{location}" if several else location), ""
        full = _join(root.named, location)
        here = _here()
        below = _below(full, here) or _below(_join(root.real, location), here)
        return below or full, full

    def stored(self, path: str) -> list[tuple[int, str]]:
        """Return (source, location) for each source in which a path typed in the current folder lies."""
        full = Path(_join(_here(), path)).as_posix() if path else ""
        full = os.path.normpath(full).replace(os.sep, "/") if full else ""
        found = []
        for number, root in enumerate(self._roots):
            within = (_below(full, root.named) or _below(full, root.real)) if root.named and full else None
            if within:
                found.append((number, within))
        return found

    def is_in(self, key: str, number: int) -> bool:
        """Tell whether a document of this key is of source ``number``."""
        return self._source(key) == number

    def _source(self, key: str) -> int | None:
        if len(self.origins) < 2:
            return 0 if self.origins else None
        return self._number.get(key.partition("/")[0])


def _unpack(packed: dict[str, Any], index: Path) -> Origin:
    name, file = str(packed.get("name", "")), str(packed.get("file", ""))
    parts, also = (tuple(map(str, packed.get(name) or ())) for name in ("parts", "also"))
    inside = packed.get("index")
    if not inside:
        return Origin(name, str(packed.get("root", "")), file, parts, also)
    for path in (os.path.abspath(index), os.path.realpath(index)):  # noqa: PTH100 -- symlinks stay
        posix = path.replace(os.sep, "/")
        if posix.endswith(f"/{inside}"):
            return Origin(name, posix.removesuffix(str(inside)).rstrip("/") or "/", file, parts, also)
    return Origin(name, "", file, parts, also)  # the index was copied out of its source


def _root(origin: Origin) -> _Root:
    if not origin.root or not os.path.isdir(origin.root):  # noqa: PTH112 -- Path.is_dir raises without rights
        return _Root("", "")
    return _Root(origin.root, os.path.realpath(origin.root).replace(os.sep, "/"))


def _join(folder: str, path: str) -> str:
    return os.path.join(folder, path).replace(os.sep, "/")  # noqa: PTH118 -- this runs for every document


def _below(path: str, folder: str) -> str | None:
    """Return a path relative to a folder that holds it, else None."""
    path, folder = path.replace(os.sep, "/"), folder.replace(os.sep, "/").rstrip("/") + "/"
    return path.removeprefix(folder) if path.startswith(folder) and len(path) > len(folder) else None


def _here() -> str:
    try:
        return os.getcwd()  # noqa: PTH109 -- this runs for every document
    except OSError:
        return "/"  # the folder has been removed
