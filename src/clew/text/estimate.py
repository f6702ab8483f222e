"""How many tokens a text has for a model whose tokenizer can't be had: rather too many than too few.

The weights are those that leave no sample in some twenty languages, of code, tables and numbers below the
count of any tokenizer that Clew can run: two of them know English best, and set the weights of all else. One
that knows many languages makes fewer: of Chinese half as many, of Korean a sixth.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clew.text.language import detect

# Tokens a character, by kind. English is what all tokenizers join best, four letters and more to a token: a
# text that is English for certain has a weight of its own, which saves half of a window.
ENGLISH, OTHER = 0.26, 0.48
_LOWER = re.compile(r"[a-z]")
_KINDS = (
    (re.compile(r"[A-Z]"), 0.6),  # in headings and acronyms they are joined less
    (re.compile(r"[0-9]"), 1.25),
    (re.compile(r"[!-/:-@\[-`{-~]"), 1.0),
    (re.compile(r"[\x00-\x20\x7f]"), 0.2),
    (re.compile(r"[\x80-\u024f]"), 2.4),  # Latin letters with marks: two bytes, and they break a word
    (re.compile(r"[\u0250-\u052f]"), 1.1),  # Greek, Cyrillic
    (re.compile(r"[\u0530-\u05ff]"), 1.4),  # Armenian, Hebrew
    (re.compile(r"[\u0600-\u07ff]"), 1.25),  # Arabic
    (re.compile(r"[\u0800-\u0dff]"), 1.6),  # of India
    (re.compile(r"[\u0e00-\u1dff]"), 2.3),  # Thai, Georgian, Ethiopic and others: up to three bytes each
    (re.compile(r"[\u1e00-\u1eff]"), 2.5),  # Vietnamese
    (re.compile(r"[\u1f00-\u303f\ud800-\uffff]"), 2.5),  # signs, full-width forms, halves of a pair
    (re.compile(r"[\u3040-\u31ff]"), 1.9),  # kana
    (re.compile(r"[\u3200-\uabff]"), 1.9),  # Han
    (re.compile(r"[\uac00-\ud7ff]"), 3.0),  # Hangul
    (re.compile(r"[\U00010000-\U0010ffff]"), 3.0),
)
WINDOW = 1200  # characters of one language: a prompt holds passages in several


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has; 0 for an empty one."""
    found = sum(_tokens(window) for window in _windows(text))
    return int(found) + 1 if text else 0


def _tokens(text: str) -> float:
    letters = len(_LOWER.findall(text))
    found = letters * (ENGLISH if letters and detect(text) == "en" else OTHER)
    for kind, tokens in _KINDS:
        found += tokens * len(kind.findall(text))
    return found


def _windows(text: str) -> Iterator[str]:
    """Yield a text in parts that end at a line's end where one is near."""
    at = 0
    while at < len(text):
        end = min(at + WINDOW, len(text))
        if end < len(text):
            end = text.rfind("\n", at + WINDOW // 2, end) + 1 or end
        yield text[at:end]
        at = end
