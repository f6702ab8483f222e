"""Looking values up in a sorted array."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def locate(ordered: NDArray[Any], values: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return where each value stands in an ascending array, and whether it does, each of shape (n,).

    The place of a value that isn't there is some valid one (0 if the array is empty).
    """
    if not len(ordered):
        return np.zeros(len(values), dtype=np.int64), np.zeros(len(values), dtype=bool)
    place = np.minimum(np.searchsorted(ordered, values), len(ordered) - 1)
    return place, ordered[place] == values


def distinct_below(values: NDArray[Any], limit: int) -> NDArray[np.int32]:
    """Return the distinct values, ascending, of numbers in 0..limit - 1: by marking, which beats sorting
    where many of them occur."""
    marks = np.zeros(limit, dtype=bool)
    marks[values] = True
    return np.flatnonzero(marks).astype(np.int32)
