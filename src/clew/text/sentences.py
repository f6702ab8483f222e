"""Sentences of a text in any script, without a word list of any language."""

from __future__ import annotations

import regex

CLOSERS = r"[\"'”’»›」』】）》〉)\]*_~`]*"
# German closes with “, ‘ and «, which open elsewhere; before white space they can only close.
CLOSERS_BEFORE_SPACE = CLOSERS.replace("[", "[“‘«‹", 1)
QUOTED = frozenset("\"'”’»›“‘«‹」』】）》〉)]")
BOUNDARY = regex.compile(
    rf"(?P<wide>[。！？｡．]+{CLOSERS})"  # scripts without spaces end a sentence anywhere
    rf"|(?P<stop>[.!?…؟۔।॥።።՞։]+{CLOSERS_BEFORE_SPACE})(?=[\s\u200b]|\Z)"
    r"|(?P<blank>\r?\n(?:[ \t>]*\r?\n)+)"
    r"|(?P<item>\r?\n)(?=[ \t>]*(?:[-*+•–—]|\d{1,3}[.)]|#{1,6}|[|])[ \t])"
)
# What stands before a full stop that ends no sentence: one letter (an initial), or one or two
# digits (a day, an item) – not four of them (a year), nor decimals.
INITIAL = regex.compile(r"(?:^|[^\p{L}\p{N}])\p{L}\p{M}*\.$|(?:^|[^\p{L}\p{N}.,])\p{N}{1,2}\.$")
# A short word before a number: "No. 3", "Nr. 5", "рис. 4", "Fig. 12".
NUMBERED = regex.compile(r"(?:^|[^\p{L}\p{N}])\p{L}{1,4}\.$")
DIGIT = regex.compile(r"[ \u00a0]\p{N}")
# Within these nothing ends a sentence: wikilinks, link texts with their targets, inline code.
WHOLE = regex.compile(r"!?\[\[[^\[\]\n]{1,200}\]\]|\[[^\[\]\n]{1,200}\]\([^()\s]{1,300}\)|`[^`\n]{1,200}`")
LOWER = regex.compile(r"\s*[\"'“„«(\[]*\p{Ll}")
LOOK_BACK = 8


def sentences(text: str) -> list[tuple[int, int]]:
    """Return the sentences' character spans, ascending, trimmed of white space; nothing else is left out.

    A sentence ends at the closing punctuation of any script, at a blank line, and before a list
    item, heading or table row. A full stop ends none after a single letter or one or two digits ("J. R. R.
    Tolkien", "3. Oktober"), nor between a short word and a number ("No. 3"), nor before a small letter
    ("z. B. das"), nor inside a link or inline code; no mark does within quotes before a small letter.
    """
    spans: list[tuple[int, int]] = []
    begin = 0
    whole = [match.span() for match in WHOLE.finditer(text)] if "[" in text or "`" in text else []
    at = 0
    for match in BOUNDARY.finditer(text):
        end = match.end()
        while at < len(whole) and whole[at][1] <= match.start():
            at += 1
        if at < len(whole) and whole[at][0] < match.start():
            continue
        if match["stop"] is not None and _goes_on(text, match.start(), end):
            continue
        _add(spans, text, begin, end)
        begin = end
    _add(spans, text, begin, len(text))
    return spans


def _goes_on(text: str, stop: int, end: int) -> bool:
    """Tell whether a sentence goes on after the punctuation at ``stop``."""
    if LOWER.match(text, end):
        # “Halt!” he called: what is quoted ends there, not the sentence around it.
        quoted = not QUOTED.isdisjoint(text[stop:end])
        return quoted or text[stop] in ".…" or (end < len(text) and not text[end].isspace())
    if text[stop] != "." or end - stop > 1 or "\n\n" in text[end : end + 2]:
        return False
    before = text[max(0, stop - LOOK_BACK) : stop + 1]
    if NUMBERED.search(before) is not None and DIGIT.match(text, end):
        return True
    return INITIAL.search(before) is not None and not text[end:].isspace()


def _add(spans: list[tuple[int, int]], text: str, begin: int, end: int) -> None:
    piece = text[begin:end]
    lead = len(piece) - len(piece.lstrip())
    size = len(piece.strip())
    if size:
        spans.append((begin + lead, begin + lead + size))
