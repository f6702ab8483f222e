"""The command that makes an index anew, from what the index says of its making."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from clew.options import FILE, FOLDER, IndexOptions, changed_options
from clew.stores.places import META_KEY, Places
from clew.types import Origin


def rebuild_command(path: Path, meta: Mapping[str, Any]) -> str:
    """Return the `clew index` command that makes the index at ``path`` anew, with the sources and options
    that ``meta`` records. An index in the folder of its notes needn't say where they are."""
    path = path.absolute()
    origins = Places(meta.get(META_KEY) or (), path).origins
    sources = [place for one in origins if one.root for place in _places(one)]
    own = str(path.parent.parent) if path.parent.name == FOLDER and path.name == FILE else ""
    if not sources:
        sources = [own] if own else []
    words = [shlex.quote(source) for source in sorted(sources, key=lambda source: (source != own, source))]
    place = [] if own in sources else ["--index", shlex.quote(str(path))]
    return " ".join(["clew index", *(words or ["FOLDER"]), *place, *_flags(meta.get("options"))])


def _places(origin: Origin) -> list[str]:
    """Return the paths that were named: the folder's, its one file's, or those in it that make the source."""
    named = origin.parts or (origin.file,)
    return [os.path.join(origin.root, one.rstrip("/")) if one else origin.root for one in named]  # noqa: PTH118


def _flags(record: Any) -> Iterator[str]:
    """Yield the flags of the recorded options that aren't the defaults."""
    for change in changed_options(record, IndexOptions()):
        value = change.before
        if isinstance(value, bool):
            yield change.flag if value else change.flag.replace("--", "--no-", 1)
            continue
        for one in value if isinstance(value, tuple) else [value]:
            yield f"{change.flag} {shlex.quote(str(one))}"
