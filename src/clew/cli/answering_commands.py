"""The commands around answers of language models: their arguments and help."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from clew.cli.arguments import AsJson, IndexFile
from clew.cli.filters import Where, filter_options
from clew.cli.options import ME, settings_options


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    app.command()(chat)
    app.command()(context)
    app.command()(prompts)


@filter_options
@settings_options("answer", "llm", ME)
def chat(
    flags: dict[str, Any],
    where: Where,
    mode: Annotated[
        str, typer.Option("--mode", "-m", metavar="MODE", help="auto, basic, local, global or drift.")
    ] = "auto",
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """Ask one question after another; each is understood from those before it.

    Works with and without a language model. /sources shows where the last answer comes from, /quit or Ctrl-D
    ends. With --json each answer is one line of JSON.
    """
    from clew.cli import chatting

    chatting.run(mode, flags, index, as_json, where)


@filter_options
@settings_options("context", "llm.prompts")
def context(
    question: Annotated[list[str], typer.Argument(metavar="QUESTION...", help="Quotes aren't needed.")],
    flags: dict[str, Any],
    where: Where,
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """Print a prompt for a question that fits a small budget of tokens.

    It holds summaries of reports, edges in words and snippets of central notes, numbered. No language model
    is needed to make it.
    """
    from clew.cli import chatting

    chatting.context(" ".join(question), flags, index, as_json, where)


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
