"""The commands, their arguments and help. What they do is in the modules beside it, imported when run.

Only typer is imported at module level, without rich: `clew --help` answers within 200 ms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from clew import __version__
from clew.cli import answering_commands, model_commands, structure_commands
from clew.cli.arguments import AsJson, IndexFile
from clew.cli.filters import Where, filter_options
from clew.cli.options import ME, settings_options

HELP = """Turn notes into a knowledge graph in one file, and answer questions from it with citations.

No account, no server, no network, no language model needed."""

EXAMPLES = """\b
Examples:
  clew demo                                  see it work on a small set of notes
  clew index ~/notes                         read a folder; makes ~/notes/.clew/index.duckdb
  cd ~/notes                                 commands find the index from here
  clew ask "how do traits differ from generics?"
  clew ask --mode global "what are the main themes?"
  clew search "borrow checker" -k 5
  clew show Ownership
  clew path Ownership Concurrency

Each command has its own help: clew ask --help"""

app = typer.Typer(
    name="clew",
    help=HELP,
    epilog=EXAMPLES,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _modes(incomplete: str) -> list[str]:
    from clew.registry import names

    return [name for name in ["auto", *names("modes")] if name.startswith(incomplete)]


def _search_modes(incomplete: str) -> list[str]:
    return [name for name in ("auto", "basic", "local") if name.startswith(incomplete)]


def _version(wanted: bool) -> None:
    if wanted:
        from clew.cli.screen import write

        write(f"clew {__version__}\n")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", callback=_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show tracebacks; CLEW_DEBUG=1 does the same.")
    ] = False,
) -> None:
    """Options before the command. ``debug`` is read by clew.cli.main, which takes it anywhere."""


@app.command()
def demo(
    keep: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Use this new folder instead of a temporary one."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Try Clew on a small set of notes that comes with it.

    They are copied to a temporary folder and indexed, and three questions are asked. The folder stays,
    so that you can go on there.
    """
    from clew.cli import demo as module

    module.run(keep, as_json)


@app.command()
@settings_options("", "source", "chunk", "embed", "community", "extract", "report", "llm")
def index(
    paths: Annotated[
        list[Path],
        typer.Argument(
            metavar="PATH...",
            help="Folders, Markdown or text files, JSONL corpora, Nostr dumps, relays (wss://…).",
        ),
    ],
    flags: dict[str, Any],
    index: Annotated[
        Path | None,
        typer.Option(
            "--index",
            metavar="FILE",
            help="Where the index goes. [default: .clew/index.duckdb in the first folder, or in the files']",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    rebuild: Annotated[
        bool,
        typer.Option(
            "--rebuild", help="Make the index anew even where nothing has changed: it mends a damaged one."
        ),
    ] = False,
    watch: Annotated[
        bool, typer.Option("--watch", "-w", help="Go on: publish again after each change, until Ctrl-C.")
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what there is to do and what a language model would cost; write nothing."
        ),
    ] = False,
) -> None:
    """Read notes and publish an index.

    Run it again after changes, or let it --watch for them: what hasn't changed isn't read anew.

    Questions can be asked as soon as the index is published without vectors, within seconds;
    embedding goes on, and the index is published again.
    """
    from clew.cli import following, foreseeing, indexing

    run = foreseeing.run if dry_run else following.run if watch else indexing.run
    run(paths, index, flags, as_json, quiet, rebuild)


@filter_options
@settings_options("answer", "llm", ME)
def ask(
    question: Annotated[list[str], typer.Argument(metavar="QUESTION...", help="Quotes aren't needed.")],
    flags: dict[str, Any],
    where: Where,
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            "-m",
            metavar="MODE",
            help="auto, basic, local, global, drift, relational, structural or temporal.",
            autocompletion=_modes,
        ),
    ] = "auto",
    explain: Annotated[
        bool, typer.Option("--explain", help="Show the seeds and the path to each passage.")
    ] = False,
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """Answer a question, each statement with its citation."""
    from clew.cli import reading

    reading.ask(" ".join(question), mode, explain, index, flags, as_json, where)


app.command("ask")(ask)
app.command("query", help="Another name for ask.", hidden=True)(ask)


@app.command()
@filter_options
@settings_options("search")
def search(
    question: Annotated[list[str], typer.Argument(metavar="QUESTION...", help="Words or a question.")],
    flags: dict[str, Any],
    where: Where,
    mode: Annotated[
        str,
        typer.Option(
            "--mode",
            "-m",
            metavar="MODE",
            help="auto, basic (words and vectors) or local (a walk over the graph).",
            autocompletion=_search_modes,
        ),
    ] = "auto",
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """List the best passages, with the parts of their scores.

    Punctuation is text, never query syntax: C++, node: and "quotes" are found as they stand.
    """
    from clew.cli import reading

    reading.search(" ".join(question), mode, index, flags, as_json, where)


@app.command()
@filter_options
def show(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A note, entity, tag or person.")],
    where: Where,
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """Show a name's definition, mentions and edges."""
    from clew.cli import reading

    reading.show(name, index, as_json, where)


structure_commands.register(app)
answering_commands.register(app)
model_commands.register(app)


@app.command()
@filter_options
def communities(
    where: Where,
    level: Annotated[
        int | None,
        typer.Option("--level", metavar="N", min=0, help="One level of the hierarchy; 0 is the coarsest."),
    ] = None,
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """List the themes: the communities of the graph.

    Each has a report: a title, a summary, and the members that matter.
    """
    from clew.cli import reading

    reading.communities(level, index, as_json, where)


@app.command()
@filter_options
def stats(where: Where, index: IndexFile = None, as_json: AsJson = False) -> None:
    """Print what the index holds and how it was made; with a filter, what of it passes."""
    from clew.cli import reading

    reading.stats(index, as_json, where)


@app.command()
def doctor(index: IndexFile = None, as_json: AsJson = False) -> None:
    """Check that an index is whole and agrees with its notes.

    Checksum, references, offsets and counts are compared, and each passage with its file, byte for byte,
    unless the file has changed since. The exit code is 0 if all is well, and 4 if not.
    """
    from clew.cli import reading

    reading.doctor(index, as_json)


@app.command()
def cache(
    prune: Annotated[bool, typer.Option("--prune", help="Drop what the last run didn't use.")] = False,
    index: IndexFile = None,
    as_json: AsJson = False,
) -> None:
    """Show what the cache beside an index holds.

    It remembers parsed notes and vectors, so that indexing again reads only what has changed. What no run
    has used for a while is dropped by itself.
    """
    from clew.cli import reading

    reading.cache(prune, index, as_json)


@app.command()
def settings(index: IndexFile = None, as_json: AsJson = False) -> None:
    """List the options in force and where they come from."""
    from clew.cli import reading

    reading.settings(index, as_json)


@app.command()
def embedders(as_json: AsJson = False) -> None:
    """List the embedders that clew index can use."""
    from clew.cli import reading

    reading.embedders(as_json)
