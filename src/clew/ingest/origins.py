"""Where sources are, and which an index would lose if others took their place."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import PurePath

from clew.ingest.scan import source_names
from clew.ports import Source
from clew.types import Origin


def origins(sources: Sequence[Source]) -> tuple[Origin, ...]:
    """Return where the sources are."""
    found = []
    for source, name in zip(sources, source_names(sources), strict=True):
        if source.path is None:
            found.append(Origin(name, ""))
            continue
        folder = os.path.isdir(source.path)  # noqa: PTH112 -- Path.is_dir raises where rights are missing
        root = os.path.realpath(source.path if folder else source.path.parent)
        parts = tuple(getattr(source, "parts", ()))
        file = "" if folder else source.path.name
        also = tuple(getattr(source, "also", ()))
        found.append(Origin(name, root.replace(os.sep, "/"), file, parts, also))
    return tuple(found)


def lost(old: Sequence[Origin], new: Sequence[Origin]) -> list[Origin]:
    """Return the old sources of which the new ones don't hold all files: those that aren't among them, or
    in one of their folders."""
    places = [place for one in new for place in _places(one)]
    files = {place for place in places if place[1]}
    folders = [PurePath(root) for root, file in places if not file]
    nameless = {one.name for one in new if not one.root}

    def held(root: str, file: str) -> bool:
        return (root, file) in files or any(PurePath(root).is_relative_to(folder) for folder in folders)

    return [
        one
        for one in old
        if not (all(held(*place) for place in _places(one)) if one.root else one.name in nameless)
    ]


def _places(origin: Origin) -> list[tuple[str, str]]:
    """Return (folder, file) for all that a source reads; the file is empty for all of a folder."""
    if not origin.root:
        return []
    root = os.path.realpath(origin.root)
    if not origin.parts:
        return [(root, origin.file)]
    whole = [os.path.join(root, part) for part in origin.parts]  # noqa: PTH118 -- a slash at its end stays
    return [(folder or "/", file) for folder, file in map(os.path.split, whole)]


def describe(origin: Origin) -> str:
    """Return a source's path, or its name if it has none; of relays and what is read with them, these."""
    if origin.also:
        return " ".join(origin.also)
    return os.path.join(origin.root, origin.file).rstrip("/") if origin.root else origin.name  # noqa: PTH118
