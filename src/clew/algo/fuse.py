"""Fusing rankings of the same items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clew.types import Floats, Ints

RRF_K = 60  # Cormack, Clarke & Büttcher, "Reciprocal Rank Fusion" (2009)


def top(scores: Floats, k: int) -> Ints:
    """Return the positions of the k highest scores, best first; of equal ones the lower position first."""
    n = len(scores)
    if k < n:
        # argpartition alone would break ties at the edge by chance: take all that tie with the k-th
        edge = np.partition(scores, n - k)[n - k]
        candidates = np.flatnonzero(scores >= edge)
    else:
        candidates = np.arange(n)
    order = np.lexsort((candidates, -scores[candidates]))
    return candidates[order[:k]].astype(np.int32)


def scaled(scores: Floats, depth: int = 100) -> Floats:
    """Min-max scale to 0..1 over the top ``depth``; whatever ranks lower is 0, and so is a score of 0.

    The floor is the depth-th best score: a ranking's tail is noise of its own scale, and counting it
    would let one method's tail outvote the other's head.
    """
    if not len(scores):
        return scores.astype(np.float32)
    high = float(scores.max())
    if len(scores) > depth:
        low = float(np.partition(scores, len(scores) - depth)[len(scores) - depth])
    else:
        low = float(scores.min())
    if high <= low:
        return (scores > 0).astype(np.float32) if high > 0 else np.zeros(len(scores), dtype=np.float32)
    out: Floats = np.clip((scores - low) / (high - low), 0.0, 1.0).astype(np.float32)
    return out


def rrf(rankings: Sequence[Ints], n: int, k: int = RRF_K) -> Floats:
    """Reciprocal rank fusion of rankings (positions, best first) over n items, shape (n,)."""
    scores = np.zeros(n, dtype=np.float32)
    for ranking in rankings:
        scores[ranking] += 1.0 / (k + 1.0 + np.arange(len(ranking), dtype=np.float32))
    return scores
