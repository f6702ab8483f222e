"""The commands that ask about the graph's structure: their arguments and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from clew.cli.arguments import AsJson, IndexFile
from clew.cli.filters import Where, filter_options
from clew.cli.options import ME, settings_options

Name = Annotated[str, typer.Argument(metavar="NAME", help="A note, entity, tag or person.")]


def register(app: typer.Typer) -> None:
    """Add the commands of this module to the application."""
    app.command()(related)
    app.command()(path)
    app.command()(match)
    app.command()(bridge)
    app.command()(activity)
    app.command()(export)


@filter_options
def related(
    name: Name,
    where: Where,
    k: Annotated[int, typer.Option("-k", metavar="N", min=1, help="How many (for each hop).")] = 10,
    hops: Annotated[
        int, typer.Option("--hops", metavar="N", min=0, max=6, help="By hops: what is within so many edges.")
    ] = 0,
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """List what is nearest to a name in the graph.

    With --hops it is listed by its distance in edges, with the edges that lead there; then what has the same
    tags, and the thread of replies that a note is in.
    """
    from clew.cli import structure

    structure.related(name, k, hops, index, as_json, where)


@filter_options
def path(
    a: Annotated[str, typer.Argument(metavar="FROM", help="A note, entity, tag or person.")],
    b: Annotated[str, typer.Argument(metavar="TO", help="Another one.")],
    where: Where,
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

    structure.path(a, b, k, max_steps, index, as_json, where)


@filter_options
@settings_options(ME)
def match(
    pattern: Annotated[
        list[str], typer.Argument(metavar="PATTERN...", help="Nodes and the edges between them; see below.")
    ],
    flags: dict[str, Any],
    where: Where,
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=100_000, help="Most rows.")
    ] = 20,
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """List what fits a pattern of typed edges, with the place that states each edge.

    \b
    clew match 'note -tagged_with-> #garden'
    clew match 'me -follows-> person <-authored_by- note -tagged_with-> tag'
    clew match '"Soil" <-references|mentions- note'

    A node is a kind (note, document, entity, person, tag), a name in quotes, kind:"name", #tag, me, or * for
    any; "note as a" names it. An edge points one way or neither: -kind->, <-kind-, -kind-; a|b is either
    kind, * any; -references{1,3}-> goes over one to three.
    """
    from clew.cli import structure

    structure.match(" ".join(pattern), limit, flags, index, as_json, where)


@settings_options(ME)
@filter_options
def bridge(
    flags: dict[str, Any],
    where: Where,
    recent: Annotated[
        str,
        typer.Option("--recent", metavar="WHEN", help="What counts as of late: since then (7d, 2026-01-31)."),
    ] = "7d",
    older: Annotated[
        str,
        typer.Option("--older", metavar="WHEN", help="What counts as of long ago: until then (180d, 2025)."),
    ] = "180d",
    limit: Annotated[
        int, typer.Option("--limit", "-n", metavar="N", min=1, max=1000, help="Most pairs.")
    ] = 10,
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """Show what was written or saved of late and connects to what was long ago.

    Each pair comes with what joins it, and the places that state it; what few notes share joins most. With
    --me it is what that person wrote or saved, without it every note.
    """
    from clew.cli import structure

    structure.bridge(recent, older, limit, where, flags, index, as_json)


@filter_options
def activity(
    where: Where,
    theme: Annotated[
        list[str] | None,
        typer.Argument(metavar="[THEME...]", help="A name, or words. Without it: everything."),
    ] = None,
    by: Annotated[str, typer.Option("--by", metavar="PERIOD", help="day, week, month or year.")] = "month",
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """Show a theme over time: how many notes, and what came and went with it."""
    from clew.cli import structure

    structure.activity(" ".join(theme or ()), by, where, index, as_json)


def export(
    form: Annotated[str, typer.Argument(metavar="FORMAT", help="sqlite, graphml, json or csv.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Where it goes; for csv a folder.")],
    profile: Annotated[
        str, typer.Option("--profile", metavar="NAME", help="Of sqlite: mobile, the small schema for an app.")
    ] = "mobile",
    vectors: Annotated[
        str,
        typer.Option("--vectors", metavar="TYPE", help="Of sqlite: float32, int8 (a quarter of it) or none."),
    ] = "float32",
    since: Annotated[
        Path | None,
        typer.Option(
            "--since-export",
            metavar="FILE",
            help="Of sqlite: only what differs from this earlier export, for an app that has that one.",
        ),
    ] = None,
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """Write the graph for other programs.

    The same index gives the same bytes. A file that an earlier export wrote is replaced whole, any other is
    spared.
    """
    from clew.cli import structure

    structure.export(form, file, profile, vectors, since, index, as_json)
