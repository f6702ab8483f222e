"""Fetching events from relays by NIP-01, backwards in time, page by page.

A relay answers a subscription with its newest events, up to a limit of its own that it needn't tell. So the
next page asks for what was written until the oldest event of this one, that second included, since a
second may hold more events than the page did; an event that comes twice is kept once. A second that holds
more than a page is asked for by kind, and by author where authors are known.
"""

from __future__ import annotations

import ipaddress
import json
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from threading import Event as Signal
from typing import Any
from urllib.parse import urlsplit

from clew.ids import make_id
from clew.nostr.documents import Wanted
from clew.nostr.events import Event, Invalid, check, decode
from clew.nostr.kinds import FOLLOWS, NAMES, PROFILE
from clew.nostr.known import Known
from clew.nostr.store import EventStore, gaps

DELETION = 5
PAGE = 500  # events asked for at once: what most relays allow
MOST_KINDS = 100  # that a filter lists; of more, all kinds are asked for and the rest dropped
OVERLAP = 3600  # seconds before the newest event that are asked for again: clocks differ
MOST_OF_SECOND = 10 * PAGE  # events of one second that are asked for at once
LOOK = 0.5  # seconds between looks at whether to stop
LONGEST = 16 * 1024 * 1024  # bytes of a message
UNREACHED = 2  # further attempts where a relay was never reached
NOTICES = 3  # of a relay that are told
LATEST = (1 << 53) - 1


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait, in seconds."""

    connect: float = 10.0
    silence: float = 30.0  # until a relay that says nothing is given up
    again: tuple[float, ...] = (0.5, 1, 2, 4, 8)  # between attempts; after the last it is given up


@dataclass(slots=True)
class Synced:
    """What a relay gave: events that were new, that were refused and why, and what went wrong."""

    relay: str
    new: int = 0
    received: int = 0
    refused: dict[str, int] = field(default_factory=dict)
    unasked: int = 0
    notices: list[str] = field(default_factory=list)
    error: str = ""

    def add(self, other: Synced) -> None:
        """Add what another asking gave."""
        self.new, self.received = self.new + other.new, self.received + other.received
        for reason, count in other.refused.items():
            self.refused[reason] = self.refused.get(reason, 0) + count
        self.unasked += other.unasked
        self.notices += [one for one in other.notices if one not in self.notices]
        self.error = self.error or other.error


class _Broken(Exception):
    """The connection ended, or the relay said no: it may be tried again."""


class _Refused(Exception):
    """The relay won't answer this."""


