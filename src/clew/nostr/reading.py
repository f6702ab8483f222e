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
from clew.nostr.events import Event, Invalid, check, decode, need_library
from clew.nostr.kinds import GENERIC_REPOST, REPOST
from clew.nostr.known import Known
from clew.types import Problem, RawDocument

BATCH = 512  # events that a thread verifies at a time
MOST_THREADS = 4  # verifying leaves Python alone for half of its time: more would wait for each other
REPOSTS = (REPOST, GENERIC_REPOST)
LISTED = 50  # invalid events of one file that are listed one by one

_Checked = list[tuple[int, Event | Invalid, bool]]


class Reading:
    """Takes files of events, then gives their documents. ``notes`` say what was left out, for a person."""

    def __init__(self, known: Known | None = None) -> None:
        need_library()
        self._known = known if known is not None else Known()
        self._current = Current()
        self._owner: object = None
        self._owners: dict[str, object] = {}  # by id of the event, where sources share a reading
        self._problems: list[tuple[object, Problem]] = []
        self._embedded: list[tuple[object, Event]] = []
        self._told = False
        self.notes: list[str] = []

    def own(self, owner: object) -> None:
        """Say whose the files are that are read from now on. An event is of the first that has it."""
        self._owner = owner

    def problem(self, problem: Problem) -> None:
        """Note what is wrong with a file of the present owner's."""
        self._problems.append((self._owner, problem))

    @property
    def problems(self) -> list[Problem]:
        return [problem for _, problem in self._problems]

    def problems_of(self, owner: object) -> list[Problem]:
        """Return what was wrong in an owner's files."""
        return [problem for one, problem in self._problems if one is owner]

    def file(self, path: Path, location: str) -> None:
        """Read a file; ``location`` is how documents and problems name it. Raises OSError."""
        invalid: list[tuple[int, Invalid]] = []
        for line, found, embedded in verified(read_objects(path), location, self._known):
            if embedded and isinstance(found, Event):
                self._embedded.append((self._owner, found))
            elif isinstance(found, Event):
                self._current.add(found)
                self._owners.setdefault(found.id, self._owner)
            else:
                invalid.append((line, found))
        self._known.save()
        self._problems += [(self._owner, problem) for problem in _listed(invalid, location)]

    def documents(
        self, wanted: Wanted, *, links: bool = False, owner: object = None
    ) -> Iterator[RawDocument]:
        """Yield the documents of all files, or of an owner's."""
        # An event by itself counts before a copy of it in a repost, wherever the two stand.
        for holder, event in self._embedded:
            if not self._current.has(event.id):
                self._current.add(event)
                self._owners.setdefault(event.id, holder)
        self._embedded.clear()
        events = self._current.events()
        self.notes, self._told = [] if self._told else _told(self._current), True
        for made in to_documents(events, wanted, links=links):
            if owner is None or self._owners[made.ids[0]] is owner:
                yield made


def verified(
    objects: Iterable[Found], location: str, known: Known
) -> Iterator[tuple[int, Event | Invalid, bool]]:
    """Yield each object as a verified event, or why it is none, in order, with its line and whether it is
    embedded: what a repost holds (NIP-18) follows it, if that is a valid event itself."""

    def run(batch: Sequence[Found]) -> _Checked:
        found: _Checked = []
        for line, value in batch:
            event = _checked(value, location, line, known)
            found.append((line, event, False))
            if isinstance(event, Event) and event.kind in REPOSTS and event.content:
                inner = _embedded(event, known)
                if inner is not None:
                    found.append((line, inner, True))
        return found

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


def _embedded(repost: Event, known: Known) -> Event | None:
    """Return the event that a repost holds, None if it isn't valid: then the repost only points at it."""
    try:
        return check(decode(repost.content.encode("utf-8")), repost.location, repost.line, known)
    except (Invalid, UnicodeEncodeError):
        return None


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
