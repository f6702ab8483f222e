"""Words of a text, with their offsets, in any script.

A token is a run of letters, marks and digits, with a closing ``++``, ``+`` or ``#`` (C++, C#, A+).
Apostrophes, hyphens, dots and underscores end one, so that "Tolkien's", "docker-compose" and
"p.kind" yield the tokens that other spellings yield; a flag keeps what stood between. Scripts that
don't put spaces between words give one token a character: phrases of theirs are runs of tokens.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TypeVar

import numpy as np
import regex
from numpy.typing import NDArray

from clew.types import Ints, Longs, TokenFlag, Tokens

T = TypeVar("T")
MOST_KNOWN = 1 << 18  # words whose flags and normal forms are remembered; some 40 MB
# Scripts that are written without spaces between words. Katakana isn't among them: a run of it is
# one (borrowed) word. Hangul puts spaces.
UNSPACED = r"\p{Han}\p{Hiragana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}"
TOKEN = regex.compile(
    rf"([{UNSPACED}]\p{{M}}*"
    rf"|[[\p{{L}}\p{{M}}\p{{N}}]--[{UNSPACED}]]+(?:\+\+|[#+](?![\p{{L}}\p{{N}}#+]))?)",
    regex.V1,
)
# The same for letters of Western scripts, Greek and Cyrillic, if there are no combining marks: the
# standard library's patterns are 2.5 times as fast.
WESTERN_TOKEN = re.compile(r"([^\W_]+(?:\+\+|[#+](?!(?:[^\W_]|[#+])))?)")
NOT_WESTERN = re.compile(
    "[^\x00-\u02ff\u0370-\u0482\u048a-\u052f\u1e00-\u208e\u20a0-\u20cf\u2100-\u2bff\ufeff\U0001f300-\U0001faff]"
)
ASCII_TOKEN = re.compile(r"([A-Za-z0-9]+(?:\+\+|[#+](?![A-Za-z0-9#+]))?)")
SINGLE = regex.compile(rf"[{UNSPACED}]\p{{M}}*", regex.V1)
CAMEL = regex.compile(r"[\p{Ll}\p{N}]\p{Lu}", regex.V1)
JOINERS = frozenset("-'’.&/_·‐‑ʼ")
# Ends of sentences in any script, for the SENTENCE flag; a colon or a dash may begin one as well.
ENDERS = frozenset('.!?…。！？؟۔।;；:：\n“"«„(（[【>|*#•')


@lru_cache(maxsize=1 << 18)
def normalise(word: str) -> str:
    """Return a token's normal form: compatibility-decomposed, case-folded, without accents.

    Marks are dropped from Latin and Greek letters, Arabic and Hebrew points; of Cyrillic ones all
    but those that make another letter (й, ў, ї); elsewhere (Devanagari, Thai, kana) they spell
    sounds and stay.
    """
    if word.isascii():
        return word.lower()
    folded = unicodedata.normalize("NFKD", word).casefold()
    out: list[str] = []
    base = ""
    for char in folded:
        if not unicodedata.combining(char):
            base = char
        elif _is_accent(base, char):
            continue
        out.append(char)
    kept = "".join(out).replace("\u0640", "")  # tatweel only stretches a word
    return unicodedata.normalize("NFC", kept) or folded


def _is_accent(base: str, mark: str) -> bool:
    if "\u0400" <= base <= "\u04ff":
        return not (mark == "\u0306" or (mark == "\u0308" and base == "і"))
    return base.upper() != base or "\u0590" <= base <= "\u06ff"


def surface_words(text: str) -> list[str]:
    """Return the tokens' surfaces, in order."""
    return list(_pattern(text).findall(text))


def spans(text: str) -> list[tuple[int, int]]:
    """Return where each token starts and ends, in characters."""
    return [match.span() for match in _pattern(text).finditer(text)]


def _pattern(text: str) -> re.Pattern[str] | regex.Pattern[str]:
    """Return the fastest pattern that finds the text's tokens."""
    if text.isascii():
        return ASCII_TOKEN
    return TOKEN if NOT_WESTERN.search(text) else WESTERN_TOKEN


def normal_words(text: str) -> list[str]:
    """Return the tokens' normal forms, in order."""
    return [normalise(word) for word in surface_words(text)]


def normal_name(text: str) -> str:
    """Return the key under which names are the same: the normal forms without what stood between.

    "Docker Compose", "docker-compose" and "DockerCompose" have one key. A text without any letter
    or digit is its own key.
    """
    return "".join(normal_words(text)) or text.strip()


def byte_offsets(text: str) -> Ints:
    """Return the UTF-8 offset of every character and of the end, shape (len(text) + 1,)."""
    codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
    widths = 1 + (codes > 0x7F).astype(np.int32) + (codes > 0x7FF) + (codes > 0xFFFF)
    offsets = np.zeros(len(text) + 1, dtype=np.int32)
    np.cumsum(widths, out=offsets[1:])
    return offsets


_INLINE_MARKUP = {ord(char): None for char in "*_~`[]"}  # emphasis and brackets don't part words


