"""Looking values up in a sorted array."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.algo.lookup import locate

numbers = st.lists(st.integers(-5, 20), max_size=20)


@settings(max_examples=100, deadline=None)
@given(numbers, numbers)
def test_it_finds_what_is_there_and_nothing_else(ordered, values):
    table = np.array(sorted(ordered), dtype=np.int64)
    place, found = locate(table, np.array(values, dtype=np.int64))
    assert found.tolist() == [value in ordered for value in values]
    assert [int(table[at]) for at, there in zip(place, found, strict=True) if there] == [
        value for value in values if value in ordered
    ]
    assert all(0 <= at < max(len(table), 1) for at in place.tolist())
