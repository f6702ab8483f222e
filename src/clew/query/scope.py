"""What a filter lets pass: of documents, passages, nodes and edges.

A filter says what must hold of documents. A passage passes with its document; a node, if it is a document
that passes, or is named in one or joined to one. An edge passes by its kind and by the time when it was
first stated. Masks are made once for a filter and kept with the index.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from clew.errors import NotFound, OptionError
from clew.query.limits import Limits
from clew.query.space import Space
from clew.text.dates import parse_ago, parse_span
from clew.text.tokens import normal_name
from clew.types import UNDATED, EdgeKind, Filter, Ints, NodeKind

Bools = NDArray[np.bool_]
NODE_KINDS = get_args(NodeKind)
EDGE_KINDS = get_args(EdgeKind)
TIME_REMEDY = "Write a day (2026-01-31), a time (2026-01-31 15:04), or how long ago: 12h, 7d, 2w, 3mo, 1y"


SCOPES = 8  # filters of which the masks are kept: half a megabyte each for 100,000 passages


def scope_of(space: Space, where: Filter | None) -> Scope | None:
    """Return what a filter lets pass; None for one that lets all pass. The last SCOPES are kept.

    Raises OptionError for kinds, edges and times that there aren't, NotFound for tags and authors.
    """
    if not where:
        return None
    first, last = window(where)
    key = replace(where, since=first, until=last, now=0)
    found = space.scopes.pop(key, None) or Scope(space, key)
    space.scopes[key] = found
    while len(space.scopes) > SCOPES:
        space.scopes.pop(next(iter(space.scopes)), None)
    return found


def limits_of(scope: Scope | None) -> Limits:
    """Return the nodes and edges that pass."""
    return Limits() if scope is None else Limits(scope.nodes, scope.edges)


class Scope:
    """A filter, applied to an index. ``docs`` (D,) tells which documents pass, ``undated`` counts those that
    only lack a time."""

    def __init__(self, space: Space, where: Filter) -> None:
        self.where = where
        self._space = space
        self._edges = [_edge_code(space, kind) for kind in _split(where.edges)]
        self._doc_kinds, self._node_kinds = _kinds(space, where.kinds)
        self._n_docs = len(space.reader.array("documents.kind"))
        self._from, self._to = window(where)
        self._base, self.undated = self._documents()
        self.docs: Bools = self._base & self._of_kind()

    @property
    def counts(self) -> tuple[int, int]:
        """The number of documents that pass, and of those that lack a time only."""
        return int(self.docs.sum()), self.undated

    # --- documents and passages ---

    def _documents(self) -> tuple[Bools, int]:
        """Return which documents pass but for their kind, and how many lack a time only."""
        space = self._space
        mask = np.ones(self._n_docs, dtype=bool)
        for tag in self.where.tags:
            nodes = [node for one in _parts(tag) for node in _tags(space, one)]
            mask &= self._linked("tagged_with", nodes)
        if self.where.authors:
            nodes = [node for one in self.where.authors for node in _authors(space, one)]
            mask &= self._linked("authored_by", nodes)
        if self._edges:
            at = np.isin(space.reader.array("edges.kind"), self._edges)
            mask &= self._standing_for(space.reader.array("edges.source")[at]) | self._standing_for(
                space.reader.array("edges.target")[at]
            )
        if not self._timed:
            return mask, 0
        times = space.reader.array("documents.created_at")
        undated = mask & self._of_kind() & (times == UNDATED)
        return mask & self._in_time(times), int(undated.sum())

    @property
    def _timed(self) -> bool:
        return self._from is not None or self._to is not None

    def _in_time(self, times: NDArray[np.int64]) -> Bools:
        """Tell which times lie in the filter's; an unknown one doesn't."""
        mask: Bools = times != UNDATED
        if self._from is not None:
            mask &= times >= self._from
        if self._to is not None:
            mask &= times <= self._to
        return mask

    def _of_kind(self) -> Bools:
        if not self._doc_kinds or "document" in self._node_kinds:
            return np.ones(self._n_docs, dtype=bool)
        return np.isin(self._space.reader.array("documents.kind"), self._doc_kinds)

    def _linked(self, kind: str, nodes: Sequence[int]) -> Bools:
        """Tell which documents have an edge of a kind to one of some nodes."""
        reader = self._space.reader
        at = reader.array("edges.kind") == _edge_code(self._space, kind)
        source, target = reader.array("edges.source")[at], reader.array("edges.target")[at]
        return self._standing_for(source[np.isin(target, nodes)])

    def _standing_for(self, nodes: Ints) -> Bools:
        """Tell which documents some of the nodes stand for."""
        mask = np.zeros(self._n_docs, dtype=bool)
        docs = self._space.reader.array("graph.node_doc")[nodes]
        mask[docs[docs >= 0]] = True
        return mask

    @cached_property
    def passages(self) -> Bools:
        """Which passages are of documents that pass but for their kind, shape (C,)."""
        mask: Bools = self._base[self._space.chunk_doc]
        return mask

    @cached_property
    def chunks(self) -> Bools:
        """Which passages pass, shape (C,).

        Raises OptionError if the filter asks for kinds of nodes that have no passages.
        """
        if self._node_kinds and not self._doc_kinds and "document" not in self._node_kinds:
            kinds = ", ".join(_document_kinds(self._space))
            reason = "passages are of documents"
            raise OptionError(f"--kind {self._node_kinds[0]}", reason, f"Kinds of documents here: {kinds}")
        mask: Bools = self.docs[self._space.chunk_doc]
        return mask

    # --- nodes and edges ---

    @cached_property
    def nodes(self) -> Bools:
        """Which nodes pass, shape (N,)."""
        space, reader = self._space, self._space.reader
        doc = reader.array("graph.node_doc")
        stands = doc >= 0
        mask = np.zeros(space.n_nodes, dtype=bool)
        mask[stands] = self.docs[doc[stands]]
        if self._doc_kinds and not self._node_kinds:
            return mask
        if self._node_kinds and not self._doc_kinds and "document" not in self._node_kinds:
            mask[:] = False
        others = self._named() & ~stands
        if self._node_kinds:
            codes = [reader.meta["node_kinds"].index(kind) for kind in self._node_kinds]
            others &= np.isin(reader.array("graph.node_kind"), codes)
        return mask | others

    def _named(self) -> Bools:
        """Tell which nodes the documents that pass but for their kind name, or are joined to by an edge."""
        space, reader = self._space, self._space.reader
        mask = np.zeros(space.n_nodes, dtype=bool)
        if self._base.all():
            return ~mask
        ptr = reader.array("graph.chunk_ptr")
        inside = np.repeat(self.passages, np.diff(ptr))
        mask[reader.array("graph.chunk_node")[inside]] = True
        doc = reader.array("graph.node_doc")
        passing = (doc >= 0) & self._base[np.maximum(doc, 0)] if len(self._base) else doc >= 0
        source, target = reader.array("edges.source"), reader.array("edges.target")
        mask[target[passing[source]]] = True
        mask[source[passing[target]]] = True
        return mask

    @cached_property
    def edges(self) -> Bools:
        """Which edges pass by their kind and time, shape (E,); their ends aren't looked at."""
        reader = self._space.reader
        kinds = reader.array("edges.kind")
        mask = np.isin(kinds, self._edges) if self._edges else np.ones(len(kinds), dtype=bool)
        return mask & self._in_time(reader.array("edges.created_at")) if self._timed else mask

    @property
    def of_documents(self) -> Limits:
        """What a pattern is limited to: its documents must pass, the rest may be what it is. An edge of long
        ago, such as that one follows somebody, may lead to a note of today."""
        reader = self._space.reader
        doc = reader.array("graph.node_doc")
        nodes = np.ones(len(doc), dtype=bool)
        nodes[doc >= 0] = self.docs[doc[doc >= 0]]
        kinds = np.isin(reader.array("edges.kind"), self._edges) if self._edges else None
        return Limits(nodes, kinds)

    def edges_among(self, exempt: Iterable[int] = ()) -> Bools:
        """Which edges pass whose ends pass too, or are ``exempt``: the nodes that were asked about."""
        ends = self.nodes.copy()
        ends[list(exempt)] = True
        reader = self._space.reader
        mask: Bools = self.edges & ends[reader.array("edges.source")] & ends[reader.array("edges.target")]
        return mask


