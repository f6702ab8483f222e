"""Communities and their reports, read whole at the first question on them and kept.

A look-up by position costs DuckDB a millisecond or two, whatever it finds, and a question looks up dozens of
reports. All of them are one scan (some thousands of rows: ten milliseconds), and from then on a look-up is a
dictionary's.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from clew.stores.strings import unescape
from clew.types import Community, Finding, Report

Rows = Callable[[str], list[tuple[Any, ...]]]
Columns = Callable[[str], dict[str, NDArray[Any]]]


class KeptThemes:
    """The tables ``communities``, ``community_members``, ``reports`` and ``report_findings``, each read at
    its first use. ``rows`` and ``columns`` run a query. Threads may share it."""

    def __init__(self, rows: Rows, columns: Columns) -> None:
        self._rows, self._columns = rows, columns
        self._lock = threading.Lock()
        self._levels: dict[int, list[Community]] | None = None
        self._report_rows: dict[int, tuple[Any, ...]] | None = None
        self._findings: dict[int, list[tuple[Any, ...]]] = {}
        self._reports: dict[int, Report] = {}
        self._members: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None

    def communities(self, level: int | None) -> list[Community]:
        """Return the communities of a level, or all, in position order."""
        with self._lock:
            if self._levels is None:
                query = "SELECT community, id, level, parent, size FROM communities ORDER BY community"
                self._levels = {}
                for row in self._rows(query):
                    self._levels.setdefault(row[2], []).append(Community(*row))
            if level is not None:
                return list(self._levels.get(int(level), ()))
            every = (one for found in self._levels.values() for one in found)
            return sorted(every, key=lambda one: one.community)

    def report(self, community: int) -> Report | None:
        """Return a community's report with its findings, None if it has none."""
        found = self._reports.get(community)
        if found is None:
            with self._lock:
                found = self._make(community)
        return found

    def _make(self, community: int) -> Report | None:
        if self._report_rows is None:
            self._findings = {}
            columns = "community, text, chunk, start_byte, end_byte"
            for row in self._rows(f"SELECT {columns} FROM report_findings ORDER BY community, rank"):
                self._findings.setdefault(row[0], []).append(row)
            every = self._rows("SELECT community, title, summary, rating, members FROM reports")
            self._report_rows = {row[0]: row for row in every}
        found = self._report_rows.get(community)
        if found is None:
            return None
        _, title, summary, rating, members = found
        told = tuple(Finding(unescape(text), *place) for _, text, *place in self._findings.get(community, ()))
        report = Report(
            community, unescape(title), unescape(summary), rating, tuple(json.loads(members)), told
        )
        self._reports[community] = report
        return report

    def belonging(self, nodes: Iterable[int], communities: Sequence[int]) -> list[tuple[int, int]]:
        """Return which of the communities hold which of the nodes, as (community, node), ascending."""
        member, community = self._by_node()
        wanted = np.unique(np.fromiter(nodes, dtype=np.int64))
        low, high = np.searchsorted(member, wanted, "left"), np.searchsorted(member, wanted, "right")
        count = high - low
        first = np.cumsum(count) - count
        at = np.repeat(low - first, count) + np.arange(int(count.sum()))
        held, owner = member[at], community[at]
        kept = np.isin(owner, np.asarray(communities, dtype=np.int64))
        return sorted(zip(owner[kept].tolist(), held[kept].tolist(), strict=True))

    def _by_node(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the members of all communities, ascending, and beside each its community."""
        with self._lock:
            if self._members is None:
                found = self._columns("SELECT node, community FROM community_members")
                node, community = found["node"], found["community"]
                order = np.lexsort((community, node))
                self._members = node[order], community[order]
            return self._members
