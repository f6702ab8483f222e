"""The commands that ask about the graph's structure: their arguments and help."""

from __future__ import annotations

from typing import Annotated

import typer

from clew.cli.arguments import AsJson, IndexFile

Name = Annotated[str, typer.Argument(metavar="NAME", help="A note, entity, tag or person.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    app.command()(path)


def path(
    a: Annotated[str, typer.Argument(metavar="FROM", help="A note, entity, tag or person.")],
    b: Annotated[str, typer.Argument(metavar="TO", help="Another one.")],
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, max=100, help="How many paths.")] = 3,
    max_steps: Annotated[
        int, typer.Option("--max-steps", metavar="N", min=1, max=12, help="Most steps of a path.")
    ] = 6,
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """Show how two names are connected: the best paths.

    Each step is an edge of the graph, with the place that states it. What people asserted is a shorter way
    than what text suggests, and a way over what everything is linked to is a long one.
    """
    from clew.cli import structure

    structure.path(a, b, k, max_steps, index, as_json)
