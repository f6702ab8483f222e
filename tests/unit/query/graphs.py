"""Small typed graphs for tests, without files: what a Reader gives, from lists."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from clew.query.graph import Graph

KINDS = ("references", "replied_to", "tagged_with", "authored_by", "follows", "co_occurs_with")


def make_graph(n, edges, kinds=KINDS, confidence=None):
    """Return a Graph of ``n`` nodes and (kind, source, target) triples, in index order."""
    rows = sorted(set(edges))
    arrays = {
        "edges.source": np.array([row[1] for row in rows], dtype=np.int32),
        "edges.target": np.array([row[2] for row in rows], dtype=np.int32),
        "edges.kind": np.array([kinds.index(row[0]) for row in rows], dtype=np.uint8),
        "graph.node_confidence": np.array(confidence or [1.0] * n, dtype=np.float32),
    }
    reader = SimpleNamespace(
        array=arrays.__getitem__, has_array=arrays.__contains__, meta={"edge_kinds": list(kinds)}
    )
    return Graph(reader, n)


def random_graph(random, n, m, kinds=KINDS):
    """Return a graph of up to ``m`` random edges, parallel ones of several kinds among them."""
    edges = []
    for _ in range(m):
        a, b = random.randrange(n), random.randrange(n)
        if a != b:
            edges.append((random.choice(kinds), a, b))
    return make_graph(n, edges, kinds)
