"""Citations in a model's text: every form, wherever the pieces of a stream end."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clew.query.bracketed import CITATION, Cited, Splitter, numbers_in

CALM = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)  # the machine may be busy


def split(text: str, cuts: list[int] | None = None) -> list[str | Cited]:
    """Return the parts of a text that comes in pieces, neighbouring texts joined."""
    splitter = Splitter()
    bounds = [0, *sorted(cut % (len(text) + 1) for cut in cuts or []), len(text)]
    found: list[str | Cited] = []
    for start, end in pairwise(bounds):
        found += splitter.feed(text[start:end])
    found += splitter.end()
    joined: list[str | Cited] = []
    for part in found:
        if joined and isinstance(part, str) and isinstance(joined[-1], str):
            joined[-1] += part
        elif part:
            joined.append(part)
    return joined


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("[1]", (1,)),
        ("[1, 2]", (1, 2)),
        ("[1][2]", (1, 2)),
        ("[1] [2], [3]", (1, 2, 3)),
        ("[2-4]", (2, 3, 4)),
        ("[2 – 4, 7]", (2, 3, 4, 7)),
        ("【1】", (1,)),
        ("［１，２］", (1, 2)),
        ("〔3〕", (3,)),
        ("[^1]", (1,)),
        ("[note 1]", (1,)),
        ("[Passage 1; Passage 3]", (1, 3)),
        ("[джерело 2]", (2,)),
        ("【4†source】", (4,)),
        ("[1: title]", (1,)),
        ("[٣]", (3,)),
        ("[1, 1][1]", (1,)),
        ("[4-2]", (4, 2)),
        ("[1-1000000]", (1, 1000000)),
    ],
)
def test_each_form_is_read(text: str, numbers: tuple[int, ...]) -> None:
    assert split(f"So {text}. On") == ["So", Cited(numbers, " "), ". On"]
    assert numbers_in(text) == numbers


@pytest.mark.parametrize(
    "text",
    [
        "a `list[0]` of [x] and [ ] [text](https://a.example/1) [[Note 1 on it]]",
        "```\nx = a[1]\n```\n",
        "~~~\na[1]\n```\nb[2]\n~~~\n",
        "``a[1]`` ",
        "[",
        "see [1",
        "[12\n]",
        "[a1] [-1] []",
    ],
)
def test_what_is_no_citation_stays(text: str) -> None:
    assert split(text) == [text]


TEXTS = st.lists(
    st.sampled_from(
        [*"a [],-1`é\n", ". ", "[1]", "[2, 3]", "``", "```", "\n```\n", "~~~", "【4】", "[^", "    "],
    )
).map("".join)


@CALM
@given(TEXTS | st.text(), st.lists(st.integers(0, 1000), max_size=12))
def test_where_pieces_end_makes_no_difference(text: str, cuts: list[int]) -> None:
    assert split(text, cuts) == split(text)


@CALM
@given(TEXTS)
def test_no_citation_is_left_in_text_outside_code(text: str) -> None:
    parts = [part for part in split(text) if isinstance(part, str)]
    left = [
        found for part in parts if "`" not in text and "~" not in text for found in CITATION.findall(part)
    ]
    assert not left


@CALM
@given(TEXTS)
def test_nothing_but_citations_is_lost(text: str) -> None:
    def letters(of: str) -> str:
        return "".join(char for char in of if char in "aé`~.\n")

    assert letters("".join(part for part in split(text) if isinstance(part, str))) == letters(text)
