"""Passages: borders, sizes, overlap."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.ingest.chunk import BYTES_PER_TOKEN, chunk
from clew.options import ChunkOptions
from clew.text.markdown import parse_markdown
from clew.text.plain import parse_plain
from clew.types import Ints, ParsedDocument

WORD = re.compile(r"\w|[^\w\s]")


class Letters:
    """A tokenizer with one token for each character that isn't white space."""

    name = "letters"

    def offsets(self, texts: Sequence[str]) -> list[Ints]:
        return [np.array([m.start() for m in WORD.finditer(text)], dtype=np.int32) for text in texts]


class Words:
    """A tokenizer with one token for each word, however long."""

    name = "words"

    def offsets(self, texts: Sequence[str]) -> list[Ints]:
        return [np.array([m.start() for m in re.finditer(r"\S+", text)], dtype=np.int32) for text in texts]


def cut(
    text: str, size: int, overlap: int = 0, is_record: bool = False, record_size: int = 4096
) -> list[str]:
    parsed = parse_plain(text) if is_record else parse_markdown(text)
    options = ChunkOptions(size=size, overlap=overlap, record_size=record_size)
    return texts(parsed, options, is_record)


def texts(parsed: ParsedDocument, options: ChunkOptions, is_record: bool = False) -> list[str]:
    spans = chunk(parsed, Words(), options, 256, is_record)
    data = parsed.text.encode()
    found = [data[span.start : span.end].decode() for span in spans]
    for span, text in zip(spans, found, strict=True):
        assert text == text.strip(" \t\r\n")
        assert span.n_tokens == len(text.split()) or (len(text) > 500 and span.n_tokens == 2)
    return found


def words(n: int, first: str = "w") -> str:
    return " ".join(f"{first}{i}" for i in range(n))


def test_a_small_section_is_one_passage_with_its_heading() -> None:
    assert cut("# A\n\none\n\n- two\n- three\n\n# B\n\nfour\n", 50) == [
        "# A\n\none\n\n- two\n- three",
        "# B\n\nfour",
    ]


def test_blocks_stay_whole_where_they_fit() -> None:
    a, b, c = words(6, "a"), words(6, "b"), words(3, "c")
    assert cut(f"{a}\n\n{b}\n\n{c}\n", 10) == [a, f"{b}\n\n{c}"]


def test_a_long_paragraph_ends_at_sentences() -> None:
    one, two, three = (f"{words(6, x)}." for x in "ABC")
    assert cut(f"{one} {two} {three}", 13) == [f"{one} {two}", three]


def test_a_heading_goes_with_the_beginning_of_a_long_paragraph() -> None:
    one, two = (f"{words(6, x)}." for x in "AB")
    assert cut(f"# H\n\n{one} {two}", 10) == [f"# H\n\n{one}", two]


def test_bare_headings_begin_the_next_passage_below_them() -> None:
    assert cut("# A\n\n## B\n\ntext\n", 50) == ["# A\n\n## B\n\ntext"]
    assert cut("## A\n\n## B\n\ntext\n", 50) == ["## A\n\n## B\n\ntext"]
    assert cut("# A\n\n### C\n\n## B\n\ntext\n", 50) == ["# A\n\n### C", "## B\n\ntext"]
    assert cut("# A\n", 50) == ["# A"]


@pytest.mark.parametrize("atom", ["```\n" + "x y\n\n" * 8 + "```", "| a b |\n|---|\n" + "| c |\n" * 5])
def test_fences_and_tables_that_fit_are_whole(atom: str) -> None:
    size = len(atom.split()) + 1
    found = cut(f"# H\n\n{words(size - 1)}\n\n{atom}\n\n{words(size - 1)}\n", size)
    assert any(atom.strip() in text for text in found)


def test_a_fence_that_does_not_fit_is_cut_between_lines() -> None:
    lines = [f"let x{i} = {i};" for i in range(20)]
    found = cut("```\n" + "\n".join(lines) + "\n```", 13)
    assert len(found) > 5
    assert all(line in lines or line == "```" for text in found for line in text.split("\n"))


