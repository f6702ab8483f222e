"""What is around a node, against a breadth-first walk done by hand."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

from clew.query.limits import Limits
from clew.query.neighbourhood import reach, share_tags, thread_of
from graphs import make_graph, random_graph


@pytest.mark.parametrize("seed", range(40))
def test_rings_are_those_of_a_walk_with_the_cheapest_ways(seed):
    rng = random.Random(seed)
    n = rng.randrange(3, 14)
    graph = random_graph(rng, n, rng.randrange(2, 40))
    allowed = np.array([rng.random() < 0.7 for _ in range(graph.n_edges)]) if seed % 2 else None
    start, hops = rng.randrange(n), rng.randrange(1, 5)
    spent, ring, seen = {start: 0.0}, {start}, {start}
    for found in reach(graph, start, hops, Limits(edges=allowed)):
        best = {}
        for edge in range(graph.n_edges):
            if allowed is not None and not allowed[edge]:
                continue
            ends = int(graph.source[edge]), int(graph.target[edge])
            for a, b in (ends, ends[::-1]):
                if a in ring and b not in seen:
                    price = spent[a] + float(graph.edge_costs[edge])
                    best[b] = min(best.get(b, np.inf), price)
        assert found.nodes.tolist() == sorted(best)
        assert found.cost.tolist() == pytest.approx([best[node] for node in sorted(best)])
        for node, before, edge in zip(found.nodes, found.before, found.edge, strict=True):
            assert {int(graph.source[edge]), int(graph.target[edge])} == {int(node), int(before)}
            assert int(before) in ring
        ring = set(best)
        seen |= ring
        spent |= best


class Rows:
    """A reader of nodes and edges without names."""

    def nodes(self, nodes):
        return [SimpleNamespace(node=node, doc=-1, name=str(node)) for node in nodes]

    def documents(self, docs):
        return []


def test_tags_in_common_weigh_by_their_rarity():
    rare, common = 10, 11
    edges = [("tagged_with", note, common) for note in range(9)]
    edges += [("tagged_with", note, rare) for note in (0, 1)]
    graph = make_graph(12, edges)
    space = SimpleNamespace(graph=graph, reader=Rows())
    found = share_tags(space, 0, Limits())
    assert found[0].node.node == 1
    assert [tag.node for tag in found[0].tags] == [rare, common]
    assert [one.node.node for one in found[1:]] == list(range(2, 9))
    assert found[0].weight > found[1].weight
    assert share_tags(SimpleNamespace(graph=make_graph(2, [("follows", 0, 1)])), 0, Limits()) == ()


def test_a_thread_begins_at_its_first_note_and_survives_a_circle(monkeypatch):
    from clew.query import neighbourhood

    def views(reader, edges):
        return [SimpleNamespace(source=None, target=None) for _ in edges]

    monkeypatch.setattr(neighbourhood, "edge_views", views)
    reader = Rows()
    reader.edge_rows = list
    tree = [("replied_to", 1, 0), ("replied_to", 2, 1), ("replied_to", 3, 0), ("replied_to", 4, 2)]
    for start in range(5):
        found = thread_of(SimpleNamespace(graph=make_graph(6, tree), reader=reader), start)
        assert [(one.node.node, one.depth) for one in found] == [(0, 0), (1, 1), (2, 2), (4, 3), (3, 1)]
    assert thread_of(SimpleNamespace(graph=make_graph(6, tree), reader=reader), 5) == ()
    circle = make_graph(2, [("replied_to", 0, 1), ("replied_to", 1, 0)])
    assert len(thread_of(SimpleNamespace(graph=circle, reader=reader), 0)) == 2


def test_neighbours_of_a_note_have_their_edges_and_places(index):
    found = index.neighbourhood("Soil", 2, 100)
    first = {one.node.name: one for one in found.neighbours if one.hops == 1}
    assert {"Compost", "Mulch", "Earthworm"} <= first.keys()
    assert "Soil is linked from Mulch" in {one.steps[0].text for one in first.values()}
    for one in found.neighbours:
        assert len(one.steps) == one.hops
        assert (one.steps[0].start.name, one.steps[-1].end) == ("Soil", one.node)
        assert all(step.view.evidence for step in one.steps)
    assert sum(found.found) == len(found.neighbours)
    every, few = (index.neighbourhood("Mulch", 2, limit) for limit in (100, 1))
    assert few.found == every.found
    assert [one.hops for one in few.neighbours] == [1, 2]
