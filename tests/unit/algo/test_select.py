"""The choice of a set."""

import numpy as np

from clew.algo.select import Candidates, Weights, select

WEIGHTS = Weights(coverage=1.0, named=0.5, shares=0.2, refers=0.3, residual=0.5, residual_dense=0.25)


def candidates(own, covers, mentions, defines, bridge=None, unasked=None):
    u = len(mentions[0])
    return Candidates(
        np.array([[value, 0, 0] for value in own], dtype=np.float32),
        np.array(covers, dtype=bool),
        np.ones(len(covers[0]), dtype=np.float32),
        np.array(mentions, dtype=bool),
        np.array(defines, dtype=bool),
        np.ones(u, dtype=np.float32),
        np.ones(u, dtype=bool) if unasked is None else np.array(unasked, dtype=bool),
        np.ones(u, dtype=bool) if bridge is None else np.array(bridge, dtype=bool),
    )


def nowhere(_):
    return np.zeros(1, dtype=np.float32)


def nothing(*_):
    return np.zeros((1, 2), dtype=np.float32)


def test_coverage_prefers_what_is_new():
    pool = candidates([1.0, 0.9, 0.5], [[1, 0], [1, 0], [0, 1]], [[0]] * 3, [[0]] * 3)
    choice = select(pool, nowhere, nothing, 3, WEIGHTS)
    assert choice.order.tolist() == [0, 2, 1]
    np.testing.assert_allclose(choice.coverage, [0.5, 0.5, 0.0])


def test_what_a_chosen_passage_names_comes_next():
    pool = candidates([1.0, 0.5, 0.1], [[1], [0], [0]], [[1], [0], [0]], [[0], [0], [1]])
    choice = select(pool, nowhere, nothing, 3, WEIGHTS)
    assert choice.order.tolist() == [0, 2, 1]
    assert choice.via.tolist() == [-1, 0, -1]
    assert choice.named.tolist() == [0.0, 0.5, 0.0]


def test_a_residual_question_decides_between_two_names():
    asked = []

    def residual(i, near, turn):
        asked.append((i, near.tolist(), turn))
        return np.array([[0, 0], [0, 0], [1, 0.5] if i == 0 else [0, 0]], dtype=np.float32)

    def near(i):
        return np.array([0.0, 1.0] if i == 0 else [0.0, 0.0], dtype=np.float32)

    pool = candidates([1.0, 0.2, 0.2], [[1, 0]] * 3, [[1, 1], [0, 0], [0, 0]], [[0, 0], [1, 0], [0, 1]])
    choice = select(pool, near, residual, 3, WEIGHTS)
    assert choice.order.tolist() == [0, 2, 1]
    assert asked == [(0, [0.0, 1.0], 0), (2, [0.0, 0.0], 1)], "one for each of the first two passages"
    assert choice.rounds == 2
    np.testing.assert_allclose(choice.residual, [0.0, 0.625, 0.0])


def test_no_residual_question_where_the_first_passages_hold_enough():
    def never(*_):
        raise AssertionError("nothing is left to ask")

    pool = candidates([1.0, 0.2], [[1, 1], [1, 0]], [[0]] * 2, [[0]] * 2)
    assert select(pool, nowhere, never, 2, WEIGHTS).rounds == 0


def test_what_mentions_a_chosen_definition_comes_next_unless_the_question_names_it():
    table = ([1.0, 0.3, 0.4], [[0]] * 3, [[0], [1], [0]], [[1], [0], [0]])
    choice = select(candidates(*table), nowhere, nothing, 3, WEIGHTS)
    assert choice.order.tolist() == [0, 1, 2]
    assert choice.via.tolist() == [-1, 0, -1]
    named = candidates(*table, unasked=[0])
    assert select(named, nowhere, nothing, 3, WEIGHTS).order.tolist() == [0, 2, 1]


def test_a_node_leads_on_only_until_it_is_defined():
    pool = candidates([1.0, 0.3, 0.3, 0.4], [[0]] * 4, [[1], [0], [0], [0]], [[0], [1], [1], [0]])
    assert select(pool, nowhere, nothing, 4, WEIGHTS).order.tolist() == [0, 1, 3, 2]


def test_ties_and_sizes():
    pool = candidates([0.5, 0.5], [[0], [0]], [[0], [0]], [[0], [0]])
    assert select(pool, nowhere, nothing, 5, WEIGHTS).order.tolist() == [0, 1]
    empty = Candidates(
        np.zeros((0, 3), dtype=np.float32),
        np.zeros((0, 0), dtype=bool),
        np.zeros(0, dtype=np.float32),
        np.zeros((0, 0), dtype=bool),
        np.zeros((0, 0), dtype=bool),
        np.zeros(0, dtype=np.float32),
        np.zeros(0, dtype=bool),
        np.zeros(0, dtype=bool),
    )
    assert select(empty, nowhere, nothing, 3).order.tolist() == []
