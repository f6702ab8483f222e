"""A theme over time: how many notes a period, and what came up in it and what was last spoken of."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from clew.algo.bm25 import idf
from clew.errors import NotFound, OptionError
from clew.query.limits import Mask
from clew.query.naming import find
from clew.query.space import Space
from clew.types import Activity, Longs, Node, Period

By = Literal["day", "week", "month", "year"]
SHOWN = 5  # nodes that came or went, and examples, of a period
LEAST = 2  # documents that a node is in, else it comes and goes with one note
COMMON = 0.5  # a node in more than this share of the theme's documents is the theme
STATED = ("references", "replied_to", "tagged_with", "authored_by", "saved_by")
MOST_PERIODS = 1200  # days of three years; more of them say nothing
DAYS = {"day": 1, "week": 7, "month": 30, "year": 365}
FARTHEST = 2 * 10**11  # seconds from 1970, some 6,000 years: beyond, a time is no time
SURE = 0.35  # of a node that is shown, its confidence


def activity(
    space: Space, theme: str, by: By, search: Callable[[str], Sequence[int]], allowed: Mask | None = None
) -> Activity:
    """Return a theme by period, the earliest first, periods without any document among them.

    A theme is what bears the name (the documents that mention it or have a stated edge to it), or else the
    documents that ``search`` finds for its words; an empty one is everything. ``allowed`` (D,) are the
    documents to look at. Raises OptionError where there would be too many periods.
    """
    times: Longs = space.reader.array("documents.created_at")
    nodes, mask = _of_theme(space, theme, search)
    every = np.ones(len(times), dtype=bool) if allowed is None else allowed
    mask &= every
    plausible = (times > -FARTHEST) & (times < FARTHEST)  # UNDATED isn't
    dated = mask & plausible
    undated = int(mask.sum() - dated.sum())
    docs = np.flatnonzero(dated)
    if not len(docs):
        return Activity(theme, by, tuple(nodes), 0, undated, ())
    labels, starts = _periods(int(times[docs].min()), int(times[docs].max()), by)
    place = np.searchsorted(starts, times[docs], side="right") - 1
    counts = np.bincount(place, minlength=len(starts))
    known = every & plausible & (times >= starts[0])
    all_places = np.searchsorted(starts, times[known], side="right") - 1
    totals = np.bincount(all_places[all_places < len(starts)], minlength=len(starts))
    came, went = _turnover(space, docs, place, len(starts), {node.node for node in nodes})
    examples = _examples(space, docs, place, times)
    shown = _read(space, [*came, *went, *examples])
    periods = tuple(
        Period(
            label,
            int(starts[at]),
            int(counts[at]),
            int(totals[at]),
            *(tuple(shown[node] for node in some[at]) for some in (examples, came, went)),
        )
        for at, label in enumerate(labels)
    )
    return Activity(theme, by, tuple(nodes), int(mask.sum()), undated, periods)


def _read(space: Space, groups: Sequence[Sequence[int]]) -> dict[int, Node]:
    wanted = sorted({node for some in groups for node in some})
    return dict(zip(wanted, space.reader.nodes(wanted), strict=True))


def _of_theme(space: Space, theme: str, search: Callable[[str], Sequence[int]]) -> tuple[list[Node], Mask]:
    """Return the nodes of a theme's name, and the documents (D,) that are about it."""
    mask = np.zeros(len(space.reader.array("documents.created_at")), dtype=bool)
    if not theme.strip():
        return [], ~mask
    try:
        nodes = find(space, theme)
    except NotFound:
        mask[space.chunk_doc[list(search(theme))]] = True
        return [], mask
    graph = space.graph
    which = np.array([node.node for node in nodes], dtype=np.int64)
    doc = space.reader.array("graph.node_doc")
    chunks = np.concatenate([space.chunks_of(int(node)) for node in which])
    mask[space.chunk_doc[chunks]] = True
    entry, _ = graph.both.entries(which)
    entry = entry[_stated(space)[graph.both.edge[entry]]]
    joined = doc[np.concatenate([graph.both.other[entry], which])]
    mask[joined[joined >= 0]] = True
    return nodes, mask


