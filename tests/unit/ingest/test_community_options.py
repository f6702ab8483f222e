"""What binds notes into communities, and by which method."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from small_corpus import make_corpus

from clew import Index, IndexOptions
from clew.errors import OptionError
from clew.ingest.communities import own_tags
from clew.ingest.graph import extract_graph
from clew.options import CommunityOptions, EmbedOptions

LINKS = {"a": "b", "b": "c", "c": "a", "d": "e", "e": "f", "f": "d"}
TAGS = {"a": "x, y", "d": "x, y", "b": "x, y", "c": "z, w", "e": "z, w", "f": "z, w"}
NAMES = {
    "a": "Blue Heron",
    "f": "Blue Heron",
    "c": "Blue Heron",
    "b": "Old Lantern",
    "d": "Old Lantern",
    "e": "Old Lantern",
}
GROUPS = {
    "explicit": [{"a", "b", "c"}, {"d", "e", "f"}],
    "tags": [{"a", "b", "d"}, {"c", "e", "f"}],
    "entities": [{"a", "c", "f"}, {"b", "d", "e"}],
}


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    for name, other in LINKS.items():
        front = f"---\ntags: [{TAGS[name]}]\n---\n"
        text = f"{front}Saw the {NAMES[name]} with the {NAMES[name]}.\n\nNext: [[{other}]].\n"
        (tmp_path / f"{name}.md").write_text(text, encoding="utf-8")
    return tmp_path


def build(vault: Path, **options: object) -> Index:
    community = CommunityOptions(**options)  # type: ignore[arg-type]
    return Index.build([vault], options=IndexOptions(embed=EmbedOptions("none"), community=community))


def notes_by_theme(index: Index) -> list[set[str]]:
    reader = index.engine.reader
    found = []
    for community in reader.communities(0):
        nodes = reader.nodes(reader.members(community.community))
        found.append({node.name for node in nodes if node.kind == "document"})
    return sorted((one for one in found if one), key=sorted)


def check_every_node_is_in_one_theme(index: Index) -> None:
    reader = index.engine.reader
    members = Counter(
        node for community in reader.communities(0) for node in reader.members(community.community)
    )
    assert members == Counter(range(reader.count("nodes")))
    assert index.doctor().whole


@pytest.mark.parametrize("over", GROUPS)
def test_notes_are_grouped_by_what_binds(vault: Path, over: str) -> None:
    with build(vault, over=over) as index:
        assert notes_by_theme(index) == GROUPS[over]
        check_every_node_is_in_one_theme(index)
    weights = {f"{kind}_weight": 1.0 if kind == over else 0.0 for kind in GROUPS}
    with build(vault, **weights) as index:
        assert notes_by_theme(index) == GROUPS[over]
        check_every_node_is_in_one_theme(index)


def test_names_go_with_the_notes_that_name_them(vault: Path) -> None:
    with build(vault, over="explicit") as index:
        reader = index.engine.reader
        for community in reader.communities(0):
            nodes = reader.nodes(reader.members(community.community))
            assert any(node.kind == "document" for node in nodes), [node.name for node in nodes]


def test_notes_that_share_two_tags_are_together(vault: Path) -> None:
    with build(vault, method="shared-tags") as index:
        assert notes_by_theme(index) == GROUPS["tags"]
        check_every_node_is_in_one_theme(index)


def test_a_tag_and_those_above_it_are_one_tag_of_a_note() -> None:
    tags = {"a": "x/y", "b": "x/y", "c": "x/y, z", "d": "x/y, z"}
    notes = {f"{name}.md": f"---\ntags: [{tag}]\n---\nText.\n" for name, tag in tags.items()}
    graph = extract_graph(make_corpus(notes))
    assert len(own_tags(graph)[0]) == 6  # not the x above x/y


@pytest.mark.parametrize("method", ["shared-tags", "hubs"])
def test_cheap_methods_group_everything_and_always_the_same(vault: Path, method: str) -> None:
    with build(vault, method=method) as index:
        check_every_node_is_in_one_theme(index)
        generation = index.engine.reader.generation
        assert all(view.report.title for view in index.communities())
    for name in sorted(LINKS):
        (vault / f"{name}.md").rename(vault / f"{name}.tmp")
    for name in sorted(LINKS, reverse=True):
        (vault / f"{name}.tmp").rename(vault / f"{name}.md")
    (vault / ".clew" / "index.duckdb").unlink()
    with build(vault, method=method) as index:
        assert index.engine.reader.generation == generation


def test_an_unknown_choice_is_refused(vault: Path) -> None:
    with pytest.raises(OptionError, match=r"--community-over.*explicit"):
        build(vault, over="links")
    with pytest.raises(OptionError, match=r"--community-method.*shared-tags"):
        build(vault, method="louvain")


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"over": "tags"}, "no tags, so --community-over tags"),
        ({"over": "explicit"}, "no links, replies, authors, follows or saves"),
        ({"method": "shared-tags"}, "groups them by hubs alone"),
        ({"over": "entities"}, ""),
        ({}, ""),
    ],
)
def test_what_is_not_in_the_notes_to_group_them_by_is_said(tmp_path, options, told):
    for name in "abc":
        (tmp_path / f"{name}.md").write_text("Saw the Blue Heron by the Old Lantern.\n", encoding="utf-8")
    with build(tmp_path, **options) as index:
        said = [note for note in index.result.notes if "--community" in note]
    assert len(said) == bool(told)
    assert told in "".join(said)
