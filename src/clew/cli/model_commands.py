"""The commands about language models: their arguments and help."""

from __future__ import annotations

import typer

from clew.cli.arguments import AsJson, IndexFile


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    app.command()(llms)
    app.command()(costs)


def llms(as_json: AsJson = False) -> None:
    """List the language models that --llm can name.

    None is needed. docs/models.md tells what each takes, and what leaves the machine.
    """
    from clew.cli import spending

    spending.llms(as_json)


def costs(index: IndexFile = None, as_json: AsJson = False) -> None:
    """Show what language models have cost, by stage.

    Calls, kept replies, tokens, time and money are counted as they come, over all runs, beside the index.
    """
    from clew.cli import spending

    spending.costs(index, as_json)
