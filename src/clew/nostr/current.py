"""Which of many events count: each once, the newest of an address, and none that its author deleted."""

from __future__ import annotations

from collections.abc import Iterator

from clew.nostr.events import Event, is_ephemeral

DELETION = 5  # NIP-09


class Current:
    """Takes events in any order and keeps those that count. What it gives depends on the set of them alone.

    Of several events with one id the first is kept. ``counts`` says how many ``repeated``, ``replaced``,
    ``deleted`` and ``ephemeral`` there were.
    """

    def __init__(self) -> None:
        self._events: dict[str, Event] = {}
        self._newest: dict[str, Event] = {}  # by address
        self._deletions: dict[str, Event] = {}
        self._seen: set[str] = set()
        self.counts = dict.fromkeys(("repeated", "replaced", "deleted", "ephemeral"), 0)

    def has(self, key: str) -> bool:
        """Tell whether an event of this id was taken."""
        return key in self._seen

    def add(self, event: Event) -> None:
        """Take an event."""
        if event.id in self._seen:
            self.counts["repeated"] += 1
            return
        self._seen.add(event.id)
        if is_ephemeral(event.kind):
            self.counts["ephemeral"] += 1
        elif event.kind == DELETION:
            self._deletions[event.id] = event
        elif address := event.address:
            other = self._newest.get(address)
            self.counts["replaced"] += other is not None
            if other is None or _order(event) < _order(other):
                self._newest[address] = event
        else:
            self._events[event.id] = event

    def events(self) -> list[Event]:
        """Return the events that count, by id."""
        gone_ids, gone_addresses = self._deleted()

        def stays(event: Event) -> bool:
            if (event.id, event.pubkey) in gone_ids:
                return False
            return gone_addresses.get(event.address, -1) < event.created_at if event.address else True

        every = [*self._events.values(), *self._newest.values()]
        kept = [event for event in every if stays(event)]
        self.counts["deleted"] = len(every) - len(kept)
        return sorted(kept, key=lambda event: event.id)

    def _deleted(self) -> tuple[set[tuple[str, str]], dict[str, int]]:
        """Return (id, author) of what is deleted by its author, and addresses with the time up to which all
        their events are."""
        ids: set[tuple[str, str]] = set()
        addresses: dict[str, int] = {}
        for event in self._deletions.values():
            ids.update((value, event.pubkey) for value in event.all("e"))
            for address in _own(event):
                addresses[address] = max(addresses.get(address, -1), event.created_at)
        return ids, addresses


def _own(event: Event) -> Iterator[str]:
    """Yield the addresses that a deletion names, and that are its author's."""
    for value in event.all("a"):
        parts = value.split(":", 2)
        if len(parts) > 1 and parts[1] == event.pubkey:
            yield ":".join((parts[0], parts[1], parts[2] if len(parts) > 2 else ""))


def _order(event: Event) -> tuple[int, str]:
    """The newest comes first; of those of one second, the one with the lowest id (NIP-01)."""
    return -event.created_at, event.id
