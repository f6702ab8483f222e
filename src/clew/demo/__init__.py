"""A small set of notes about an island that doesn't exist, for `clew demo`. The notes are CC0."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path

# The questions that `clew demo` asks: a fact that two notes hold together, a connection, the themes.
FACT = "Who repaired the gauge that recorded the October storm?"
CONNECTION = ("Fresnel Lens", "Seagrass Nursery")
THEMES = "What are the main themes of these notes?"


def copy_vault(goal: Path) -> int:
    """Copy the notes to a new folder and return their number. Raises FileExistsError, OSError."""
    with as_file(files(__name__) / "vault") as vault:
        shutil.copytree(vault, goal)
    return sum(1 for _ in goal.rglob("*.md"))
