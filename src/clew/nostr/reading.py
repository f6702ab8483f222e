"""Reading files of events: verified, merged, and what is wrong with them listed."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path

from clew.nostr.current import Current
from clew.nostr.documents import Wanted, to_documents
from clew.nostr.dump import Found, read_objects
from clew.nostr.events import Event, Invalid, check, need_library
from clew.nostr.known import Known
from clew.types import Problem, RawDocument

BATCH = 512  # events that a thread verifies at a time
MOST_THREADS = 4  # verifying leaves Python alone for half of its time: more would wait for each other
LISTED = 50  # invalid events of one file that are listed one by one

_Checked = list[tuple[int, Event | Invalid]]


class Reading:
    """Takes files of events, then gives their documents. ``notes`` say what was left out, for a person."""

    def __init__(self, known: Known | None = None) -> None:
        need_library()
        self._known = known if known is not None else Known()
        self._current = Current()
        self.problems: list[Problem] = []
        self.notes: list[str] = []

    def file(self, path: Path, location: str) -> None:
        """Read a file; ``location`` is how documents and problems name it. Raises OSError."""
        invalid: list[tuple[int, Invalid]] = []
        for line, found in verified(read_objects(path), location, self._known):
            if isinstance(found, Event):
                self._current.add(found)
            else:
                invalid.append((line, found))
        self._known.save()
        self.problems += _listed(invalid, location)

    def documents(self, wanted: Wanted, *, links: bool = False) -> Iterator[RawDocument]:
        """Yield the documents of all files."""
        events = self._current.events()
        self.notes = _told(self._current)
        yield from to_documents(events, wanted, links=links)


def verified(objects: Iterable[Found], location: str, known: Known) -> Iterator[tuple[int, Event | Invalid]]:
    """Yield each object as a verified event, or why it is none, in order, with its line."""

    def run(batch: Sequence[Found]) -> _Checked:
        return [(line, _checked(value, location, line, known)) for line, value in batch]

    source = iter(objects)
    threads = min(os.cpu_count() or 1, MOST_THREADS)
    waiting: deque[Future[_Checked]] = deque()
    with ThreadPoolExecutor(threads, thread_name_prefix="clew-verify") as pool:
        while batch := list(islice(source, BATCH)):
            waiting.append(pool.submit(run, batch))
            if len(waiting) > threads:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()


def _checked(value: object, location: str, line: int, known: Known) -> Event | Invalid:
    if isinstance(value, Invalid):
        return value
    try:
        return check(value, location, line, known)
    except Invalid as error:
        return error


def _listed(invalid: Sequence[tuple[int, Invalid]], location: str) -> Iterator[Problem]:
    """Yield a problem for each refused event; beyond a number of them, a count stands for the rest."""
    remedy = "It is left out; ask whoever made the file"
    for line, reason in invalid[:LISTED]:
        yield Problem(f"{location}:{line}", f"line {line}: the event is refused: {reason}", remedy)
    rest = len(invalid) - LISTED
    if rest > 0:
        count = f"{rest:,} more of its events are refused, {len(invalid):,} in all"
        yield Problem(f"{location}:…", count, remedy)


def _told(current: Current) -> list[str]:
    words = {
        "repeated": "came more than once",
        "replaced": "were replaced by newer ones",
        "deleted": "were deleted by their authors",
        "ephemeral": "weren't meant to be kept",
    }
    parts = [f"{count:,} {words[name]}" for name, count in current.counts.items() if count]
    return [f"Events left out: {', '.join(parts)}."] if parts else []


__all__ = ["Reading", "verified"]
