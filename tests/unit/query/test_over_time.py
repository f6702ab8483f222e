"""Bridges from late to long ago, and a theme over time."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime

import numpy as np
import pytest

from clew import Filter, Index
from clew.errors import NotFound, OptionError
from clew.options import EmbedOptions, IndexOptions
from clew.query.bridge import EACH, FEW, USUAL, _heaviest, _links
from clew.query.graph import COST, OTHER_COST
from graphs import random_graph

NOW = "2025-06-05"
NOTES = {
    "a.md": (
        "2024-01-03",
        "garden",
        "Lime makes soil of the Walled Garden less acid. Ada Lovelace said so.",
    ),
    "b.md": ("2024-02-10", "garden", "Compost in the Walled Garden rots. See [[c]]."),
    "c.md": ("2024-03-01", "ships", "The Sturgeon Bridge was closed."),
    "d.md": ("2025-06-01", "ships", "Walked over the Sturgeon Bridge with Ada Lovelace."),
    "e.md": ("2025-06-03", "garden", "The Walled Garden has Moth Nights now. See [[a]]."),
    "f.md": ("2025-06-04", "moths", "Moth Nights begin at dusk."),
    "g.md": ("", "garden", "Nobody knows when the Walled Garden was made."),
}


@pytest.fixture(scope="module")
def dated(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dated")
    (folder / "notes").mkdir()
    for key, (date, tag, text) in NOTES.items():
        front = f"---\n{f'date: {date}' if date else 'x: y'}\ntags: [{tag}]\nauthor: Jo Reed\n---\n"
        (folder / "notes" / key).write_text(f"{front}# Note {key[0].upper()}\n\n{text}\n", encoding="utf-8")
    options = IndexOptions(embed=EmbedOptions(embedder="none"))
    with Index.build([folder / "notes"], folder / "index.duckdb", options=options) as index:
        yield index


# --- bridges -------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_pairs_weigh_as_all_that_joins_them(seed):
    rng = random.Random(seed)
    n = rng.randrange(6, 16)
    graph = random_graph(rng, n, rng.randrange(8, 50))
    nodes = rng.sample(range(n), n)
    recent, older = nodes[:2], nodes[2:4]
    masks = [np.isin(np.arange(n), some) for some in (recent, older)]
    joined = np.array([rng.random() < 0.8 for _ in range(n)])
    base = [COST.get(graph.kinds[kind], OTHER_COST) for kind in graph.kind.tolist()]

    def cheapest(a, b):
        edges = [e for e in range(graph.n_edges) if {int(graph.source[e]), int(graph.target[e])} == {a, b}]
        return min((base[e] for e in edges), default=None)

    expected = {}
    for one in recent:
        for other in older:
            straight = cheapest(one, other)
            weight = 0.0 if straight is None else math.exp(-straight)
            for node in set(nodes) - {*recent, *older}:
                usual = sum(cheapest(node, end) is not None for end in (*recent, *older))
                ways = cheapest(one, node), cheapest(node, other)
                if joined[node] and None not in ways and usual <= max(USUAL * 4, FEW):
                    weight += math.exp(-(ways[0] + ways[1] + graph.tolls[node]))
            if weight:
                expected[one, other] = weight
    links = _links(graph, *masks, joined)
    found = _heaviest(graph, links, 10)
    for weight, order in found:
        pair = int(links.recent[order[0]]), int(links.older[order[0]])
        assert weight == pytest.approx(expected[pair])
        assert links.cost[order].tolist() == sorted(links.cost[order].tolist())
    assert len(found) == len(expected)  # two and two: none is listed too often
    assert EACH == 2
    assert [weight for weight, _ in found] == sorted((weight for weight, _ in found), reverse=True)


def test_bridges_tell_what_joins_late_and_long_ago(dated):
    found = dated.bridge("7d", "180d", now=NOW)
    assert (found.recent, found.older, found.undated) == (3, 3, 1)
    pairs = {(row.recent.name, row.older.name): row for row in found.rows}
    assert pairs.keys() == {
        ("Note E", "Note A"),
        ("Note D", "Note C"),
        ("Note E", "Note B"),
        ("Note D", "Note A"),
    }
    first = found.rows[0]
    assert (first.recent.name, first.older.name) == ("Note E", "Note A")
    assert first.path.steps[0].text == "Note E links to Note A"
    assert "Walled Garden" in {node.name for node in first.also}
    assert all(step.view.evidence for row in found.rows for step in row.path.steps)
    assert "Jo Reed" not in {node.name for row in found.rows for node in (*row.also, *row.path.nodes)}
    assert first.recent_at > first.older_at


def test_bridges_of_one_person_and_of_a_filter(dated):
    with_me = dated.bridge("7d", "180d", me="Jo Reed", now=NOW)
    assert [row.weight for row in with_me.rows] == [row.weight for row in dated.bridge(now=NOW).rows]
    assert dated.bridge(me="Ada Lovelace", now=NOW).rows == ()
    with pytest.raises(NotFound):
        dated.bridge(me="Nobody at all", now=NOW)
    ships = dated.bridge(where=Filter(tags=("ships",)), now=NOW)
    assert [(row.recent.name, row.older.name) for row in ships.rows] == [("Note D", "Note C")]
    assert dated.bridge("7d", "180d", now="2030-01-01").rows == ()
    with pytest.raises(OptionError):
        dated.bridge("last spring", now=NOW)


# --- activity ------------------------------------------------------------------------------------


def test_a_theme_is_counted_by_period(dated):
    found = dated.activity("Walled Garden", "month")
    assert [node.kind for node in found.named] == ["entity"]
    assert found.documents == 4
    assert found.undated == 1
    counts = {period.label: period.documents for period in found.periods if period.documents}
    assert counts == {"2024-01": 1, "2024-02": 1, "2025-06": 1}
    assert len(found.periods) == 18
    assert found.periods[-1].every == 3
    assert [node.name for node in found.periods[0].examples] == ["Note A"]
    starts = [datetime.fromtimestamp(period.start, UTC) for period in found.periods]
    assert all(start.day == 1 and start.hour == 0 for start in starts)


@pytest.mark.parametrize(
    ("by", "labels"),
    [("year", ["2024", "2025"]), ("week", ["2024-W01", "2025-W23"]), ("day", ["2024-01-03", "2025-06-04"])],
)
def test_periods_cover_all_without_a_gap(dated, by, labels):
    found = dated.activity("", by)
    assert [found.periods[0].label, found.periods[-1].label] == labels
    assert (
        sum(period.documents for period in found.periods)
        == sum(period.every for period in found.periods)
        == 6
    )
    assert [period.start for period in found.periods] == sorted({period.start for period in found.periods})


def test_what_came_and_what_went(dated):
    years = {period.label: period for period in dated.activity("", "year").periods}
    assert "Moth Nights" in {node.name for node in years["2025"].came}
    months = {period.label: period for period in dated.activity("", "month").periods}
    assert "Sturgeon Bridge" in {node.name for node in months["2024-03"].came}
    assert not months["2024-01"].came
    assert not months["2025-06"].went


def test_words_that_name_nothing_are_searched_for(dated):
    found = dated.activity("acid soil and lime", "year")
    assert found.named == ()
    assert found.documents >= 1
    with pytest.raises(OptionError, match="month"):
        dated.activity("", "moth")


def test_a_filter_applies(dated):
    found = dated.activity("", "year", where=Filter(tags=("ships",)))
    assert {period.label: period.documents for period in found.periods} == {"2024": 1, "2025": 1}
