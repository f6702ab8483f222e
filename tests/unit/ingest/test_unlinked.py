"""Unlinked mentions, and tags that stand together."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from clew import Index, IndexOptions
from clew.options import EmbedOptions
from clew.types import EdgeView, Node

NOTES = {
    "Tide Gauge.md": "---\naliases: [Paper Drum]\n---\n# Tide Gauge\n\nThe Tide Gauge counts waves.\n",
    "Storm.md": "# Storm\n\nThe tide gauge went under. Later the Paper Drum was dried.\n",
    "Quay.md": "# Quay\n\nThe Tide Gauge stands here, and [[Tide Gauge]] is linked below.\n",
    "Front.md": "---\nsee: '[[Tide Gauge]]'\n---\n# Front\n\nThe Tide Gauge is linked above.\n",
    "Code.md": "# Code\n\n```\nThe Tide Gauge in code\n```\n\nThe `Tide Gauge` too.\n",
    "Away.md": "# Away\n\nThe [Tide Gauge of Eelgrass](https://example.org/) leads away.\n",
    "Маяк.md": "# Чорний Маяк\n\nНічого.\n",
    "Порт.md": "# Порт\n\nЗ порту видно Чорного Маяка вночі.\n",
    "Here.md": "# Places\n\nOf places.\n",
    "There.md": "# There\n\nThere are many places to go.\n",
    "plain.txt": "The Tide Gauge in a text that can't link.\n",
    "corpus.jsonl": '{"id": "r", "title": "Eelgrass Bay", "text": "The Tide Gauge in a record."}\n',
    "Bay.md": "# Bay\n\nEelgrass Bay is the title of a record.\n",
}


def build(folder: Path, notes: dict[str, str]) -> Index:
    for name, text in notes.items():
        (folder / name).write_text(text, encoding="utf-8")
    return Index.build([folder], options=IndexOptions(embed=EmbedOptions("none")))


def views(index: Index, kind: str) -> list[EdgeView]:
    from clew.query.views import edge_views

    reader = index.engine.reader
    edges = [e for e in reader.edge_rows(range(reader.count("edges"))) if e.kind == kind]
    return list(edge_views(reader, edges))


def ends(view: EdgeView) -> tuple[str, str]:
    return view.source.name, view.target.name


def test_a_note_that_names_another_without_linking_it(tmp_path: Path) -> None:
    with build(tmp_path, NOTES) as index:
        found = {ends(view): view for view in views(index, "unlinked_mention")}
        assert set(found) == {("Storm", "Tide Gauge"), ("Порт", "Чорний Маяк")}
        storm = found["Storm", "Tide Gauge"]
        assert [(one.quote, one.start_line) for one in storm.evidence] == [
            ("tide gauge", 3),
            ("Paper Drum", 3),
        ]
        for view in found.values():
            for one in view.evidence:
                data = (tmp_path / one.key).read_bytes()
                assert data[one.start : one.end].decode() == one.quote
        card = index.show("Storm")
        assert ("Storm", "Tide Gauge") in [ends(view) for view in card.edges]
        assert index.doctor().whole


def test_linking_it_takes_the_mention_away(tmp_path: Path) -> None:
    with build(tmp_path, NOTES) as index:
        assert "unlinked_mention" in index.related("Storm")[0].why
    (tmp_path / "Storm.md").write_text(NOTES["Storm.md"] + "\nSee [[Tide Gauge]].\n", encoding="utf-8")
    with Index.build([tmp_path], options=IndexOptions(embed=EmbedOptions("none"))) as index:
        assert ("Storm", "Tide Gauge") not in [ends(view) for view in views(index, "unlinked_mention")]


# --- tags ---


def tagged(*tags: str) -> str:
    return f"---\ntags: [{', '.join(tags)}]\n---\nText {' '.join(tags)}.\n"


TAGGED = {
    "1.md": tagged("boat", "sea"),
    "2.md": tagged("boat", "sea", "rope"),
    "3.md": tagged("boat", "sea/deep"),
    "4.md": tagged("bread", "salt"),
    "5.md": tagged("bread", "rope"),
    "6.md": "Text on #bread and\n\n#salt.\n",
    "7.md": tagged("salt"),
    "8.md": "No tag.\n",
}


def weight(shared: int, a: int, b: int, n: int) -> float:
    npmi = math.log(shared * n / (a * b)) / -math.log(shared / n)
    return npmi * shared / (shared + 1) * min(a, b) / (min(a, b) + 1)


def test_tags_that_stand_together_more_often_than_chance(tmp_path: Path) -> None:
    with build(tmp_path, TAGGED) as index:
        found = {
            ends(view): view
            for view in views(index, "co_occurs_with")
            if view.source.kind == view.target.kind == "tag"
        }
        assert {ends: view.edge.weight for ends, view in found.items()} == {
            ("boat", "sea"): pytest.approx(weight(3, 3, 3, 7)),  # sea/deep is sea, too
            ("bread", "salt"): pytest.approx(weight(2, 3, 3, 7)),
        }
        places = [(one.key, one.quote) for one in found["boat", "sea"].evidence]
        assert places == [("1.md", "boat, sea"), ("2.md", "boat, sea"), ("3.md", "boat, sea/deep")]
        assert [one.key for one in found["bread", "salt"].evidence] == ["4.md", "6.md"]


def test_tags_of_every_note_say_nothing_of_each_other(tmp_path: Path) -> None:
    with build(tmp_path, {f"{i}.md": tagged("all", "every") for i in range(5)}) as index:
        tags: list[Node] = [v.source for v in views(index, "co_occurs_with") if v.target.kind == "tag"]
        assert not [node for node in tags if node.kind == "tag"]
