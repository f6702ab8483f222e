"""Options that select events: kinds, authors, times."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

from clew.errors import OptionError
from clew.nostr.documents import Wanted
from clew.nostr.kinds import POLICIES, parse_kinds
from clew.nostr.refs import HEX64, decode
from clew.options import SourceOptions
from clew.text.dates import parse_ago, parse_span, parse_time

NOW = "CLEW_NOW"
TIME_REMEDY = "Write a day (2026-01-31), a time (2026-01-31 15:04), or how long ago: 12h, 7d, 2w, 3mo, 1y"


def wanted(options: SourceOptions) -> Wanted:
    """Return which events the options select. Raises OptionError."""
    if options.unknown_kinds not in POLICIES:
        raise OptionError("--unknown-kinds", f"{options.unknown_kinds!r} isn't keep or ignore", "Write one")
    authors = frozenset(public_keys(options.author))
    if options.follows and not authors:
        raise OptionError("--follows", "it needs to know whose follows", "Add --author NPUB")
    now = _now()
    return Wanted(
        tuple(parse_kinds(options.kinds)),
        authors,
        _moment("--since", options.since, now, 0),
        _moment("--until", options.until, now, 1),
        options.unknown_kinds == "keep",
        options.follows,
    )


def public_keys(values: Iterable[str]) -> list[str]:
    """Return public keys in hexadecimal, sorted; values are npubs, nprofiles, or hexadecimal already.
    Raises OptionError."""
    found = set()
    for value in values:
        text = value.strip().removeprefix("nostr:")
        if HEX64.fullmatch(text.lower()):
            found.add(text.lower())
            continue
        ref = decode(text) if text.startswith(("npub1", "nprofile1")) else None
        if ref is None:
            reason = "it is no public key" + (", but a secret one" if text.startswith("nsec1") else "")
            shown = "nsec1…" if text.startswith("nsec1") else value
            raise OptionError(f"--author {shown}", reason, "Give an npub1…, or 64 hexadecimal digits")
        found.add(_hex(ref.id))
    return sorted(found)


def _hex(key: str) -> str:
    import nostr_sdk

    found: str = nostr_sdk.PublicKey.parse(key).to_hex()
    return found


def _now() -> int:
    given = parse_time(os.environ.get(NOW, ""))
    return int(time.time()) if given is None else given


def _moment(flag: str, text: str, now: int, end: int) -> int | None:
    """Return the first (``end`` 0) or last (1) second of what a text names, or None for an empty one."""
    if not text.strip():
        return None
    ago = parse_ago(text, now)
    span = parse_span(text) if ago is None else (ago, ago)
    if span is None:
        raise OptionError(f"{flag} {text}", "it is no time", TIME_REMEDY)
    return span[end]
