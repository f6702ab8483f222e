"""The entry point: run a command, turn exceptions into messages and exit codes.

Exit codes are an interface; docs/cli.md lists them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

from clew.cli.screen import EXIT_BROKEN_PIPE, ReaderGone, clean, prepare_streams, say
from clew.errors import ClewError, PublishError, UsageError, masked
from clew.room import INDEXING, READING, lacks_memory, need

EXIT_UNEXPECTED = 1
EXIT_USAGE = 2
EXIT_INTERRUPTED = 130


def main() -> None:
    """Run the command line of this process, and exit."""
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code."""
    prepare_streams()
    args, debug = _take_debug(arguments or ["--help"])
    try:
        code = _invoke(args)
        sys.stdout.flush()
    except ReaderGone:
        return EXIT_BROKEN_PIPE
    except KeyboardInterrupt:
        code = EXIT_INTERRUPTED
    except ClewError as error:
        if debug:
            _traceback()
        say(f"clew: {clean(str(error))}", "red")
        return error.exit_code
    except Exception as error:
        if debug:
            _traceback()
        if lacks_memory(error):
            say("clew: there isn't enough memory. Close other programs, then try again.", "red")
            return EXIT_UNEXPECTED
        message = _usage(error)
        if message:
            say(message, "red")
            return EXIT_USAGE
        say(
            f"clew: {type(error).__name__}: {clean(masked(str(error)))}. This is a fault in Clew: "
            "`clew --debug …` shows where; please report it.",
            "red",
        )
        return EXIT_UNEXPECTED
    return code


def _take_debug(arguments: Sequence[str]) -> tuple[list[str], bool]:
    """Take ``--debug`` out, wherever it stands before a ``--``."""
    args = list(arguments)
    end = args.index("--") if "--" in args else len(args)
    kept = [arg for arg in args[:end] if arg != "--debug"]
    debug = len(kept) < end or os.environ.get("CLEW_DEBUG", "") not in ("", "0")
    return kept + args[end:], debug


def _need_room(args: Sequence[str]) -> None:
    """Raise MemoryError, or PublishError for `clew index`, if there is no room for a command's libraries."""
    if not args or args[0].startswith("-") or not {"-h", "--help"}.isdisjoint(args):
        return
    indexes = args[0] == "index"
    try:
        need(INDEXING if indexes else READING)
    except MemoryError as error:
        if not indexes:
            raise
        remedy = "Close other programs, or raise the limit. An index that is there is whole"
        raise PublishError("index", "there isn't enough memory to begin", remedy) from error


def _invoke(args: list[str]) -> int:
    _need_room(args)
    import typer

    from clew.cli.app import app

    if args[:1] == ["index"] and "" in args:  # `clew index "$UNSET"`: as a path, nothing is this folder
        raise UsageError("index", "an argument is empty", "Name a folder; a dot is this one: clew index .")
    try:
        code = typer.main.get_command(app).main(args=args, prog_name="clew", standalone_mode=False)
    except typer.Exit as done:
        code = done.exit_code
    except typer.Abort:
        code = EXIT_INTERRUPTED
    return code if isinstance(code, int) else 0


def _usage(error: Exception) -> str:
    """Return the message of an error in the command's words, or nothing if it is another error.

    typer has brought its own copy of click since 0.26: its exceptions are known by their shape.
    """
    form = getattr(error, "format_message", None)
    if form is None:
        return ""
    context = getattr(error, "ctx", None)
    message = f"clew: {str(form()).rstrip('.')}"
    message += "" if message.endswith("?") else "."
    if context is not None:
        message += f" `{context.command_path} --help` lists what there is."
    return message


def _traceback() -> None:
    import traceback

    traceback.print_exc()


if __name__ == "__main__":
    main()
