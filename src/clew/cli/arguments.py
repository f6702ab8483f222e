"""Options that many commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

IndexFile = Annotated[
    Path | None,
    typer.Option(
        "--index",
        metavar="FILE",
        help="The index to read. [default: CLEW_INDEX, else .clew/index.duckdb here or in the nearest"
        " parent folder]",
        show_default=False,
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON (docs/json.md) instead of text.")]