def _word_flags(surface: str) -> int:
    flags = 0
    first = surface[0]
    if first.isupper() or first.istitle():
        flags |= TokenFlag.CAPITAL
    if len(surface) > 1 and surface.isupper() and surface[1].isalpha():
        flags |= TokenFlag.UPPER
    if any(char.isdigit() for char in surface):
        flags |= TokenFlag.DIGIT
    if SINGLE.fullmatch(surface):
        flags |= TokenFlag.SINGLE
    elif CAMEL.search(surface):
        flags |= TokenFlag.CAMEL
    return int(flags)


@lru_cache(maxsize=1 << 14)
def _gap_flags(gap: str) -> int:
    """Return the GAP and SENTENCE flags of what stands between two tokens."""
    if "\n" not in gap:
        gap = gap.translate(_INLINE_MARKUP)
    if not gap:
        return 0
    if gap.isspace():
        if gap.count("\n") > 1:
            return int(TokenFlag.GAP_BREAK | TokenFlag.SENTENCE)
        return int(TokenFlag.GAP_SPACE)
    if len(gap) == 1 and gap in JOINERS:
        return int(TokenFlag.GAP_JOIN)
    flags = int(TokenFlag.GAP_BREAK)
    if any(char in ENDERS for char in gap):
        flags |= TokenFlag.SENTENCE
    return flags


class _Known(dict[str, T]):
    """What a function tells of each word, worked out when first asked. A look-up costs half of what a call
    costs, even one that ``lru_cache`` answers."""

    def __init__(self, tell: Callable[[str], T]) -> None:
        super().__init__()
        self._tell = tell

    def __missing__(self, word: str) -> T:
        if len(self) >= MOST_KNOWN:
            self.clear()
        found = self[word] = self._tell(word)
        return found


_NORMAL = _Known(normalise)
_FLAGS = _Known(_word_flags)


def tokenize(
    text: str,
    prose: Sequence[tuple[int, int]],
    code: Sequence[tuple[int, int]] = (),
    headings: Sequence[tuple[int, int]] = (),
) -> Tokens:
    """Return the tokens of the ``prose`` and ``code`` spans of a text.

    All spans are text offsets (UTF-8), each list ascending and disjoint; code spans may lie
    inside or outside prose. Tokens within ``code`` get the CODE flag, within ``headings`` HEADING.
    """
    pieces = _pattern(text).split(text)  # gap, token, gap, …, gap
    surfaces, gaps = pieces[1::2], pieces[0:-1:2]
    n = len(surfaces)
    if not n:
        empty = np.zeros(0, dtype=np.int32)
        return Tokens((), empty, empty, empty, np.zeros(0, dtype=np.uint16))
    # What is asked of a surface or a gap is worked out once for each distinct one.
    distinct, which = numbered(surfaces)
    distinct_gaps, which_gap = numbered(gaps)
    size = np.array([len(surface) for surface in distinct], dtype=np.int32)[which]
    gap_size = np.array([len(gap) for gap in distinct_gaps], dtype=np.int32)[which_gap]
    end = np.cumsum(size + gap_size, dtype=np.int32)
    start = end - size
    if not text.isascii():
        offsets = byte_offsets(text)
        start, end = offsets[start], offsets[end]
    flags = np.array([_gap_flags(gap) for gap in distinct_gaps], dtype=np.uint16)[which_gap]
    edge = np.uint16(TokenFlag.GAP_BREAK | TokenFlag.SENTENCE)
    flags[0] = edge
    heading = _inside(start, headings)
    flags[1:][heading[1:] != heading[:-1]] = edge
    flags |= heading.astype(np.uint16) * np.uint16(TokenFlag.HEADING)
    in_code = _inside(start, code)
    flags |= in_code.astype(np.uint16) * np.uint16(TokenFlag.CODE)
    keep = in_code | _inside(start, prose)
    if not keep.all():
        which, start, end, flags = which[keep], start[keep], end[keep], flags[keep]
        used, which = np.unique(which, return_inverse=True)
        distinct = [distinct[i] for i in used.tolist()]
    return _columns(distinct, which, start, end, flags)


def numbered(items: list[str]) -> tuple[list[str], Longs]:
    """Return the distinct items in order of their first place, and each item's number, shape (n,)."""
    numbers: defaultdict[str, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    which = np.fromiter(map(numbers.__getitem__, items), dtype=np.int64, count=len(items))
    return list(numbers), which


def _columns(distinct: list[str], which: Longs, start: Ints, end: Ints, flags: NDArray[np.uint16]) -> Tokens:
    """Number the tokens' normal forms and add what each surface tells."""
    normal = list(map(_NORMAL.__getitem__, distinct))
    words = sorted(set(normal))
    place = dict(zip(words, range(len(words)), strict=True))
    form_of = np.fromiter(map(place.__getitem__, normal), dtype=np.int32, count=len(normal))
    flags_of = np.fromiter(map(_FLAGS.__getitem__, distinct), dtype=np.uint16, count=len(distinct))
    return Tokens(tuple(words), form_of[which], start, end, flags | flags_of[which])


def _inside(at: Ints, spans: Sequence[tuple[int, int]]) -> NDArray[np.bool_]:
    if not spans:
        return np.zeros(len(at), dtype=bool)
    begin = np.array([span[0] for span in spans], dtype=np.int32)
    until = np.array([span[1] for span in spans], dtype=np.int32)
    place = np.searchsorted(begin, at, side="right") - 1
    return (place >= 0) & (at < until[np.maximum(place, 0)])
