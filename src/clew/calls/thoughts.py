"""What a model says to itself before it answers is no part of the answer.

Servers that know a model's format take its thoughts out; others pass them on between ``<think>`` and
``</think>``, and where the chat template has opened them, without the first tag.
"""

from __future__ import annotations

OPEN, CLOSE = "<think>", "</think>"


def without_thoughts(text: str) -> str:
    """Return the text after the thoughts it begins with; empty if it holds nothing else."""
    begun = text.lstrip().startswith(OPEN)
    end = text.find(CLOSE)
    if begun:
        return text[end + len(CLOSE) :].lstrip() if end >= 0 else ""
    opened = text.find(OPEN)
    if end < 0 or 0 <= opened < end:  # both tags within an answer: it speaks of them
        return text
    return text[end + len(CLOSE) :].lstrip()


class Shown:
    """Takes the pieces of a reply and gives what of each may be shown.

    Thoughts without their first tag can't be told from an answer until they end; they are shown, and only
    the whole reply is without them.
    """

    def __init__(self) -> None:
        self._held = ""  # until it is clear whether it begins with thoughts
        self._open = False  # everything may be shown

    def show(self, piece: str) -> str:
        """Return what may be shown now."""
        if self._open:
            return piece
        self._held += piece
        start = self._held.lstrip()
        if OPEN.startswith(start[: len(OPEN)]):
            start = start.partition(CLOSE)[2].lstrip()
            self._open = bool(start)
            return start
        self._open = True
        return self._held
