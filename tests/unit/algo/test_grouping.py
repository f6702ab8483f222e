"""Cheap groupings, and modularity."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from clew.algo.grouping import hub_groups, join_nearest, modularity, shared_groups
from clew.algo.leiden import canonical


def graph(*edges: tuple[int, int, float], n: int) -> sparse.csr_matrix:
    a, b, w = zip(*edges, strict=True) if edges else ((), (), ())
    return canonical(a, b, w, n)


def sets(group: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(np.flatnonzero(group == one).tolist()) for one in np.unique(group)}


def test_items_that_share_two_labels_are_together_also_over_others() -> None:
    pairs = [(0, 0), (0, 1), (1, 0), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3), (3, 0)]
    item, label = (np.array(column, dtype=np.int32) for column in zip(*pairs, strict=True))
    assert sets(shared_groups(item, label, 5)) == {
        frozenset({0, 1, 2, 3}),
        frozenset({4}),
    }  # 3 shares 0, 3 with 1
    assert sets(shared_groups(item, label, 5, least=3)) == {frozenset({i}) for i in range(5)}
    assert len(sets(shared_groups(item, label, 5, least=1))) == 2
    # label 0 is of three items: with it too frequent, 0 and 3 have one in common with the others
    assert sets(shared_groups(item, label, 5, most=2)) == {frozenset({i}) for i in range(5)}
    assert len(shared_groups(item[:0], label[:0], 3)) == 3


def test_hubs_gather_their_neighbours() -> None:
    star = [(0, i, 1.0) for i in (1, 2, 3)] + [(4, i, 1.0) for i in (5, 6, 7)] + [(3, 7, 0.1)]
    found = hub_groups(graph(*star, n=9))
    assert sets(found) == {frozenset({0, 1, 2, 3}), frozenset({4, 5, 6, 7}), frozenset({8})}


def test_what_is_far_from_hubs_is_with_what_it_hangs_on() -> None:
    chain = [(i, i + 1, 1.0) for i in range(30)]
    found = hub_groups(graph(*chain, n=31))
    assert len(found) == 31
    for group in sets(found):
        assert max(group) - min(group) == len(group) - 1  # each an unbroken piece


@pytest.mark.parametrize("seed", range(5))
def test_groupings_do_not_depend_on_the_order_of_edges(seed: int) -> None:
    random = np.random.default_rng(seed)
    edges = [
        (int(a), int(b), float(w))
        for a, b, w in zip(*random.integers(0, 40, (2, 90)), random.random(90), strict=True)
    ]
    first = hub_groups(graph(*edges, n=40))
    order = random.permutation(len(edges))
    assert np.array_equal(first, hub_groups(graph(*[edges[i] for i in order], n=40)))


def test_a_node_joins_the_nearest_that_is_sure() -> None:
    table = graph((0, 1, 1.0), (1, 2, 2.0), (2, 3, 1.0), n=5)
    group, sure = np.arange(5, dtype=np.int32), np.array([True, False, False, True, False])
    assert join_nearest(table, group, sure).tolist() == [0, 0, 3, 3, 4]
    sure[3] = False
    assert join_nearest(table, group, sure, rounds=1).tolist() == [0, 0, 2, 3, 4]
    assert join_nearest(table, group, sure).tolist() == [0, 0, 0, 0, 4]


def test_modularity_is_newmans() -> None:
    two = graph(
        (0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0), (4, 5, 1.0), (3, 5, 1.0), (2, 3, 1.0), n=6
    )
    assert modularity(two, [0, 0, 0, 1, 1, 1]) == pytest.approx(6 / 7 - 2 * (7 / 14) ** 2)
    assert modularity(two, [5] * 6) == pytest.approx(0)
    assert modularity(two, list(range(6))) < 0
    assert modularity(graph(n=3), [0, 1, 2]) == 0
