"""Where a tokenizer's tokens begin in much text: each distinct word is asked for once.

No tokenizer in use joins words across white space, so a text's tokens are its words' tokens, and
most words have been seen before: in 2 MB of notes 550,000 words are 40,000 distinct ones. A
library's own pass over 20 MB took four times as long as all other document stages together, and 3 GB.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain

import numpy as np

from clew.ports import Tokenizer
from clew.text.tokens import numbered
from clew.types import Ints, Longs

# A longer run without white space is asked for in parts, and may have a token more at their borders.
WORD = re.compile(r"(\S{1,4096})")
KEPT_CHARS = 128  # of a word that is remembered; longer ones hardly come twice
MOST_WORDS = 1 << 18  # kept; about 60 MB
CALL_CHARS = 1 << 18  # given to the tokenizer at once: a library keeps some 200 bytes for each token


class TokenPlaces:
    """Places a tokenizer's tokens, remembering words between calls."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[int, ...]] = {}

    def starts(self, text: str) -> Ints:
        """Return the character offsets at which the text's tokens begin, ascending, shape (n,)."""
        pieces = WORD.split(text)  # gap, word, gap, …, gap
        if len(pieces) == 1:
            return np.zeros(0, dtype=np.int32)
        words, which = numbered(pieces[1::2])
        size = np.fromiter(map(len, words), dtype=np.int64, count=len(words))[which]
        gap = np.fromiter(map(len, pieces[0:-1:2]), dtype=np.int64, count=len(which))
        begin = np.cumsum(size + gap) - size
        return _spread(begin, which, self._inside(words))

    def _inside(self, words: Sequence[str]) -> list[tuple[int, ...]]:
        """Return, for each word, where in it its tokens begin."""
        known = self._known
        missing = [word for word in words if word not in known]
        if missing:
            if len(known) + len(missing) > MOST_WORDS:
                known.clear()
                missing = list(words)
            for some in _calls(missing):
                known.update(zip(some, self._ask(some), strict=True))
        places = [known[word] for word in words]
        for word in missing:
            if len(word) > KEPT_CHARS:
                del known[word]
        return places

    def _ask(self, words: list[str]) -> Iterator[tuple[int, ...]]:
        """Have the tokenizer place the tokens of words, all in one text, a line each."""
        [starts] = self._tokenizer.offsets(["\n".join(words)])
        ends = np.cumsum(np.fromiter((len(word) + 1 for word in words), dtype=np.int64, count=len(words)))
        begins = ends - [len(word) + 1 for word in words]
        low = np.searchsorted(starts, begins).tolist()
        high = np.searchsorted(starts, ends).tolist()
        places = starts.tolist()
        for begin, i, j in zip(begins.tolist(), low, high, strict=True):
            yield tuple(place - begin for place in places[i:j])


def _calls(words: list[str]) -> Iterator[list[str]]:
    some: list[str] = []
    chars = 0
    for word in words:
        some.append(word)
        chars += len(word) + 1
        if chars >= CALL_CHARS:
            yield some
            some, chars = [], 0
    if some:
        yield some


def _spread(begin: Longs, which: Longs, inside: list[tuple[int, ...]]) -> Ints:
    """Put each word's tokens at its places: ``begin`` and ``which`` (n,) give each place and its word."""
    count = np.fromiter(map(len, inside), dtype=np.int64, count=len(inside))
    flat = np.fromiter(chain.from_iterable(inside), dtype=np.int64, count=int(count.sum()))
    first = np.cumsum(count) - count  # where each word's tokens stand in ``flat``
    n = count[which]
    step = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    return (np.repeat(begin, n) + flat[np.repeat(first[which], n) + step]).astype(np.int32)
