"""The commands that ask about the graph's structure."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clew.cli import graph_pages, payload, render
from clew.cli.filters import NOW, tell_filter
from clew.cli.find import find_index
from clew.cli.reading import opened, send_page, settings_for
from clew.cli.screen import write_json

if TYPE_CHECKING:
    from clew.types import Filter


def related(
    name: str, k: int, hops: int, given: Path | None, as_json: bool, where: Filter | None = None
) -> None:
    with opened(given) as index:
        if not hops:
            found = index.related(name, k, where=where)
        else:
            around = index.neighbourhood(name, hops, k, where=where)
        told = tell_filter(index, where, edges=True)
    if as_json:
        shown = payload.neighbourhood(around) if hops else {"related": list(map(payload.related, found))}
        write_json("related", {"name": name, **shown, "filter": told})
    elif hops:
        send_page(graph_pages.neighbourhood, around)
    else:
        send_page(render.related, found)


def path(
    a: str, b: str, k: int, max_steps: int, given: Path | None, as_json: bool, where: Filter | None = None
) -> None:
    with opened(given) as index:
        found = index.paths(a, b, k, max_steps, where=where)
        told = tell_filter(index, where, edges=True)
    if as_json:
        write_json("path", {**payload.connection(found), "filter": told})
        return
    send_page(graph_pages.connection, found, max_steps)


def match(
    pattern: str,
    limit: int,
    flags: Mapping[str, Any],
    given: Path | None,
    as_json: bool,
    where: Filter | None = None,
) -> None:
    me = settings_for(find_index(given), flags).who_options().me
    with opened(given) as index:
        found = index.match(pattern, limit, me=me, where=where)
        told = tell_filter(index, where, edges=True)
    if as_json:
        write_json("match", {**payload.matches(found), "filter": told})
        return
    send_page(graph_pages.matches, found)


def export(
    form: str,
    file: Path,
    profile: str,
    vectors: str,
    since: Path | None,
    given: Path | None,
    as_json: bool,
) -> None:
    earlier = since.expanduser() if since is not None else None
    with opened(given) as index:
        found = index.export(form, file.expanduser(), profile=profile, vectors=vectors, since=earlier)
    if as_json:
        write_json("export", payload.exported(found))
        return
    send_page(graph_pages.exported, found)


def bridge(
    recent: str,
    older: str,
    limit: int,
    where: Filter | None,
    flags: Mapping[str, Any],
    given: Path | None,
    as_json: bool,
) -> None:
    me = settings_for(find_index(given), flags).who_options().me
    with opened(given) as index:
        told = tell_filter(index, where)
        found = index.bridge(recent, older, me=me, limit=limit, where=where, now=os.environ.get(NOW) or None)
    if as_json:
        write_json("bridge", {**payload.bridges(found), "filter": told})
        return
    send_page(graph_pages.bridges, found)


def activity(theme: str, by: str, where: Filter | None, given: Path | None, as_json: bool) -> None:
    with opened(given) as index:
        told = tell_filter(index, where)
        found = index.activity(theme, by, where=where)
    if as_json:
        write_json("activity", {**payload.activity(found), "filter": told})
        return
    send_page(graph_pages.activity, found)
