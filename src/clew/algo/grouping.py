"""Two cheap ways to group the nodes of a graph, for small devices, and how good a grouping is.

Both cost one walk over the edges, where Leiden makes many; docs/graph.md compares them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from clew.types import Ints

Sparse = sparse.csr_array[Any, Any] | sparse.csr_matrix[Any]
HUBS = 2.0  # times the root of the number of nodes: 140 neighbourhoods of 5,000 nodes, 630 of 100,000
ROUNDS = 8  # of joining: what is farther from a group says little of it
DIGITS = 9  # to which weights are compared, so that ties don't hang on the order of a sum


def shared_groups(item: Ints, label: Ints, n_items: int, least: int = 2, most: int = 0) -> Ints:
    """Return a group for each item, shape (n_items,): items that share at least ``least`` labels are in one,
    directly or over others (union-find). An item that shares so much with none has a group of its own.

    ``item`` and ``label`` (n,) are distinct pairs. A label of more than ``most`` items (0: any) joins
    nothing.
    """
    n_labels = int(label.max(initial=-1)) + 1
    if most:
        keep = np.bincount(label, minlength=n_labels)[label] <= most
        item, label = item[keep], label[keep]
    table = sparse.csr_array((np.ones(len(item)), (item, label)), shape=(n_items, max(n_labels, 1)))
    joint = (table @ table.T).tocoo()
    near = (joint.data >= least) & (joint.row != joint.col)
    edges = (np.ones(int(near.sum())), (joint.row[near], joint.col[near]))
    _, group = connected_components(sparse.coo_array(edges, shape=(n_items, n_items)), directed=False)
    return np.asarray(group, dtype=np.int32)


def hub_groups(graph: Sparse) -> Ints:
    """Return a group for each node of a symmetric weighted graph, shape (N,): the neighbourhoods of hubs.

    From the heaviest node on, one that isn't beside a hub becomes a hub, until there are HUBS · √N. Every
    other node joins the hub to which its edge is heaviest, or goes where its nearest neighbour went; what
    no hub is near is grouped by what is connected.
    """
    n = graph.shape[0]
    ptr, other = graph.indptr.tolist(), graph.indices
    total = np.round(np.asarray(graph.sum(axis=1)).ravel(), DIGITS)
    covered, hub = total <= 0, np.zeros(n, dtype=bool)
    left = int(HUBS * n**0.5)
    for node in np.lexsort((np.arange(n), -total)).tolist():
        if left and not covered[node]:
            hub[node] = covered[node] = True
            covered[other[ptr[node] : ptr[node + 1]]] = True
            left -= 1
    _, apart = connected_components(graph, directed=False)
    group = np.where(hub, np.arange(n), n + apart).astype(np.int32)
    return join_nearest(graph, group, hub)


def join_nearest(graph: Sparse, group: Ints, sure: NDArray[np.bool_], rounds: int = ROUNDS) -> Ints:
    """Return the groups with each node that isn't ``sure`` (N,) in that of its nearest neighbour that is, in
    rounds, in which those that have joined are sure; what no round reaches stays where it was."""
    rows = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    others, weights = graph.indices, np.round(graph.data, DIGITS)
    out, sure = group.copy(), sure.copy()
    for _ in range(rounds):
        keep = ~sure[rows] & sure[others]
        if not keep.any():
            break
        row, other, weight = rows[keep], others[keep], weights[keep]
        order = np.lexsort((other, -weight, row))
        row, other = row[order], other[order]
        first = np.flatnonzero(np.diff(row, prepend=-1))
        out[row[first]] = out[other[first]]
        sure[row[first]] = True
    return out


def modularity(graph: Sparse, group: Sequence[int] | Ints) -> float:
    """Return Newman's modularity of a grouping of a symmetric weighted graph: the share of the weight within
    groups, less what chance would put there; below 1, and 0 for one group of all."""
    label = np.unique(np.asarray(group), return_inverse=True)[1]
    strength = np.asarray(graph.sum(axis=1)).ravel()
    total = float(strength.sum())
    if total <= 0:
        return 0.0
    row = np.repeat(np.arange(graph.shape[0]), np.diff(graph.indptr))
    inside = float(graph.data[label[row] == label[graph.indices]].sum())
    mass = np.bincount(label, strength)
    return inside / total - float((mass**2).sum()) / total**2
