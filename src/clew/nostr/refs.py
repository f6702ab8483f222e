"""What text points at: ``nostr:`` references (NIP-19, NIP-21, NIP-27), ``#[0]`` (NIP-08), hashtags."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any

from clew.types import Ref

HEX64 = re.compile(r"[0-9a-f]{64}")
ADDRESS = re.compile(r"(\d{1,5}):([0-9a-f]{64}):(.*)", re.DOTALL)
# Without `nostr:` too, as people write it, but not within a web address.
REFERENCE = re.compile(
    r"(?<![\w/=?&#:-])(?:nostr:|@)?(n(?:pub|ote|profile|event|addr)1[02-9ac-hj-np-z]{20,1500})(?![0-9A-Za-z])"
)
INDEXED = re.compile(r"#\[(\d{1,3})\]")
SHOWN = (9, 4)  # characters of an npub's label: npub1abcd…wxyz
DECODED_KEPT = 65536


@dataclass(frozen=True, slots=True)
class Place:
    """A reference in text: what it points at, and where, in UTF-8 bytes."""

    ref: Ref
    start: int
    end: int


@lru_cache(maxsize=DECODED_KEPT)
def npub(pubkey: str) -> str:
    """Return a public key (hexadecimal) as people write it. Raises ValueError if it is none."""
    import nostr_sdk

    try:
        key: str = nostr_sdk.PublicKey.parse(pubkey).to_bech32()
    except nostr_sdk.NostrSdkError as error:
        raise ValueError(f"{pubkey!r} is no public key") from error
    return key


@lru_cache(maxsize=DECODED_KEPT)
def person(pubkey: str) -> Ref | None:
    """Return a person by a public key, or None if it is none; a person's id is the npub."""
    if not HEX64.fullmatch(pubkey):
        return None
    try:
        key = npub(pubkey)
    except ValueError:
        return None
    return person_of(key)


def person_of(key: str) -> Ref:
    """Return a person by an npub."""
    return Ref("person", key, f"{key[: SHOWN[0]]}…{key[-SHOWN[1] :]}")


def event_ref(event_id: str) -> Ref | None:
    """Return an event by its id, or None if it is none."""
    return Ref("document", event_id) if HEX64.fullmatch(event_id) else None


def address_ref(address: str) -> Ref | None:
    """Return an addressable or replaceable event by ``kind:pubkey:d``, or None if it isn't that."""
    return Ref("document", address) if ADDRESS.fullmatch(address) else None


@lru_cache(maxsize=DECODED_KEPT)
def decode(text: str) -> Ref | None:
    """Return what an npub, note, nprofile, nevent or naddr points at; None if it is damaged."""
    import nostr_sdk

    try:
        found: Any = nostr_sdk.Nip19.from_bech32(text).as_enum()
    except (nostr_sdk.NostrSdkError, nostr_sdk.InternalError):
        return None
    kinds = nostr_sdk.Nip19Enum
    if isinstance(found, kinds.PUBKEY):
        return person_of(found.npub.to_bech32())
    if isinstance(found, kinds.PROFILE):
        return person_of(found.nprofile.public_key().to_bech32())
    if isinstance(found, kinds.NOTE):
        return event_ref(found.event_id.to_hex())
    if isinstance(found, kinds.EVENT):
        return event_ref(found.event.event_id().to_hex())
    if isinstance(found, kinds.ADDR):
        place = found.coordinate.coordinate()
        return address_ref(f"{place.kind().as_u16()}:{place.public_key().to_hex()}:{place.identifier()}")
    return None


def plain_id(name: str) -> str:
    """Return the id of the person or event that an npub, note, nprofile, nevent or naddr stands for, with or
    without ``nostr:``; any other name as it is, and all where nostr-sdk isn't installed."""
    match = REFERENCE.fullmatch(name.strip())
    ref = decode(match[1]) if match and find_spec("nostr_sdk") is not None else None
    return ref.id if ref is not None else name


def references(text: str) -> list[Ref]:
    """Return what a text refers to by NIP-19; nothing where nostr-sdk isn't installed."""
    if "1" not in text:
        return []
    matches = list(REFERENCE.finditer(text))
    if not matches or find_spec("nostr_sdk") is None:
        return []
    return [ref for ref in dict.fromkeys(decode(match[1]) for match in matches) if ref is not None]


def places(text: str, tags: Sequence[Sequence[str]] = ()) -> list[Place]:
    """Return the references in a text, ascending; ``tags`` are those that ``#[0]`` counts."""
    if "1" not in text and "#[" not in text:
        return []
    found = [(match.start(), match.end(), decode(match[1])) for match in REFERENCE.finditer(text)]
    if "#[" in text:
        for match in INDEXED.finditer(text):
            number = int(match[1])
            tag = tags[number] if number < len(tags) else ()
            found.append((match.start(), match.end(), tag_ref(tag)))
    offset = Offsets(text)
    return [Place(ref, offset(start), offset(end)) for start, end, ref in sorted(found, key=_where) if ref]


def _where(row: tuple[int, int, Ref | None]) -> tuple[int, int]:
    return row[:2]


def indexed(text: str) -> set[int]:
    """Return the numbers of the tags that a text cites as ``#[0]``."""
    return {int(match[1]) for match in INDEXED.finditer(text)} if "#[" in text else set()


def tag_ref(tag: Sequence[str]) -> Ref | None:
    """Return what a tag ``e``, ``q``, ``a`` or ``p``, or of a capital, points at; None if it is damaged."""
    if len(tag) < 2:
        return None
    name, value = tag[0], tag[1].strip()
    if name in ("p", "P"):
        return person(value)
    if name in ("a", "A"):
        return address_ref(value)
    if name in ("e", "E"):
        return event_ref(value)
    return (event_ref(value) or address_ref(value)) if name == "q" else None


def hashtag(text: str, tag: str) -> tuple[int, int] | None:
    """Return where a text has ``#tag``, in UTF-8 bytes, in any letter case; None if it doesn't."""
    if "#" not in text:
        return None
    match = re.search(rf"(?<!\w)#{re.escape(tag)}(?!\w)", text, re.IGNORECASE)
    if match is None:
        return None
    offset = Offsets(text)
    return offset(match.start()), offset(match.end())


class Offsets:
    """Turns positions in a text into UTF-8 offsets."""

    def __init__(self, text: str) -> None:
        self._text = "" if text.isascii() else text

    def __call__(self, position: int) -> int:
        return len(self._text[:position].encode("utf-8")) if self._text else position


def shown(text: str, names: Mapping[str, str]) -> Iterator[str]:
    """Yield a text piece by piece, its references as ``@name`` and “title”; ``names`` are by id."""
    at = 0
    if "1" not in text:  # all of them have one
        yield text
        return
    for match in REFERENCE.finditer(text):
        ref = decode(match[1])
        if ref is not None:
            yield text[at : match.start()]
            yield _called(ref, match[1], names.get(ref.id, ""))
            at = match.end()
    yield text[at:]


def _called(ref: Ref, written: str, name: str) -> str:
    """Return how to call what a reference leads to; the beginning and end of it, if that has no name."""
    if ref.kind == "person":
        return f"@{name or ref.label}"
    return f"“{name}”" if name else f"{written[: SHOWN[0]]}…{written[-SHOWN[1] :]}"
