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
        found.append(Origin(name, root.replace(os.sep, "/"), "" if folder else source.path.name))
    return tuple(found)


def lost(old: Sequence[Origin], new: Sequence[Origin]) -> list[Origin]:
    """Return the old sources of which the new ones don't hold all files: those that aren't among them, or
    in one of their folders."""
    return [one for one in old if not any(_covers(other, one) for other in new)]


def _covers(new: Origin, old: Origin) -> bool:
    if not new.root or not old.root:
        return (new.name, new.root) == (old.name, old.root)
    within, outer = (PurePath(os.path.realpath(one.root)) for one in (old, new))
    if new.file:
        return (within, old.file) == (outer, new.file)
    return within.is_relative_to(outer)


def describe(origin: Origin) -> str:
    """Return a source's path, or its name if it has none."""
    return os.path.join(origin.root, origin.file).rstrip("/") if origin.root else origin.name  # noqa: PTH118
