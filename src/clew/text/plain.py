"""Plain text: paragraphs between blank lines, and one section. In posts, hashtags count."""

from __future__ import annotations

import re
from dataclasses import replace

from clew.text.marks import Inside, hashtags, quotations, urls, without
from clew.types import Block, ParsedDocument, Section

# A paragraph: lines that hold something, up to a blank line or the end.
PARAGRAPH = re.compile(rb"[^\s][^\n]*(?:\n(?![^\S\n]*\r?\n)[^\n]+)*")
BOM = b"\xef\xbb\xbf"


def parse_plain(text: str, title: str = "") -> ParsedDocument:
    """Return the structure of a plain text. Nothing in it is markup; URLs aren't prose."""
    data = text.encode("utf-8")
    spans: list[tuple[int, int]] = []
    for match in PARAGRAPH.finditer(data, len(BOM) if data.startswith(BOM) else 0):
        spans.append((match.start(), match.start() + len(match[0].rstrip())))
    prose = tuple(without(spans, urls(data)))
    section = Section(0, "", (), 0, len(data))
    return ParsedDocument(
        text=text,
        title=title,
        metadata={},
        blocks=tuple(Block("paragraph", start, end) for start, end in spans),
        sections=(section,) if spans else (),
        links=(),
        marks=tuple(quotations(data, prose)),
        prose=prose,
        code=(),
    )


def parse_post(text: str, title: str = "") -> ParsedDocument:
    """Return the structure of a post: plain text in which ``#tag`` is a tag."""
    parsed = parse_plain(text, title)
    tags = hashtags(text.encode("utf-8"), Inside(parsed.prose))
    marks = sorted([*parsed.marks, *tags], key=lambda mark: (mark.start, mark.end, mark.kind, mark.name))
    return replace(parsed, marks=tuple(marks))


def parse_opaque(text: str, title: str = "") -> ParsedDocument:
    """Return the structure of what is there to be pointed at, not to be read: it has no words."""
    size = len(text.encode("utf-8"))
    block = (Block("frontmatter", 0, size),) if size else ()
    return ParsedDocument(text, title, {}, block, (Section(0, "", (), 0, size),), (), (), (), ())
