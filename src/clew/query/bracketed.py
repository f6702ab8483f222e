"""A model's text, as it comes, split into text and citations: ``[1]``, ``[1, 2]``, ``[1-3]``, ``【1】`` …

What stands in code is text: ``list[0]`` there is no citation.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

import regex

OPEN, CLOSE = r"\[［【〔", r"\]］】〕"
GAP = r"[^\S\n]{0,3}"
WORD = (  # "^1", "note 1", "джерело 2", "资料3"; not "a1"
    r"(?:[#№^]{1,2}|[\p{L}\p{M}.]{1,12}[^\S\n]{1,3}|[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}]{1,6})?"
)
DIGITS = r"\p{Nd}{1,12}"
NUMBERS = rf"{DIGITS}(?:{GAP}(?:[-–—−~〜～]|[,;，、；&/]){GAP}{WORD}{DIGITS}){{0,30}}"
ONE = rf"[{OPEN}]{GAP}{WORD}{NUMBERS}{GAP}(?:[†|:][^{CLOSE}\n]{{0,40}})?[{CLOSE}]"
BETWEEN = r"(?:[^\S\n]|[,;]){0,3}"  # two citations of a run
LONGEST = 1200  # characters of one, at most
# A run of citations with the white space before it, and code, which is left alone.
PIECE = regex.compile(
    rf"(?P<code>(?P<ticks>`+)[^`\n]+(?P=ticks)(?!`))|(?P<cited>[^\S\n]*{ONE}(?:{BETWEEN}{ONE})*)"
)
CITATION = regex.compile(ONE)
# What may go on to be a citation, or to more of them, once more has come.
UNSURE = regex.compile(rf"[^\S\n]*(?:{ONE}{BETWEEN})*(?:[{OPEN}][^{CLOSE}\n]{{0,{LONGEST}}})?\Z")
FENCE = regex.compile(r"[ \t]*(```|~~~)")
MAYBE_FENCE = regex.compile(r"[ \t]*[`~]*\Z")
SPAN = regex.compile(rf"({DIGITS})(?:{GAP}[-–—−~〜～]{GAP}{WORD}({DIGITS}))?")
WIDEST = 100  # numbers of a range; a wider one names no passages


@dataclass(frozen=True, slots=True)
class Cited:
    """Citations that stand side by side, by number, each once; ``space`` is what stands before them."""

    numbers: tuple[int, ...]
    space: str


class Splitter:
    """Splits a text that comes in pieces. Where the pieces end makes no difference to what comes out."""

    def __init__(self) -> None:
        self._line = ""  # the last line, as far as it has come
        self._done = 0  # characters of it that have been yielded
        self._fence = ""

    def feed(self, piece: str) -> Iterator[str | Cited]:
        """Yield what is certain by now."""
        lines = (self._line + piece).split("\n")
        for line in lines[:-1]:
            yield from self._whole(line + "\n")
        self._line = lines[-1]
        if not self._fence and not MAYBE_FENCE.match(self._line) and not FENCE.match(self._line):
            yield from self._until(self._sure())

    def end(self) -> Iterator[str | Cited]:
        """Yield the rest."""
        yield from self._whole(self._line)
        self._line = ""

    def _whole(self, line: str) -> Iterator[str | Cited]:
        self._line = line
        fence = FENCE.match(line)
        if fence and self._fence in ("", fence[1]):
            self._fence = "" if self._fence else fence[1]
            yield line
        elif self._fence:
            yield line
        else:
            yield from self._until(len(line))
        self._line, self._done = "", 0

    def _sure(self) -> int:
        """Return up to where the line's parts stay as they are, whatever follows."""
        line = self._line
        at = 0
        for match in PIECE.finditer(line):
            if "`" in line[at : match.start()]:
                break
            at = match.end() if match["code"] else at
        ticks = line.find("`", at)
        unsure = UNSURE.search(line, self._done)
        return max(
            min(unsure.start() if unsure else len(line), ticks if ticks >= 0 else len(line)), self._done
        )

    def _until(self, end: int) -> Iterator[str | Cited]:
        """Yield the parts of the line up to ``end``, but for those that have been yielded."""
        line, at = self._line, self._done
        for match in PIECE.finditer(line):
            if not match["cited"] or match.start() < at or match.end() > end:
                continue
            if match.start() > at:
                yield line[at : match.start()]
            run = match["cited"]
            yield Cited(numbers_in(run), run[: len(run) - len(run.lstrip())])
            at = match.end()
        if at < end:
            yield line[at:end]
        self._done = max(at, end)


def numbers_in(text: str) -> tuple[int, ...]:
    """Return the numbers of a run of citations in order, each once; of a range all, if it isn't absurd."""
    found: dict[int, None] = {}
    for one in CITATION.findall(text):
        body = regex.split(r"[†|:]", one, maxsplit=1)[0]
        for first, last in SPAN.findall(body):
            begin = _number(first)
            end = _number(last) if last else begin
            if begin <= end < begin + WIDEST:
                found.update(dict.fromkeys(range(begin, end + 1)))
            else:
                found.update({begin: None, end: None})
    return tuple(found)


def _number(digits: str) -> int:
    return int("".join(str(unicodedata.digit(char)) for char in digits))
