"""Personalised PageRank on the bipartite graph of chunks and nodes, gated by relevance.

Haveliwala, "Topic-sensitive PageRank" (2002); for retrieval by Gutiérrez et al., "HippoRAG" (2024)
and "From RAG to Memory" (2025). Two things differ here: there are no node–node edges, since a chunk
that mentions both *is* their connection and can be cited; and the mass that a node hands to its
chunks is scaled by how relevant each chunk is to the question, so that a node with a hundred chunks
leads to those that bear on the question.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clew.types import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# Chosen across the development sets by cross-validation (docs/benchmarks.md): recall is flat around them.
DAMPING = 0.7
STEPS = 12
GATE = 4.0


@dataclass(frozen=True, slots=True)
class Links:
    """The bipartite graph both ways: ``forward`` (C, N) and its transpose, link weights ≥ 0."""

    forward: csr_array[Any, Any]
    back: csr_array[Any, Any]


@dataclass(frozen=True, slots=True)
class Walk:
    """Stationary mass of chunks (C,) and nodes (N,), non-negative; both together sum to about 1."""

    chunks: Floats
    nodes: Floats


def walk(
    links: Links,
    restart_chunks: Floats,
    restart_nodes: Floats,
    relevance: Floats,
    *,
    damping: float = DAMPING,
    steps: int = STEPS,
    gate: float = GATE,
) -> Walk:
    """Walk with restart.

    ``restart_chunks`` (C,) and ``restart_nodes`` (N,) hold the restart mass (any positive scale);
    ``relevance`` (C,) is in 0..1. From a chunk the walk goes to its nodes by
    weight; from a node to its chunks by weight × exp(gate · (relevance − best relevance)).
    Power iteration stops after ``steps``: what matters is the neighbourhood, and the mass that is
    still to move then is damping^steps (1.4 % by default).
    """
    total = float(restart_chunks.sum() + restart_nodes.sum())
    forward, back = links.forward, links.back
    n_nodes = len(restart_nodes)
    if total <= 0 or forward.nnz == 0:
        share = restart_chunks / total if total > 0 else restart_chunks
        return Walk(share.astype(np.float32), np.zeros(n_nodes, dtype=np.float32))
    r_chunks = (restart_chunks / total).astype(np.float32)
    r_nodes = (restart_nodes / total).astype(np.float32)
    open_gate = np.exp(gate * (relevance - relevance.max())).astype(np.float32)
    out_chunk = np.asarray(forward.sum(axis=1), dtype=np.float32).ravel()
    out_node = np.asarray(back @ open_gate, dtype=np.float32).ravel()
    inv_chunk = np.divide(1.0, out_chunk, out=np.zeros_like(out_chunk), where=out_chunk > 0)
    inv_node = np.divide(1.0, out_node, out=np.zeros_like(out_node), where=out_node > 0)
    chunks, nodes = r_chunks.copy(), r_nodes.copy()
    for _ in range(steps):
        to_nodes = back @ (chunks * inv_chunk)
        to_chunks = open_gate * (forward @ (nodes * inv_node))
        chunks = damping * to_chunks + (1 - damping) * r_chunks
        nodes = damping * to_nodes + (1 - damping) * r_nodes
    return Walk(chunks.astype(np.float32), nodes.astype(np.float32))
