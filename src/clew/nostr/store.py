"""What was fetched from relays: verified events, one a line, only ever added to; and up to where.

The index is a function of the events file. Where a run is killed, the line that it was writing is cut off at
the next; what the state doesn't know is fetched again, and every event is kept once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from clew.nostr.dump import read_objects
from clew.nostr.events import Event, looks_like_event

Interval = tuple[int, int]  # of seconds, both ends included


class EventStore:
    """The events file and its state. Threads may share it."""

    def __init__(self, events: Path, state: Path) -> None:
        self._events, self._state = events, state
        self._lock = Lock()
        self._ids: set[str] = set()
        self._covered: dict[str, list[Interval]] = {}
        self._open()

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, events: Sequence[Event]) -> int:
        """Append the events that aren't there, on the disk when this returns; return how many they were."""
        with self._lock:
            new = {event.id: event for event in events if event.id not in self._ids}
            if new:
                with self._events.open("ab") as file:
                    file.write("".join(f"{event.as_json()}\n" for event in new.values()).encode("utf-8"))
                    file.flush()
                    os.fsync(file.fileno())
                self._ids.update(new)
            return len(new)

    def of_kind(self, kind: int) -> list[dict[str, Any]]:
        """Return the events of a kind as they were written."""
        with self._lock:
            values = [value for _, value in read_objects(self._events) if looks_like_event(value)]
        return [value for value in values if value["kind"] == kind]

    def covered(self, key: str) -> list[Interval]:
        """Return the times of which everything was fetched for a relay and filter, ascending."""
        with self._lock:
            return list(self._covered.get(key, ()))

    def cover(self, key: str, interval: Interval) -> None:
        """Note that everything of some time was fetched, and is in the events file."""
        with self._lock:
            self._covered[key] = merge([*self._covered.get(key, ()), interval])
            temporary = self._state.with_name(f"{self._state.name}.new")
            temporary.write_text(json.dumps(self._covered, indent=1), "utf-8")
            os.replace(temporary, self._state)  # noqa: PTH105

    def _open(self) -> None:
        self._events.parent.mkdir(parents=True, exist_ok=True)
        if not self._events.exists():
            self._events.touch()
            return  # without events, what the state says is worth nothing
        _cut_torn_line(self._events)
        for _, value in read_objects(self._events):
            if looks_like_event(value):
                self._ids.add(str(value["id"]))
        self._covered = _read_state(self._state)


def merge(intervals: Sequence[Interval]) -> list[Interval]:
    """Return intervals without overlaps, ascending; those that touch become one."""
    merged: list[Interval] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return merged


def gaps(covered: Sequence[Interval], low: int, high: int) -> list[Interval]:
    """Return what of ``low``..``high`` isn't covered, the latest first."""
    found: list[Interval] = []
    at = low
    for start, end in merge(covered):
        if start > at and at <= high:
            found.append((at, min(start - 1, high)))
        at = max(at, end + 1)
    if at <= high:
        found.append((at, high))
    return found[::-1]


def _cut_torn_line(path: Path) -> None:
    with path.open("rb+") as file:
        end = file.seek(0, os.SEEK_END)
        at = end
        while at:
            step = min(at, 1 << 16)
            file.seek(at - step)
            place = file.read(step).rfind(b"\n")
            if place >= 0:
                at = at - step + place + 1
                break
            at -= step
        if at < end:
            file.truncate(at)


def _read_state(path: Path) -> dict[str, list[Interval]]:
    """Return the state; nothing if it can't be read: then all is fetched again."""
    try:
        value: Any = json.loads(path.read_text("utf-8"))
        return {str(key): [(int(low), int(high)) for low, high in rows] for key, rows in value.items()}
    except (OSError, ValueError, TypeError, AttributeError):
        return {}
