"""Choosing a set of passages that complete each other, rather than the best ones one by one.

An answer that needs several passages is not served by several copies of the best one. The choice is
greedy for a sum of own merit and of coverage, which is submodular (as in Lin & Bilmes, "A Class of
Submodular Functions for Document Summarization", 2011), plus a term for passages that a chosen one
names.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.types import Floats, Ints

# Chosen across the development sets by cross-validation: see docs/benchmarks.md.
COVERAGE = 1.0
NAMED = 0.35


@dataclass(frozen=True, slots=True)
class Choice:
    """Positions among the candidates in the order chosen, with each one's score and its parts."""

    order: Ints
    score: Floats
    coverage: Floats
    named: Floats
    named_by: Ints


def select(
    own: Floats,
    covers: NDArray[np.bool_],
    weight: Floats,
    names: NDArray[np.bool_],
    k: int,
    *,
    coverage: float = COVERAGE,
    named: float = NAMED,
) -> Choice:
    """Choose up to k of n candidates.

    ``own`` (n,) is each one's own merit, about 0..1; ``covers`` (n, q) tells which of the question's
    q terms it holds, ``weight`` (q,) their weights; ``names`` (n, n) whether the row's passage
    names what the column's passage defines. Each time the candidate with the highest
    own + coverage · (share of the question's weight that it newly covers) + named · (is named by a
    chosen one) is taken; of equal ones the first.
    """
    n = len(own)
    total = float(weight.sum()) or 1.0
    done = np.zeros(len(weight), dtype=bool)
    by = np.full(n, -1, dtype=np.int32)
    left = np.ones(n, dtype=bool)
    order: list[int] = []
    parts: list[tuple[float, float, float, int]] = []
    for _ in range(min(k, n)):
        gain = (covers & ~done) @ weight / total
        link = (by >= 0).astype(np.float32)
        score = np.where(left, own + coverage * gain + named * link, -np.inf)
        best = int(np.argmax(score))
        order.append(best)
        parts.append(
            (float(score[best]), float(coverage * gain[best]), float(named * link[best]), int(by[best]))
        )
        left[best] = False
        done |= covers[best]
        by[(by < 0) & names[best]] = best
    columns = np.array(parts, dtype=np.float32).reshape(-1, 4)
    return Choice(
        np.array(order, dtype=np.int32),
        columns[:, 0],
        columns[:, 1],
        columns[:, 2],
        columns[:, 3].astype(np.int32),
    )