def _turnover(
    space: Space, docs: Longs, place: Longs, n_periods: int, theme: set[int]
) -> tuple[list[list[int]], list[list[int]]]:
    """Return for each period the nodes that come up in it for the first time, and those that are in no later
    one, those in most documents × idf first. In the first period all is new, and after the last one nobody
    knows."""
    owner, node = _incidence(space, docs)
    worth = np.bincount(node, minlength=space.n_nodes)
    keep = (worth[node] >= LEAST) & (worth[node] <= max(COMMON * len(docs), LEAST))
    keep &= space.reader.array("graph.node_confidence")[node] >= SURE
    keep &= ~np.isin(node, sorted(theme)) & (space.reader.array("graph.node_doc")[node] < 0)
    owner, node = owner[keep], node[keep]
    first = np.full(space.n_nodes, n_periods, dtype=np.int64)
    last = np.full(space.n_nodes, -1, dtype=np.int64)
    np.minimum.at(first, node, place[owner])
    np.maximum.at(last, node, place[owner])
    weight = worth * np.asarray(idf(np.maximum(space.node_df, 1).astype(np.float32), max(space.n_chunks, 2)))
    came: list[list[int]] = [[] for _ in range(n_periods)]
    went: list[list[int]] = [[] for _ in range(n_periods)]
    seen = np.unique(node)
    for one in seen[np.lexsort((seen, -np.round(weight[seen], 4)))].tolist():
        begin, end = int(first[one]), int(last[one])
        if begin > 0 and len(came[begin]) < SHOWN:
            came[begin].append(one)
        if end < n_periods - 1 and len(went[end]) < SHOWN:
            went[end].append(one)
    return came, went


def _incidence(space: Space, docs: Longs) -> tuple[Longs, Longs]:
    """Return the pairs of a document (its place among ``docs``) and a node that it mentions or has an edge
    to."""
    reader = space.reader
    n_docs = len(reader.array("documents.created_at"))
    place = np.full(n_docs, -1, dtype=np.int64)
    place[docs] = np.arange(len(docs))
    ptr, mentioned = reader.array("graph.chunk_ptr"), reader.array("graph.chunk_node")
    owner = place[np.repeat(space.chunk_doc, np.diff(ptr))]
    node_doc = reader.array("graph.node_doc")
    source = np.where(_stated(space), node_doc[space.graph.source], -1)
    linked = np.where(source >= 0, place[source], -1)
    owner = np.concatenate([owner, linked])
    node = np.concatenate([mentioned, space.graph.target]).astype(np.int64)
    keep = owner >= 0
    pairs: Longs = np.unique(owner[keep] * space.n_nodes + node[keep])
    return pairs // space.n_nodes, pairs % space.n_nodes


def _stated(space: Space) -> Mask:
    """Tell which edges their source states itself, shape (E,). That two things occur together is stated by
    some third note, and what a note's text speaks of is known by its passages."""
    codes = [code for code, kind in enumerate(space.graph.kinds) if kind in STATED]
    mask: Mask = np.isin(space.graph.kind, codes)
    return mask


def _examples(space: Space, docs: Longs, place: Longs, times: Longs) -> list[list[int]]:
    """Return the nodes of each period's first documents."""
    stands = np.full(len(times), -1, dtype=np.int64)
    node_doc = space.reader.array("graph.node_doc")
    known = np.flatnonzero(node_doc >= 0)
    stands[node_doc[known]] = known
    found: list[list[int]] = [[] for _ in range(int(place.max()) + 1)]
    for at in np.lexsort((docs, times[docs])).tolist():
        some = found[int(place[at])]
        if len(some) < SHOWN and stands[docs[at]] >= 0:
            some.append(int(stands[docs[at]]))
    return found


# --- periods -------------------------------------------------------------------------------------


def _periods(first: int, last: int, by: By) -> tuple[list[str], NDArray[np.int64]]:
    """Return the labels and the beginnings (seconds since 1970) of the periods from one time to another, in
    UTC."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)  # fromtimestamp knows no time before it on every system
    begin, end = _floor(epoch + timedelta(seconds=first), by), epoch + timedelta(seconds=last)
    if (end - begin).days > MOST_PERIODS * DAYS[by]:
        reason = f"the notes were written over {(end - begin).days // 365:,} years"
        raise OptionError(f"--by {by}", reason, "Choose a longer period, or a part of them with --since")
    labels: list[str] = []
    starts: list[int] = []
    while begin <= end:
        labels.append(_label(begin, by))
        starts.append(int((begin - epoch).total_seconds()))
        begin = _next(begin, by)
    return labels, np.array(starts, dtype=np.int64)


def _floor(time: datetime, by: By) -> datetime:
    day = time.replace(hour=0, minute=0, second=0, microsecond=0)
    if by == "week":
        return day - timedelta(days=day.weekday())
    if by == "month":
        return day.replace(day=1)
    return day.replace(month=1, day=1) if by == "year" else day


def _next(start: datetime, by: By) -> datetime:
    if by == "year":
        return start.replace(year=start.year + 1)
    if by == "month":
        return (start + timedelta(days=32)).replace(day=1)
    return start + timedelta(days=7 if by == "week" else 1)


def _label(start: datetime, by: By) -> str:
    if by == "week":
        year, week, _ = start.isocalendar()
        return f"{year}-W{week:02d}"
    return {"day": f"{start:%Y-%m-%d}", "month": f"{start:%Y-%m}", "year": f"{start:%Y}"}[by]