class Fetcher:
    """Fetches what is wanted from one relay into a store."""

    def __init__(
        self,
        relay: str,
        wanted: Wanted,
        store: EventStore,
        known: Known,
        tell: Callable[[int], None],
        pace: Pace,
        stop: Signal,
    ) -> None:
        self._relay, self._wanted, self._store, self._known = relay, wanted, store, known
        self._tell, self._pace, self._stop = tell, pace, stop
        self._filter = base_filter(wanted)
        self._key = f"{relay} {make_id(json.dumps(self._filter, sort_keys=True))}"
        self._kinds = set(NAMES)
        self._number = 0
        self._reached = False
        self._largest = 0  # events of a page so far: what a page with fewer has, is all
        self.result = Synced(relay)

    def run(self) -> Synced:
        """Fetch what is missing, reconnecting as often as the pace allows without any progress between."""
        failures = 0
        while not self._stop.is_set():
            before = self._store.covered(self._key), self.result.new
            try:
                self._connected()
                self.result.error = ""
                break
            except _Refused as error:
                self.result.error = str(error)
                break
            except _Broken as error:
                self.result.error = str(error)
                if (self._store.covered(self._key), self.result.new) != before:
                    failures = 0
                most = len(self._pace.again) if self._reached else min(UNREACHED, len(self._pace.again))
                if failures >= most:
                    break
                self._stop.wait(self._pace.again[failures])
                failures += 1
        return self.result

    def _connected(self) -> None:
        from websockets.exceptions import InvalidURI, WebSocketException
        from websockets.sync.client import connect

        try:
            with connect(
                self._relay,
                open_timeout=self._pace.connect,
                close_timeout=1,
                max_size=LONGEST,
                user_agent_header="clew",
                proxy=None if is_loopback(self._relay) else True,
            ) as socket:
                self._reached = True
                self._fetch(socket)
        except InvalidURI as error:
            raise _Refused(f"it is no address of a relay ({error})") from error
        except TimeoutError as error:
            raise _Broken("it doesn't answer") from error
        except OSError as error:
            raise _Broken(f"it can't be reached ({error.strerror or error})") from error
        except WebSocketException as error:
            raise _Broken(f"the connection broke ({error})") from error

    def _fetch(self, socket: Any) -> None:
        """Fetch every gap between what is covered, the latest first."""
        covered = self._store.covered(self._key)
        if covered and self._wanted.until is None:
            newest = covered[-1][1]
            covered[-1] = (covered[-1][0], max(newest - OVERLAP, covered[-1][0]))
        low = self._wanted.since or 0
        high = LATEST if self._wanted.until is None else self._wanted.until
        for gap in gaps(covered, low, high):
            self._backwards(socket, *gap)

    def _backwards(self, socket: Any, low: int, high: int) -> None:
        """Fetch what was written from ``low`` to ``high``, page by page."""
        # Of the present, what is covered reaches to the newest event that there is.
        top = high if high < time.time() - OVERLAP else -1
        until = high
        while until >= low:
            page = self._page(socket, low, until)
            if not page:  # there is nothing older
                break
            if top < 0:
                top = max(event.created_at for event in page)
            oldest = min(event.created_at for event in page)
            if oldest >= until:
                if len(page) >= self._largest:
                    self._second(socket, until)
                oldest = until - 1
            self._largest = max(self._largest, len(page))
            self._store.cover(self._key, (max(oldest + 1, low), top))
            until = oldest
        if top >= 0:
            self._store.cover(self._key, (low, top))

    def _second(self, socket: Any, second: int) -> None:
        """Fetch one second that may hold more than a page, kind by kind and author by author."""
        asked = self._filter.get("kinds") or sorted(self._kinds)
        authors = self._filter.get("authors") or []
        parts = [{"authors": [author]} for author in authors] if len(authors) > 1 else [{}]
        for kind in asked:
            for part in parts:
                more = {"kinds": [kind], **part, "limit": MOST_OF_SECOND}
                try:
                    page = self._page(socket, second, second, more)
                except _Refused:  # so many at once
                    page = self._page(socket, second, second, {**more, "limit": PAGE})
                if len(page) >= max(self._largest, 2):
                    self._notice(f"it may hold more events of the second {second} than it gives")

    def _page(self, socket: Any, low: int, high: int, more: Mapping[str, Any] | None = None) -> list[Event]:
        """Ask for one page and return its valid events, which are in the store by then.

        Some relays leave the second ``until`` out, against NIP-01, some ``since``: one more on either side is
        asked for, so the page may hold a few events beyond ``low``..``high``.
        """
        self._number += 1
        name = f"clew-{self._number}"
        request: dict[str, Any] = {**self._filter, "limit": PAGE, **(more or {})}
        if low > 0 or not self._filter:  # some relays take a filter without any condition for none
            request["since"] = max(low - 1, 1)
        if high < LATEST:
            request["until"] = high + 1
        socket.send(json.dumps(["REQ", name, request]))
        events: list[Event] = []
        whole = False
        try:
            for value in self._answers(socket, name):
                event = self._taken(value, low, high)
                if event is not None:
                    events.append(event)
            whole = True
        finally:  # what came before the connection broke is kept
            self.result.new += self._store.add([event for event in events if self._is_wanted(event)])
            self._known.save()
            if whole:
                socket.send(json.dumps(["CLOSE", name]))
        self._kinds.update(event.kind for event in events)
        self._tell(len(events))
        return events

    def _answers(self, socket: Any, name: str) -> Iterator[Any]:
        """Yield the events of a subscription until the relay says that these are all."""
        while True:
            what, *rest = self._message(socket)
            if what == "EVENT" and len(rest) > 1 and rest[0] == name:
                yield rest[1]
            elif what == "EOSE" and rest[:1] == [name]:
                return
            elif what == "CLOSED" and rest[:1] == [name]:
                self._closed(str(rest[1]) if len(rest) > 1 else "")
            elif what == "NOTICE" and rest:
                self._notice(str(rest[0]))
            elif what == "AUTH":
                self._notice("it asks who is reading (AUTH), which Clew doesn't tell")

    def _message(self, socket: Any) -> list[Any]:
        """Wait for a message, but not when all is to stop."""
        until = time.monotonic() + self._pace.silence
        while time.monotonic() < until:
            if self._stop.is_set():
                raise _Refused("it was stopped")
            try:
                return decode_message(socket.recv(timeout=min(LOOK, self._pace.silence)))
            except TimeoutError:
                continue
        raise _Broken(f"it said nothing for {self._pace.silence:g} seconds")

    def _closed(self, reason: str) -> None:
        """Raise what a relay's refusal means."""
        if reason.startswith("auth-required"):
            raise _Refused(f"it answers only those who sign in, which Clew doesn't ({reason})")
        if reason.startswith("rate-limited"):
            raise _Broken(f"it asks to wait ({reason})")
        raise _Refused(f"it won't answer ({reason or 'without a reason'})")

    def _notice(self, text: str) -> None:
        if text not in self.result.notices and len(self.result.notices) < NOTICES:
            self.result.notices.append(text)

    def _taken(self, value: Any, low: int, high: int) -> Event | None:
        """Return a valid event that was asked for; count what else comes."""
        self.result.received += 1
        try:
            event = check(value, known=self._known)
        except Invalid as error:
            self.result.refused[str(error)] = self.result.refused.get(str(error), 0) + 1
            return None
        authors = self._filter.get("authors")
        if not low - 1 <= event.created_at <= high + 1 or (authors and event.pubkey not in authors):
            self.result.unasked += 1
            return None
        return event

    def _is_wanted(self, event: Event) -> bool:
        return event.kind in always(self._wanted) or self._wanted.takes(event)


