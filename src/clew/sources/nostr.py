"""Events of Nostr relays: fetched into a file beside the index, and read from there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from clew.errors import SourceError
from clew.nostr.events import EXTRA, need_library
from clew.nostr.known import Known
from clew.nostr.reading import Reading
from clew.nostr.relay import Pace, Synced
from clew.nostr.select import wanted
from clew.nostr.shared import EventSet
from clew.nostr.store import EventStore
from clew.nostr.sync import sync
from clew.options import SourceOptions
from clew.ports import Progress
from clew.registry import require
from clew.text.files import file_status, shown_name
from clew.types import Problem, RawDocument

REMEDY = "Events that were fetched before are there; the same command fetches the rest"


class NostrSource:
    """The events that were fetched from relays, and those of dumps that were named with them, as one set.

    :meth:`sync` fetches, :meth:`read` doesn't: what it yields depends on the files alone. Documents are
    located by ``nostr:`` references.
    """

    def __init__(
        self,
        store: Path,
        relays: Sequence[str],
        dumps: Sequence[Path],
        options: SourceOptions,
        name: str,
        state: Path,
        verified: Path | None = None,
        pace: Pace | None = None,
    ) -> None:
        self.name = name
        self.path = store
        self.also = (*(str(path.resolve()) for path in dumps), *relays)
        self.notes: list[str] = []
        self._store, self._state = store, state
        self._relays, self._dumps = tuple(relays), tuple(dumps)
        self._options, self._verified, self._pace = options, verified, pace
        self._synced: list[Synced] = []
        EventSet().join(self)

    def sync(self, progress: Progress) -> None:
        """Fetch what is new. Raises SourceError if no relay can be read and there is nothing from before."""
        if not self._relays:
            return
        need_library()
        require("websockets", "Nostr relays", EXTRA)
        progress.stage("sync")
        known = Known(self._verified)
        store = EventStore(self._store, self._state)
        self._synced = sync(self._relays, wanted(self._options), store, known, progress, self._pace)
        failed = [one for one in self._synced if one.error]
        if len(failed) == len(self._relays) and not len(store) and not self._dumps:
            reasons = "; ".join(f"{one.relay}: {one.error}" for one in failed)
            raise SourceError("", reasons, "Check the address and the connection; nothing is there yet")

    def read(self) -> Iterator[RawDocument | Problem]:
        """Yield the documents, and what was wrong. Raises SourceError if a file can't be read."""
        reading = self._shared.reading(self, Known(self._verified))
        yield from reading.problems_of(self)
        for one in self._synced:
            yield from _problems(one)
        yield from reading.documents(wanted(self._options), links=True, owner=self)
        self.notes = [*filter(None, map(_told, self._synced)), *reading.notes]

    def share(self, events: EventSet) -> None:
        """Read events as those of one set with other sources'."""
        self._shared = events

    def add_events(self, reading: Reading) -> None:
        """Add what was fetched and what the dumps hold to a reading. Raises SourceError."""
        for path in (self._store, *self._dumps):
            try:
                reading.file(path, shown_name(path.name))
            except FileNotFoundError:
                if path != self._store:
                    raise SourceError(str(path), "it isn't there any more") from None
            except OSError as error:
                raise SourceError(str(path), f"it can't be read ({error.strerror})") from error

    def stamp(self) -> str:
        """Return what differs once a file has been written to. Raises SourceError."""
        try:
            return "\n".join(file_status(path) for path in (self._store, *self._dumps))
        except OSError as error:
            raise SourceError(str(self._store), f"it can't be read ({error.strerror})") from error


def open_source(
    store: Path,
    options: SourceOptions,
    name: str,
    relays: Sequence[str] = (),
    dumps: Sequence[Path] = (),
    state: Path | None = None,
    verified: Path | None = None,
) -> NostrSource:
    """Return the source for relays, whose events are kept in the file ``store``, and for dumps with them;
    ``state`` is the file that remembers up to where they were fetched."""
    return NostrSource(store, relays, dumps, options, name, state or store.with_suffix(".state"), verified)


def _problems(one: Synced) -> Iterator[Problem]:
    if one.error:
        yield Problem(one.relay, one.error, REMEDY, skipped=False)
    for reason, count in sorted(one.refused.items()):
        yield Problem(one.relay, f"{count:,} of its events were refused: {reason}", "They are left out")
    if one.unasked:
        reason = f"{one.unasked:,} of its events weren't asked for"
        yield Problem(one.relay, reason, "They are left out")
    for notice in one.notices:
        yield Problem(one.relay, f"it says: {notice}", skipped=False)


def _told(one: Synced) -> str:
    return f"{one.relay}: {one.new:,} new event{'' if one.new == 1 else 's'}." if not one.error else ""
