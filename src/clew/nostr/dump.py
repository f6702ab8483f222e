"""Files of events: one a line, arrays of them, a relay's frames ``["EVENT", "id", {…}]``, and mixtures.

A file is read line by line. An object may stretch over several lines; a line that is an event by itself ends
whatever hasn't ended before it, so that a damaged line costs one event.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from clew.nostr.events import Invalid, decode, looks_like_event

HEAD = 1 << 18  # bytes of a file that tell what it is
LOOKED_AT = 20  # objects among them
LONG_LINE = 1 << 16  # a longer array is taken apart before it is decoded
BOM = b"\xef\xbb\xbf"
ENDINGS = (".jsonl", ".ndjson", ".json")
# Strings whole, so that what is in them counts for nothing, and what opens and closes objects.
TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|[{}]|"')

FRAMES = ("EVENT", "EOSE", "OK", "NOTICE", "CLOSED", "AUTH", "COUNT")

Found = tuple[int, Any]  # the line, and an object or why there is none (Invalid)


def is_dump(path: Path) -> bool:
    """Tell by its content whether a file holds events; a corpus of other records doesn't."""
    try:
        with path.open("rb") as file:
            head = file.read(HEAD)
    except OSError:
        return False
    return holds_events(head)


def holds_events(head: bytes) -> bool:
    """Tell whether most of the objects at the beginning of some JSON are events."""
    if b'"pubkey"' not in head or b'"sig"' not in head:
        return False
    if len(head) >= HEAD and b"\n" in head:
        head = head[: head.rindex(b"\n")]
    found = 0
    events = 0
    for _, value in objects(head.splitlines()):
        found += not isinstance(value, Invalid)
        events += looks_like_event(value)
        if found == LOOKED_AT:
            break
    return 2 * events > found


def read_objects(path: Path) -> Iterator[Found]:
    """Yield the objects of a file with their lines. Raises OSError."""
    with path.open("rb") as file:
        yield from objects(file)


def objects(lines: Iterable[bytes]) -> Iterator[Found]:
    """Yield the outermost objects, or Invalid for what can't be read, each with its first line (from 1).

    Brackets, commas and texts around them are passed over: so a relay's frames give their events, and its
    notices nothing.
    """
    open_object = _Open()
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if number == 1 and text.startswith(BOM):
            text = text[len(BOM) :].strip()
        if not text:
            continue
        whole = _whole(text) if text[:1] in b"{[" and len(text) < LONG_LINE else None
        if whole is not None:
            if open_object.begun:
                yield open_object.broken()
            for value in whole:
                yield number, value
        elif not open_object.begun and text[:1] == b"{" and text.rstrip(b",")[-1:] == b"}":
            try:  # the usual damage: this line alone
                yield number, decode(text.rstrip(b","))
            except Invalid as error:
                yield number, error
        else:
            yield from open_object.feed(text, number)
    if open_object.begun:
        yield open_object.broken()


def _whole(text: bytes) -> list[Any] | None:
    """Return what a line holds if it is an event, a frame, or an array of them; else None."""
    try:
        value = decode(text.rstrip(b","))
    except Invalid:
        return None
    if looks_like_event(value):
        return [value]
    if not isinstance(value, list):
        return None
    return list(_inner(value)) if any(True for _ in _inner(value)) or _is_frame(value) else None


def _inner(value: list[Any]) -> Iterator[Any]:
    for item in value:
        if isinstance(item, list):
            yield from (one for one in item if looks_like_event(one))
        elif looks_like_event(item):
            yield item


def _is_frame(value: list[Any]) -> bool:
    """Tell whether an array is something else that a relay says: ["EOSE", "id"], ["NOTICE", "text"]."""
    return bool(value) and value[0] in FRAMES


class _Open:
    """An object that began on a line before."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []
        self._depth = 0
        self._line = 0

    @property
    def begun(self) -> bool:
        return self._depth > 0

    def feed(self, text: bytes, number: int) -> Iterator[Found]:
        """Take a further line and yield the objects that end on it."""
        start = 0
        outside = not self.begun
        for match in TOKEN.finditer(text):
            token = match[0]
            if token == b"{":
                if not self._depth:
                    start, self._line = match.start(), number
                self._depth += 1
            elif token == b"}" and self._depth:
                self._depth -= 1
                if not self._depth:
                    data = b"".join([*self._parts, text[start : match.end()]])
                    self._parts.clear()
                    outside = False
                    yield self._line, _value(data)
            elif token == b'"' and self._depth:
                yield self.broken()
                return
        if self._depth:
            self._parts.append(text[start:])
        elif outside and text.strip(b'[],"'):
            yield number, Invalid("it isn't JSON")

    def broken(self) -> Found:
        """Give up the object that was begun."""
        self._parts.clear()
        self._depth = 0
        return self._line, Invalid("it isn't valid JSON (it doesn't end)")


def _value(data: bytes) -> Any:
    try:
        return decode(data)
    except Invalid as error:
        return error
