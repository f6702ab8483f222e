"""Fusing rankings."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algo.fuse import rrf, scaled, top


def floats(values):
    return np.array(values, dtype=np.float32)


def test_top_breaks_ties_by_position():
    assert top(floats([1, 3, 3, 0, 3]), 2).tolist() == [1, 2]
    assert top(floats([0, 0, 0]), 2).tolist() == [0, 1]
    assert top(floats([]), 3).tolist() == []


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-2, 5), max_size=30), st.integers(1, 40))
def test_top_is_a_stable_sort(values, k):
    expected = sorted(range(len(values)), key=lambda i: (-values[i], i))[:k]
    assert top(floats(values), k).tolist() == expected


def test_scaled_is_one_at_the_top_and_zero_below_the_depth():
    out = scaled(floats([5, 4, 3, 2, 1]), depth=3)
    np.testing.assert_allclose(out, [1, 0.5, 0, 0, 0])
    assert scaled(floats([0, 0])).tolist() == [0, 0]
    assert scaled(floats([2, 2])).tolist() == [1, 1]
    assert scaled(floats([])).shape == (0,)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-2, 5), min_size=1, max_size=30), st.integers(1, 40))
def test_scaled_has_its_floor_at_the_depth(values, depth):
    floor = sorted(values, reverse=True)[min(depth, len(values)) - 1]
    high = max(values)
    expected = [min(max((v - floor) / (high - floor), 0), 1) if high > floor else v > 0 for v in values]
    np.testing.assert_allclose(scaled(floats(values), depth), [float(v) for v in expected], rtol=1e-6)


def test_rrf_adds_reciprocal_ranks():
    out = rrf([np.array([0, 1], dtype=np.int32), np.array([1], dtype=np.int32)], 3, k=60)
    np.testing.assert_allclose(out, [1 / 61, 1 / 62 + 1 / 61, 0], rtol=1e-5)
