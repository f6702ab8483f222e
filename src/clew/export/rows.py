"""What every export writes: nodes, edges and communities in index order, with text that any reader takes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from clew.ports import Reader
from clew.types import Community, Document, Edge, Node, Report

BATCH = 4096  # rows that are read at once
# A lone surrogate has no UTF-8, and a NUL ends a text for many programs.
_UNFIT = re.compile("[\x00\ud800-\udfff]")


def fit(text: str) -> str:
    """Return text that any program can read: without NUL and lone surrogates, which become U+FFFD."""
    return _UNFIT.sub("\ufffd", text)


def all_nodes(reader: Reader) -> Iterator[Node]:
    """Yield every node, in index order."""
    total = reader.count("nodes")
    for begin in range(0, total, BATCH):
        yield from reader.nodes(range(begin, min(begin + BATCH, total)))


def all_edges(reader: Reader) -> Iterator[Edge]:
    """Yield every edge, in index order."""
    for edges in batched_edges(reader):
        yield from edges


def batched_edges(reader: Reader) -> Iterator[list[Edge]]:
    """Yield all edges, some thousands at once, in index order."""
    total = reader.count("edges")
    for begin in range(0, total, BATCH):
        yield reader.edge_rows(range(begin, min(begin + BATCH, total)))


def node_ids(reader: Reader) -> list[str]:
    """Return the id of each node by position."""
    return [node.id for node in all_nodes(reader)]


def all_communities(reader: Reader) -> Iterator[tuple[Community, Report | None, list[int]]]:
    """Yield every community with its report and its members, in index order."""
    every = reader.communities()
    reports = {report.community: report for report in _reports(reader, every)}
    for one in every:
        yield one, reports.get(one.community), reader.members(one.community)


def _reports(reader: Reader, every: list[Community]) -> Iterator[Report]:
    if reader.count("reports") == len(every):
        for begin in range(0, len(every), BATCH):
            yield from reader.reports([one.community for one in every[begin : begin + BATCH]])


def facts(node: Node, document: Document | None) -> dict[str, Any]:
    """Return what is known of a node beside its name: numbers, and of a document where it is."""
    found: dict[str, Any] = {
        "degree": node.degree,
        "passages": node.df,
        "confidence": rounded(node.confidence),
        "pagerank": rounded(node.pagerank),
    }
    if node.type:
        found["type"] = fit(node.type)
    if document is not None:
        found |= {"key": fit(document.key), "language": document.language, "media_type": document.media_type}
    return found


def rounded(value: float) -> float:
    """Return six significant digits: the rest is noise that differs between machines."""
    return float(f"{float(value):.6g}")


def type_of(node: Node, document: Document | None) -> str:
    """Return what a node is to a reader: of a document its kind (``note``, ``article``, …), else the
    node's."""
    return fit(document.kind) if document is not None else node.kind
