"""Several relays at once, into one store."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import Event as Signal
from threading import Lock

from clew.nostr.current import Current
from clew.nostr.documents import Wanted, with_follows
from clew.nostr.events import Invalid, check
from clew.nostr.kinds import FOLLOWS
from clew.nostr.known import Known
from clew.nostr.relay import Fetcher, Pace, Synced
from clew.nostr.store import EventStore
from clew.ports import Progress


def sync(
    relays: Sequence[str],
    wanted: Wanted,
    store: EventStore,
    known: Known,
    progress: Progress,
    pace: Pace | None = None,
) -> list[Synced]:
    """Fetch what is wanted and missing from all relays, and return what each gave, in their order.

    What those write whom the authors follow is asked for once their lists are there, if it is wanted. A relay
    that can't be reached is no error: its result says so. An interrupt leaves the store whole.
    """
    found = _fetch(relays, wanted, store, known, progress, pace)
    for one in followed(wanted, store):
        for first, more in zip(found, _fetch(relays, one, store, known, progress, pace), strict=True):
            first.add(more)
    return found


def followed(wanted: Wanted, store: EventStore) -> list[Wanted]:
    """Return what is to be asked of those whom the authors follow, in parts: relays take so many authors at
    once, and who is followed later changes one part, so that the others needn't be fetched again."""
    if not wanted.follows:
        return []
    lists = Current()
    for value in store.of_kind(FOLLOWS):
        with suppress(Invalid):
            lists.add(check(value))
    every = with_follows(wanted, lists.events()).authors - wanted.authors
    parts: dict[str, set[str]] = {}
    for key in every:
        parts.setdefault(key[:1], set()).add(key)
    return [replace(wanted, authors=frozenset(parts[at]), follows=False) for at in sorted(parts)]


def _fetch(
    relays: Sequence[str],
    wanted: Wanted,
    store: EventStore,
    known: Known,
    progress: Progress,
    pace: Pace | None,
) -> list[Synced]:
    lock, stop = Lock(), Signal()

    def tell(count: int) -> None:
        with lock:
            progress.advance(count)

    fetchers = [Fetcher(one, wanted, store, known, tell, pace or Pace(), stop) for one in relays]
    with ThreadPoolExecutor(max(len(relays), 1), thread_name_prefix="clew-relay") as pool:
        running = [pool.submit(fetcher.run) for fetcher in fetchers]
        try:
            return [one.result() for one in running]
        finally:
            stop.set()
