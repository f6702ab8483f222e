from __future__ import annotations

import pytest

from clew.text.estimate import estimate_tokens
from clew.text.subword import encodable

# Tokens that a byte-level tokenizer for English (SmolLM2's, of 49,152) makes of these: the worst that is met.
COUNTED = {
    "Одіссей повернувся додому після двадцяти років мандрів.": 46,
    "借用检查器不允许两个可变引用同时存在。": 31,
    "2023-10-20 3.14159 1,234,567": 28,
    "The borrow checker refuses two mutable references to one value.": 12,
}


@pytest.mark.parametrize("text", COUNTED)
def test_an_estimate_is_rather_too_high(text: str) -> None:
    assert 0.95 * COUNTED[text] <= estimate_tokens(text) <= 2 * COUNTED[text]


def test_any_text_has_an_estimate_and_a_longer_one_has_a_higher() -> None:
    assert estimate_tokens("") == 0
    for text in ("a", " ", "\0", "lone \ud800", "👩‍👩‍👧", "\u00a0", "\x7f"):
        assert 1 <= estimate_tokens(text) <= estimate_tokens(text * 10)
        assert estimate_tokens(encodable(text)) == estimate_tokens(text)
