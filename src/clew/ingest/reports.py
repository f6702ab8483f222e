"""Corpus stage: an extractive report for every community.

A report is made of what the notes say: names for the title, sentences for the findings. Nothing is
written anew, so every finding has the bytes that it stands in.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath

import numpy as np
from numpy.typing import NDArray

from clew.ingest.communities import projection
from clew.ingest.model import Corpus, Graph, Partition
from clew.ingest.telling import Telling
from clew.ports import Cache
from clew.text.display import plain
from clew.text.tokens import normal_name, normal_words
from clew.types import Finding, Floats, Ints, Longs, Report

TITLE_NAMES = 3
SHOWN_MEMBERS = 50  # the rest are in the table of members; a report lists those that matter
SUMMARY_FINDINGS = 3
# Most findings, and chunks that are read for them, by level: a theme of the whole folder deserves more.
FINDINGS = (7, 4, 3)
CHUNKS = (24, 8, 4)
LEAST_CHUNKS, MEMBERS_OF_CHUNK = 2, 4  # … and by size: a small community of a deeper level needs few

# A title made of what has a heading or note of its own reads as a subject; names that are merely
# mentioned are often people or places in passing.
DEFINED = 2.0
# A document's node is the most central of all that it mentions; its title counts less than an
# entity's name as long as it isn't a defined subject itself.
KIND_WEIGHT = {"entity": 1.0, "tag": 0.7, "document": 0.6, "person": 0.5}
POOR = 0.5  # a title of this shape or a worse one says too little by itself
MARKUP = 12  # bytes that a heading's marks and line ends take besides its words
LONG_NAME = 48  # characters; a longer one is a sentence, no name


@dataclass(frozen=True, slots=True)
class _Level:
    """One level: each node's community (-1: none) and its importance within it (0 to 1), shape (N,)."""

    community: Ints
    importance: Floats
    mass: NDArray[np.float64]  # (K,), zero for communities of other levels


def summarise(corpus: Corpus, graph: Graph, partition: Partition, cache: Cache | None = None) -> list[Report]:
    """Return the report of each community, in their order. Linear in mentions and communities. What passages
    consist of is kept in ``cache``."""
    count = len(partition.level)
    if not count:
        return []
    names = _Names(corpus, graph)
    telling = Telling(corpus, graph, cache)
    reports: list[Report | None] = [None] * count
    links = _links(graph)
    edges = projection(corpus, graph)
    for number in range(int(partition.level.max()) + 1):
        level = _level(partition, edges, number, names)
        rating = _ratings(level.mass)
        chunks = _chunks(level, links, corpus.n_chunks, CHUNKS[min(number, len(CHUNKS) - 1)])
        telling.passages.fetch(sorted({chunk for some in chunks.values() for chunk in some}))
        most = FINDINGS[min(number, len(FINDINGS) - 1)]
        for community, members in _members(level.community):
            order = members[np.lexsort((members, -level.importance[members]))]
            found = telling.findings(
                chunks.get(community, []), community, level.community, level.importance, most
            )
            title = names.title(order)
            reports[community] = Report(
                community=community,
                title=title,
                summary=_summary(found, names, order),
                rating=float(rating[community]),
                members=tuple(order[:SHOWN_MEMBERS].tolist()),
                findings=tuple(found),
            )
    telling.passages.keep()
    return [report for report in reports if report is not None]


def _summary(findings: list[Finding], names: _Names, members: Ints) -> str:
    """Return the first findings, or, where nothing is said in sentences, the members' names."""
    if findings:
        return " ".join(plain(finding.text) for finding in findings[:SUMMARY_FINDINGS])
    return ", ".join(names.distinct(members, 2 * TITLE_NAMES))


def _members(label: Ints) -> Iterator[tuple[int, Ints]]:
    """Yield each community of a level with its nodes, ascending."""
    order = np.argsort(label, kind="stable").astype(np.int32)
    cuts = np.flatnonzero(np.diff(label[order])) + 1
    for nodes in np.split(order, cuts):
        if len(nodes) and label[nodes[0]] >= 0:
            yield int(label[nodes[0]]), nodes


def _level(partition: Partition, edges: tuple[Ints, Ints, Floats], number: int, names: _Names) -> _Level:
    """Weigh each node in its community: edge weight within × the share of its edges that stay within.

    The share is what makes names distinctive: a name that the whole folder uses has most of its edges
    elsewhere.
    """
    n_nodes = len(names.quality)
    label = np.full(n_nodes, -1, dtype=np.int32)
    rows = partition.level[partition.member_community] == number
    label[partition.member_node[rows]] = partition.member_community[rows]
    source, target, weight = edges
    inside = (label[source] == label[target]) & (label[source] >= 0)
    strength, within = (
        np.bincount(source, w, n_nodes) + np.bincount(target, w, n_nodes)
        for w in (weight.astype(np.float64), weight.astype(np.float64) * inside)
    )
    share = within / np.maximum(strength, 1e-9)
    value = (within + 1e-3) * (0.05 + share) * names.quality
    count = len(partition.level)
    top = np.zeros(count)
    np.maximum.at(top, label[label >= 0], value[label >= 0])
    importance = np.where(label >= 0, value / np.maximum(top[label], 1e-12), 0.0)
    mass = np.bincount(label[label >= 0], (strength + 1e-3)[label >= 0], count).astype(np.float64)
    return _Level(label, importance.astype(np.float32), mass)


