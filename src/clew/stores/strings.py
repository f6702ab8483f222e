"""Any Python string in UTF-8 storage, reversibly.

Lone surrogates (a file name that isn't valid UTF-8, an escape in a JSON record) have no UTF-8 form, and
DuckDB 1.5 gives up the whole database on one. U+FDD0, a code point that Unicode keeps for internal use,
marks an escape: a surrogate U+Dxxx is stored as U+FDD0 U+10Dxxx, and U+FDD0 itself as U+FDD0 U+FDD0.
All other text, NUL included, is stored as it is.
"""

from __future__ import annotations

import re

MARK = "\ufdd0"
_SHIFT = 0x100000  # U+D800..U+DFFF to U+10D800..U+10DFFF, private use
_ESCAPE = re.compile(f"[\ud800-\udfff{MARK}]")
_ESCAPED = re.compile(f"{MARK}(.)", re.DOTALL)


def needs_escape(text: str) -> bool:
    """Tell whether ``escape`` changes a text."""
    if text.isascii():
        return False
    return MARK in text or not is_utf8(text)


def is_utf8(text: str) -> bool:
    """Tell whether a text has a UTF-8 form, that is, no lone surrogate."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def escape(text: str) -> str:
    """Return a text that UTF-8 can hold; the same text, nearly always."""
    return _ESCAPE.sub(_escaped, text) if needs_escape(text) else text


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    return MARK + (char if char == MARK else chr(ord(char) + _SHIFT))


def unescape(text: str) -> str:
    """Undo ``escape``."""
    return _ESCAPED.sub(_plain, text) if MARK in text else text


def _plain(match: re.Match[str]) -> str:
    char = match[1]
    code = ord(char) - _SHIFT
    return chr(code) if 0xD800 <= code <= 0xDFFF else char
