"""Content-hash ids. Never random ones: the same input has the same ids on any machine."""

from __future__ import annotations

from hashlib import blake2b

ID_BYTES = 10  # 80 bits: a collision among a billion ids has a chance of about 4 in ten million


def content_hash(data: bytes) -> str:
    """Return the 32-character hexadecimal hash of a document's bytes."""
    return blake2b(data, digest_size=16).hexdigest()


def make_id(*parts: str) -> str:
    """Return the 20-character hexadecimal id of a tuple of strings.

    Parts are length-prefixed, so that ``("ab", "c")`` and ``("a", "bc")`` differ.
    Lone surrogates are allowed in a part.
    """
    return hash_id(b"".join(map(prefixed, parts)))


def prefixed(part: str) -> bytes:
    """Return a part as an id hashes it: its length in 8 bytes, then its UTF-8."""
    data = part.encode("utf-8", "surrogatepass")
    return len(data).to_bytes(8, "little") + data


def hash_id(data: bytes) -> str:
    """Return the id of prefixed parts, one after the other: what ``make_id`` returns for them."""
    return blake2b(data, digest_size=ID_BYTES).hexdigest()
