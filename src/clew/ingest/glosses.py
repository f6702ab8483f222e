"""Names in another script, put in brackets after a name: "佐藤葵 (Sato Aoi)", «Лесь Курбас (Les Kurbas)»."""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from clew.ingest.names import MAX_TOKENS
from clew.ingest.resolve import SURE_HEADING, Register
from clew.ingest.spans import Line
from clew.types import Longs, TokenFlag

GAP_BYTES = 4  # of a space and a bracket; a wide bracket has three
OPEN, CLOSE = "(（", ")）"
# First letters of the scripts that names are written in.
SCRIPTS = {0x41: 1, 0x370: 2, 0x400: 3, 0x530: 4, 0x590: 5, 0x600: 6, 0x750: 7, 0x1E00: 1, 0x1F00: 2}
SCRIPTS |= {0x2000: 7, 0x3040: 8, 0xA000: 7, 0xAC00: 9, 0xD800: 7, 0x20000: 8, 0x30000: 7}
BORDERS = sorted(SCRIPTS)


def script(word: str) -> int:
    """Return a number for the script of a word's first letter, 0 for a digit."""
    at = bisect_right(BORDERS, ord(word[0]))
    return SCRIPTS[BORDERS[at - 1]] if at and word[0].isalpha() else 0


def add_glosses(register: Register, line: Line) -> None:
    """Give names that are known the spelling in another script that stands in brackets after them.

    It becomes a name of theirs, unless something else that structure defines has it.
    """
    scripts = np.fromiter(map(script, line.corpus.words), dtype=np.int8, count=len(line.corpus.words))
    for at in _opened(line, scripts).tolist():
        end = _closed(line, scripts, at)
        owner = _named_before(register, line, at) if end else -1
        if owner < 0:
            continue
        key = line.key(at, end)
        other = register.by_key.get(key, owner)
        if other != owner and (
            register.entries[other].structural or register.entries[other].kind != "entity"
        ):
            continue
        register.spell(owner, line.surface(at, end))
        register.by_key[key] = owner


def _opened(line: Line, scripts: np.ndarray[tuple[int], np.dtype[np.int8]]) -> Longs:
    """Return the tokens after an opening bracket that follows a word of another script."""
    if line.size < 2:
        return np.zeros(0, dtype=np.int64)
    code = scripts[line.corpus.form]
    other = (code[1:] != code[:-1]) & (code[1:] > 0) & (code[:-1] > 0)
    fits = line.has(TokenFlag.GAP_BREAK) & ~line.has(TokenFlag.CODE) & (line.space <= GAP_BYTES)
    fits[1:] &= other
    at = np.flatnonzero(fits & ~line.first_of_doc)
    rows = zip(
        line.doc[at].tolist(), line.corpus.end[at - 1].tolist(), line.corpus.start[at].tolist(), strict=True
    )
    opens = np.array([line.text(doc, a, b).strip()[:1] in set(OPEN) for doc, a, b in rows], dtype=bool)
    return at[opens] if len(at) else at


def _closed(line: Line, scripts: np.ndarray[tuple[int], np.dtype[np.int8]], at: int) -> int:
    """Return the end of the words of one script up to the closing bracket; 0 if anything else is there."""
    first = scripts[line.corpus.form[at]]
    for end in range(at + 1, min(at + MAX_TOKENS, line.size)):
        if line.corpus.flags[end] & TokenFlag.GAP_BREAK or line.first_of_doc[end]:
            gap = line.text(
                int(line.doc[at]), int(line.corpus.end[end - 1]), int(line.corpus.end[end - 1]) + 3
            )
            return end if gap[:1] in set(CLOSE) else 0
        if scripts[line.corpus.form[end]] != first:
            return 0
    return 0


def _named_before(register: Register, line: Line, at: int) -> int:
    """Return the entry of the longest known name that ends before a token, -1 if there is none."""
    flags, found = line.corpus.flags, -1
    for begin in range(at - 1, max(at - 1 - MAX_TOKENS, -1), -1):
        entry = register.by_key.get(line.key(begin, at), -1)
        if entry >= 0 and register.entries[entry].sure >= SURE_HEADING:
            found = entry
        if flags[begin] & TokenFlag.GAP_BREAK or line.first_of_doc[begin]:
            break
    return found
