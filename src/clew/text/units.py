"""A passage as the units that can be quoted: sentences (list items among them), code blocks, rows of tables.

This works on a chunk's own text, because that is what is at hand when a question is asked. It is
a line scanner, not a parser: what it must not do is to take code, a heading or a row of a table
for a sentence, and it errs on the side of leaving a line out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from clew.text.sentences import sentences

UnitKind = Literal["sentence", "code", "row"]

FENCE = re.compile(r" {0,3}(?:>\s?)*(`{3,}|~{3,})")
HEADING = re.compile(r" {0,3}#{1,6}(?:\s|$)")
UNDERLINE = re.compile(r" {0,3}(?:=+|-+)\s*$")
RULE = re.compile(r" {0,3}(?:(?:\*\s*){3,}|(?:-\s*){3,}|(?:_\s*){3,})$")
ITEM = re.compile(r"\s*(?:[-*+•‣◦]|\d{1,9}[.)])(?:\s+|$)(?:\[[ xX/-]\]\s+)?")
QUOTE = re.compile(r"\s{0,3}(?:>\s?)+")
QUOTED = re.compile(rf"{QUOTE.pattern}\s*")
CALLOUT = re.compile(r"\[![^\]\n]*\]")
DELIMITER = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-*:?\s*)+$")
# Lines that hold no statement: link definitions, HTML, template directives, attribute lists.
ASIDE = re.compile(r"\s*(?:\[[^\]^][^\]]*\]:\s|</?[A-Za-z!]|<!--|\{[{%:#]|%%|:::)")
NO_STATEMENT = re.compile(f"(?:{HEADING.pattern})|(?:{RULE.pattern})|(?:{ASIDE.pattern})")
DAMAGE = "\ufffd"
STAND_INS = {1: "?", 2: "\u00bf", 3: DAMAGE}  # by their bytes in UTF-8
INDENTED = re.compile(r"(?: {4}|\t)\S")


@dataclass(frozen=True, slots=True)
class Unit:
    """``start``/``end`` are character positions in the text; ``block`` numbers the block it is in."""

    kind: UnitKind
    start: int
    end: int
    block: int


def units(text: str, *, markdown: bool = True) -> list[Unit]:
    """Return the units of a text in order, disjoint. Without ``markdown`` only paragraphs matter."""
    found: list[Unit] = []
    for block, (kind, start, end) in enumerate(_blocks(text) if markdown else _paragraphs(text)):
        if kind == "row":
            found += _rows(text, start, end, block)
            continue
        if kind == "code":
            found.append(Unit(kind, start, end, block))
            continue
        for begin, until in _whole_links(text[start:end]):
            mark = QUOTED.match(text, start + begin, start + until)  # of a line in the middle of a quote
            begin = mark.end() if mark else start + begin
            if begin < start + until:
                found.append(Unit("sentence", begin, start + until, block))
    return found


def _whole_links(text: str) -> list[tuple[int, int]]:
    """Return the sentences' spans; one that would end inside a link's text goes on to its end."""
    spans: list[tuple[int, int]] = []
    open_ = False
    for begin, end in sentences(text):
        if open_:
            begin = spans.pop()[0]
        spans.append((begin, end))
        piece = text[begin:end]
        open_ = piece.count("[") > piece.count("]") and "](" in text[end:]
    return spans


def _rows(text: str, start: int, end: int, block: int) -> Iterator[Unit]:
    """Yield a table's rows, without its head."""
    head = True
    at = start
    for line in text[start:end].splitlines(keepends=True):
        body = line.strip()
        if DELIMITER.match(body):
            head = False
        elif body and not head:
            begin = at + line.index(body)
            yield Unit("row", begin, begin + len(body), block)
        at += len(line)


def _paragraphs(text: str) -> Iterator[tuple[UnitKind, int, int]]:
    at = 0
    for gap in re.finditer(r"\n[ \t\r]*\n\s*", text):
        if text[at : gap.start()].strip():
            yield "sentence", at, gap.start()
        at = gap.end()
    if text[at:].strip():
        yield "sentence", at, len(text)


def _blocks(text: str) -> Iterator[tuple[UnitKind, int, int]]:
    """Yield prose blocks, code blocks and tables, each with its span; skip everything else."""
    state = _Scanner()
    at = 0
    for line in text.splitlines(keepends=True):
        yield from state.line(line, at)
        at += len(line)
    yield from state.flush(at)