def count_passing(space: Space, scope: Scope) -> dict[str, Any]:
    """Return how many documents, passages, nodes and edges pass, by kind."""
    reader = space.reader
    edges = scope.edges_among()
    documents, undated = scope.counts
    return {
        "documents": documents,
        "undated": undated,
        "documents_by_kind": count_by(reader.array("documents.kind")[scope.docs], _document_kinds(space)),
        "chunks": int(scope.docs[space.chunk_doc].sum()),
        "nodes": int(scope.nodes.sum()),
        "nodes_by_kind": count_by(reader.array("graph.node_kind")[scope.nodes], reader.meta["node_kinds"]),
        "edges": int(edges.sum()),
        "edges_by_kind": count_by(reader.array("edges.kind")[edges], reader.meta["edge_kinds"]),
    }


def count_by(codes: NDArray[Any], kinds: Sequence[str]) -> dict[str, int]:
    """Return how many codes there are of each kind that there is any of."""
    counts = np.bincount(codes, minlength=len(kinds)).tolist()
    return {kind: count for kind, count in zip(kinds, counts, strict=True) if count}


def window(where: Filter, flags: tuple[str, str] = ("--since", "--until")) -> tuple[int | None, int | None]:
    """Return the first and the last second of a filter's time. Raises OptionError, by the names that the two
    ends have, for what isn't a time."""
    now = where.now if isinstance(where.now, int) else int(time.time())
    if isinstance(where.now, str):
        now = _moment("CLEW_NOW", where.now, now, 0) or now
    first, last = (
        _moment(flag, value, now, end)
        for flag, value, end in ((flags[0], where.since, 0), (flags[1], where.until, 1))
    )
    if first is not None and last is not None and last < first:
        reason = f"{where.until!r} is before --since {where.since}"
        raise OptionError("--until", reason, "Exchange the two")
    return first, last