def test_overlap_repeats_whole_sentences() -> None:
    text = " ".join(f"{words(4, chr(65 + i))}." for i in range(12))
    found = cut(text, 20, overlap=8)
    assert all(len(passage.split()) <= 20 for passage in found)
    for one, two in pairwise(found):
        shared = " ".join(two.split()[:8])
        assert one.endswith(shared)


def test_overlap_stays_within_a_section() -> None:
    assert cut("# A\n\none two. three four.\n\n# B\n\nfive", 6, overlap=3) == [
        "# A\n\none two. three four.",
        "# B\n\nfive",
    ]


def test_600_tokens_with_100_of_overlap() -> None:
    text = "\n\n".join(" ".join(f"{words(9, f'P{p}s{s}x')}." for s in range(12)) for p in range(30))
    found = cut(text, 600, overlap=100)
    sizes = [len(passage.split()) for passage in found]
    assert max(sizes) <= 600
    assert min(sizes[:-1]) > 400
    everything = set(" ".join(found).split())
    assert everything == set(text.split())
    assert sum(sizes) > len(text.split())


@pytest.mark.parametrize("unit", ["a", "汉", "👩‍👩‍👧‍👦", "e\u0301", "\u0e01\u0e34", "🇺🇦"])
def test_no_space_at_all(unit: str) -> None:
    text = unit * 10000
    found = cut(text, 64)
    assert "".join(found) == text
    assert "\ufffd" not in "".join(found)
    for passage in found:
        assert len(passage.encode()) <= 64 * BYTES_PER_TOKEN
        assert len(regex.findall(r"\X", passage)) == len(regex.findall(r"\X", unit)) * passage.count(unit)


def test_a_record_is_one_passage_up_to_its_own_limit() -> None:
    text = ". ".join(words(9, chr(65 + i)) for i in range(10)) + "."
    assert cut(text, 20, is_record=True) == [text]
    assert len(cut(text, 20, is_record=True, record_size=50)) > 3


def test_frontmatter_comments_and_rules_are_no_passages() -> None:
    assert cut("---\na: 1\n---\n\n<!-- x -->\n\n***\n\ntext\n\n---\n\n<!-- y -->\n", 50) == ["text"]
    assert cut("", 50) == []
    assert cut("<!-- only -->", 50) == []


def test_invalid_frontmatter_is_in_a_passage() -> None:
    assert cut("---\na: b: c\n---\nbody\n", 50) == ["a: b: c\n---\nbody"]


def test_the_default_leaves_room_for_title_and_headings() -> None:
    text = " ".join(f"{words(9, chr(65 + i % 26))}." for i in range(100))
    spans = chunk(parse_plain(text), Words(), ChunkOptions(), 256, False)
    assert max(span.n_tokens for span in spans) in range(200, 225)


PIECES = st.sampled_from(
    ["# H\n\n", "word ", "end. ", "\n\n", "- item\n", "```\ncode\n```\n\n", "|a|b|\n|-|-|\n|c|d|\n\n",
     "> quote\n", "汉字。", "🎉", "e\u0301", "x" * 70, "\n", "---\n",
     "<b>t</b> ", "`c` ", "[[n]] ", "## \n\n"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=60).map("".join), st.integers(1, 40), st.integers(0, 20))
@settings(max_examples=200, deadline=None)
def test_passages_cover_all_prose_within_their_sections(text: str, size: int, overlap: int) -> None:
    parsed = parse_markdown(text)
    spans = chunk(parsed, Letters(), ChunkOptions(size=size, overlap=overlap), 256, False)
    data = text.encode()
    covered = bytearray(len(data))
    last = (-1, -1)
    for span in spans:
        data[span.start : span.end].decode()
        assert (span.start, span.end) > last
        assert span.end <= parsed.sections[span.section].end
        last = (span.start, span.end)
        covered[span.start : span.end] = b"\1" * (span.end - span.start)
        assert span.n_tokens <= max(size, 25)  # one grapheme may have more tokens than a tiny size allows
    for start, end in (*parsed.prose, *parsed.code):
        for place in range(start, end):
            assert covered[place] or data[place : place + 1].isspace(), data[start:end]
