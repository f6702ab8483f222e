"""What a model says to itself before it answers, or in between, is no part of the answer.

Servers that know a model's format take its thoughts out; others pass them on between ``<think>`` and
``</think>``, and where the chat template has opened them, without the first tag. A tag within a sentence is
text that speaks of it.
"""

from __future__ import annotations

import re

OPEN, CLOSE = "<think>", "</think>"
_TAG = re.compile(f"{OPEN}|{CLOSE}")
# What stands before a thought: nothing, a line's end, or the end of a sentence or citation.
_BEFORE = re.compile(r"(?:\A|\n|[.!?…:;。！？»”\"\])]\s)[ \t]*\Z")
_LOOKED_AT = 200  # characters before a tag


def without_thoughts(text: str) -> str:
    """Return the text without thoughts; empty if it holds nothing else."""
    opened, end = text.find(OPEN), text.find(CLOSE)
    if opened < 0 and end < 0:
        return text
    if end >= 0 and not 0 <= opened < end:  # begun by the chat template
        return without_thoughts(text[end + len(CLOSE) :].lstrip())
    shown = Shown()
    return shown.show(text) + shown.end()


class Shown:
    """Takes the pieces of a reply and gives what of each may be shown.

    Thoughts without their first tag can't be told from an answer until they end; they are shown, and only
    the whole reply is without them.
    """

    def __init__(self) -> None:
        self._held = ""  # what may become a tag
        self._before = ""  # the last that was shown
        self._depth = 0  # of thoughts within thoughts

    def show(self, piece: str) -> str:
        """Return what may be shown now."""
        self._held += piece
        out = []
        while (tag := _TAG.search(self._held)) is not None:
            before, self._held = self._held[: tag.start()], self._held[tag.end() :]
            out.append(self._say(before))
            if self._depth:
                self._depth += 1 if tag[0] == OPEN else -1
            elif tag[0] == OPEN and _BEFORE.search(self._before):
                self._depth = 1
            else:
                out.append(self._say(tag[0]))
        size = _begun(self._held)
        ready, self._held = self._held[: len(self._held) - size], self._held[len(self._held) - size :]
        return "".join([*out, self._say(ready)])

    def end(self) -> str:
        """Return what was held back for a tag that didn't come."""
        rest, self._held = self._held, ""
        return self._say(rest)

    def _say(self, text: str) -> str:
        if self._depth:
            return ""
        if not self._before:
            text = text.lstrip()
        self._before = (self._before + text)[-_LOOKED_AT:]
        return text


def _begun(text: str) -> int:
    """Return how many characters at the end of a text may be the beginning of a tag."""
    sizes = range(min(len(text), len(CLOSE) - 1), 0, -1)
    return next((size for size in sizes if any(tag.startswith(text[-size:]) for tag in (OPEN, CLOSE))), 0)
