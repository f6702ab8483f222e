"""Which nodes occur together more often than chance: weighted pairs, pruned, with places.

The weight is normalised pointwise mutual information (Bouma 2009), NPMI = PMI / −log p(a, b), which
is 1 for two nodes that occur only together, times Pantel and Lin's (2002) discount c/(c + 1) · m/(m + 1)
(c the joint count, m the rarer node's count), since PMI overrates rare pairs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from clew.algo.lookup import locate
from clew.ingest.spans import expand
from clew.types import Floats, Ints, Longs

PARTNERS = 10  # of a node; communities need no more, and files stay small
# Nodes in more chunks than this share tell little by occurring with others, and cost the square of
# their count in memory.
FREQUENT_SHARE = 0.05
FREQUENT_COUNT = 2000
FREQUENT_LEAST = 20  # chunks; below, nothing is frequent
CROWD = 64  # nodes of a chunk beyond which the rarest are taken
LEAST_WEIGHT = 0.1
ONCE_CHUNKS = 1000  # from this size on, having occurred together once says nothing
BLOCK = 4096  # nodes whose pairs are in memory at once
PLACES = 3  # kept of a pair


@dataclass(frozen=True, slots=True)
class Pairs:
    """Pairs of nodes ``a`` < ``b``, their weight in (0, 1], joint count, and up to PLACES (pair, chunk)."""

    a: Ints
    b: Ints
    weight: Floats
    place_pair: Longs
    place_chunk: Ints


def count_pairs(chunk: Ints, node: Ints, n_chunks: int, n_nodes: int) -> Pairs:
    """Return the telling pairs among distinct (chunk, node) rows."""
    df = np.bincount(node, minlength=n_nodes)
    most = max(FREQUENT_LEAST, min(FREQUENT_COUNT, int(FREQUENT_SHARE * n_chunks)))
    keep = df[node] <= most
    chunk, node = _uncrowd(chunk[keep], node[keep], df)
    table = sparse.csr_array(
        (np.ones(len(node), dtype=np.float32), (chunk, node)), shape=(max(n_chunks, 1), max(n_nodes, 1))
    )
    by_node = table.T.tocsr()
    a_parts, b_parts, weight_parts = [], [], []
    for begin in range(0, n_nodes, BLOCK):
        a, b, weight = _block(by_node, table, begin, df, n_chunks)
        a_parts.append(a)
        b_parts.append(b)
        weight_parts.append(weight)
    if not a_parts:
        none = np.zeros(0, dtype=np.int32)
        return Pairs(none, none, none.astype(np.float32), none.astype(np.int64), none)
    a, b, weight = np.concatenate(a_parts), np.concatenate(b_parts), np.concatenate(weight_parts)
    low, high = np.minimum(a, b), np.maximum(a, b)
    key, first = np.unique(low.astype(np.int64) * n_nodes + high, return_index=True)
    low, high = (key // n_nodes).astype(np.int32), (key % n_nodes).astype(np.int32)
    return Pairs(low, high, weight[first], *_places(by_node, low, high, df))


def _uncrowd(chunk: Ints, node: Ints, df: Longs) -> tuple[Ints, Ints]:
    """Keep the CROWD rarest nodes of each chunk: the pairs of a chunk grow with the square of its nodes."""
    order = np.lexsort((node, df[node], chunk))
    chunk, node = chunk[order], node[order]
    rank = np.arange(len(chunk)) - np.searchsorted(chunk, chunk, side="left")
    keep = rank < CROWD
    return chunk[keep], node[keep]


def _block(
    by_node: sparse.csr_array, table: sparse.csr_array, begin: int, df: Longs, n_chunks: int
) -> tuple[Ints, Ints, Floats]:
    """Return the strongest partners of a block of nodes."""
    joint = (by_node[begin : begin + BLOCK] @ table).tocoo()
    a = (joint.row + begin).astype(np.int32)
    b, count = joint.col.astype(np.int32), joint.data
    keep = (a != b) & (count >= (1 if n_chunks < ONCE_CHUNKS else 2))
    a, b, count = a[keep], b[keep], count[keep]
    fa, fb = df[a].astype(np.float64), df[b].astype(np.float64)
    least = np.minimum(fa, fb)
    # One chunk more than there are keeps the logarithm from being zero where all is in one chunk.
    share = count / (n_chunks + 1)
    npmi = np.log(count * (n_chunks + 1) / (fa * fb)) / -np.log(share)
    weight = np.clip(npmi, 0, 1) * count / (count + 1) * least / (least + 1)
    keep = weight >= LEAST_WEIGHT
    a, b, weight = a[keep], b[keep], weight[keep]
    order = np.lexsort((b, -weight, a))
    rank = np.arange(len(a)) - np.searchsorted(a[order], a[order], side="left")
    kept = order[rank < PARTNERS]
    return a[kept], b[kept], weight[kept].astype(np.float32)


def _places(by_node: sparse.csr_array, a: Ints, b: Ints, df: Longs) -> tuple[Longs, Ints]:
    """Return the first PLACES chunks of each pair: those of the rarer node that hold the other too."""
    rare = np.where(df[a] <= df[b], a, b)
    other = a + b - rare
    ptr = by_node.indptr.astype(np.int64)
    n_chunks = by_node.shape[1]
    row = np.repeat(np.arange(by_node.shape[0], dtype=np.int64), np.diff(ptr))
    held = row * n_chunks + by_node.indices  # ascending, since indices are sorted
    pair_parts, chunk_parts = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int32)]
    for begin in range(0, len(a), 1 << 17):
        part = slice(begin, begin + (1 << 17))
        owner, at = expand(ptr[rare[part]], ptr[rare[part] + 1])
        chunk = by_node.indices[at]
        wanted = other[part][owner].astype(np.int64) * n_chunks + chunk
        both = locate(held, wanted)[1]
        owner, chunk = owner[both], chunk[both]
        rank = np.arange(len(owner)) - np.searchsorted(owner, owner, side="left")
        pair_parts.append(owner[rank < PLACES] + begin)
        chunk_parts.append(chunk[rank < PLACES].astype(np.int32))
    return np.concatenate(pair_parts), np.concatenate(chunk_parts)