def _moment(flag: str, value: str | int | None, now: int, end: int) -> int | None:
    if value is None or isinstance(value, int):
        return value
    ago = parse_ago(value, now)
    if ago is not None:
        return ago
    span = parse_span(value)
    if span is None:
        raise OptionError(flag, f"{value!r} isn't a time", TIME_REMEDY)
    return span[end]


def _split(values: Sequence[str]) -> list[str]:
    """Return the values, each divided at its commas."""
    return [part for value in values for part in _parts(value)]


def _parts(value: str) -> list[str]:
    return [part.strip() for part in value.split(",") if part.strip()]


def _document_kinds(space: Space) -> list[str]:
    return list(space.reader.meta["document_kinds"])


def _kinds(space: Space, given: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the codes of the kinds of documents, and the kinds of nodes, that a filter names."""
    known = _document_kinds(space)
    docs: list[int] = []
    nodes: list[str] = []
    for kind in _split(given):
        if kind in known:
            docs.append(known.index(kind))
        elif kind in NODE_KINDS:
            nodes.append(kind)
        elif kind != "note":  # an index of records alone holds none, and that is no mistake
            raise _unknown("--kind", kind, "no document or node is of this kind", [*known, *NODE_KINDS])
        else:
            docs.append(len(known))
    return docs, nodes


def _edge_code(space: Space, kind: str) -> int:
    kinds: list[str] = list(space.reader.meta["edge_kinds"])
    if kind not in kinds:
        raise _unknown("--edge", kind, "there is no such kind of edge", EDGE_KINDS)
    return kinds.index(kind)


def _unknown(flag: str, value: str, reason: str, known: Iterable[str]) -> OptionError:
    choices = list(known)
    near = get_close_matches(value, choices, n=1, cutoff=0.5)
    remedy = f"Did you mean {near[0]}? " if near else ""
    return OptionError(f"{flag} {value}", reason, f"{remedy}Known: {', '.join(choices)}")


def _tags(space: Space, name: str) -> list[int]:
    """Return the tag nodes that a name means. Raises NotFound with the nearest tags."""
    wanted = name.lstrip("#").strip()
    found = [node for node in space.reader.find_nodes(normal_name(wanted)) if node.kind == "tag"]
    same = [node.node for node in found if node.name.casefold() == wanted.casefold()]
    if not found:
        raise _missing(space, "tag", name, _nodes_of(space, "tag"))
    return same or [node.node for node in found]


def _authors(space: Space, name: str) -> list[int]:
    """Return the nodes of authors that a name means. Raises NotFound with the nearest authors."""
    reader = space.reader
    at = reader.array("edges.kind") == _edge_code(space, "authored_by")
    authors = np.unique(reader.array("edges.target")[at])
    known = set(authors.tolist())
    named = {node.node for node in reader.find_nodes(normal_name(name))}
    if not named & known:
        raise _missing(space, "author", name, authors)
    return sorted(named & known)


def _nodes_of(space: Space, kind: str) -> Ints:
    code = space.reader.meta["node_kinds"].index(kind)
    found: Ints = np.flatnonzero(space.reader.array("graph.node_kind") == code).astype(np.int32)
    return found


def _missing(space: Space, what: str, name: str, nodes: Ints) -> NotFound:
    names = {one.casefold(): one for one in space.node_names(nodes.tolist()).values()}
    close = get_close_matches(name.lstrip("#").casefold(), sorted(names), n=3, cutoff=0.5)
    few = sorted(names.values(), key=str.casefold)[:5] if len(names) <= 5 else []
    listed = [names[one] for one in close] or few
    told = {"tag": "no note has this tag", "author": "no note names this author"}[what]
    remedy = f"Nearest: {', '.join(listed)}" if listed else f"`clew related` and `clew stats` show {what}s"
    return NotFound(f"--{what} {name}", told, remedy)