class _Scanner:
    """Reads lines; remembers the block that is open."""

    def __init__(self) -> None:
        self.kind: UnitKind | None = None
        self.start = self.end = 0
        self.fence = ""
        self.comment = ""
        self.blank = True
        self.in_list = False

    def flush(self, at: int) -> Iterator[tuple[UnitKind, int, int]]:
        if self.kind is not None and self.end > self.start:
            yield self.kind, self.start, self.end
        self.kind = None
        self.start = self.end = at

    def line(self, line: str, at: int) -> Iterator[tuple[UnitKind, int, int]]:
        body = line.rstrip()
        end = at + len(body)
        if self.fence:
            self.end = end
            if body.lstrip(" >").startswith(self.fence) and not body.lstrip(" >").strip("`~"):
                self.fence = ""
                yield from self.flush(end)
            return
        if self.comment:
            if self.comment in body:
                self.comment = ""
            return
        if at == 0 and body == "---":
            self.comment = "---"  # frontmatter
            return
        if not body:
            yield from self.flush(end)
            self.blank = True
            return
        yield from self._text(line, body, at, end)
        self.blank = False

    def _text(self, line: str, body: str, at: int, end: int) -> Iterator[tuple[UnitKind, int, int]]:
        fence = None
        if "```" in body or "~~~" in body:
            fence = FENCE.match(body) or FENCE.match(body.lstrip() if self.in_list else "")
        if fence:
            yield from self.flush(at)
            self.kind, self.start, self.end, self.fence = "code", at, end, fence[1]
        elif self.kind == "sentence" and UNDERLINE.match(body) and not ITEM.match(body):
            self.kind = None  # the lines above were a heading
        elif NO_STATEMENT.match(QUOTE.sub("", body, count=1) if ">" in body else body):
            yield from self.flush(end)
            if "<!--" in body and "-->" not in body:
                self.comment = "-->"
        elif INDENTED.match(line) and self.blank and not self.in_list:
            yield from self._extend("code", at, at, end)
        elif self.kind == "code" and INDENTED.match(line):
            self.end = end
        elif body.lstrip(" >").startswith("|") or DELIMITER.match(body):
            if self.kind == "sentence" and DELIMITER.match(body):
                self.kind = "row"  # a header row without a leading bar
            yield from self._extend("row", at, at, end)
        else:
            yield from self._prose(body, at, end)

    def _prose(self, body: str, at: int, end: int) -> Iterator[tuple[UnitKind, int, int]]:
        quote = QUOTE.match(body)
        inner = body[quote.end() :] if quote else body
        skipped = quote.end() if quote else 0
        if CALLOUT.match(inner):
            yield from self.flush(end)
            return
        item = ITEM.match(inner)
        if item:
            yield from self.flush(at)
            skipped += item.end()
            self.in_list = True
        elif self.blank and not body[0].isspace():
            self.in_list = False
        if skipped < len(body):
            start = at + skipped if self.kind != "sentence" else at
            lead = len(body) - len(body.lstrip()) if not skipped and self.kind != "sentence" else 0
            yield from self._extend("sentence", at, start + lead, end)

    def _extend(self, kind: UnitKind, at: int, start: int, end: int) -> Iterator[tuple[UnitKind, int, int]]:
        """Add a line to the open block if it is of this kind, else open one."""
        if self.kind != kind:
            yield from self.flush(at)
            self.kind, self.start = kind, start
        self.end = end


def source_span(
    text: str, start: int, end: int, chunk_start: int, chunk_end: int, encoding: str
) -> tuple[int, int] | None:
    """Return the source offsets of ``text[start:end]``, ``text`` being a chunk at those offsets.

    None if they can't be told: that is so between two damaged places of different lengths, where U+FFFD
    stands for a number of bytes that the text doesn't tell.
    """
    if len(text) == chunk_end - chunk_start and text.isascii():
        return chunk_start + start, chunk_start + end
    text = as_long(text, encoding, chunk_end - chunk_start)
    before, after = _size(text[:start], encoding), _size(text[end:], encoding)
    inside = _size(text[start:end], encoding)
    if before + inside + after == chunk_end - chunk_start:
        return chunk_start + before, chunk_start + before + inside
    if "\ufffd" not in text[:end]:
        return chunk_start + before, chunk_start + before + inside
    if "\ufffd" not in text[start:]:
        return chunk_end - after - inside, chunk_end - after
    return None


def as_long(text: str, encoding: str, length: int) -> str:
    """Return a text whose bytes are as many as those that it was read from: each U+FFFD that stands for
    damaged bytes is replaced by a character of as many bytes. The same text, where that can't be told."""
    if encoding != "utf-8" or DAMAGE not in text or _size(text, encoding) == length:
        return text
    count = text.count(DAMAGE)
    width, rest = divmod(length - _size(text.replace(DAMAGE, ""), encoding), count)
    return text if rest or width not in STAND_INS else text.replace(DAMAGE, STAND_INS[width])


def _size(text: str, encoding: str) -> int:
    try:
        return len(text.encode(encoding, "surrogatepass" if encoding.startswith("utf") else "strict"))
    except (UnicodeEncodeError, LookupError):
        return len(text.encode("utf-8", "surrogatepass"))
