"""An Analysis as bytes and back, exactly.

Tokens are most of it: their gaps and lengths fit a byte where their offsets need four, which makes the
cache a third smaller and costs two cumulative sums. zlib on top would halve the file and take longer
to undo than parsing again saves on many small notes, so there is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from clew.stores.strings import escape, unescape
from clew.types import Analysis, ChunkSpan, Link, Mark, Section, Tokens

Packed = tuple[str, bytes]  # numpy's character for the type, and the numbers


class _Stored(msgspec.Struct, array_like=True):
    """The stored form. ``escaped`` says that the texts hold escapes (see ``clew.stores.strings``)."""

    escaped: bool
    content_hash: str
    encoding: str
    language: str
    title: str
    metadata: dict[str, Any]
    size: int
    sections: tuple[Section, ...]
    chunks: tuple[ChunkSpan, ...]
    texts: tuple[str, ...]
    lines: tuple[tuple[int, int], ...]
    links: tuple[Link, ...]
    marks: tuple[Mark, ...]
    words: tuple[str, ...]
    form: Packed
    gap: Packed
    length: Packed
    flags: Packed
    warnings: tuple[str, ...]
    front: str
    front_at: int


_encoder = msgspec.msgpack.Encoder()
_decoder = msgspec.msgpack.Decoder(_Stored)


def encode_analysis(analysis: Analysis) -> bytes | None:
    """Return the bytes of an analysis, or None if they wouldn't give back the same (metadata with values
    that msgpack has no form for)."""
    try:
        if not _survives(analysis.metadata):
            return None
        return _encoder.encode(_stored(analysis, escaped=False))
    except UnicodeEncodeError:
        return _encoder.encode(_stored(_map_texts(analysis, escape), escaped=True))
    except (TypeError, OverflowError, msgspec.MsgspecError):
        return None


def decode_analysis(data: bytes) -> Analysis:
    """Undo ``encode_analysis``. Raises ValueError if the bytes are damaged."""
    stored = _decoder.decode(data)
    analysis = Analysis(
        stored.content_hash,
        stored.encoding,
        stored.language,
        stored.title,
        stored.metadata,
        stored.size,
        stored.sections,
        stored.chunks,
        stored.texts,
        stored.lines,
        stored.links,
        stored.marks,
        _tokens(stored),
        stored.warnings,
        stored.front,
        stored.front_at,
    )
    return _map_texts(analysis, unescape) if stored.escaped else analysis


def _survives(metadata: Mapping[str, Any]) -> bool:
    if not metadata:
        return True
    try:
        data = _encoder.encode(metadata)
    except UnicodeEncodeError:
        metadata = _map_texts(metadata, escape)
        data = _encoder.encode(metadata)
    return bool(msgspec.msgpack.decode(data) == metadata)


def _stored(analysis: Analysis, *, escaped: bool) -> _Stored:
    tokens = analysis.tokens
    gap = tokens.start.copy()
    gap[1:] -= tokens.end[:-1]
    return _Stored(
        escaped,
        analysis.content_hash,
        analysis.encoding,
        analysis.language,
        analysis.title,
        dict(analysis.metadata),
        analysis.size,
        analysis.sections,
        analysis.chunks,
        analysis.texts,
        analysis.lines,
        analysis.links,
        analysis.marks,
        tokens.words,
        _pack(tokens.form),
        _pack(gap),
        _pack(tokens.end - tokens.start),
        _pack(tokens.flags),
        analysis.warnings,
        analysis.front,
        analysis.front_at,
    )


def _tokens(stored: _Stored) -> Tokens:
    gap, length = _unpack(stored.gap), _unpack(stored.length)
    # The end of a token is the sum of all gaps and lengths up to it.
    end = np.cumsum(np.add(gap, length, dtype=np.int32), dtype=np.int32)
    form = _unpack(stored.form).astype(np.int32)
    return Tokens(stored.words, form, end - length, end, _unpack(stored.flags).astype(np.uint16))


def _pack(numbers: NDArray[Any]) -> Packed:
    """Keep numbers in the narrowest type that holds them all."""
    low, high = (int(numbers.min()), int(numbers.max())) if len(numbers) else (0, 0)
    kinds: tuple[type[Any], ...] = (np.uint8, np.uint16, np.int32)
    kind = next((k for k in kinds if np.iinfo(k).min <= low and high <= np.iinfo(k).max), np.int64)
    packed = numbers.astype(np.dtype(kind).newbyteorder("<"))
    return packed.dtype.str, packed.tobytes()


def _unpack(packed: Packed) -> NDArray[Any]:
    kind, data = packed
    if kind not in ("|u1", "<u2", "<i4", "<i8"):
        raise ValueError(f"{kind!r} isn't a type of numbers")
    return np.frombuffer(data, dtype=kind)


def _map_texts(value: Any, change: Callable[[str], str]) -> Any:
    """Apply a function to every text in a value, however deep."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {_map_texts(key, change): _map_texts(item, change) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_map_texts(item, change) for item in value)
    if is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in fields(value)]
        return replace(value, **{name: _map_texts(getattr(value, name), change) for name in names})
    return value
