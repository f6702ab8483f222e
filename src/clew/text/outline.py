"""Blocks without overlap, and the sections that headings make."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from clew.types import Block, Section

Heading = tuple[int, int, int, str]  # start, end, level, title
BLANK = b" \t\r\n"
GREATER = ord(">")
BARE_MARKERS = re.compile(rb"(?:\r?\n[ \t>]*)+\Z")  # a quotation's empty last lines


def flat_blocks(data: bytes, leaves: Sequence[Sequence[Any]]) -> tuple[Block, ...]:
    """Return blocks from (start, end, kind, heading level), ascending by start: each ends where the next
    begins, without white space at its end."""
    blocks = []
    for i, (start, end, kind, level) in enumerate(leaves):
        if i + 1 < len(leaves):
            end = min(end, leaves[i + 1][0])
        while start < end and data[end - 1] in BLANK:
            end -= 1
        if start < end and data[end - 1] == GREATER:
            bare = BARE_MARKERS.search(data, start, end)
            end = bare.start() if bare else end
        if start < end:
            blocks.append(Block(kind, start, end, level))
    return tuple(blocks)


def outline(blocks: Sequence[Block], headings: Sequence[Heading], size: int) -> tuple[Section, ...]:
    """Return the sections of a document of ``size`` bytes.

    What stands before the first heading is one only if there is something; frontmatter counts if it
    is all that there is.
    """
    ends = [heading[0] for heading in headings[1:]] + [size]
    own = [block for block in blocks if block.kind != "frontmatter"] or list(blocks)
    first = own[0].start if own else None
    sections: list[Section] = []
    if first is not None and (not headings or first < headings[0][0]):
        sections.append(Section(0, "", (), first, headings[0][0] if headings else size))
    path: list[tuple[int, str]] = []
    for (start, _, level, title), end in zip(headings, ends, strict=False):
        while path and path[-1][0] >= level:
            path.pop()
        path.append((level, title))
        sections.append(Section(level, title, tuple(part for _, part in path), start, end))
    return tuple(sections)
