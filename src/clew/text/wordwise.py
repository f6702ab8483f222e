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
# A library keeps some 200 bytes for each token while it works, and works on several texts by threads.
PART_CHARS = 1 << 15
AT_ONCE = 8


class TokenPlaces:
    """Places a tokenizer's tokens, remembering words between calls."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[int, ...]] = {}

    def starts(self, texts: Sequence[str]) -> list[Ints]:
        """Return, for each text, the character offsets at which its tokens begin, ascending, shape (n,)."""
        split = [_split(text) for text in texts]
        known = self._known
        missing = list(dict.fromkeys(word for words, _, _ in split for word in words if word not in known))
        if len(known) + len(missing) > MOST_WORDS:
            known.clear()
            missing = list(dict.fromkeys(word for words, _, _ in split for word in words))
        parts = _parts(missing)
        for i in range(0, len(parts), AT_ONCE):
            for words, found in self._ask(parts[i : i + AT_ONCE]):
                known.update(zip(words, found, strict=True))
        places = [_spread(begin, which, [known[word] for word in words]) for words, which, begin in split]
        for word in missing:
            if len(word) > KEPT_CHARS:
                del known[word]
        return places

    def _ask(self, parts: list[list[str]]) -> Iterator[tuple[list[str], list[tuple[int, ...]]]]:
        """Have the tokenizer place the tokens of words: each part is one text, with a word a line."""
        for words, starts in zip(parts, self._tokenizer.offsets(["\n".join(w) for w in parts]), strict=True):
            size = np.fromiter(map(len, words), dtype=np.int64, count=len(words)) + 1
            ends = np.cumsum(size)
            low = np.searchsorted(starts, ends - size).tolist()
            high = np.searchsorted(starts, ends).tolist()
            places = starts.tolist()
            begins = (ends - size).tolist()
            yield (
                words,
                [
                    tuple([place - begin for place in places[i:j]])
                    for begin, i, j in zip(begins, low, high, strict=True)
                ],
            )


def _split(text: str) -> tuple[list[str], Longs, Longs]:
    """Return the distinct words, and for each word of the text its number and where it begins, shape (n,)."""
    pieces = WORD.split(text)  # gap, word, gap, …, gap
    words, which = numbered(pieces[1::2])
    size = np.fromiter(map(len, words), dtype=np.int64, count=len(words))[which]
    gap = np.fromiter(map(len, pieces[0:-1:2]), dtype=np.int64, count=len(which))
    return words, which, np.cumsum(size + gap) - size


def _parts(words: list[str]) -> list[list[str]]:
    """Return the words in parts of about ``PART_CHARS`` characters."""
    parts: list[list[str]] = []
    room = 0
    for word in words:
        if room <= 0:
            parts.append([])
            room = PART_CHARS
        parts[-1].append(word)
        room -= len(word) + 1
    return parts


def _spread(begin: Longs, which: Longs, inside: list[tuple[int, ...]]) -> Ints:
    """Put each word's tokens at its places: ``begin`` and ``which`` (n,) give each place and its word."""
    count = np.fromiter(map(len, inside), dtype=np.int64, count=len(inside))
    flat = np.fromiter(chain.from_iterable(inside), dtype=np.int64, count=int(count.sum()))
    first = np.cumsum(count) - count  # where each word's tokens stand in ``flat``
    n = count[which]
    step = np.arange(int(n.sum())) - np.repeat(np.cumsum(n) - n, n)
    return (np.repeat(begin, n) + flat[np.repeat(first[which], n) + step]).astype(np.int32)
