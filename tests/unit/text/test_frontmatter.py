"""YAML frontmatter, the good and the bad."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.frontmatter import parse_frontmatter
from clew.text.markdown import parse_markdown


def front(inner: str) -> dict[str, object]:
    found = parse_frontmatter(f"---\n{inner}\n---\nbody\n")
    assert found is not None
    assert not found.invalid, found.invalid
    json.dumps(found.metadata, allow_nan=False)
    return found.metadata


def named(text: str, kind: str) -> list[tuple[str, str, str]]:
    parsed = parse_markdown(text)
    data = text.encode()
    return [
        (mark.name, mark.value, data[mark.start : mark.end].decode())
        for mark in parsed.marks
        if mark.kind == kind
    ]


def test_values_are_what_json_can_hold() -> None:
    assert front(
        "title: Über\ndate: 2024-03-01\nat: 2024-03-01 12:30:00\nn: 3\nx: .nan\n"
        "big: 123456789012345678901234567890\n"
        "none:\nyes: true\n2024: year\nlist: [a, 1]\nmap: {a: {b: c}}"
    ) == {
        "title": "Über",
        "date": "2024-03-01",
        "at": "2024-03-01T12:30:00",
        "n": 3,
        "x": ".nan",
        "big": "123456789012345678901234567890",
        "none": None,
        "yes": True,
        "2024": "year",
        "list": ["a", 1],
        "map": {"a": {"b": "c"}},
    }


@pytest.mark.parametrize(
    "inner",
    [
        "? [a, b]\n: c",
        "{{x}}: y",
        "a: !!python/object:os.system x",
        "a: !custom {b: c}",
        "d: 2024-13-45",
        "a: &x [1]\nb: *x",
    ],
)
def test_odd_shapes_survive(inner: str) -> None:
    found = parse_frontmatter(f"---\n{inner}\n---\n")
    assert found is None or json.dumps(found.metadata) is not None


def test_names_have_their_places() -> None:
    text = (
        '---\ntitle: "Über 🎉"\naliases:\n  - Erste\n  - "Zweite, lang"\nauthor: "[[Ann Lee|Ann]]"\n'
        'authors: [Bo, {name: Cy}]\ntags: [a/b, "#c"]\nkeywords: d, e\n---\n'
    )
    assert named(text, "title") == [("Über 🎉", "", "Über 🎉")]
    assert named(text, "alias") == [("Erste", "", "Erste"), ("Zweite, lang", "", "Zweite, lang")]
    assert named(text, "person") == [
        ("Ann", "Ann Lee", "[[Ann Lee|Ann]]"),
        ("Bo", "", "Bo"),
        ("Cy", "", "Cy"),
    ]
    assert [name for name, _, _ in named(text, "tag")] == ["a/b", "c", "d", "e"]


def test_links_in_values_are_links() -> None:
    text = '---\nup: "[[Home Page#Top|home]]"\nunquoted: [[Other]]\n---\nbody\n'
    parsed = parse_markdown(text)
    assert [(link.target, link.anchor, link.text) for link in parsed.links] == [
        ("Home Page", "Top", "home"),
        ("Other", "", "Other"),
    ]
    assert [text.encode()[link.start : link.end] for link in parsed.links] == [
        b"[[Home Page#Top|home]]",
        b"[[Other]]",
    ]
    assert parsed.metadata["unquoted"] == "[[Other]]"


@pytest.mark.parametrize(
    "inner",
    [
        "title: a: b",
        "title: [a",
        "title: {{x",
        't: "x',
        "a:\n\t- b",
        "a: *nowhere",
        "a: &a [*a]",
        "a: \0",
        "title: x\n- y",
    ],
)
def test_invalid_yaml_is_kept_as_text_with_a_warning(inner: str) -> None:
    text = f"---\n{inner}\n---\n# Body\n"
    parsed = parse_markdown(text, "name")
    assert "frontmatter is kept as text" in parsed.warnings[0]
    assert parsed.metadata == {}
    assert parsed.title == "Body"
    assert parsed.blocks[0].kind == "paragraph"
    assert parsed.prose[0][0] >= 4


def test_values_without_end_are_refused() -> None:
    lines = ["a: &a [x, x, x, x, x, x, x, x]"]
    lines += [
        f"{b}: &{b} [*{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}, *{a}]"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    found = parse_frontmatter("---\n" + "\n".join(lines) + "\n---\n")
    assert found is not None
    assert "too many" in found.invalid


@pytest.mark.parametrize(
    "text",
    [
        "---\nunclosed: x\n",
        "text\n---\na: b\n---\n",
        "---\n\ntext between rules\n\n---\n",
        "",
        "--- a\n---\n",
    ],
)
def test_what_is_no_frontmatter(text: str) -> None:
    assert parse_frontmatter(text) is None


def test_a_note_of_properties_alone_has_them_as_its_text() -> None:
    parsed = parse_markdown("---\ngenre: strategy\n---\n", "Catan")
    assert [block.kind for block in parsed.blocks] == ["frontmatter"]
    assert len(parsed.sections) == 1
    assert [parsed.text[a:b] for a, b in parsed.prose] == ["genre: strategy\n"]


@given(st.text(alphabet="ab:- \n[]{}\"'&*!|>#%@`,?\\\t1é🎉", max_size=60))
@settings(max_examples=200, deadline=None)
def test_never_raises(inner: str) -> None:
    found = parse_frontmatter(f"---\n{inner}\n---\n")
    if found is not None:
        json.dumps(found.metadata, allow_nan=False)