def decode_message(data: str | bytes) -> list[Any]:
    """Return a relay's message; ["", …] for what is none."""
    try:
        value = decode(data.encode("utf-8") if isinstance(data, str) else data)
    except (Invalid, UnicodeEncodeError):
        return [""]
    return value if isinstance(value, list) and value and isinstance(value[0], str) else [""]


def is_loopback(relay: str) -> bool:
    """Tell whether a relay is on this machine."""
    host = urlsplit(relay).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def always(wanted: Wanted) -> set[int]:
    """Return the kinds that are asked for whatever is wanted: they name people, delete, or tell whom the
    authors follow."""
    return {PROFILE, DELETION, FOLLOWS} if wanted.follows else {PROFILE, DELETION}


def base_filter(wanted: Wanted) -> dict[str, Any]:
    """Return the filter that asks for what is wanted: its kinds with those that name authors and delete."""
    found: dict[str, Any] = {}
    kinds = always(wanted)
    if wanted.kinds and sum(high - low + 1 for low, high in wanted.kinds) <= MOST_KINDS:
        kinds.update(kind for low, high in wanted.kinds for kind in range(low, high + 1))
        found["kinds"] = sorted(kinds)
    elif not wanted.kinds and not wanted.unknown:
        found["kinds"] = sorted(kinds | set(NAMES))
    if wanted.authors:
        found["authors"] = sorted(wanted.authors)
    return found
