"""The options by which commands look at some of the notes only."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from clew.cli.screen import say
from clew.errors import OptionError

if TYPE_CHECKING:
    from clew.index import Index
    from clew.types import Filter

Where = Any  # a Filter or None, by its own name in type hints alone: it brings numpy, which --help needn't
NOW = "CLEW_NOW"  # the moment that ages are counted from, for scripts and tests whose results must not change
_HELP = {
    "kind": (
        "KIND",
        "Only this kind, of documents (note, record, …) or of nodes. [repeatable: or]",
    ),
    "tag": ("TAG", "Only notes with this tag or one below it; A,B is either. [repeatable: and]"),
    "author": ("NAME", "Only notes by this author. [repeatable: or]"),
    "since": (
        "WHEN",
        "Only what was written then or later: 2026-01-31, 2026-01, 12h, 7d, 2w, 3mo, 1y.",
    ),
    "until": ("WHEN", "Only what was written then (the whole day, month or year) or before."),
    "edge": ("KIND", "Only edges of this kind, and notes at an end of one; A,B is either. [repeatable: or]"),
}
_REPEATABLE = ("kind", "tag", "author", "edge")


def filter_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the flags of a filter; it gets them as :class:`clew.types.Filter` in ``where``."""

    @functools.wraps(command)
    def run(**given: Any) -> None:
        chosen = {name: given.pop(f"where_{name}") for name in _HELP}
        command(where=_filter(chosen), **given)

    signature = inspect.signature(command, eval_str=True)
    own = [parameter for parameter in signature.parameters.values() if parameter.name != "where"]
    made = [_parameter(name, metavar, text) for name, (metavar, text) in _HELP.items()]
    run.__signature__ = signature.replace(parameters=[*own, *made])  # type: ignore[attr-defined]
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *made]}
    return run


def _parameter(name: str, metavar: str, text: str) -> inspect.Parameter:
    kind: Any = list[str] | None if name in _REPEATABLE else str | None
    option = typer.Option(f"--{name}", help=text, metavar=metavar, show_default=False)
    annotation = Annotated[kind, option]
    return inspect.Parameter(
        f"where_{name}", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=annotation
    )


def _filter(chosen: Mapping[str, Any]) -> Filter | None:
    """Return the filter of the flags given, None if there are none. Raises OptionError for an empty one."""
    for name, value in chosen.items():
        empty = [one for one in (value if isinstance(value, list | tuple) else [value]) if one is not None]
        if any(not one.strip() for one in empty):
            raise OptionError(f"--{name}", "it is empty", f"Write {_HELP[name][0]} after it, or leave it out")
    if not any(chosen.values()):
        return None
    from clew.types import Filter

    return Filter(
        kinds=tuple(chosen["kind"] or ()),
        tags=tuple(chosen["tag"] or ()),
        authors=tuple(chosen["author"] or ()),
        since=chosen["since"],
        until=chosen["until"],
        edges=tuple(chosen["edge"] or ()),
        now=os.environ.get(NOW) or None,
    )


def tell_filter(index: Index, where: Filter | None, *, edges: bool = False) -> dict[str, Any] | None:
    """Say how many notes lack a time only, and that none passes; return what JSON tells of the filter.
    ``edges``: what is looked for are edges, so that one between two people may pass where no note does."""
    if where is None:
        return None
    passing = index.passing(where)
    if passing.undated:
        notes = "note has" if passing.undated == 1 else "notes have"
        say(f"clew: {passing.undated:,} {notes} no date and {_is_left(passing.undated)} out.", "yellow")
    if not passing.documents and not (edges and where.edges):
        say(f"clew: none of the {passing.every:,} notes passes the filter.", "yellow")
    return {
        "kinds": list(where.kinds),
        "tags": list(where.tags),
        "authors": list(where.authors),
        "since": where.since,
        "until": where.until,
        "edges": list(where.edges),
        "documents": passing.documents,
        "undated": passing.undated,
    }


def _is_left(count: int) -> str:
    return "is left" if count == 1 else "are left"
