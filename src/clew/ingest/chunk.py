"""Cut a document into passages: within a section, at block or sentence borders, by the embedder's tokens."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import regex

from clew.options import ChunkOptions
from clew.ports import Tokenizer
from clew.text.sentences import sentences
from clew.text.tokens import byte_offsets
from clew.text.wordwise import TokenPlaces
from clew.types import Block, ChunkSpan, Ints, ParsedDocument, Section

DEFAULT_WINDOW = 256  # where neither an option nor an embedder says
# Some tokenizers make one token of a word of any length (WordPiece: [UNK] for over 100 characters), so
# tokens alone don't bound a passage. English has 4.5 bytes a token, source code up to 8.
BYTES_PER_TOKEN = 16
# A piece cut out of the middle of a word may have more tokens than it had in place.
FORCED_SHARE = 0.9
ATOMS = frozenset(("code", "table"))
LINE = re.compile(rb"[^\n]*\n?")
WORD = regex.compile(r"\S+\s*|\s+")
GRAPHEME = regex.compile(r"\X")
BLANK = b" \t\r\n\x0b\x0c"

# A passage is embedded below its document's title and headings. Most have fewer tokens than this share
# of the window; without room for them, every full passage would be embedded in two windows.
HEADING_SHARE = 1 / 8

Piece = tuple[int, int]


def chunk(
    parsed: ParsedDocument, tokenizer: Tokenizer, options: ChunkOptions, window: int, is_record: bool
) -> tuple[ChunkSpan, ...]:
    """Return a document's passages, ascending; offsets are text offsets.

    Where the options give no size, a passage with its headings fits ``window`` tokens. ``is_record``
    says that the document is a passage already. With an overlap, a passage begins with whole
    sentences of the one before it. A heading without a text of its own begins the next passage if
    that is no higher in the outline, so a passage may begin before its section does, by headings alone.
    """
    [starts] = TokenPlaces(tokenizer).starts([parsed.text])
    return cut(parsed, starts, options, window, is_record)


def cut(
    parsed: ParsedDocument, starts: Ints, options: ChunkOptions, window: int, is_record: bool
) -> tuple[ChunkSpan, ...]:
    """As :func:`chunk`, given the character offsets at which the text's tokens begin, shape (n,)."""
    return _Cutter(parsed, starts, options, window, is_record).chunks()


