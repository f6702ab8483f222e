"""Events become documents: text where an event has text, else its JSON, and what its tags state."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clew.nostr.events import HEX, Event, Invalid, decode, to_json
from clew.nostr.kinds import ARTICLE, FOLLOWS, HIGHLIGHT, NAMED, NAMES, PROFILE, WRITTEN, is_in, kind_name
from clew.nostr.refs import npub, person, person_of, shown
from clew.nostr.relations import relate
from clew.types import MediaType, Person, RawDocument, Ref

KEY_DIGITS = 64  # of a public key in hexadecimal
NAME_CHARS = 80  # of a person's name; longer ones are messages
TITLE_CHARS = 60
HEADING = re.compile(r"^\s{0,3}#\s+\S", re.MULTILINE)
PROFILE_NAMES = ("display_name", "displayName", "name", "nip05")
FACTS = ("summary", "image", "published_at", "client")  # tags that are facts of the document

Names = dict[str, tuple[str, ...]]  # by npub, the one to show first


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which events become documents: kinds (ranges; none: all), authors (public keys; none: all), times
    (seconds, both ends included), and, where no kinds are named, whether ``unknown`` ones do. With
    ``follows`` those whom the authors follow are authors too (see :func:`with_follows`)."""

    kinds: tuple[tuple[int, int], ...] = ()
    authors: frozenset[str] = frozenset()
    since: int | None = None
    until: int | None = None
    unknown: bool = True
    follows: bool = False

    def takes(self, event: Event) -> bool:
        """Tell whether an event is wanted."""
        return (
            (is_in(event.kind, self.kinds) if self.kinds else self.unknown or event.kind in NAMES)
            and (not self.authors or event.pubkey in self.authors)
            and (self.since is None or event.created_at >= self.since)
            and (self.until is None or event.created_at <= self.until)
        )


def with_follows(wanted: Wanted, events: Iterable[Event]) -> Wanted:
    """Return what is wanted with those whom its authors follow, by their lists among ``events`` (NIP-02)."""
    if not wanted.follows or not wanted.authors:
        return wanted
    followed = {
        key
        for event in events
        if event.kind == FOLLOWS and event.pubkey in wanted.authors
        for key in event.all("p")
        if len(key) == KEY_DIGITS and HEX.issuperset(key)
    }
    return replace(wanted, authors=wanted.authors | followed, follows=False)


def to_documents(events: Sequence[Event], wanted: Wanted, *, links: bool = False) -> Iterator[RawDocument]:
    """Yield the wanted events as documents. Profiles give names to people whether they are wanted or not.

    A document's key is the event's id, or the address of one that others may replace. With ``links`` its
    location is a ``nostr:`` reference, else the place in a file that the event has.
    """
    wanted = with_follows(wanted, events)
    names = names_of(events)
    shown_names = {key: found[0] for key, found in names.items()}
    shown_names |= {one.address: heading for one in events if one.address and (heading := _heading(one))}
    there = {npub(event.pubkey) for event in events if event.kind == PROFILE and wanted.takes(event)}
    labels = {key: found[0] for key, found in names.items() if key not in there}
    for event in events:
        if wanted.takes(event):
            made = _document(event, names, shown_names, links)
            yield _labelled(made, labels) if labels else made


def _labelled(document: RawDocument, labels: Mapping[str, str]) -> RawDocument:
    """Call people by the names in profiles that aren't documents."""

    def called(ref: Ref | None) -> Ref | None:
        return replace(ref, label=labels[ref.id]) if ref is not None and ref.id in labels else ref

    relations = tuple(
        replace(one, source=called(one.source), target=called(one.target) or one.target)
        for one in document.relations
    )
    return replace(document, author=called(document.author), relations=relations)


def names_of(events: Iterable[Event]) -> Names:
    """Return what people call themselves in their profiles."""
    found: Names = {}
    for event in events:
        if event.kind == PROFILE:
            profile = _profile(event)
            names = [_name(profile.get(field)) for field in PROFILE_NAMES]
            own = tuple(dict.fromkeys(filter(None, names)))
            if own:
                found[npub(event.pubkey)] = own
    return found


def _profile(event: Event) -> Mapping[str, Any]:
    try:
        value = decode(event.content.encode("utf-8"))
    except Invalid:
        return {}
    return value if isinstance(value, dict) else {}


def _name(value: Any) -> str:
    """Return a name without line breaks, or nothing for what is none."""
    if not isinstance(value, str):
        return ""
    name = " ".join(value.split()).removeprefix("_@")
    return name if len(name) <= NAME_CHARS else ""


def _document(event: Event, names: Names, shown_names: Mapping[str, str], links: bool) -> RawDocument:
    author = person_of(npub(event.pubkey))
    text, media = _text(event)
    spans: list[tuple[int, int]] = []
    data = text
    if not text:
        data, spans = _as_json(event)
    title, titled = _title(event, text, author, shown_names)
    return RawDocument(
        key=event.address or event.id,
        location=_link(event) if links else event.location,
        data=data.encode("utf-8"),
        media_type=media,
        title=title,
        metadata=_metadata(event),
        line=1 if links else event.line,
        kind=kind_name(event.kind),
        created_at=_time(event),
        author=author,
        ids=(event.id, event.address) if event.address else (event.id,),
        titled=titled,
        relations=relate(event, author, text, spans),
        people=_people(event, author, names),
    )


