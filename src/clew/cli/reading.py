"""The commands that read an index."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from clew.cli import payload, render
from clew.cli.filters import NOW, tell_filter
from clew.cli.find import HOME, find_index
from clew.cli.screen import Page, line, references_by, say, write_json
from clew.errors import BadIndex, OptionError, UsageError, masked
from clew.settings import Settings, load

if TYPE_CHECKING:
    from clew.index import Index
    from clew.options import LlmOptions
    from clew.types import Filter

NO_MODEL = "none"  # the value of --llm that asks for answers without a language model


@contextmanager
def opened(given: Path | None, *, follow: bool = False, llm: LlmOptions | None = None) -> Iterator[Index]:
    """Open the index that a command reads: one generation of it, unless it shall ``follow`` its file, as what
    goes on for long should. Raises NoIndex and what ``Index.open`` raises."""
    path = find_index(given)
    from clew.index import Index

    index = Index.open(path, follow=follow, llm=llm)
    references_by(_by_name(path))
    try:
        yield index
    finally:
        if index.spent:
            say(index.spent, "dim")
        if index.forgetful:
            say(f"clew: {line(index.forgetful)}", "yellow")
        index.close()


def _by_name(path: Path) -> Callable[[str], str]:
    """Return what calls references in text by name. Pages are shown when the index is closed again: it is
    opened once more, for passages that have a reference."""
    from clew.index import Index

    again: list[Index] = []

    def name(text: str) -> str:
        if not again:
            again.append(Index.open(path))
        return again[0].readable(text)

    return name


def settings_for(index: Path | None, flags: Mapping[str, Any]) -> Settings:
    """Return the settings for an index: ``clew.toml`` beside it or above it, else here or above."""
    starts = [index.absolute().parent, Path.cwd()] if index is not None else [Path.cwd()]
    found = load(starts, flags)
    for warning in found.warnings:
        say(f"clew: {warning}", "yellow")
    return found


def ask(
    question: str,
    mode: str,
    explain: bool,
    given: Path | None,
    flags: Mapping[str, Any],
    as_json: bool,
    where: Filter | None = None,
) -> None:
    _asked(question)
    settings = settings_for(find_index(given), flags)
    options = settings.answer_options()
    llm = settings.llm_options()
    me, now = settings.who_options().me, os.environ.get(NOW) or None
    if as_json or llm.model == NO_MODEL:
        with opened(given, llm=llm) as index:
            index.prepare(question)
            found = index.ask(question, mode, options=options, where=where, me=me, now=now)
            told = tell_filter(index, where)
        if as_json:
            write_json("ask", {**payload.answer(found), "filter": told})
            return
        send_page(render.answer, found, explain)
        return
    from clew.cli import answering

    with opened(given, llm=llm) as index:
        index.prepare(question)
        pieces = index.ask(question, mode, options=options, where=where, me=me, now=now, stream=True)
        try:
            found = answering.show(pieces)
        except KeyboardInterrupt:
            say(f"clew: stopped before the answer was whole. Ask again, or {answering.WITHOUT}.", "yellow")
            raise
        tell_filter(index, where)
    send_page(render.below_answer, found, explain)


def search(
    question: str,
    mode: str,
    given: Path | None,
    flags: Mapping[str, Any],
    as_json: bool,
    where: Filter | None = None,
) -> None:
    _asked(question)
    options = settings_for(find_index(given), flags).search_options()
    with opened(given) as index:
        index.prepare(question)
        found = index.search(question, options.k, mode, where=where)
        told = tell_filter(index, where)
    if as_json:
        hits = payload.hits(found)
        write_json("search", {"question": question, "mode": mode, "hits": hits, "filter": told})
        return
    send_page(render.search, found)


def send_page(draw: Callable[..., None], *arguments: Any) -> None:
    """Draw a page and print it."""
    page = Page()
    draw(page, *arguments)
    page.send()


def _asked(question: str) -> None:
    if not question.strip():
        raise UsageError("question", "it is empty", 'Write one: clew ask "what is …?".')


def show(name: str, given: Path | None, as_json: bool, where: Filter | None = None) -> None:
    with opened(given) as index:
        found = index.show(name, where=where)
        told = tell_filter(index, where)
        taken = index.named(name)
    if as_json:
        write_json("show", {**payload.card(found), "taken": payload.named(taken), "filter": told})
        return
    send_page(render.card, found, taken)


def communities(level: int | None, given: Path | None, as_json: bool, where: Filter | None = None) -> None:
    with opened(given) as index:
        found = index.communities(level, where=where)
        told = tell_filter(index, where)
        every = [] if found or level is None else index.communities()
    deepest = max((view.community.level for view in every), default=0)
    if level is not None and not found and level > deepest:
        raise OptionError("--level", f"{level} is deeper than the hierarchy", f"Give 0 to {deepest}.")
    if as_json:
        themes = [payload.community(view) for view in found]
        write_json("communities", {"level": level, "communities": themes, "filter": told})
        return
    send_page(render.communities, found)


def stats(given: Path | None, as_json: bool, where: Filter | None = None) -> None:
    with opened(given) as index:
        found = index.stats(where=where)
        told = tell_filter(index, where)
    if as_json:
        write_json("stats", {"stats": payload.plain(found), "filter": told})
        return
    send_page(render.stats, found)


def doctor(given: Path | None, as_json: bool) -> None:
    """Check an index; exit with the code of a damaged one if a check finds a fault."""
    with opened(given) as index:
        found = index.doctor()
        file, generation = str(index.file), index.engine.reader.generation
    if as_json:
        write_json("doctor", {"index": file, "generation": generation, **payload.diagnosis(found)})
    else:
        send_page(render.diagnosis, found)
    if not found.whole:
        raise typer.Exit(BadIndex.exit_code)


def cache(prune: bool, given: Path | None, as_json: bool) -> None:
    """Show the cache of an index, after dropping what is unused if ``prune`` says so."""
    path = find_index(given)
    from clew.index import look_at_cache

    found = look_at_cache(path, prune=prune)
    if as_json:
        write_json("cache", payload.cache(found))
        return
    send_page(render.cache, found)


def settings(given: Path | None, as_json: bool) -> None:
    """List every option with its value and origin. No index is needed."""
    near = given if given is not None else Path.cwd() / HOME
    found = settings_for(near, {})
    if as_json:
        values = {
            key: {"value": payload.plain(_masked(value.value)), "origin": value.origin}
            for key, value in found.values.items()
        }
        config = str(found.config) if found.config is not None else None
        write_json("settings", {"config": config, "settings": values})
        return
    page = Page()
    for key, value in found.values.items():
        told = _masked(value.value)
        shown = ", ".join(told) or "(none)" if isinstance(told, tuple) else str(told)
        origin = ("default", "dim") if value.origin == "default" else (line(value.origin), "green")
        page.add((f"{key:<22} ", "bold"), f"{line(shown):<16} ", origin)
    page.send()


def _masked(value: Any) -> Any:
    """Return a setting's value without the password that a URL in it holds."""
    if isinstance(value, tuple):
        return tuple(map(_masked, value))
    return masked(value) if isinstance(value, str) else value


def embedders(as_json: bool) -> None:
    """List the embedders by name, from the registry: none is imported."""
    from clew.registry import NO_EMBEDDER, plugins

    default = load().values["embed.embedder"].value
    rows = [(plugin.name, plugin.summary) for plugin in plugins("embedders")]
    rows.append((NO_EMBEDDER, "No vectors: words and the graph alone; the fastest index"))
    if as_json:
        listed = [{"name": name, "summary": summary, "default": name == default} for name, summary in rows]
        write_json("embedders", {"embedders": listed})
        return
    page = Page()
    for name, summary in rows:
        mark = " (default)" if name == default else ""
        page.add((f"{line(name):<8} ", "bold"), line(summary), (mark, "green"))
    page.send()
