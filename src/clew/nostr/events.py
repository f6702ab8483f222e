"""Events as NIP-01 defines them: their form, their ids and their signatures.

Signatures are verified by libsecp256k1 (coincurve), ids are SHA-256 of the event's canonical JSON. nostr-sdk
would do both, but its binding copies each event byte by byte in Python: a third of the speed, and less for
long texts. Every event that it takes is taken here and the other way round; the tests compare them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

import msgspec

from clew.nostr.known import Known
from clew.registry import require

EXTRA = "nostr"
FIELDS = ("id", "pubkey", "created_at", "kind", "tags", "content", "sig")
MOST_KIND = 65535
MOST_TIME = 1 << 53  # beyond, JSON readers round
HEX = frozenset("0123456789abcdef")
KEYS_KEPT = 4096  # authors whose parsed key is kept: it spares a fifth of a verification


to_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode  # as NIP-01 has ids made


class Invalid(ValueError):
    """Why something is no valid event, in words for a person."""


@dataclass(frozen=True, slots=True)
class Event:
    """A valid event. ``tags`` are as they came; ``line`` is where it stands in ``location``."""

    id: str
    pubkey: str
    created_at: int
    kind: int
    tags: tuple[tuple[str, ...], ...]
    content: str
    sig: str
    location: str = ""
    line: int = 1

    @property
    def address(self) -> str:
        """``kind:pubkey:d`` of an addressable event, ``kind:pubkey:`` of a replaceable one (NIP-01); else
        empty. The newest event of an address counts."""
        if is_addressable(self.kind):
            return f"{self.kind}:{self.pubkey}:{self.first('d')}"
        return f"{self.kind}:{self.pubkey}:" if is_replaceable(self.kind) else ""

    def first(self, name: str) -> str:
        """Return the value of the first tag of a name, or an empty text."""
        return next((tag[1] for tag in self.tags if len(tag) > 1 and tag[0] == name), "")

    def all(self, name: str) -> list[str]:
        """Return the values of all tags of a name."""
        return [tag[1] for tag in self.tags if len(tag) > 1 and tag[0] == name]

    def as_json(self) -> str:
        """Return the event as one line of JSON."""
        fields = {name: getattr(self, name) for name in FIELDS}
        return to_json(fields)


def is_replaceable(kind: int) -> bool:
    """Tell whether only the newest event of an author and this kind counts."""
    return kind in (0, 3) or 10000 <= kind < 20000


def is_ephemeral(kind: int) -> bool:
    """Tell whether events of a kind aren't meant to be kept."""
    return 20000 <= kind < 30000


def is_addressable(kind: int) -> bool:
    """Tell whether only the newest event of an author, this kind and a ``d`` tag counts."""
    return 30000 <= kind < 40000


def looks_like_event(value: Any) -> bool:
    """Tell whether a JSON value has an event's fields, right or wrong."""
    return isinstance(value, dict) and value.keys() >= {"id", "pubkey", "kind", "created_at", "sig"}


def need_library() -> None:
    """Raise OptionError, naming the extra, if what verifies events isn't installed."""
    require("coincurve", "Nostr events", EXTRA)
    require("nostr_sdk", "Nostr events", EXTRA)


def check(value: Any, location: str = "", line: int = 1, known: Known | None = None) -> Event:
    """Return the event that a JSON value is, verified; a signature that is ``known`` isn't verified again.
    Raises Invalid."""
    event = _formed(value, location, line)
    if event_id(event) != event.id:
        raise Invalid("its id isn't the hash of its content")
    if known is None or not known.has(event.id, event.sig):
        if not _signed(event):
            raise Invalid("its signature isn't by its author")
        if known is not None:
            known.add(event.id, event.sig)
    return event


def event_id(event: Event) -> str:
    """Return the hash that an event's id has to be (NIP-01)."""
    given = [0, event.pubkey, event.created_at, event.kind, event.tags, event.content]
    try:
        text = to_json(given).encode("utf-8")
    except UnicodeEncodeError:
        raise Invalid("its text has half a character (a lone surrogate)") from None
    return sha256(text).hexdigest()


def _formed(value: Any, location: str, line: int) -> Event:
    """Return a value as an event whose fields have the right types. Raises Invalid."""
    if not isinstance(value, dict):
        raise Invalid("it isn't a JSON object")
    missing = [name for name in FIELDS if name not in value]
    if missing:
        raise Invalid(f"it has no {missing[0]!r}")
    for name, length in (("id", 64), ("pubkey", 64), ("sig", 128)):
        text = value[name]
        if not isinstance(text, str) or len(text) != length or not HEX.issuperset(text):
            raise Invalid(f"its {name!r} isn't {length} lower-case hexadecimal digits")
    for name, most in (("kind", MOST_KIND), ("created_at", MOST_TIME)):
        number = value[name]
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
            raise Invalid(f"its {name!r} isn't a number from 0 to {most}")
    tags = value["tags"]
    if not isinstance(tags, list) or not all(
        isinstance(tag, list) and all(isinstance(part, str) for part in tag) for tag in tags
    ):
        raise Invalid("its 'tags' aren't lists of texts")
    if not isinstance(value["content"], str):
        raise Invalid("its 'content' isn't a text")
    return Event(
        value["id"],
        value["pubkey"],
        value["created_at"],
        value["kind"],
        tuple(map(tuple, tags)),
        value["content"],
        value["sig"],
        location,
        line,
    )


def _signed(event: Event) -> bool:
    """Tell whether the signature is the author's (BIP 340)."""
    try:
        key = _key(event.pubkey)
        return bool(key.verify(bytes.fromhex(event.sig), bytes.fromhex(event.id)))
    except ValueError:  # the key is no point of the curve
        return False


@lru_cache(maxsize=KEYS_KEPT)
def _key(pubkey: str) -> Any:
    from coincurve import PublicKeyXOnly

    return PublicKeyXOnly(bytes.fromhex(pubkey))


def decode(data: bytes) -> Any:
    """Return the value of some JSON. Raises Invalid."""
    try:
        return msgspec.json.decode(data)
    except UnicodeDecodeError:
        raise Invalid("it isn't valid UTF-8") from None
    except (msgspec.DecodeError, ValueError, RecursionError) as strict:
        # The standard library takes lone surrogates and NaN: the reason is then one of an event's own.
        try:
            return json.loads(data.decode("utf-8"))
        except UnicodeDecodeError:
            raise Invalid("it isn't valid UTF-8") from None
        except (ValueError, RecursionError):
            raise Invalid(f"it isn't valid JSON ({strict})") from None