def _text(event: Event) -> tuple[str, MediaType]:
    """Return what an event says in words, or an empty text, and how it is to be read."""
    if event.kind in WRITTEN:
        text = event.content
        if event.kind == HIGHLIGHT and event.first("comment").strip():
            text = f"{text}\n\n{event.first('comment')}"
    elif event.kind == PROFILE:
        about = _profile(event).get("about")
        text = about if isinstance(about, str) else ""
    elif event.kind in NAMED:
        title, description = _heading(event), event.first("description").strip()
        text = f"{title}\n\n{description}" if title and description else title
    else:
        text = ""
    if not text.strip() or _has_half_characters(text):
        return "", "event"
    return text, "article" if event.kind == ARTICLE else "post"


def _has_half_characters(text: str) -> bool:
    """Tell whether a text has a lone surrogate: JSON within JSON (a profile) may."""
    return not text.isascii() and text.encode("utf-8", "ignore").decode("utf-8") != text


def _heading(event: Event) -> str:
    """Return what an event's author calls it, in one line."""
    return " ".join((event.first("title") or event.first("name")).split())


def _as_json(event: Event) -> tuple[str, list[tuple[int, int]]]:
    """Return an event as JSON, without what only proves it, and where each of its tags stands, in bytes."""
    head = f'{{"kind":{event.kind},"pubkey":"{event.pubkey}","created_at":{event.created_at},"tags":['
    at = len(head)
    parts: list[str] = []
    spans: list[tuple[int, int]] = []
    for tag in event.tags:
        part = to_json(tag)
        size = len(part) if part.isascii() else len(part.encode("utf-8"))
        spans.append((at, at + size))
        parts.append(part)
        at += size + 1
    return f'{head}{",".join(parts)}],"content":{to_json(event.content)}}}', spans


def _title(event: Event, text: str, author: Ref, names: Mapping[str, str]) -> tuple[str | None, bool]:
    """Return a title, and whether it is what people would call the event. None: its first heading is it."""
    if event.kind == ARTICLE or event.kind in NAMED:
        heading = _heading(event)
        if heading:
            return heading, True
        if event.kind == ARTICLE and HEADING.search(text):
            return None, True
    if text and event.kind != PROFILE:
        begin = snippet(text, names)
        if begin:
            return begin, False
    what = " ".join(event.content.split())[:TITLE_CHARS] if kind_name(event.kind) == "reaction" else ""
    parts = (what, kind_name(event.kind), names.get(author.id, author.label))
    return " · ".join(filter(None, parts)), False


def snippet(text: str, names: Mapping[str, str]) -> str:
    """Return the beginning of a text in one line, its references as names."""
    words = " ".join("".join(shown(text[: 40 * TITLE_CHARS], names)).split())
    if len(words) <= TITLE_CHARS:
        return words
    cut = words[:TITLE_CHARS]
    space = cut.rfind(" ")
    return (cut[:space] if space > TITLE_CHARS // 2 else cut).rstrip(" ,;:-") + "…"


def _time(event: Event) -> int:
    """Return when an event was written: an article's first publication, of which ``created_at`` is the last
    change (NIP-23)."""
    first = event.first("published_at") if event.kind == ARTICLE else ""
    if first.isascii() and first.isdigit() and 0 < int(first) <= event.created_at:
        return int(first)
    return event.created_at


def _metadata(event: Event) -> dict[str, Any]:
    found: dict[str, Any] = {"event": event.id, "event_kind": event.kind}
    found.update({name: value for name in FACTS if (value := event.first(name))})
    links = event.all("r")
    if links:
        found["links"] = links
    return found


def _people(event: Event, author: Ref, names: Names) -> tuple[Person, ...]:
    """Return the names that an event states: its author's own, or what a list of follows calls others."""
    if event.kind == PROFILE:
        own = names.get(author.id)
        return (Person(author.id, own),) if own else ()
    if event.kind != FOLLOWS:
        return ()
    called = ((person(tag[1]), _name(tag[3])) for tag in event.tags if tag[0:1] == ("p",) and len(tag) > 3)
    return tuple(Person(ref.id, (name,)) for ref, name in called if ref is not None and name)


def _link(event: Event) -> str:
    """Return the ``nostr:`` reference of an event (NIP-21)."""
    import nostr_sdk

    if event.address:
        kind, key = nostr_sdk.Kind(event.kind), nostr_sdk.PublicKey.parse(event.pubkey)
        identifier = event.address.split(":", 2)[2]
        place = nostr_sdk.Coordinate(kind, key, identifier)
        return f"nostr:{nostr_sdk.Nip19Coordinate(place, []).to_bech32()}"
    return f"nostr:{nostr_sdk.EventId.parse(event.id).to_bech32()}"


__all__ = ["Wanted", "names_of", "snippet", "to_documents", "with_follows"]
