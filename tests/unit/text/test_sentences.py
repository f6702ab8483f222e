"""Sentences in several scripts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.sentences import sentences


def split(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("One", ["One"]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("J. R. R. Tolkien wrote it in 1954. It sold.", ["J. R. R. Tolkien wrote it in 1954.", "It sold."]),
        ("Pi is 3.14 and e is 2.72. Yes.", ["Pi is 3.14 and e is 2.72.", "Yes."]),
        ("Am 3. Oktober ist z. B. das Fest. Gut.", ["Am 3. Oktober ist z. B. das Fest.", "Gut."]),
        ("“Ok.” She left.", ["“Ok.”", "She left."]),
        ("“Halt!” he called. “Who?” Nobody.", ["“Halt!” he called.", "“Who?”", "Nobody."]),
        ("„Halt!“ rief er. „Wer?“ Niemand.", ["„Halt!“ rief er.", "„Wer?“", "Niemand."]),
        ("»Halt!« rief er. »Wer?« Niemand.", ["»Halt!« rief er.", "»Wer?«", "Niemand."]),
        ("«Стій!» крикнув він (чому?) тихо. Ні.", ["«Стій!» крикнув він (чому?) тихо.", "Ні."]),
        ("他说。“好。”他走了。", ["他说。", "“好。”", "他走了。"]),
        ("今天好。明天呢？“好！”他说。", ["今天好。", "明天呢？", "“好！”", "他说。"]),
        ("今日は。「はい。」と言った。", ["今日は。", "「はい。」", "と言った。"]),
        ("هل هذا صحيح؟ نعم. لا", ["هل هذا صحيح؟", "نعم.", "لا"]),
        ("यह है। वह था।", ["यह है।", "वह था।"]),
        ("Він спить. Вона ні.", ["Він спить.", "Вона ні."]),
        ("A title\n\nA text\nof two lines", ["A title", "A text\nof two lines"]),
        ("Items:\n- one\n- two\n1. three", ["Items:", "- one", "- two", "1. three"]),
        ("The [[Tide Gauge No. 3]] runs. Good.", ["The [[Tide Gauge No. 3]] runs.", "Good."]),
        ("Siehe Nr. 5 und рис. 400. Ende.", ["Siehe Nr. 5 und рис. 400.", "Ende."]),
        ("Read [What? Why.](a.md) now. `a. B` too.", ["Read [What? Why.](a.md) now.", "`a. B` too."]),
        ("  padded.   text  ", ["padded.   text"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert split(text) == expected


@given(st.text(alphabet=' \n.!?。-Aa1я今"”', max_size=60))
@settings(max_examples=150, deadline=None)
def test_nothing_but_white_space_is_left_out(text: str) -> None:
    spans = sentences(text)
    at = 0
    for start, end in spans:
        assert at <= start < end
        assert not text[at:start].strip()
        assert text[start:end] == text[start:end].strip()
        at = end
    assert not text[at:].strip()
