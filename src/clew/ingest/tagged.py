"""Which tags stand on the same documents more often than chance.

The weight is normalised pointwise mutual information (Bouma 2009) over the documents that have tags:

    NPMI(a, b) = ln(n(a, b) · N / (n(a) · n(b))) / −ln(n(a, b) / N)

where n counts documents with a tag, or both, and N those with any. It is 1 for two tags that only occur
together and 0 for two that do by chance; times Pantel and Lin's (2002) discount for rare pairs,
c / (c + 1) · m / (m + 1) with c = n(a, b) and m = min(n(a), n(b)), as for names (see cooccur.py). Kept are
positive weights of pairs with LEAST_SHARED documents, of a tag the PARTNERS strongest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from clew.algo.lookup import locate
from clew.ingest.link import Statements, joined, state
from clew.ingest.spans import expand
from clew.types import Ints, Longs

LEAST_SHARED = 2  # two tags that one document has say nothing of each other
PARTNERS = 20  # of a tag
PLACES = 3  # documents that are cited for a pair
CROWD = 64  # tags of a document beyond which the rarest are taken: pairs grow with the square


def tags_together(parts: Sequence[Statements], names: dict[int, str], n_nodes: int) -> Statements:
    """Return ``co_occurs_with`` statements between tags, at the places of the tags in common documents.

    ``names`` are the tags' names by node, folded; a tag and one below it say nothing by standing together.
    """
    rows = _first_places(parts, n_nodes)
    if not len(rows.source):
        return state("co_occurs_with", rows.source, rows.target)
    docs, doc = np.unique(rows.source, return_inverse=True)
    tags, tag = np.unique(rows.target, return_inverse=True)
    count = np.bincount(tag, minlength=len(tags))
    keep = _uncrowded(doc, tag, count)
    ones = np.ones(int(keep.sum()))
    table = sparse.csr_array((ones, (doc[keep], tag[keep])), shape=(len(docs), len(tags)))
    joint = sparse.triu(table.T @ table, k=1).tocoo()
    a, b, weight = _telling(joint.row, joint.col, joint.data, count, len(docs))
    apart = [not _below(names.get(x, ""), names.get(y, "")) for x, y in zip(tags[a], tags[b], strict=True)]
    kept = _strongest(a, b, weight, np.array(apart, dtype=bool), len(tags))
    return _cited(rows, doc, tag, tags, a[kept], b[kept], weight[kept])


def _first_places(parts: Sequence[Statements], n_nodes: int) -> Statements:
    """Return the first statement of each document that has each tag, in that order."""
    every = joined(parts, "tagged_with")
    at = np.flatnonzero((every.source >= 0) & (every.target >= 0))
    key = every.source[at].astype(np.int64) * max(n_nodes, 1) + every.target[at]
    order = np.lexsort((every.start[at], every.chunk[at], key))
    _, first = np.unique(key[order], return_index=True)
    chosen = at[order[first]]
    return Statements(*(getattr(every, name)[chosen] for name in Statements.__slots__))


def _uncrowded(doc: Longs, tag: Longs, count: Longs) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    order = np.lexsort((tag, count[tag], doc))
    rank = np.arange(len(doc)) - np.searchsorted(doc[order], doc[order], side="left")
    keep = np.zeros(len(doc), dtype=bool)
    keep[order[rank < CROWD]] = True
    return keep


def _telling(
    a: Ints, b: Ints, shared: np.ndarray[tuple[int], np.dtype[np.float64]], count: Longs, n_docs: int
) -> tuple[Longs, Longs, np.ndarray[tuple[int], np.dtype[np.float64]]]:
    """Return the pairs of positive weight, with it; the formula is in the module's docstring."""
    enough = (shared >= LEAST_SHARED) & (shared < n_docs)
    a, b, shared = a[enough].astype(np.int64), b[enough].astype(np.int64), shared[enough]
    least = np.minimum(count[a], count[b])
    npmi = np.log(shared * n_docs / (count[a] * count[b])) / -np.log(shared / n_docs)
    weight = npmi * shared / (shared + 1) * least / (least + 1)
    keep = weight > 0
    return a[keep], b[keep], weight[keep]


def _below(a: str, b: str) -> bool:
    return a.startswith(f"{b}/") or b.startswith(f"{a}/")


def _strongest(
    a: Longs,
    b: Longs,
    weight: np.ndarray[tuple[int], np.dtype[np.float64]],
    apart: np.ndarray[tuple[int], np.dtype[np.bool_]],
    n_tags: int,
) -> Longs:
    """Return the pairs that are among the PARTNERS strongest of either tag, ascending."""
    pair = np.flatnonzero(apart)
    one, two = np.concatenate([a[pair], b[pair]]), np.concatenate([b[pair], a[pair]])
    number, strength = np.concatenate([pair, pair]), np.concatenate([weight[pair], weight[pair]])
    order = np.lexsort((two, -np.round(strength, 9), one))
    rank = np.arange(len(order)) - np.searchsorted(one[order], one[order], side="left")
    return np.unique(number[order[rank < PARTNERS]])


def _cited(
    rows: Statements,
    doc: Longs,
    tag: Longs,
    tags: Ints,
    a: Longs,
    b: Longs,
    weight: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> Statements:
    """Return a statement for each pair and each of the first PLACES documents that have both: the span from
    one tag to the other, where both stand in one chunk or in frontmatter, else the first one's place."""
    order = np.lexsort((rows.doc, doc, tag))
    held = tag[order] * len(doc) + doc[order]  # rows by tag, then document
    ptr = np.searchsorted(tag[order], np.arange(len(tags) + 1))
    pair, at = expand(ptr[a].astype(np.int64), ptr[a + 1].astype(np.int64))
    place, both = locate(held, b[pair] * len(doc) + doc[order][at])
    pair, one, two = pair[both], order[at[both]], order[place[both]]
    rank = np.arange(len(pair)) - np.searchsorted(pair, pair, side="left")
    pair, one, two = (column[rank < PLACES] for column in (pair, one, two))
    near = (rows.doc[one] == rows.doc[two]) & (rows.chunk[one] == rows.chunk[two])
    start = np.where(near, np.minimum(rows.start[one], rows.start[two]), rows.start[one])
    end = np.where(near, np.maximum(rows.end[one], rows.end[two]), rows.end[one])
    where = (rows.doc[one], rows.chunk[one], start.astype(np.int32), end.astype(np.int32))
    weights = weight[pair].astype(np.float32)
    return state("co_occurs_with", tags[a[pair]], tags[b[pair]], weights, where, rows.time[one])
