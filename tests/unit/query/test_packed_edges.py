"""Edges in a packed context: those that frontmatter states have their place there."""

from __future__ import annotations

from pathlib import Path

import pytest
from small_vault import build

from clew import Index
from clew.types import Filter

NOTES = {
    "Lanterns.md": "---\nauthor: Zora Quill\ntags: [folding]\n---\n# Paper Lanterns\n\nThe glue dries "
    "overnight. See [[Rice Paste]].\n",
    "Rice Paste.md": "# Rice Paste\n\nBoil rice flour in water.\n",
    "Zora Quill.md": "# Zora Quill\n\nShe folds paper.\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory):
    with build(tmp_path_factory.mktemp("packed"), NOTES, "none") as index:
        yield index


def test_what_frontmatter_states_is_packed_and_cited_there(index: Index) -> None:
    items = index.context("who wrote Paper Lanterns?").items
    edge = next(item for item in items if item.kind == "edge" and "written by → Zora Quill" in item.text)
    (place,) = edge.citations
    source = Path(place.file).read_bytes()
    assert source[place.start : place.end].decode() == place.quote
    assert "Zora Quill" in place.quote
    assert place.start_line == 2
    tagged = next(item for item in items if item.kind == "edge" and "tagged → folding" in item.text)
    assert tagged.citations[0].start_line == 3


def test_a_filter_leaves_out_what_other_notes_frontmatter_states(index: Index) -> None:
    question = "what is Rice Paste to Zora Quill and Paper Lanterns?"
    said = {item.text for item in index.context(question).items if item.kind == "edge"}
    assert "Paper Lanterns — written by → Zora Quill" in said
    kept = index.context(question, where=Filter(authors=("Zora Quill",)))
    assert "Paper Lanterns — written by → Zora Quill" in {item.text for item in kept.items}
    assert {one.key for item in kept.items for one in item.citations} == {"Lanterns.md"}
    assert not index.context(question, where=Filter(since="2090")).items


def test_reports_are_the_same_however_they_are_asked_for(index: Index) -> None:
    reader = index.engine.reader
    every = [one.community for one in reader.communities()]
    together = reader.reports(every)
    assert [reader.reports([at])[0] for at in reversed(every)] == list(reversed(together))
    with pytest.raises(IndexError, match="report"):
        reader.reports([len(every) + 5])
    for at in every:
        members = reader.members(at)
        assert reader.belonging(members, [at]) == [(at, node) for node in members]
