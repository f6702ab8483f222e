"""Edges with the places that state them.

A *statement* is one row: an edge's kind and ends, its weight, a place (document -1: none; chunk -1: the
document says so outside its passages) and a time. Edges are the distinct (kind, source, target) among them;
an edge weighs as much as its heaviest statement, and has the time of its earliest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.types import UNDATED, EdgeKind, Floats, Ints, Longs

# Edge kinds in the order of their names, as edges are sorted.
KINDS: tuple[EdgeKind, ...] = (
    "authored_by",
    "co_occurs_with",
    "defined_by",
    "follows",
    "mentions",
    "references",
    "related",
    "replied_to",
    "same_as",
    "saved_by",
    "tagged_with",
    "unlinked_mention",
)
LATEST = 2**63 - 1
MOST_EVIDENCE = 20  # places kept of an edge; the first in the corpus' order


@dataclass(frozen=True, slots=True)
class Statements:
    """Columns of equal length: kind (index into KINDS), ends, weight, a place in source offsets, and a time
    (seconds since 1970, UTC; UNDATED)."""

    kind: Ints
    source: Ints
    target: Ints
    weight: Floats
    doc: Ints
    chunk: Ints
    start: Ints
    end: Ints
    time: Longs


@dataclass(frozen=True, slots=True)
class Edges:
    """Distinct edges in (kind, source, target) order, and their evidence grouped by edge."""

    kind: tuple[str, ...]
    source: Ints
    target: Ints
    weight: Floats
    time: Longs
    evidence_edge: Ints
    evidence_doc: Ints
    evidence_chunk: Ints
    evidence_start: Ints
    evidence_end: Ints


def state(
    kind: EdgeKind,
    source: Ints | Sequence[int],
    target: Ints | Sequence[int],
    weight: Floats | Sequence[float] | float = 1.0,
    place: tuple[Ints, Ints, Ints, Ints] | None = None,
    time: Longs | None = None,
) -> Statements:
    """Return statements of one kind; ``place`` is (document, chunk, start, end), each of shape (n,)."""
    ends = np.asarray(source, dtype=np.int32), np.asarray(target, dtype=np.int32)
    n = len(ends[0])
    if place is None:
        nowhere, start = np.full(n, -1, np.int32), np.zeros(n, np.int32)
        place = (nowhere, nowhere, start, start)
    weights = np.broadcast_to(np.asarray(weight, dtype=np.float32), (n,))
    times = np.full(n, UNDATED, dtype=np.int64) if time is None else time
    return Statements(np.full(n, KINDS.index(kind), dtype=np.int32), *ends, weights, *place, times)


def joined(parts: Sequence[Statements], kind: EdgeKind | None = None) -> Statements:
    """Return statements as one, all of them or those of a kind."""
    columns: list[Any] = [
        np.concatenate([getattr(part, name) for part in parts]) for name in Statements.__slots__
    ]
    rows = Statements(*columns)
    if kind is None:
        return rows
    chosen = rows.kind == KINDS.index(kind)
    return Statements(*(column[chosen] for column in columns))


def make_edges(parts: Sequence[Statements], n_nodes: int) -> Edges:
    """Merge statements into edges, without those from a node to itself or about what is no node (-1)."""
    rows = joined(parts)
    keep = (rows.source != rows.target) & (rows.source >= 0) & (rows.target >= 0)
    key = (rows.kind.astype(np.int64) * n_nodes + rows.source) * n_nodes + rows.target
    order = np.lexsort((rows.end, rows.start, rows.chunk, rows.doc, key))
    order = order[keep[order]]
    key = key[order]
    first = np.flatnonzero(_changes(key))
    edge = np.cumsum(_changes(key)) - 1
    at = order[first]
    weight = np.maximum.reduceat(rows.weight[order], first) if len(first) else np.zeros(0, np.float32)
    shown = _evidence(rows, order, edge)
    time = np.minimum.reduceat(known(rows.time[order]), first) if len(first) else np.zeros(0, np.int64)
    return Edges(
        kind=tuple(KINDS[kind] for kind in rows.kind[at].tolist()),
        source=rows.source[at],
        target=rows.target[at],
        weight=weight.astype(np.float32),
        time=np.where(time == LATEST, UNDATED, time),
        evidence_edge=edge[shown].astype(np.int32),
        evidence_doc=rows.doc[order][shown],
        evidence_chunk=rows.chunk[order][shown],
        evidence_start=rows.start[order][shown],
        evidence_end=rows.end[order][shown],
    )


def known(time: Longs) -> Longs:
    """Return times in which one that isn't known comes after all others."""
    return np.where(time == UNDATED, LATEST, time)


def _changes(key: Longs) -> NDArray[np.bool_]:
    change = np.ones(len(key), dtype=bool)
    change[1:] = key[1:] != key[:-1]
    return change


def _evidence(rows: Statements, order: Longs, edge: Longs) -> Longs:
    """Return the places to keep, as indices into ``order``: distinct, the first MOST_EVIDENCE of an edge."""
    placed = np.flatnonzero(rows.doc[order] >= 0)
    at = order[placed]
    same = np.zeros(len(placed), dtype=bool)
    same[1:] = (
        (edge[placed[1:]] == edge[placed[:-1]])
        & (rows.doc[at[1:]] == rows.doc[at[:-1]])
        & (rows.chunk[at[1:]] == rows.chunk[at[:-1]])
        & (rows.start[at[1:]] == rows.start[at[:-1]])
        & (rows.end[at[1:]] == rows.end[at[:-1]])
    )
    placed = placed[~same]
    number = np.arange(len(placed)) - np.searchsorted(edge[placed], edge[placed], side="left")
    return placed[number < MOST_EVIDENCE]
