"""Where a text holds what somebody says that it says: exactly, but for marks and case, or nearly.

A model's quotes are copies by hand: markup is left out, spaces and quotation marks come out otherwise, a word
is misspelt. What is found stands for itself: whoever asks gets the place, and the text at that place.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

# Of 100 (two texts that are equal), by edit distance: at 85 a sentence may have one letter in seven wrong.
# At 80 quotes of other sentences on the same thing begin to be found, at 90 a dropped word is too much.
NEAR = 85.0
# Shorter quotes are found as they are or not at all: a letter makes another name of "Anna". A character of a
# script without letter case and spaces says about as much as two letters.
NEAR_LEAST = 12
LONGEST = 2000  # characters of a quote that is looked for; a longer one repeats the passage
ELLIPSIS = re.compile(r"\s*(?:\[?\.{3,}\]?|\[?…\]?)\s*")
WIDE = "\u2e80"  # from here on, scripts that put no spaces between words

How = Literal["exact", "marks", "near"]


@dataclass(frozen=True, slots=True)
class Place:
    """``text[start:end]`` in characters, and how it was found."""

    start: int
    end: int
    how: How


class Passage:
    """A text in which quotes are looked for; what that takes is made once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded: tuple[str, list[int]] | None = None

    def find(self, quote: str, *, near: bool = True) -> Place | None:
        """Return where the quote stands; None if it doesn't, or if it holds no letter and no digit.

        Tried in turn: as it is; by letters and digits alone, in any case; and, unless ``near`` is False, for
        a quote of some length the nearest run of words, if it is NEAR enough and has the same digits. Of
        several places the first counts where the quote isn't a part of a longer word. A quote with an
        ellipsis is looked for by its longest part.
        """
        quote = quote.strip()[:LONGEST]
        if not any(map(str.isalnum, quote)):
            return None
        for wanted in dict.fromkeys([quote, max(ELLIPSIS.split(quote), key=len).strip()]):
            found = self._exact(wanted) or self._by_letters(wanted)
            if found is None and near:
                found = self._near(wanted)
            if found is not None:
                return found
        return None

    @property
    def folded(self) -> tuple[str, list[int]]:
        """The text's letters and digits, folded, and where in the text each stands."""
        if self._folded is None:
            self._folded = fold(self.text)
        return self._folded

    def _exact(self, quote: str) -> Place | None:
        for start in _places(self.text, quote):
            if whole_words(self.text, start, start + len(quote)):
                return Place(start, start + len(quote), "exact")
        return None

    def _by_letters(self, quote: str) -> Place | None:
        wanted, _ = fold(quote)
        folded, places = self.folded
        for at in _places(folded, wanted) if wanted else ():
            start, end = places[at], _end(self.text, places[at + len(wanted) - 1])
            if whole_words(self.text, start, end):
                return Place(start, end, "marks")
        return None

    def _near(self, quote: str) -> Place | None:
        wanted, _ = fold(quote)
        if len(wanted) + sum(char >= WIDE for char in wanted) < NEAR_LEAST:
            return None
        from rapidfuzz import fuzz

        folded, places = self.folded
        found = fuzz.partial_ratio_alignment(wanted, folded, score_cutoff=NEAR)
        if found is None or len(wanted) > len(folded) or found.dest_end <= found.dest_start:
            return None
        start, end = places[found.dest_start], _end(self.text, places[found.dest_end - 1])
        start, end = _to_words(self.text, start, end)
        there, _ = fold(self.text[start:end])
        same = [char for char in there if char.isdecimal()] == [char for char in wanted if char.isdecimal()]
        return Place(start, end, "near") if same and fuzz.ratio(wanted, there) >= NEAR else None


def fold(text: str) -> tuple[str, list[int]]:
    """Return a text's letters, digits and marks on letters, in NFKC and without case, and for each the
    position in the text of the character that it comes from."""
    out: list[str] = []
    places: list[int] = []
    for at, char in enumerate(text):
        if char.isascii():
            kept = char.lower() if char.isalnum() else ""
        else:
            normal = unicodedata.normalize("NFKD", char).casefold()
            kept = "".join(c for c in normal if c.isalnum() or unicodedata.category(c) == "Mc")
        out.append(kept)
        places += [at] * len(kept)
    return "".join(out), places


def whole_words(text: str, start: int, end: int) -> bool:
    """Tell whether a span is no part of a longer word: "art" isn't in "party", 长安 is in 从长安来.

    Scripts without letter case join articles, prepositions and endings to words, or put no spaces between
    them: there a span may begin and end anywhere.
    """
    return not (_joined(text, start) or _joined(text, end))


def _joined(text: str, at: int) -> bool:
    """Tell whether a word of a script with letter case goes on across a position."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if unicodedata.combining(after):
        return True
    cased = before.lower() != before.upper() or after.lower() != after.upper()
    return cased and before.isalnum() and after.isalnum()


def _to_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Move a span's ends outwards to where words end."""
    while _joined(text, start):
        start -= 1
    while _joined(text, end):
        end += 1
    return start, end


def _end(text: str, last: int) -> int:
    """Return the end of the character at ``last`` with the marks that belong to it."""
    end = last + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    return end


def _places(text: str, part: str) -> Iterator[int]:
    at = text.find(part)
    while at >= 0:
        yield at
        at = text.find(part, at + 1)
