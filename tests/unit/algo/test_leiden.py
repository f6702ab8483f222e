from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from clew.algo.leiden import MOST_THEMES, SMALL_COMPONENT, hierarchy, merge_smallest


def run(edges, n, max_size=40, levels=4, group=None, seed=7):
    source, target, weight = (list(column) for column in zip(*edges, strict=True)) if edges else ([], [], [])
    return hierarchy(
        source,
        target,
        weight,
        n,
        max_size=max_size,
        resolution=1.0,
        levels=levels,
        seed=seed,
        group=group,
    )


def cliques(count, size, bridge=0.1):
    """Return the edges of cliques in a ring."""
    edges = []
    for c in range(count):
        base = c * size
        edges += [(base + i, base + j, 1.0) for i in range(size) for j in range(i)]
        edges.append((base, (base + size) % (count * size), bridge))
    return edges


def roots(result):
    level, _, community, node = result
    label = np.full(node.max() + 1, -1)
    top = level[community] == 0
    label[node[top]] = community[top]
    return label


def check_tree(result, n):
    level, parent, community, node = result
    assert (np.diff(level) >= 0).all(), "coarsest first"
    pairs = list(zip(community.tolist(), node.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    for number in range(int(level.max(initial=-1)) + 1):
        members = node[level[community] == number]
        assert len(np.unique(members)) == len(members), "a node is in one community of a level"
        if number == 0:
            assert sorted(members.tolist()) == list(range(n)), "level 0 covers every node"
    for k in range(len(level)):
        assert (parent[k] == -1) == (level[k] == 0)
        mine = set(node[community == k].tolist())
        assert mine
        if parent[k] >= 0:
            assert level[parent[k]] == level[k] - 1
            assert mine < set(node[community == parent[k]].tolist())


def test_planted_cliques_are_found():
    result = run(cliques(6, 8), 48)
    label = roots(result)
    assert len(set(label.tolist())) == 6
    assert all(len(set(label[c * 8 : c * 8 + 8].tolist())) == 1 for c in range(6))


def test_an_empty_graph_has_no_communities_and_an_edgeless_one_has_one():
    assert [len(column) for column in run([], 0)] == [0, 0, 0, 0]
    level, parent, community, node = run([], 5)
    assert (level.tolist(), parent.tolist()) == ([0], [-1])
    assert (community.tolist(), node.tolist()) == ([0] * 5, list(range(5)))


def test_one_node_and_loops():
    assert run([(0, 0, 1.0)], 1)[3].tolist() == [0]


def test_edges_in_another_order_and_direction_give_the_same_partition():
    rng = np.random.default_rng(3)
    n, m = 300, 900
    edges = list(zip(rng.integers(0, n, m), rng.integers(0, n, m), rng.random(m), strict=True))
    one = run(edges, n, max_size=20)
    for turn in range(3):
        shuffled = [edges[i] for i in np.random.default_rng(turn).permutation(m)]
        other = run([(b, a, w) for a, b, w in shuffled], n, max_size=20)
        assert all((x == y).all() for x, y in zip(one, other, strict=True))


def test_what_is_unconnected_is_pooled_by_group_not_scattered():
    edges = cliques(3, 8)
    n = 24 + 200
    group = np.array([0] * 124 + [1] * 100)
    result = run(edges, n, group=group)
    check_tree(result, n)
    label = roots(result)
    assert len(set(label[24:124].tolist())) == 1
    assert len(set(label[124:].tolist())) == 1
    assert len(set(label.tolist())) == 5


def test_pairs_in_a_pool_are_its_children():
    edges = [(2 * i, 2 * i + 1, 1.0) for i in range(30)]
    level, _, community, node = run(edges, 60, max_size=10)
    assert (level == 0).sum() == 1
    children = np.flatnonzero(level == 1)
    assert [sorted(node[community == c].tolist()) for c in children] == [
        [2 * i, 2 * i + 1] for i in range(30)
    ]


def test_large_communities_are_divided_as_far_as_levels_allow():
    edges = cliques(60, 6, bridge=0.5)
    for levels in (1, 2, 3):
        result = run(edges, 360, max_size=10, levels=levels)
        check_tree(result, 360)
        assert int(result[0].max()) + 1 <= levels
    level, _, community, _ = run(edges, 360, max_size=10)
    size = np.bincount(community)
    leaves = np.setdiff1d(np.arange(len(level)), run(edges, 360, max_size=10)[1])
    assert size[leaves].max() <= 12


def test_the_coarsest_level_is_short_enough_to_read():
    result = run(cliques(200, 6), 1200)
    check_tree(result, 1200)
    assert 2 <= (result[0] == 0).sum() <= MOST_THEMES


def test_many_separate_components_are_few_themes():
    size = SMALL_COMPONENT
    edges = [(c * size + i, c * size + j, 1.0) for c in range(100) for i in range(size) for j in range(i)]
    group = np.repeat(np.arange(100) % 4, size)
    result = run(edges, 100 * size, group=group)
    check_tree(result, 100 * size)
    assert (result[0] == 0).sum() <= MOST_THEMES


def test_merging_prefers_the_tightest_neighbour():
    weight = np.zeros((4, 4))
    for i, j, w in [(0, 1, 5.0), (1, 2, 1.0), (2, 3, 5.0)]:
        weight[i, j] = weight[j, i] = w
    theme = merge_smallest(sparse.csr_matrix(weight), np.zeros(4, dtype=np.int64), 2)
    assert theme[0] == theme[1] != theme[2] == theme[3]


@settings(max_examples=40, deadline=None)
@given(
    st.integers(1, 40).flatmap(
        lambda n: st.tuples(
            st.just(n),
            st.lists(
                st.tuples(
                    st.integers(0, n - 1), st.integers(0, n - 1), st.sampled_from([0.0, 0.1, 1.0, 3.0])
                ),
                max_size=120,
            ),
            st.randoms(use_true_random=False),
        )
    )
)
def test_any_graph_is_a_tree_that_covers_every_node(case):
    n, edges, random = case
    result = run(edges, n, max_size=4)
    check_tree(result, n)
    shuffled = list(edges)
    random.shuffle(shuffled)
    assert all((a == b).all() for a, b in zip(result, run(shuffled, n, max_size=4), strict=True))
