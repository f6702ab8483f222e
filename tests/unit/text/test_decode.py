"""Bytes to text: every encoding, and the way back from text offsets to source offsets."""

from __future__ import annotations

import random
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.decode import decode
from clew.text.tokens import byte_offsets

WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
MIXED = "Über die Brücke. Сьогодні їжак спить; 今天我们学习了 🎉 end\nline two\n"
GUESSED = {
    "gb2312": "今天我们学习了机器学习的基本概念，包括监督学习和无监督学习。",
    "gb18030": "今天我们学习了机器学习的基本概念，包括监督学习。",
    "big5": "今天我們學習了機器學習的基本概念，包括監督學習和無監督學習。",
    "shift_jis": "今日は機械学習の基本的な概念を学びました。脳を模したモデルです。",
    "euc-jp": "今日は機械学習の基本的な概念を学びました。脳を模したモデルです。",
    "euc-kr": "오늘 우리는 기계 학습의 기본 개념을 배웠습니다.",
    "koi8-u": "Сьогодні ми вивчили основні поняття машинного навчання. Їжак живе у лісі. " * 4,
    "cp1251": "Сьогодні ми вивчили основні поняття машинного навчання. Їжак живе у лісі. " * 4,
    "latin-1": "Über die Brücke gehen schöne Mädchen und fröhliche Männer, weil es Spaß macht.",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
}


def check_spans(data: bytes, text: str, errors: str = "strict") -> None:
    """Every span between characters must decode to the text there."""
    decoded = decode(data)
    assert decoded.text == text
    offsets = byte_offsets(text)
    places = decoded.to_source(offsets)
    assert places[0] == 0
    dice = random.Random(1)
    for _ in range(50):
        low, high = sorted(dice.choices(range(len(text) + 1), k=2))
        assert data[places[low] : places[high]].decode(decoded.encoding, errors) == text[low:high]


@pytest.mark.parametrize("encoding", ["utf-8", *WIDE])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_unicode_with_and_without_a_mark(encoding: str, mark: str) -> None:
    text = mark + MIXED
    check_spans(text.encode(encoding), text)


def test_utf8_offsets_are_source_offsets_even_with_a_mark() -> None:
    decoded = decode("\ufeffüber".encode())
    assert decoded.chars is None
    assert decoded.encoding == "utf-8"


@pytest.mark.parametrize(("encoding", "text"), GUESSED.items())
def test_other_encodings_are_guessed_and_said_so(encoding: str, text: str) -> None:
    text = "# Note\n\n" + text
    data = text.encode(encoding)
    check_spans(data, text)
    assert "guess" in decode(data).warnings[0]


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize(
    "text", ["a b", "Привет, мир", "今天我们学习了机器学习，包括监督学习。", "한국어 텍스트"]
)
def test_short_texts_without_a_mark(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)).text == text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_survives_utf16_with_a_mark(text: str) -> None:
    text = "\ufeff" + text
    check_spans(text.encode("utf-16-le"), text)


@given(st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_utf8_is_itself_or_refused(text: str) -> None:
    data = text.encode("utf-8", "replace")
    try:
        decoded = decode(data)
    except ValueError:
        assert any(char < " " or char == "\x7f" for char in text)
        return
    if decoded.encoding == "utf-8":
        assert decoded.text.encode() == data


@given(st.binary(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    try:
        decoded = decode(data)
    except ValueError:
        return
    places = decoded.to_source(byte_offsets(decoded.text))
    assert np.all(np.diff(places) > 0)
    assert places[-1] <= len(data)
    assert data[: places[-1]].decode(decoded.encoding, "replace") == decoded.text


def test_damaged_utf8_keeps_the_rest() -> None:
    data = ("Сьогодні їжак спить. " * 20).encode()[:-2] + b"\xd1 abc " + "кінець".encode()
    decoded = decode(data)
    assert decoded.encoding == "utf-8"
    assert decoded.text.endswith("abc кінець")
    assert decoded.text.count("\ufffd") == 1
    check_spans(data, decoded.text, errors="replace")
    assert "U+FFFD" in decoded.warnings[0]


def test_a_few_nul_bytes_are_kept() -> None:
    decoded = decode(b"some text with a hole \0 in it" + b" and more of it" * 10)
    assert "\0" in decoded.text
    assert "NUL" in decoded.warnings[0]


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0",
        zlib.compress(random.Random(2).randbytes(5000)),
        random.Random(3).randbytes(3001),
        b"\0" * 100,
        b"\x7fELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0",
    ],
)
def test_binary_data_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"binary|encoding"):
        decode(data)


def test_stateful_encodings_are_refused_or_ascii() -> None:
    data = "日本語のテキスト".encode("iso2022_jp")
    decoded = decode(data)  # plain ASCII with escapes: nothing better can be done without state
    assert decoded.encoding == "utf-8"


def test_half_a_last_character_of_utf16_is_left_out() -> None:
    decoded = decode("\ufeffabc".encode("utf-16-le") + b"x")
    assert decoded.text == "\ufeffabc"
    assert "half a character" in decoded.warnings[0]
