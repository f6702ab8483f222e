"""Several relays at once, into one store."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event as Signal
from threading import Lock

from clew.nostr.documents import Wanted
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

    A relay that can't be reached is no error: its result says so. An interrupt leaves the store whole.
    """
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
