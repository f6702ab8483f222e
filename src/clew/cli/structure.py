"""The commands that ask about the graph's structure."""

from __future__ import annotations

from pathlib import Path

from clew.cli import graph_pages, payload
from clew.cli.reading import opened, send_page
from clew.cli.screen import write_json


def path(a: str, b: str, k: int, max_steps: int, given: Path | None, as_json: bool) -> None:
    with opened(given) as index:
        found = index.paths(a, b, k, max_steps)
    if as_json:
        write_json("path", payload.connection(found))
        return
    send_page(graph_pages.connection, found, max_steps)
