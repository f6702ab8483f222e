"""The commands around answers of language models: their arguments and help."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from clew.cli.arguments import AsJson, IndexFile
from clew.cli.options import settings_options


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    app.command()(prompts)


@settings_options("llm.prompts")
def prompts(
    flags: dict[str, Any],
    action: Annotated[str, typer.Argument(metavar="ACTION", help="list, show or export.")] = "list",
    target: Annotated[
        str, typer.Argument(metavar="TARGET", help="The prompt to show, or the folder to export to.")
    ] = "",
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """List what language models are told, show it, or export it to change it.

    \b
    clew prompts                      list the prompts
    clew prompts show answer          print one
    clew prompts export my-prompts    copy all to a folder, to change some
    clew ask --prompts my-prompts …   use those that are in the folder

    A folder needs only the prompts that differ. Export leaves files that are there as they are.
    """
    from clew.cli import prompting

    prompting.run(action, target, flags, index, as_json)
