"""`clew chat` and `clew context`."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import typer

from clew.cli import answering, payload, render
from clew.cli.filters import NOW, tell_filter
from clew.cli.find import find_index
from clew.cli.reading import opened, settings_for
from clew.cli.screen import Page, clean, say, write, write_json
from clew.errors import ClewError, UsageError
from clew.types import Answer, Filter

PROMPT = "> "
HELP = "Ask, or /sources, /quit."


def run(
    mode: str,
    flags: Mapping[str, Any],
    given: Path | None,
    as_json: bool,
    where: Filter | None = None,
) -> None:
    """Answer questions from stdin until it ends. From a pipe, the exit code is that of the last error."""
    settings = settings_for(find_index(given), flags)
    typed = sys.stdin.isatty()
    code = 0
    last: Answer | None = None
    with opened(given, follow=True, llm=settings.llm_options()) as index:
        index.prepare()
        tell_filter(index, where)
        me, now = settings.who_options().me, os.environ.get(NOW) or None
        chat = index.chat(mode, options=settings.answer_options(), where=where, me=me, now=now)
        if typed:
            say(HELP, "dim")
        for line in _lines(typed):
            if line in ("/quit", "/exit"):
                break
            if line == "/sources":
                _sources(last)
                continue
            if line.startswith("/"):
                say(f"clew: {clean(line)}: there is no such command. {HELP}", "yellow")
                continue
            try:
                last = _answer(chat.ask(line), as_json)
            except KeyboardInterrupt:
                if not typed:
                    raise
                say("Stopped.", "yellow")
            except ClewError as error:
                say(f"clew: {clean(str(error))}", "red")
                code = error.exit_code
    if code and not typed:
        raise typer.Exit(code)


def _lines(typed: bool) -> Iterator[str]:
    """Yield what is typed, or comes from a pipe, line by line; empty lines are left out."""
    if not typed:
        for line in sys.stdin:
            if line.strip():
                yield line.strip()
        return
    with suppress(ImportError):  # Windows has none
        import readline  # noqa: F401  With it, input() edits lines and has a history.
    while True:
        try:
            line = input(PROMPT).strip()
        except EOFError:
            say("")
            return
        if line:
            yield line


def _answer(stream: Any, as_json: bool) -> Answer:
    if as_json:
        found: Answer = stream.answer
        write_json("chat", payload.answer(found), one_line=True)
        return found
    found = answering.show(stream)
    page = Page()
    render.below_chat(page, found)
    page.send()
    return found


def _sources(last: Answer | None) -> None:
    if last is None or not last.citations:
        say("There is no answer with sources yet.", "yellow")
        return
    page = Page()
    render.sources(page, last)
    page.send()


def context(
    question: str,
    flags: Mapping[str, Any],
    given: Path | None,
    as_json: bool,
    where: Filter | None = None,
) -> None:
    """Print a prompt for a small budget."""
    if not question.strip():
        raise UsageError("question", "it is empty", 'Write one: clew context "what is …?".')
    settings = settings_for(find_index(given), flags)
    with opened(given, llm=settings.llm_options()) as index:
        index.prepare(question)
        found = index.context(question, settings.context_options(), where=where)
        told = tell_filter(index, where)
    if as_json:
        write_json("context", {**payload.brief(found), "filter": told})
        return
    write(clean(found.text) + "\n")
    say(f"{found.tokens} of {found.budget} tokens ({found.tokenizer}), {len(found.items)} items", "dim")
