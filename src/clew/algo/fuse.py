"""Fusing rankings of the same items."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from clew.types import Floats, Ints

RRF_K = 60  # Cormack, Clarke & Büttcher, "Reciprocal Rank Fusion" (2009)


def top(scores: Floats, k: int, then: Floats | None = None) -> Ints:
    """Return the positions of the k highest scores, best first; of equal ones that with the higher ``then``,
    then the lower position first."""
    n = len(scores)
    candidates = np.flatnonzero(scores > 0)  # most of an index has no score at all
    if len(candidates) < k:
        candidates = np.arange(n)
    if k < len(candidates):
        # argpartition alone would break ties at the edge by chance: take all that tie with the k-th
        candidates = candidates[scores[candidates] >= _highest(scores[candidates], k)]
    keys = (candidates, -scores[candidates])
    order = np.lexsort(keys if then is None else (candidates, -then[candidates], keys[1]))
    return candidates[order[:k]].astype(np.int32)


def _highest(scores: Floats, k: int) -> float:
    """Return the k-th highest of at least k scores."""
    return float(np.partition(scores, len(scores) - k)[len(scores) - k])


def scaled(scores: Floats, depth: int = 100) -> Floats:
    """Min-max scale to 0..1 over the top ``depth``; whatever ranks lower is 0, and so is a score of 0.

    The floor is the depth-th best score: a ranking's tail is noise of its own scale, and counting it
    would let one method's tail outvote the other's head.
    """
    if not len(scores):
        return scores.astype(np.float32)
    high, low = float(scores.max()), float(scores.min())
    if len(scores) > depth:
        some = scores[scores > 0] if low == 0 else scores
        low = _highest(some, depth) if len(some) >= depth else low
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
