"""Markdown as people write it."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.markdown import parse_markdown
from clew.types import ParsedDocument


def at(parsed: ParsedDocument, start: int, end: int) -> str:
    return parsed.text.encode()[start:end].decode()


def marks(parsed: ParsedDocument, kind: str) -> list[tuple[str, str]]:
    return [(mark.name, mark.value) for mark in parsed.marks if mark.kind == kind]


def links(parsed: ParsedDocument) -> list[tuple[str, str, str, str]]:
    return [(link.kind, link.target, link.anchor, link.text) for link in parsed.links]


def prose(text: str) -> str:
    parsed = parse_markdown(text)
    return "|".join(at(parsed, *span).strip() for span in parsed.prose)


def check(parsed: ParsedDocument) -> None:
    """Every span is in range, in order, and between characters."""
    size = len(parsed.text.encode())
    for spans in (parsed.prose, parsed.code, [(b.start, b.end) for b in parsed.blocks]):
        last = 0
        for start, end in spans:
            assert last <= start < end or (start == end and spans is parsed.code)
            at(parsed, start, end)
            last = end
        assert last <= size
    for thing in (*parsed.links, *parsed.marks, *parsed.sections):
        assert 0 <= thing.start <= thing.end <= size
        at(parsed, thing.start, thing.end)
    starts = [mark.start for mark in parsed.marks]
    assert starts == sorted(starts)
    last = 0
    for section in parsed.sections:
        assert section.start >= last
        last = section.end
    json.dumps(parsed.metadata, allow_nan=False).encode()


def test_sections_have_their_path() -> None:
    parsed = parse_markdown("intro\n\n# A\n\ntext\n\n### B\n\n## C\n\nSetext\n======\n\nend\n")
    assert [(s.level, s.path) for s in parsed.sections] == [
        (0, ()),
        (1, ("A",)),
        (3, ("A", "B")),
        (2, ("A", "C")),
        (1, ("Setext",)),
    ]
    assert [at(parsed, s.start, s.end)[:3] for s in parsed.sections] == ["int", "# A", "###", "## ", "Set"]


def test_no_section_before_a_first_heading() -> None:
    assert [s.path for s in parse_markdown("---\na: 1\n---\n# A\n").sections] == [("A",)]


def test_title_from_frontmatter_then_heading_then_name() -> None:
    assert parse_markdown("---\ntitle: Front\n---\n# Head", "name").title == "Front"
    assert parse_markdown("## Sub\n\n# Head *x* &amp; `y`", "name").title == "Head x & y"
    assert parse_markdown("## Sub", "name").title == "name"
    parsed = parse_markdown("## Sub\n\n# Head")
    assert [at(parsed, m.start, m.end) for m in parsed.marks if m.kind == "title"] == ["Head"]


def test_wikilinks_in_all_their_forms() -> None:
    text = (
        "[[Note]] [[a/b Note|shown *so*]] [[Note#Head]] [[Note#^block|x]] [[#Here]] ![[Embed]] "
        "![[p.png|200]]\n"
        "\n| a |\n|---|\n| [[cell\\|alias]] |\n"
    )
    parsed = parse_markdown(text)
    assert links(parsed) == [
        ("wikilink", "Note", "", "Note"),
        ("wikilink", "a/b Note", "", "shown so"),
        ("wikilink", "Note", "Head", "Note#Head"),
        ("wikilink", "Note", "^block", "x"),
        ("wikilink", "", "Here", "#Here"),
        ("embed", "Embed", "", "Embed"),
        ("embed", "p.png", "", "200"),
        ("wikilink", "cell", "", "alias"),
    ]
    assert [at(parsed, link.start, link.end) for link in parsed.links[:2]] == [
        "[[Note]]",
        "[[a/b Note|shown *so*]]",
    ]
    assert ("shown so", "a/b Note") in marks(parsed, "link")
    assert "a/b" not in prose(text)
    assert "p.png" not in prose(text)
    assert marks(parsed, "tag") == []


def test_links_are_decoded_and_divided_from_their_anchor() -> None:
    text = (
        '[one](a%20b.md#part%201) [two](<c d.md> "t") ![pic](i.png) [three][ref] <https://x.y/z>\n\n'
        "[ref]: ../r%C3%BC.md\n"
    )
    assert links(parse_markdown(text)) == [
        ("link", "a b.md", "part 1", "one"),
        ("link", "c d.md", "", "two"),
        ("image", "i.png", "", "pic"),
        ("link", "../rü.md", "", "three"),
        ("link", "https://x.y/z", "", "https://x.y/z"),
    ]
    assert prose(text) == "[one|[two|![pic|[three"


def test_html_links_and_text() -> None:
    text = (
        '<div align="center">\n<a href="n%20o.md">Seen</a> words <!-- hidden -->\n</div>\n\n'
        'para <b>bold</b> <a href="q.md">Q</a>\n'
    )
    parsed = parse_markdown(text)
    assert [link[:2] for link in links(parsed)] == [("link", "n o.md"), ("link", "q.md")]
    seen = prose(text)
    assert "Seen" in seen
    assert "words" in seen
    assert "bold" in seen
    for hidden in ("hidden", "center", "href", "div"):
        assert hidden not in seen


def test_words_in_angle_brackets_are_text() -> None:
    text = "# Models <SEP> Markers\n\nThe <SEP>, Vec<T>, <your name>, <b>bold</b> <Tab/>.\n\n<PAD>\n\nEnd\n"
    parsed = parse_markdown(text)
    assert parsed.title == "Models <SEP> Markers"
    assert [section.title for section in parsed.sections] == ["Models <SEP> Markers"]
    seen = prose(text)
    for shown in ("<SEP>", "Vec<T>", "<your name>", "<PAD>", "End"):
        assert shown in seen
    for hidden in ("<b>", "<Tab/>"):
        assert hidden not in seen


def test_comments_are_not_prose() -> None:
    seen = prose("seen %%hidden%% also\n\n%%\nhidden block\n%%\n\n<!-- hidden\n\nhidden -->\n\nend\n")
    assert "hidden" not in seen
    assert "also" in seen
    assert "end" in seen


def test_percent_signs_in_code_are_no_comment() -> None:
    assert "kept" in prose("a `%%` kept `%%` b")


def test_urls_and_code_blocks_are_not_prose() -> None:
    seen = prose("see https://example.com/a_b?c=d. Then\n\n```rust\nlet hidden = 1;\n```\n\n    indented\n")
    assert seen == "see|. Then"


def test_code_spans_and_blocks_are_code() -> None:
    parsed = parse_markdown("use `Vec<T>` and ``a`b``\n\n- item\n  ```\n  code\n  ```\n  after\n")
    assert [at(parsed, *span) for span in parsed.code][:2] == ["Vec<T>", "a`b"]
    assert marks(parsed, "code") == [("Vec<T>", ""), ("a`b", "")]
    assert [block.kind for block in parsed.blocks] == ["paragraph", "list", "code", "list"]


def test_tags_as_obsidian_has_them() -> None:
    text = (
        "#one (#two/sub) #тег #标签 #a-b_c, #1984 #y1984 x#no `#code` https://x.y/#url\n\n# Heading #four\n\n"
        "[l](#anchor) \\#escaped ## 中文，#标记 end #emoji🎉 #tail/\n"
    )
    parsed = parse_markdown(text)
    values = [value for _, value in marks(parsed, "tag")]
    assert values == ["one", "two/sub", "тег", "标签", "a-b_c", "y1984", "four", "标记", "emoji🎉", "tail"]
    for mark in parsed.marks:
        if mark.kind == "tag":
            assert at(parsed, mark.start, mark.end) == "#" + mark.value


def test_quotations_of_many_languages() -> None:
    text = (
        "“English one” „deutsch so“ «по-нашому» 「日本語」 『本』 《红楼梦》 "
        '"straight" it\'s 5" x 6" a `"code"`\n'
    )
    names = [name for name, _ in marks(parse_markdown(text), "quoted")]
    assert names == ["English one", "deutsch so", "по-нашому", "日本語", "本", "红楼梦", "straight"]


def test_emphasis_and_strong() -> None:
    parsed = parse_markdown("**Strong name** and *emph* and ***both***")
    assert ("Strong name", "") in marks(parsed, "strong")
    assert ("emph", "") in marks(parsed, "emphasis")
    assert ("both", "") in marks(parsed, "strong")


def test_callouts_and_footnotes() -> None:
    text = "> [!faq]- Title\n> body[^1]\n\n> [!NOTE]\n> second\n\n[^1]: The note.\n"
    parsed = parse_markdown(text)
    assert [block.kind for block in parsed.blocks] == ["quote", "quote", "footnote"]
    assert prose(text).split("|")[0].startswith("Title")
    assert "faq" not in prose(text)
    assert "The note." in prose(text)


def test_tasks_tables_and_lists_by_item() -> None:
    parsed = parse_markdown("- [ ] open\n- [x] done\n\n| a | b |\n|---|---|\n| 1 | 2 |\n")
    assert [(b.kind, at(parsed, b.start, b.end)) for b in parsed.blocks] == [
        ("list", "- [ ] open"),
        ("list", "- [x] done"),
        ("table", "| a | b |\n|---|---|\n| 1 | 2 |"),
    ]


def test_a_mark_at_the_beginning_hides_nothing() -> None:
    parsed = parse_markdown("\ufeff---\ntitle: T\n---\n# Ü\n")
    assert parsed.title == "T"
    assert [at(parsed, s.start, s.end) for s in parsed.sections] == ["# Ü\n"]


def test_windows_line_ends() -> None:
    parsed = parse_markdown("---\r\ntitle: T\r\n---\r\n# H\r\n\r\none\r\ntwo\r\n")
    assert parsed.metadata == {"title": "T"}
    assert [at(parsed, b.start, b.end) for b in parsed.blocks][1:] == ["# H", "one\r\ntwo"]


def test_nul_stays_nul() -> None:
    parsed = parse_markdown("# a\0b\n\n[[c\0d]] `e\0f`")
    assert parsed.title == "a\0b"
    assert marks(parsed, "code") == [("e\0f", "")]


@pytest.mark.parametrize(
    "text",
    [
        ">" * 30000 + " x",
        "\n".join("  " * i + "- x" for i in range(500)),
        "- " * 5000 + "x",
        "[" * 20000,
        "*a **b " * 5000,
        "<div>" * 5000,
        "<a " * 10000,
        "%% a\n" * 5000,
        "“a " * 10000,
        "#" * 30000,
        "http://" * 5000,
        "://" * 10000,
        "[a](b " * 5000,
        "[[" * 10000,
        "|" * 30000,
        "---\na: " + "[" * 50000 + "\n---\nx",
        "---\n" + "? " * 20000 + "\n---\nx",
    ],
    ids=range(17),
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    began = time.process_time()
    check(parse_markdown(text))
    assert time.process_time() - began < 5


PIECES = st.sampled_from(
    ["# ", "## ", "> ", "- ", "1. ", "\n", "\n\n", "```\n", "`", "*", "**", "[[", "]]", "|", "![", "](", ")",
     "<b>", "<!--", "-->", "%%", "#tag", "---\n", "a: b\n", "é", "汉", "🎉", "word ", " ", "[^1]", ": ",
     "\r\n", "http://x.y", "“", "”", "\ufeff", "\\", "&amp;", "~~", "\t", "|-|\n", "- [ ] ", "title: x\n"]
)  # fmt: skip


@given(st.lists(PIECES, max_size=40).map("".join))
@settings(max_examples=300, deadline=None)
def test_any_mixture_has_spans_in_order(text: str) -> None:
    parsed = parse_markdown(text, "name")
    check(parsed)
    assert parsed.text == text
