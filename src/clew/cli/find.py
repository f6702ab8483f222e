"""Which index a command reads."""

from __future__ import annotations

import os
from pathlib import Path

from clew.errors import NoIndex
from clew.options import FILE, FOLDER

HOME = Path(FOLDER) / FILE
VARIABLE = "CLEW_INDEX"


def find_index(given: Path | None) -> Path:
    """Return ``--index``, else ``CLEW_INDEX``, else the nearest ``.clew/index.duckdb`` from here upwards.

    A folder stands for the index in it. Raises NoIndex, which says how to make one.
    """
    named = given if given is not None else _from_environment()
    if named is not None:
        path = named.expanduser()
        if path.is_dir():
            inside = [path / HOME, path / HOME.name]
            path = next((place for place in inside if place.is_file()), inside[0])
        if not path.exists():
            source = "" if given is not None else f" ({VARIABLE})"
            raise NoIndex(f"{path}{source}", "there is no index", _remedy(path))
        return path
    here = Path.cwd()
    for folder in (here, *here.parents):
        if (folder / HOME).is_file():
            return _short(folder / HOME, here)
    raise NoIndex(
        str(here),
        "there is no index in this folder or above it",
        "Make one with `clew index FOLDER`, or name one with --index FILE; `clew demo` shows how it works.",
    )


def _from_environment() -> Path | None:
    value = os.environ.get(VARIABLE)
    return Path(value) if value else None


def _remedy(path: Path) -> str:
    notes = path.parent.parent if path.parent.name == HOME.parent.name else None
    if notes is not None and notes.is_dir():
        return f"Make one with `clew index {quote(str(notes))}`."
    return f"Make one with `clew index FOLDER --index {quote(str(path))}`."


def _short(path: Path, here: Path) -> Path:
    return path.relative_to(here) if path.is_relative_to(here) else path


def quote(text: str) -> str:
    """Return a word as one would type it in a shell."""
    import shlex

    return shlex.quote(text)


def index_flag(index: Path) -> str:
    """Return the ``--index`` that a command typed in this folder needs to find ``index``, or nothing."""
    try:
        found = find_index(None)
    except NoIndex:
        return f" --index {quote(str(index))}"
    return "" if found.absolute() == index.absolute() else f" --index {quote(str(index))}"
