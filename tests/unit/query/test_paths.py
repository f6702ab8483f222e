"""The k best paths, against all paths of small graphs counted by hand."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

from clew.errors import NotFound
from clew.query.graph import COST, HUB
from clew.query.paths import best_paths
from graphs import make_graph, random_graph


def every_path(graph, starts, goals, max_steps):
    """Return the cost and the nodes of each simple path, by walking all of them."""
    cost = graph.edge_costs
    cheapest = {}
    for edge in range(graph.n_edges):
        a, b = int(graph.source[edge]), int(graph.target[edge])
        for pair in ((a, b), (b, a)):
            cheapest[pair] = min(cheapest.get(pair, math.inf), float(cost[edge]))
    ways = {}
    for (a, b), price in cheapest.items():
        ways.setdefault(a, []).append((b, price))
    found = []

    def walk(nodes, spent):
        if nodes[-1] in goals:
            found.append((round(spent, 9), tuple(nodes)))
            return
        if len(nodes) > max_steps:
            return
        for other, price in ways.get(nodes[-1], ()):
            if other not in nodes and other not in starts:
                walk([*nodes, other], spent + price)

    for start in starts:
        walk([start], 0.0)
    return sorted(found)


@pytest.mark.parametrize("seed", range(60))
def test_the_paths_are_the_cheapest_of_all(seed):
    rng = random.Random(seed)
    n = rng.randrange(4, 11)
    graph = random_graph(rng, n, rng.randrange(3, 30))
    nodes = rng.sample(range(n), 4)
    starts, goals = sorted(nodes[: 1 + seed % 2]), sorted(nodes[2 : 3 + seed % 2])
    k, most = rng.randrange(1, 9), rng.randrange(1, 7)
    expected = every_path(graph, starts, goals, most)
    found = best_paths(graph, starts, goals, k, most)
    assert [row[0] for row in found] == pytest.approx([row[0] for row in expected[:k]], abs=1e-8)
    assert len({row[1] for row in found}) == len(found)
    for cost, walked, edges in found:
        assert (walked[0] in starts, walked[-1] in goals) == (True, True)
        assert len(set(walked)) == len(walked) == len(edges) + 1 <= most + 1
        assert cost == pytest.approx(sum(graph.edge_costs[list(edges)]), abs=1e-6)
        for a, b, edge in zip(walked, walked[1:], edges, strict=False):
            assert {int(graph.source[edge]), int(graph.target[edge])} == {a, b}


def test_only_allowed_edges_are_walked():
    graph = make_graph(3, [("references", 0, 2), ("follows", 0, 1), ("follows", 1, 2)])
    allowed = np.array([graph.kinds[kind] == "follows" for kind in graph.kind])
    assert [row[1] for row in best_paths(graph, [0], [2], 3, 6, allowed)] == [(0, 1, 2)]


def test_a_hub_costs_more_than_a_longer_way():
    spokes = [("references", note, 0) for note in range(5, 200)]
    short = [("references", 1, 0), ("references", 2, 0)]
    long = [("references", 1, 3), ("references", 3, 4), ("references", 4, 2)]
    graph = make_graph(200, spokes + short + long)
    assert [row[1] for row in best_paths(graph, [1], [2], 2, 6)] == [(1, 3, 4, 2), (1, 0, 2)]
    assert best_paths(graph, [1], [2], 1, 2)[0][1] == (1, 0, 2)  # within two steps there is no other


def test_the_cost_is_as_documented():
    graph = make_graph(3, [("references", 0, 1), ("co_occurs_with", 1, 2)], confidence=[1.0, 0.5, 1.0])
    toll = [HUB * math.log(2), HUB * math.log(3) + 0.5, HUB * math.log(2)]
    expected = COST["references"] + COST["co_occurs_with"] + toll[0] / 2 + toll[1] + toll[2] / 2
    assert best_paths(graph, [0], [2], 1, 6)[0][0] == pytest.approx(expected)


def test_what_is_asserted_is_taken_before_what_text_suggests():
    graph = make_graph(2, [("co_occurs_with", 0, 1), ("references", 1, 0)])
    assert graph.kinds[graph.kind[best_paths(graph, [0], [1], 1, 6)[0][2][0]]] == "references"


def test_equal_paths_come_in_the_order_of_their_nodes():
    edges = [("references", 0, middle) for middle in range(2, 9)]
    edges += [("references", middle, 1) for middle in range(2, 9)]
    found = best_paths(make_graph(9, edges), [0], [1], 5, 6)
    assert [row[1] for row in found] == [(0, middle, 1) for middle in range(2, 7)]


def test_each_step_has_its_place_and_reads_as_a_sentence(index):
    found = index.paths("Earthworm", "Mulch", 3)
    assert found.paths
    assert found.paths[0].nodes[0].name == "Earthworm"
    for path in found.paths:
        assert [step.end for step in path.steps] == list(path.nodes[1:])
        assert all(step.view.evidence for step in path.steps)
    assert "Earthworm links to Soil" in {step.text for path in found.paths for step in path.steps}
    assert [path.cost for path in found.paths] == sorted(path.cost for path in found.paths)


def test_a_name_of_several_nodes_says_which_was_taken(index):
    found = index.paths("note:Soil", "garden/Mulch.md")
    assert (found.start.node.kind, found.start.exactly) == ("document", "garden/Soil.md")
    every = index.named("Soil")
    for node, exactly in ((every.node, every.exactly), *every.others):
        assert index.named(exactly).node == node
    with pytest.raises(NotFound, match="no tag of this name"):
        index.named("#nothing of the kind")
    with pytest.raises(NotFound, match=r"(?i)nearest: .*soil"):
        index.paths("Soill", "Mulch")


def test_the_same_name_twice_needs_no_path(index):
    found = index.paths("Soil", "soil")
    assert (found.same, found.paths) == (True, ())


@pytest.mark.parametrize("name", ["", "  ", "\t"])
def test_an_empty_name_is_said_to_be_empty(index, name):
    with pytest.raises(NotFound, match="empty"):
        index.paths(name, "Soil")
