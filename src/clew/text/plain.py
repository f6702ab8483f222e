"""Plain text: paragraphs between blank lines, and one section."""

from __future__ import annotations

import re

from clew.text.marks import quotations, urls, without
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
