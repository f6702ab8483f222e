"""The events of several sources of one index as one set: two folders with dumps, a folder and relays.

An event counts once, for the first source that has it; what replaces or deletes it may be in another.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from clew.nostr.known import Known
from clew.nostr.reading import Reading


@runtime_checkable
class Holder(Protocol):
    """A source that may hold events."""

    def share(self, events: EventSet) -> None:
        """Read events as those of one set, from now on."""
        ...

    def add_events(self, reading: Reading) -> None:
        """Add the source's events to a reading, as its own (see :meth:`Reading.own`)."""
        ...


class EventSet:
    """Reads the events of all its holders when the first of them is read, and again when one is read
    again."""

    def __init__(self) -> None:
        self._holders: list[Holder] = []
        self._reading: Reading | None = None
        self._served: set[int] = set()

    def join(self, holder: Holder) -> None:
        """Take a holder; those that come first own what several have."""
        self._holders.append(holder)
        holder.share(self)

    def reading(self, holder: Holder, known: Known) -> Reading:
        """Return the reading of all, which serves each holder once. Raises OptionError if what verifies
        events isn't installed."""
        if self._reading is None or id(holder) in self._served:
            reading = Reading(known)
            for one in self._holders:
                reading.own(one)
                one.add_events(reading)
            self._reading, self._served = reading, set()
        self._served.add(id(holder))
        return self._reading


def share_events(sources: Sequence[object]) -> None:
    """Make the events of several sources one set."""
    holders = [source for source in sources if isinstance(source, Holder)]
    if len(holders) > 1:
        events = EventSet()
        for holder in holders:
            events.join(holder)
