"""PageRank and degree of nodes: what they are, and where they are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from clew import Filter, Index, IndexOptions
from clew.ingest.centrality import DAMPING, pagerank
from clew.ingest.link import make_edges, state
from clew.options import EmbedOptions
from clew.types import EdgeKind


def rank(n: int, *edges: tuple[EdgeKind, int, int, float]) -> np.ndarray:
    none = state("mentions", [], [])
    return pagerank(make_edges([none, *(state(kind, [a], [b], [w]) for kind, a, b, w in edges)], n), n)


def test_it_is_a_share_of_a_walk() -> None:
    assert rank(0).tolist() == []
    assert rank(4).tolist() == pytest.approx([0.25] * 4)
    found = rank(4, ("references", 0, 3, 1.0), ("references", 1, 3, 1.0), ("references", 2, 3, 1.0))
    assert found.sum() == pytest.approx(1)
    # p = (1 - d) / n + d · x / n, x = p(3) the share that has nowhere to go; x = p + d · 3 · p
    p = 1 / (4 + 3 * DAMPING)
    assert found.tolist() == pytest.approx([p, p, p, p + DAMPING * 3 * p])


def test_a_walk_follows_edges_by_weight_and_direction() -> None:
    found = rank(3, ("references", 0, 1, 3.0), ("references", 0, 2, 1.0))
    assert found[1] > found[2] > found[0]
    both = rank(3, ("same_as", 0, 1, 1.0))
    assert both[0] == pytest.approx(both[1])
    one_way = rank(3, ("references", 0, 1, 1.0))
    assert one_way[1] > one_way[0]


@pytest.fixture
def index(tmp_path: Path) -> Index:
    for name in "abcde":
        text = f"# Note {name}\n\nThe same words in all. See [[Hub]]. #tag\n"
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    (tmp_path / "Hub.md").write_text(
        "# Hub\n\nThe same words in all. See nothing at all. #tag\n", encoding="utf-8"
    )
    return Index.build([tmp_path], options=IndexOptions(embed=EmbedOptions("none")))


def test_stats_list_the_hubs(index: Index) -> None:
    hubs = index.stats()["hubs"]
    assert hubs[0]["name"] == "Hub"
    assert hubs[0]["degree"] == index.show("Hub").node.degree
    assert [hub["pagerank"] for hub in hubs] == sorted((hub["pagerank"] for hub in hubs), reverse=True)
    assert [hub["name"] for hub in index.stats(where=Filter(kinds=("tag",)))["hubs"]] == ["tag"]
    index.close()


def test_of_equally_good_passages_the_more_central_notes_is_first(tmp_path: Path) -> None:
    for name in ("a", "b", "z"):
        (tmp_path / f"{name}.md").write_text("Equal words.\n", encoding="utf-8")
    (tmp_path / "links.md").write_text("[[z]] and [[z]] again, [[b]] less.\n[[c]]", encoding="utf-8")
    (tmp_path / "more.md").write_text("[[z]] only.\n", encoding="utf-8")
    with Index.build([tmp_path], options=IndexOptions(embed=EmbedOptions("none"))) as built:
        keys = [hit.document.key for hit in built.search("equal words", 3, "basic")]
        assert keys == ["z.md", "b.md", "a.md"]