def _ratings(mass: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale to 0..10. The square root, because a theme half as heavy isn't half as interesting."""
    return np.asarray(np.round(10 * np.sqrt(mass / max(float(mass.max()), 1e-12)), 1))


def _links(graph: Graph) -> tuple[Longs, Longs, Floats]:
    """Return distinct (node, chunk) pairs with a weight: a definition counts for more than a mention."""
    node = np.concatenate([graph.mention_node, graph.def_node]).astype(np.int64)
    chunk = np.concatenate([graph.mention_chunk, graph.def_chunk]).astype(np.int64)
    weight = np.concatenate([np.ones(len(graph.mention_node)), 3.0 * graph.def_weight])
    most = int(chunk.max(initial=0)) + 1
    order = np.lexsort((-weight, node * most + chunk))
    pair = (node * most + chunk)[order]
    first = np.flatnonzero(np.diff(pair, prepend=-1))
    return pair[first] // most, pair[first] % most, weight[order][first].astype(np.float32)


def _chunks(
    level: _Level, links: tuple[Longs, Longs, Floats], n_chunks: int, most: int
) -> dict[int, list[int]]:
    """Return for each community the chunks that say most about its important members, best first."""
    node, chunk, weight = links
    keep = level.community[node] >= 0
    node, chunk, weight = node[keep], chunk[keep], weight[keep]
    pair, which = np.unique(level.community[node] * np.int64(n_chunks) + chunk, return_inverse=True)
    value = np.bincount(which, weight * level.importance[node], len(pair))
    community, chunk = pair // max(n_chunks, 1), pair % max(n_chunks, 1)
    order = np.lexsort((chunk, -value, community))
    begin = np.flatnonzero(np.diff(community[order], prepend=-1))
    rank = np.arange(len(order)) - np.repeat(begin, np.diff(np.append(begin, len(order))))
    size = np.bincount(level.community[level.community >= 0], minlength=int(community.max(initial=-1)) + 1)
    limit = np.clip(size // MEMBERS_OF_CHUNK, min(LEAST_CHUNKS, most), most)
    if most == CHUNKS[0]:
        limit[:] = most
    order = order[rank < limit[community[order]]]
    found: dict[int, list[int]] = {}
    for key, at in zip(community[order].tolist(), chunk[order].tolist(), strict=True):
        found.setdefault(key, []).append(at)
    return found


class _Names:
    """What nodes are called, and how good a title each name makes."""

    def __init__(self, corpus: Corpus, graph: Graph) -> None:
        defined = np.zeros(graph.n_nodes, dtype=np.float32)
        np.maximum.at(defined, graph.def_node, graph.def_weight)
        self.graph = graph
        self.shown = _shown(corpus, graph)
        kind = np.array([KIND_WEIGHT.get(kind, 0.5) for kind in graph.kind], dtype=np.float32)
        shape = np.array([_shape(name) for name in self.shown], dtype=np.float32)
        self.quality = kind * shape * graph.confidence * (1 + (DEFINED - 1) * defined)

    def distinct(self, members: Ints, most: int) -> list[str]:
        """Return the first names of which none says again what another says."""
        names: list[str] = []
        words: list[set[str]] = []
        for node in members.tolist():
            name = self.shown[node]
            own = set(normal_words(name)) or {name}
            key = normal_name(name)
            same = [i for i, other in enumerate(names) if _says(key, own, normal_name(other), words[i])]
            if same:
                fuller = name != self.graph.name[node] and words[same[0]] < own
                if fuller and name not in names:
                    names[same[0]], words[same[0]] = name, own
                continue
            if len(names) == most:
                break
            names.append(name)
            words.append(own)
        return names

    def title(self, members: Ints) -> str:
        return ", ".join(self.distinct(members[: 10 * TITLE_NAMES], TITLE_NAMES))


def _says(key: str, own: set[str], other_key: str, other: set[str]) -> bool:
    """Tell whether one of two names says all that the other does."""
    return own <= other or other <= own or key in other_key or other_key in key


def _shown(corpus: Corpus, graph: Graph) -> list[str]:
    """Return what each node is called in a title.

    A document without a title of its own bears its file's name; its first heading is a better one.
    A title that is half a number ("NIP-59") is followed by the heading right below it, if there is one.
    """
    shown = list(graph.name)
    for node in np.flatnonzero(graph.doc >= 0).tolist():
        document = corpus.documents[int(graph.doc[node])]
        sections = corpus.analyses[document.doc].sections
        headings = [section for section in sections if section.title][:2]
        if not headings:
            continue
        key = normal_name(document.title)
        if key == normal_name(PurePosixPath(document.key).stem) and key != normal_name(headings[0].title):
            shown[node] = headings[0].title
        elif len(headings) == 2 and key == normal_name(headings[0].title) and _shape(document.title) < POOR:
            first = headings[0]
            if first.end - first.start <= 3 * len(first.title.encode()) + MARKUP:
                shown[node] = f"{document.title}: {headings[1].title}"
    return shown


def _shape(name: str) -> float:
    """Return how much a name looks like one, 0.05 to 1: letters, and not a sentence.

    Squared, so that what is half a number ("NIP-59") yields to the words beside it ("Gift Wrap").
    """
    letters = sum(map(str.isalpha, name))
    if not letters:
        return 0.05
    share = (letters / (len(name) - sum(map(str.isspace, name)))) ** 2
    wide = 0 if name.isascii() else sum(char >= "\u2e80" for char in name)
    if len(name) + 2 * wide > LONG_NAME:
        share *= 0.3
    if letters == 1 and not wide:
        share *= 0.2
    return max(share, 0.05)