def limits(options: ChunkOptions, window: int, is_record: bool) -> tuple[int, int, int]:
    """Return all that the options and the window decide, in tokens: the size of a passage, its overlap, and
    the size up to which a document stays whole."""
    size = max(options.size or _fitting(window or DEFAULT_WINDOW), 1)
    return size, min(options.overlap, size // 2), max(options.record_size, size) if is_record else size


def _fitting(window: int) -> int:
    """Return the size of a passage that fits a window with its headings."""
    return window - int(window * HEADING_SHARE)


@dataclass(slots=True)
class _Unit:
    """What is cut at once: a section, with the bare headings that lead to it."""

    section: int
    blocks: list[Block]


class _Cutter:
    def __init__(
        self, parsed: ParsedDocument, starts: Ints, options: ChunkOptions, window: int, is_record: bool
    ) -> None:
        self.parsed = parsed
        self.data = parsed.text.encode("utf-8")
        offsets = starts if len(self.data) == len(parsed.text) else byte_offsets(parsed.text)[starts]
        # Of the type of a Python integer: looking one up in another type would copy the whole array.
        self.starts = offsets.astype(np.int64)
        borders = [place for block in parsed.blocks for place in (block.start, block.end)]
        # Most questions are about borders of blocks: they are looked up at once.
        counts = self.starts.searchsorted(borders).tolist() if borders else []
        self._before = dict(zip(borders, counts, strict=True))
        self.size, self.overlap, self.most = limits(options, window, is_record)

    def chunks(self) -> tuple[ChunkSpan, ...]:
        found: list[ChunkSpan] = []
        for unit in self._units():
            found += self._unit(unit)
        return tuple(found)

    # --- what is cut together ---

    def _units(self) -> Iterator[_Unit]:
        sections = self.parsed.sections
        blocks = self._texts()
        waiting: list[Block] = []
        at = 0
        for number, section in enumerate(sections):
            own: list[Block] = []
            while at < len(blocks) and blocks[at].start < section.end:
                own.append(blocks[at])
                at += 1
            if len(own) == 1 and own[0].kind == "heading" and self._leads(section, number):
                waiting += own
                continue
            if waiting or own:
                yield _Unit(number, waiting + own)
            waiting = []

    def _texts(self) -> list[Block]:
        """Return the blocks that passages are made of: not the frontmatter, unless there is nothing else,
        nor comments, tags and rules (between other blocks they are part of the passage)."""
        blocks = [block for block in self.parsed.blocks if block.kind != "rule"]
        prose = self.parsed.prose
        starts = [span[0] for span in prose]
        found: list[Block] = []
        for block in blocks:
            if block.kind == "html":
                i = bisect_right(starts, block.start) - 1
                inside = (i >= 0 and prose[i][1] > block.start) or (
                    i + 1 < len(prose) and starts[i + 1] < block.end
                )
                if not inside:
                    continue
            found.append(block)
        text = [block for block in found if block.kind != "frontmatter"]
        return text or found

    def _leads(self, section: Section, number: int) -> bool:
        sections = self.parsed.sections
        return number + 1 < len(sections) and sections[number + 1].level >= section.level

    # --- cutting ---

    def _unit(self, unit: _Unit) -> Iterator[ChunkSpan]:
        first, last = unit.blocks[0].start, unit.blocks[-1].end
        if self._fits(first, last, self.most):
            yield self._span(unit.section, first, last)
            return
        spans = self._pack(unit.blocks)
        for i, (start, end) in enumerate(spans):
            if i and self.overlap:
                start = self._reach_back(spans[i - 1][0], start, end)
            yield self._span(unit.section, start, end)

    def _span(self, section: int, start: int, end: int) -> ChunkSpan:
        source = self.data[start:end]
        start += len(source) - len(source.lstrip(BLANK))
        end -= len(source) - len(source.rstrip(BLANK))
        # A passage cut out of one very long word has no token that begins in it.
        return ChunkSpan(section, start, end, max(self._count(start, end), 1))

    def _count(self, start: int, end: int) -> int:
        return self._tokens_before(end) - self._tokens_before(start)

    def _tokens_before(self, place: int) -> int:
        known = self._before.get(place)
        return int(self.starts.searchsorted(place)) if known is None else known

    def _fits(self, start: int, end: int, size: int) -> bool:
        if end - start <= size:  # a token has at least one byte
            return True
        return end - start <= size * BYTES_PER_TOKEN and self._count(start, end) <= size

    def _pack(self, blocks: list[Block]) -> list[Piece]:
        """Put neighbouring pieces together as long as they fit. With an overlap, leave room for it."""
        spans: list[Piece] = []
        start = end = -1
        head = False  # what is open holds headings only, which shouldn't stand alone
        for block in blocks:
            room = self.size if not spans else self.size - self.overlap
            if start >= 0 and self._fits(start, block.end, room):
                end = block.end
                head = head and block.kind == "heading"
                continue
            whole = self._fits(block.start, block.end, self.size)
            if start >= 0 and (not head or (whole and block.kind in ATOMS)):
                spans.append((start, end))
                start = -1
            if start < 0 and whole:
                start, end, head = block.start, block.end, block.kind == "heading"
                continue
            for low, high in self._pieces(block):
                room = self.size if not spans else self.size - self.overlap
                if start >= 0 and not self._fits(start, high, room):
                    spans.append((start, end))
                    start = -1
                if start < 0:
                    start = low
                end = high
            head = False
        if start >= 0:
            spans.append((start, end))
        return spans

    def _reach_back(self, floor: int, start: int, end: int) -> int:
        """Return where a passage begins that repeats the last sentences of the one before it."""
        best = start
        text = self.data[floor:start].decode("utf-8")
        offsets = byte_offsets(text)
        for low, _ in reversed(sentences(text)):
            at = floor + int(offsets[low])
            if self._count(at, start) > self.overlap or not self._fits(at, end, self.size):
                break
            best = at
        return best

    # --- cutting a block that doesn't fit ---

    def _pieces(self, block: Block) -> Iterator[Piece]:
        """Yield parts of a block that fit: lines of code and tables, else sentences."""
        if block.kind in ATOMS:
            parts = [match.span() for match in LINE.finditer(self.data, block.start, block.end)]
        else:
            text = self.data[block.start : block.end].decode("utf-8")
            offsets = byte_offsets(text)
            parts = [
                (block.start + int(offsets[low]), block.start + int(offsets[high]))
                for low, high in sentences(text)
            ]
        for start, end in parts:
            if start == end:
                continue
            if self._fits(start, end, self.size - self.overlap):
                yield start, end
            else:
                yield from self._words(start, end)

    def _words(self, start: int, end: int) -> Iterator[Piece]:
        """Yield parts of a sentence that is too long, cut at white space, or else between characters."""
        room = max(int((self.size - self.overlap) * FORCED_SHARE), 1)
        text = self.data[start:end].decode("utf-8")
        yield from self._greedy(start, text, WORD, room)

    def _greedy(self, base: int, text: str, pattern: regex.Pattern[str], room: int) -> Iterator[Piece]:
        offsets = byte_offsets(text)
        low = high = base
        for match in pattern.finditer(text):
            until = base + int(offsets[match.end()])
            if self._fits(low, until, room):
                high = until
                continue
            if high > low:
                yield low, high
            low = high
            if pattern is WORD and not self._fits(low, until, room):
                *full, rest = self._greedy(low, match[0], GRAPHEME, room)
                yield from full
                low = rest[0]
            high = until
        if high > low:
            yield low, high
