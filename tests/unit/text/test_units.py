from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from clew.text.units import source_span, units

NOTE = """\
# A heading

First sentence, with a [link](x.md). Second one
goes over two lines.

- an item of a list
- [ ] a task
  that goes on

1. numbered

> Quoted words.
> They go on.

> [!note] A callout
> Its body.

```rust
fn main() {}
```

| name | use |
|------|-----|
| a    | one |
| b    | two |

[ref]: https://example.org
<div>
***
Setext heading
==============

Last words。最後の文。もう一つ。
"""


def of(text, kind=None):
    return [text[u.start : u.end] for u in units(text) if kind in (None, u.kind)]


def test_sentences_are_prose_only():
    assert of(NOTE, "sentence") == [
        "First sentence, with a [link](x.md).",
        "Second one\ngoes over two lines.",
        "an item of a list",
        "a task\n  that goes on",
        "numbered",
        "Quoted words.",
        "They go on.",
        "Its body.",
        "Last words。",
        "最後の文。",
        "もう一つ。",
    ]


def test_code_is_one_unit_and_a_table_gives_its_rows():
    assert of(NOTE, "code") == ["```rust\nfn main() {}\n```"]
    assert of(NOTE, "row") == ["| a    | one |", "| b    | two |"]


@pytest.mark.parametrize(
    "text",
    [
        "```\nnever closed. Really.",
        "---\ntitle: x\n---\n",
        "<!-- hidden. words. -->",
        "<!--\nhidden. words.\n-->",
        "# Only a heading",
        "{{#include x.md}}",
        "    indented = code()",
        "> ### A heading in a quote",
    ],
)
def test_what_isnt_prose_gives_no_sentence(text):
    assert of(text, "sentence") == []


def test_code_in_a_list_and_a_fence_in_a_longer_fence():
    assert of("- item\n\n  ```py\n  x = 1\n  ```\n- next", "sentence") == ["item", "next"]
    assert of("````\n```\nA. B.\n```\n````\nAfter.", "sentence") == ["After."]


def test_plain_text_has_no_markup():
    assert [u.kind for u in units("# 1. One. Two\n\nThree", markdown=False)] == ["sentence"] * 3


def test_items_are_blocks_of_their_own():
    found = units("Rules are:\n\n- one thing\n- another thing")
    assert [u.block for u in found] == [0, 1, 2]


@settings(max_examples=200, deadline=None)
@example(". >  1")
@given(st.text(alphabet="ab. \n#>-`|*1:é中。\t[]<!{~=", max_size=120))
def test_units_are_disjoint_ascending_and_inside(text):
    at = 0
    for unit in units(text):
        assert at <= unit.start < unit.end <= len(text)
        if unit.kind != "code":
            assert text[unit.start : unit.end].strip() == text[unit.start : unit.end]
        at = unit.end


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-16-be", "gb18030", "cp1251", "latin-1"])
def test_source_offsets_are_exact_in_any_encoding(encoding):
    text = {"gb18030": "中文。abc 中", "cp1251": "Нотатка. ab", "latin-1": "été. ab"}.get(
        encoding, "中😀é. ab"
    )
    data = b"xx" + text.encode(encoding)
    for a in range(len(text)):
        for b in range(a + 1, len(text) + 1):
            span = source_span(text, a, b, 2, len(data), encoding)
            assert span is not None
            assert data[span[0] : span[1]].decode(encoding) == text[a:b]


@pytest.mark.parametrize("bad", [b"\xff", b"\xed\xa0\x80", b"\xe2\x82", b"\xf0\x9f\x98"])
def test_offsets_between_damaged_places(bad):
    data = "à one ".encode() + bad + " two é ".encode() + bad + b" three\n" + bad
    text = data.decode("utf-8", "replace")
    for word in ("à one", "two é", "three"):
        at = text.index(word)
        span = source_span(text, at, at + len(word), 0, len(data), "utf-8")
        assert span is not None
        assert data[slice(*span)].decode() == word


def test_offsets_beside_damaged_bytes():
    data = "à b".encode() + b"\xe2\x82" + "c é".encode()  # the two bytes are shown as one U+FFFD
    text = data.decode("utf-8", "replace")
    damage = text.index("\ufffd")
    before = source_span(text, 0, damage, 0, len(data), "utf-8")
    after = source_span(text, damage + 1, len(text), 0, len(data), "utf-8")
    assert before is not None
    assert after is not None
    assert data[slice(*before)].decode() == "à b"
    assert data[slice(*after)].decode() == "c é"
