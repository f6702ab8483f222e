"""Any text can be stored as UTF-8 and comes back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.stores.strings import escape, unescape


@given(st.text(st.characters() | st.sampled_from("\ufdd0\ud800\udfff\U0010d800\U0010dfff")))
def test_any_text_comes_back(text: str) -> None:
    stored = escape(text)
    stored.encode()  # has a UTF-8 form
    assert unescape(stored) == text


@pytest.mark.parametrize("text", ["", "plain", "a\0b", "日本 🧶", "\U0010d800", "\ufffd", "שלום"])
def test_nearly_all_text_is_stored_as_it_is(text: str) -> None:
    assert escape(text) == text


@given(
    st.text(st.sampled_from("a\ufdd0\ud800\U0010d800"), max_size=6),
    st.text(st.sampled_from("a\ufdd0\ud800\U0010d800"), max_size=6),
)
def test_texts_that_differ_are_stored_differently(a: str, b: str) -> None:
    assert (escape(a) == escape(b)) == (a == b)
