"""What goes to the terminal: data to stdout, narration to stderr, notes' text made harmless.

A command renders its whole output into a string and writes it once. So a reader that goes away
(`clew search x | head -1`) is noticed in one place, and a failing command leaves stdout empty.
"""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.style import StyleType
    from rich.text import Text

SCHEMA_VERSION = 1
# Prose is hard to read in lines longer than this, however wide the terminal is.
READING_WIDTH = 100
# A pipe has no width: nothing may be wrapped there, since other programs read lines.
PIPE_WIDTH = 10_000
EXIT_BROKEN_PIPE = 141  # what a shell reports for a program that SIGPIPE ended

# Control characters can move the cursor, retitle the window or hide text; they are shown as symbols.
REFERENCE = re.compile(r"n(?:pub|ote|profile|event|addr)1")  # NIP-19
_PICTURES: dict[int, int | str | None] = {code: 0x2400 + code for code in range(0x20)}
_PICTURES |= {ord("\n"): "\n", ord("\t"): " ", ord("\r"): " ", 0x7F: 0x2421}
_PICTURES |= dict.fromkeys(range(128, 160), "�")
# Overrides of the writing direction could make a citation read as another; text in a right-to-left
# script needs none of them.
_PICTURES |= dict.fromkeys((*range(8234, 8239), *range(8294, 8298)))
_JSON_CONTROLS = {code: f"\\u{code:04x}" for code in range(0x7F, 0xA0)}


class ReaderGone(Exception):
    """Whoever read stdout has closed it."""


def clean(text: str) -> str:
    """Return text from a note without anything that a terminal would obey; line breaks stay."""
    return text.translate(_PICTURES)


def line(text: str) -> str:
    """Return text from a note on one line, made harmless."""
    return " ".join(clean(text).split())


_names: list[Callable[[str], str]] = []  # what calls references by name, at most one


def references_by(name: Callable[[str], str] | None) -> None:
    """From now on show what passages refer to (``nostr:npub1…``) as ``name`` returns them."""
    _names[:] = [name] if name is not None else []


def readable(text: str) -> str:
    """Return a passage as people read it; what it refers to is called by its name."""
    return _names[0](text) if _names and REFERENCE.search(text) else text


def prepare_streams() -> None:
    """Let file names that aren't valid text be written, as ``\\udcXX``, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def colour(stream: Any) -> bool:
    """Tell whether a stream is a terminal that wants colours (https://no-color.org)."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return False
    return bool(os.environ.get("FORCE_COLOR")) or stream.isatty()


def write(text: str) -> None:
    """Write to stdout. Raises ReaderGone if nobody reads it any more."""
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError as error:
        # The interpreter flushes stdout again on its way out: give it somewhere to write.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise ReaderGone from error


def write_json(command: str, payload: dict[str, Any], *, one_line: bool = False) -> None:
    """Write one JSON object to stdout, as docs/json.md describes."""
    document = {"schema_version": SCHEMA_VERSION, "command": command, **payload}
    text = json.dumps(document, ensure_ascii=False, indent=None if one_line else 2).translate(_JSON_CONTROLS)
    # A lone surrogate has no UTF-8, but JSON has an escape for it.
    write(text.encode("utf-8", "backslashreplace").decode("utf-8") + "\n")


def say(text: str, style: str = "") -> None:
    """Write a line of narration to stderr."""
    codes = {"dim": "2", "red": "31", "green": "32", "yellow": "33", "bold": "1"}
    if style and colour(sys.stderr):
        text = f"\x1b[{codes[style]}m{text}\x1b[0m"
    try:
        sys.stderr.write(text + "\n")
        sys.stderr.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stderr.fileno())


def make_console(stream: Any, file: Any = None) -> Console:
    """Return a rich console for a stream, or one that renders for that stream into ``file``."""
    from rich.console import Console

    tty = stream.isatty()
    coloured = colour(stream)
    return Console(
        file=file if file is not None else stream,
        force_terminal=coloured or tty,
        no_color=not coloured,
        color_system="auto" if coloured else None,
        width=min(shutil.get_terminal_size().columns, READING_WIDTH) if tty else PIPE_WIDTH,
        markup=False,
        highlight=False,
        emoji=False,
        legacy_windows=False,
    )


class Page:
    """Output on its way to stdout."""

    def __init__(self) -> None:
        self._out = io.StringIO()
        self.console = make_console(sys.stdout, self._out)
        self.wraps = sys.stdout.isatty()

    def add(self, *parts: RenderableType | tuple[str, StyleType], indent: int = 0) -> None:
        """Add a paragraph of styled pieces; ``("text", "style")`` is a piece. On a terminal it is wrapped."""
        if len(parts) == 1 and not isinstance(parts[0], tuple | str):
            self.console.print(parts[0], soft_wrap=not self.wraps)
            return
        text = styled(*parts)
        if indent:
            from rich.padding import Padding

            if self.wraps:
                self.console.print(Padding(text, (0, 0, 0, indent)))
                return
            text = styled(" " * indent, text)
        self.console.print(text, soft_wrap=not self.wraps)

    def labelled(self, label: str, *parts: str | tuple[str, str]) -> None:
        """Add a label and its text; on a terminal the text's further lines stand below its first."""
        from rich.table import Table

        if not self.wraps:
            self.add((f"{label:<8} ", "dim"), *parts)
            return
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(style="dim", width=8)
        grid.add_column()
        grid.add_row(label, styled(*parts))
        self.console.print(grid)

    def gap(self) -> None:
        self.console.print()

    def send(self) -> None:
        """Write everything to stdout, without trailing blanks."""
        lines = self._out.getvalue().split("\n")
        write("\n".join(part.rstrip(" ") for part in lines))


def styled(*parts: Any) -> Text:
    """Return rich text of pieces: texts, or pairs of text and style. Nothing in them is markup."""
    from rich.text import Text

    text = Text()
    for part in parts:
        if isinstance(part, tuple):
            text.append(part[0], part[1])
        else:
            text.append(part)
    return text
