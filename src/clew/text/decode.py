"""Bytes to text, with a map from text offsets back to source offsets.

The promise, whatever the encoding: for a passage that begins and ends between characters,
``data[start:end].decode(encoding)`` is the passage, ``start`` and ``end`` being source offsets.
(In UTF-8 with damaged bytes it needs ``errors="replace"``.) A byte order mark stays in the text as
U+FEFF, so that UTF-8 offsets are the same with and without one.
"""

from __future__ import annotations

import codecs
import re
import unicodedata
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from clew.text.display import plural
from clew.text.tokens import byte_offsets
from clew.types import Longs

BOMS = (  # UTF-32-LE begins with the mark of UTF-16-LE, so it comes first
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
SAMPLE = 64 * 1024  # bytes that telling UTF-16 looks at, and a window in which damage is looked for
CONTROLS = bytes([*range(0x01, 0x09), 0x0B, *range(0x0E, 0x1B), *range(0x1C, 0x20), 0x7F])
PRINTABLE = bytes([9, 10, 13, *range(0x20, 0x7F)])
ASCII_SHARE = 0.8  # of UTF-16 without ASCII in it, half of the bytes at most look like ASCII by chance
NUL_SHARE = 0.01  # a text may hold a few NULs (a damaged disk, a paste); a program is full of them
CONTROL_SHARE = 0.02  # compressed data has 9 % of them; text next to none
# UTF-8 with this many times the evidence for it than wrong places is still UTF-8. A character of three bytes
# or four, or an accented letter (Ã and a symbol elsewhere), is so rare by chance that it counts twice.
DAMAGE_ODDS = 2
WEAK = re.compile("[\x80-\xbf\u0100-\u07ff]")
STRONG = re.compile("[\xc0-\xff\u0800-\ufffc\ufffe-\U0010ffff]")
RUNS = re.compile("\ufffd+")
SURROGATE = re.compile(rb"\xed[\xa0-\xbf][\x80-\xbf]")  # half a character, which only Unicode has
# Encodings whose bytes mean different things after different beginnings: no passage could be decoded alone.
ESCAPE_JIS = re.compile(rb"\x1b[$(][@A-Z]")


class NotText(ValueError):
    """The bytes aren't text, or no encoding fits; says why."""


@dataclass(frozen=True, slots=True)
class Decoded:
    """A document's text. ``chars`` and ``places`` are None where text offsets are source offsets;
    else they hold each character's text offset and source offset, ascending, shape (len(text) + 1,)."""

    text: str
    encoding: str
    chars: NDArray[np.int32] | None = None
    places: Longs | None = None
    warnings: tuple[str, ...] = ()

    def to_source(self, offsets: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the source offsets of text offsets that lie between characters, same shape."""
        if self.chars is None or self.places is None:
            return offsets
        return self.places[np.searchsorted(self.chars, offsets)].astype(np.int32)


def decode(data: bytes) -> Decoded:
    """Return the text of a document's bytes.

    Raises NotText, whose text is the reason, if the bytes aren't text or no encoding fits.
    """
    for mark, encoding in BOMS:
        if data.startswith(mark):
            return _decode_wide(data, encoding)
    nuls = data.count(0)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        return _decode_other(data, nuls, str(error.reason))
    if nuls > NUL_SHARE * len(data) and nuls:
        wide = _guess_wide(data, nuls)
        if wide:
            return _decode_wide(data, wide)
        if nuls > max(NUL_SHARE * len(data), 2):
            raise NotText("it is a binary file, not text")
    if _controls(data) > max(CONTROL_SHARE * len(data), 2):
        raise NotText("it is a binary file, not text")
    return Decoded(text, "utf-8", warnings=_nul_warning(nuls))


def _nul_warning(nuls: int) -> tuple[str, ...]:
    kept = "which is kept" if nuls == 1 else "which are kept"
    return (f"the file holds {plural(nuls, 'NUL byte')}, {kept}",) if nuls else ()


def _controls(data: bytes) -> int:
    return len(data) - len(data.translate(None, CONTROLS))


def _decode_other(data: bytes, nuls: int, reason: str) -> Decoded:
    """Decode what isn't UTF-8."""
    damaged = None if nuls else _decode_damaged(data)
    wide = _guess_wide(data, nuls) if damaged is None else ""
    if wide:
        return _decode_wide(data, wide)
    if nuls > NUL_SHARE * len(data) or _controls(data) > CONTROL_SHARE * len(data):
        raise NotText("it is a binary file, not text")
    damaged = _decode_damaged(data) if damaged is None else damaged
    if damaged is not None:
        return damaged
    for encoding in _guess(data):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        places = _places(data, text, encoding)
        if places is None:
            continue
        warning = f"read as {encoding}, which is a guess; save it as UTF-8 if characters look wrong"
        return Decoded(text, encoding, byte_offsets(text), places, (warning, *_nul_warning(nuls)))
    raise NotText(f"its encoding can't be told (as UTF-8: {reason})")


def _guess(data: bytes) -> list[str]:
    """Return the likely encodings, best first."""
    if ESCAPE_JIS.search(data):
        return []
    from clew.text.charset import likely_encodings

    return likely_encodings(data)


def _decode_wide(data: bytes, encoding: str) -> Decoded:
    """Decode UTF-16 or UTF-32; a last character that is cut off is left out."""
    unit = 4 if "32" in encoding else 2
    whole = len(data) - len(data) % unit
    warnings: tuple[str, ...] = ()
    try:
        text = data[:whole].decode(encoding)
    except UnicodeDecodeError as error:
        if error.end < whole:
            raise NotText(f"it isn't valid {encoding.upper()} (at byte {error.start})") from None
        whole = error.start
        text = data[:whole].decode(encoding)
    if whole < len(data):
        cut = "byte is" if len(data) - whole == 1 else f"{len(data) - whole} bytes are"
        warnings = (f"its last {cut} half a character, which was left out",)
    codes = np.frombuffer(text.encode("utf-32-le"), dtype=np.uint32)
    widths = np.full(len(codes), unit, dtype=np.int64)
    if unit == 2:
        widths += 2 * (codes > 0xFFFF)
    nuls = text.count("\0")
    return Decoded(text, encoding, byte_offsets(text), _sums(widths), warnings + _nul_warning(nuls))


def _sums(widths: Longs) -> Longs:
    places = np.zeros(len(widths) + 1, dtype=np.int64)
    np.cumsum(widths, out=places[1:])
    return places


def _guess_wide(data: bytes, nuls: int) -> str:
    """Return the UTF-16 or UTF-32 encoding of bytes without a mark, or an empty string.

    Western text shows by NULs in every other place, other scripts by the rows of Unicode that
    their characters come from: a wrong reading gives unassigned ones.
    """
    if len(data) < 4 or len(data) % 2:
        return ""
    sample = data[: SAMPLE - SAMPLE % 4]
    if not nuls and len(sample) - len(sample.translate(None, PRINTABLE)) > ASCII_SHARE * len(sample):
        return ""
    candidates = ["utf-16-le", "utf-16-be"]
    if nuls * 2 >= len(data) and not len(data) % 4:
        candidates = ["utf-32-le", "utf-32-be", *candidates]
    best, best_score = "", 0.9  # of the characters, those that a text would hold
    for encoding in candidates:
        score = _plausible(sample, encoding)
        if score > best_score:
            best, best_score = encoding, score
    return best


def _plausible(sample: bytes, encoding: str) -> float:
    """Return the share of the sample's characters that text is made of; 0 if it can't be decoded.

    White space or ASCII punctuation must be among them, and the letters must come from few of
    Unicode's 256-character rows, else any bytes would pass as Chinese.
    """
    try:
        text = sample.decode(encoding)
    except UnicodeDecodeError as error:
        if error.end < len(sample) - 4:
            return 0.0
        text = sample[: error.start].decode(encoding)
    if not text:
        return 0.0
    good = sum(char in "\n\r\t\ufeff" or unicodedata.category(char)[0] in "LMNPSZ" for char in text)
    # what is usual in any script: ASCII, and the punctuation of East Asia
    common = sum(char <= "\x7f" or "\u3000" <= char <= "\u3002" or char >= "\uff00" for char in text)
    rows = len({ord(char) >> 8 for char in text})
    han = sum("\u4e00" <= char <= "\u9fff" for char in text)
    if not common or (rows > 24 and han < 0.5 * len(text)) or "\0" in text:
        return 0.0
    # one that reads ASCII beats one that reads the same bytes as rare characters
    return good / len(text) + 0.05 * common / len(text)


def _decode_damaged(data: bytes) -> Decoded | None:
    """Decode UTF-8 that has a few wrong bytes, each as U+FFFD; None if it doesn't look like UTF-8."""
    text = data.decode("utf-8", "replace")
    errors = text.count("\ufffd") - data.count("\ufffd".encode())
    wrong = errors - 3 * len(SURROGATE.findall(data))  # of one, each byte counts as an error
    if len(WEAK.findall(text)) + 2 * len(STRONG.findall(text)) < DAMAGE_ODDS * wrong:
        return None
    pieces: list[str] = []
    widths: list[NDArray[np.int64]] = []
    at = 0
    while at < len(data):
        window = data[at : at + SAMPLE]  # an error costs a copy of what is looked at: keep it small
        try:
            piece, _ = codecs.utf_8_decode(window, "strict", at + SAMPLE >= len(data))
            bad = 0
        except UnicodeDecodeError as error:
            piece, bad = window[: error.start].decode("utf-8"), error.end - error.start
        sizes = np.diff(byte_offsets(piece)).astype(np.int64)
        at += int(sizes.sum()) + bad
        pieces.append(piece + "\ufffd" if bad else piece)
        widths.append(np.append(sizes, bad) if bad else sizes)
    text = "".join(pieces)
    runs = len(RUNS.findall(text)) - len(RUNS.findall(data.decode("utf-8", "ignore")))
    some = "1 place isn't valid UTF-8 and is" if runs <= 1 else f"{runs} places aren't valid UTF-8 and are"
    warning = f"{some} shown as U+FFFD; write the text there anew"
    return Decoded(text, "utf-8", byte_offsets(text), _sums(np.concatenate(widths)), (warning,))


def _places(data: bytes, text: str, encoding: str) -> Longs | None:
    """Return each character's source offset, shape (len(text) + 1,); None if there is no such map."""
    if len(text) == len(data):
        return np.arange(len(data) + 1, dtype=np.int64)
    try:
        sizes = {char: len(char.encode(encoding)) for char in set(text)}
    except UnicodeEncodeError:
        sizes = {}
    if sizes and text.encode(encoding) == data:
        return _sums(np.fromiter(map(sizes.__getitem__, text), dtype=np.int64, count=len(text)))
    # Several byte sequences stand for one character: go byte by byte.
    decoder = codecs.getincrementaldecoder(encoding)()
    places = [0]
    for i in range(len(data)):
        got = decoder.decode(data[i : i + 1])
        if len(got) > 1:
            return None
        if got:
            places.append(i + 1)
    return np.array(places, dtype=np.int64) if len(places) == len(text) + 1 else None
