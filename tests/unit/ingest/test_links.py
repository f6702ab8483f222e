from __future__ import annotations

import pytest
from made_corpus import corpus_of

from clew.ingest.links import resolve_links


def targets(files: dict[str, str], key: str = "a.md") -> list[str]:
    """Return where the links of a document lead: keys, or the names of missing notes in brackets."""
    corpus = corpus_of(files)
    table = resolve_links(corpus)
    doc = next(d.doc for d in corpus.documents if d.key == key)
    rows = zip(table.doc.tolist(), table.target.tolist(), table.name, strict=True)
    return [corpus.documents[t].key if t >= 0 else f"<{name}>" for d, t, name in rows if d == doc]


VAULT = {
    "notes/Deep Note.md": "deep",
    "other/Deep Note.md": "---\naliases: [Nickname]\n---\nother deep",
    "Top.md": "---\ntitle: A Title of Its Own\n---\ntext",
    "dir/index.md": "index",
    "dir/with space.md": "space",
    "C++.md": "c",
}


@pytest.mark.parametrize(
    ("link", "target"),
    [
        ("[[Top]]", "Top.md"),
        ("[[top|shown]]", "Top.md"),
        ("[[Top#Heading]]", "Top.md"),
        ("[[Top.md]]", "Top.md"),
        ("[[A title of its own]]", "Top.md"),
        ("[[Nickname]]", "other/Deep Note.md"),
        ("[[other/Deep Note]]", "other/Deep Note.md"),
        ("[[C++]]", "C++.md"),
        ("![[Top]]", "Top.md"),
        ("[[Not There]]", "<Not There>"),
        ("[x](Top.md)", "Top.md"),
        ("[x](./Top.md#part)", "Top.md"),
        ("[x](Top)", "Top.md"),
        ("[x](dir/with%20space.md)", "dir/with space.md"),
        ("[x](/dir/with%20space)", "dir/with space.md"),
        ("[x](dir/)", "dir/index.md"),
        ("[x](dir)", "dir/index.md"),
    ],
)
def test_where_a_link_leads(link: str, target: str) -> None:
    assert targets({**VAULT, "a.md": f"See {link} here."}) == [target]


@pytest.mark.parametrize(
    "link",
    [
        "[x](https://example.org/Top.md)",
        "[x](mailto:Top.md)",
        "[x](missing.md)",
        "[x](../../Top.md)",
        "[x](#here)",
        "![x](Top.png)",
        "![[picture.png]]",
        "[[#Heading]]",
    ],
)
def test_links_that_lead_out(link: str) -> None:
    assert targets({**VAULT, "a.md": f"See {link} here."}) == []


def test_the_nearest_of_one_name() -> None:
    files = {**VAULT, "notes/b.md": "[[Deep Note]]", "other/b.md": "[[Deep Note]]", "a.md": "[[Deep Note]]"}
    assert targets(files, "notes/b.md") == ["notes/Deep Note.md"]
    assert targets(files, "other/b.md") == ["other/Deep Note.md"]
    assert targets(files) == ["notes/Deep Note.md"]


def test_relative_links_start_in_the_folder_of_the_note() -> None:
    files = {"x/y/a.md": "[up](../b.md) [side](c.md)", "x/b.md": "b", "x/y/c.md": "c"}
    assert targets(files, "x/y/a.md") == ["x/b.md", "x/y/c.md"]


def test_two_readmes() -> None:
    files = {"README.md": "[s](sub/)", "sub/README.md": "sub", "sub/a.md": "[[README]]"}
    assert targets(files, "README.md") == ["sub/README.md"]
    assert targets(files, "sub/a.md") == ["sub/README.md"]


def test_odd_targets_are_text() -> None:
    files = {"a.md": "[[a\\b|c]] [[ ]] [[..]] [[{title}]] [[x'); DROP]] [](<>) [[|]]"}
    assert isinstance(targets(files), list)
