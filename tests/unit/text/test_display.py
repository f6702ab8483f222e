from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.display import MARKUP, plain


@pytest.mark.parametrize(
    ("marked", "shown"),
    [
        ("**bold** and *italic* and ***both***", "bold and italic and both"),
        ("_struct_ but snake_case_name and __init__", "struct but snake_case_name and init"),
        ("a [link](x.md) and [ref][id] and ![image](p.png)", "a link and ref and"),
        ("see [[Note]], [[Note|the note]] and [[#Part]]", "see Note, the note and Part"),
        ("![[embed.png]]text", "text"),
        ("`Rc<T>` and ``a ` b`` and `**kept**`", "Rc<T> and a ` b and **kept**"),
        ("line one\n> line two\n  three", "line one line two three"),
        ("a<br>b <b>c</b> &amp; d", "ab c & d"),
        ("foot[^1] note <!-- hidden --> end", "foot note end"),
        (r"escaped \*stars\* and 2 * 3 * 4", "escaped *stars* and 2 * 3 * 4"),
        ("~~gone~~ ==marked==", "gone marked"),
        ("[a](http://x.y/z_(w)) b", "a b"),
        ("中文**粗體**字", "中文粗體字"),
        ("Це **важливо** [тут](a.md)", "Це важливо тут"),
        ("A <SEP> B, Vec<T> and <your name>", "A <SEP> B, Vec<T> and <your name>"),
        ('<Tabs items={a}>one</Tabs> <Tab/> <SPAN class="x">two</SPAN><hr />', "one two"),
        ("{title} <|endoftext|> ## x", "{title} <|endoftext|> ## x"),
    ],
)
def test_markup_goes_and_words_stay(marked, shown):
    assert plain(marked) == shown


@settings(max_examples=200, deadline=None)
@given(st.text(alphabet="ab *_`[]()!<>\\\n^~=%&;|\ue000中1", max_size=60))
def test_any_text_is_shown_on_one_line(text):
    shown = plain(text)
    assert "\n" not in shown
    assert shown == shown.strip()


@pytest.mark.parametrize("rule", MARKUP, ids=lambda rule: rule[1].pattern[:24])
@given(text=st.text(alphabet='ab1 \n<>!-%[]()|#^_*~=\\:/."https', max_size=40))
@settings(max_examples=300)
def test_a_pattern_is_passed_over_only_where_it_matches_nothing(rule, text):
    needed, pattern, _ = rule
    if not any(piece in text for piece in needed):
        assert pattern.search(text) is None
