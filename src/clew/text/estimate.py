"""How many tokens a text has for a model whose tokenizer can't be had: rather too many than too few."""

from __future__ import annotations

import re

# Tokens a character, by kind. Models' tokenizers join four to five letters of English; digits stay alone in
# many; other alphabets come to a token for one to three letters, other scripts to one or two tokens a
# character, and what is rare (emoji) to its bytes.
LETTER, DIGIT, MARK, SPACE = 0.28, 1.0, 1.0, 0.2
TWO_BYTES, THREE_BYTES, FOUR_BYTES = 1.0, 1.8, 3.0
_KINDS = (
    (re.compile(r"[A-Za-z]"), LETTER),
    (re.compile(r"[0-9]"), DIGIT),
    (re.compile(r"[!-/:-@\[-`{-~]"), MARK),
    (re.compile(r"[\x00-\x20\x7f]"), SPACE),
    (re.compile(r"[\x80-\u07ff]"), TWO_BYTES),
    (re.compile(r"[\u0800-\uffff]"), THREE_BYTES),
    (re.compile(r"[\U00010000-\U0010ffff]"), FOUR_BYTES),
)


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text has; 0 for an empty one."""
    found = 0.0
    for kind, tokens in _KINDS:
        found += tokens * sum(map(len, kind.findall(text)))
    return int(found) + 1 if text else 0
