"""Which encoding bytes that aren't Unicode are in.

charset-normalizer tells scripts apart well, and East Asian encodings. The code pages of the Latin script
differ in a few letters only, where it guesses: of 17 texts in twelve languages it read nine right. There
the letters' neighbours and the language decide.
"""

from __future__ import annotations

import re
import unicodedata

from clew.text.language import UNKNOWN, detect

SAMPLE = 64 * 1024  # bytes that detection looks at; more makes it slower, not better
# The encodings that files are in: those that web browsers know, and DOS.
USUAL = [
    "cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "cp1258", "cp874",
    "iso8859_2", "iso8859_5", "iso8859_6", "iso8859_7", "koi8_r", "koi8_u", "cp866", "cp850", "mac_roman",
    "gb18030", "big5", "cp932", "euc_jp", "cp949",
]  # fmt: skip
# Code pages of the Latin script, the usual first, with the languages (ISO 639-1) that they were made for;
# those without are for all others.
CENTRAL = frozenset(("pl", "cs", "sk", "hu", "sl", "hr", "bs", "sr", "ro", "sq"))
LATIN: dict[str, frozenset[str]] = {
    "cp1252": frozenset(),
    "cp1250": CENTRAL,
    "iso8859_2": CENTRAL,
    "cp1254": frozenset(("tr", "az", "ku")),
    "cp1257": frozenset(("lt", "lv", "et")),
    "mac_roman": frozenset(),
    "cp850": frozenset(),
}
HIGH = re.compile(rb"[\x80-\xff]+")
_OWNED = frozenset[str]().union(*LATIN.values())
# What stands between letters in some language: apostrophes, the Catalan dot, hyphens, ordinals.
_INSIDE = frozenset("’ʼ·\xad‐‑–—ªº")


def likely_encodings(data: bytes) -> list[str]:
    """Return encodings for bytes that aren't Unicode, the likeliest first; the last two fit any bytes or
    nearly any."""
    from charset_normalizer import from_bytes

    sample = _sample(data)
    latin = [*_latin(sample), "cp1252", "latin-1"]
    if _scattered(sample):
        return list(dict.fromkeys(latin))
    found = [match.encoding for match in from_bytes(sample, cp_isolation=USUAL)]
    if not found or found[0] in LATIN or _is_latin(sample.decode(found[0], "replace")):
        return list(dict.fromkeys([*latin, *found]))
    return list(dict.fromkeys([*found, *latin]))


def _sample(data: bytes) -> bytes:
    """Return the first lines, without NULs; a cut within a line could be one within a character."""
    sample = data[:SAMPLE]
    if len(data) > SAMPLE:
        sample = sample[: sample.rfind(b"\n") + 1] or sample
    return sample.replace(b"\0", b" ")


def _scattered(sample: bytes) -> bool:
    """Tell whether most bytes beyond ASCII stand between ASCII ones, as accented letters do; in other scripts
    words consist of them."""
    runs = [len(run) for run in HIGH.findall(sample)]
    return 2 * sum(size for size in runs if size > 1) < sum(runs)


def _is_latin(text: str) -> bool:
    """Tell whether most of the letters beyond ASCII are Latin ones."""
    letters = [char for char in text if char > "\x7f" and char.isalpha()]
    latin = sum(char <= "\u024f" or unicodedata.name(char, "").startswith("LATIN") for char in letters)
    return 2 * latin >= len(letters)


def _latin(sample: bytes) -> list[str]:
    """Return the code pages of the Latin script that can read the sample, best first."""
    lines = [line for line in sample.split(b"\n") if not line.isascii()]
    ranked = []
    for place, (encoding, languages) in enumerate(LATIN.items()):
        try:
            text = b"\n".join(lines).decode(encoding)
        except UnicodeDecodeError:
            continue
        language = detect(text)
        fits = language == UNKNOWN or (language in languages if languages else language not in _OWNED)
        ranked.append((_odd(text), not fits, place, encoding))
    return [encoding for _, _, _, encoding in sorted(ranked)]


def _odd(text: str) -> int:
    """Return how many characters beyond ASCII stand where no language puts them: symbols within a word,
    capitals after small letters, small letters between capitals, control characters."""
    padded = f" {text} "
    return sum(
        char > "\x7f" and _is_odd(before, char, after)
        for before, char, after in zip(padded, padded[1:], padded[2:], strict=False)
    )


def _is_odd(before: str, char: str, after: str) -> bool:
    if not char.isalpha():
        if unicodedata.category(char) in ("Cc", "Cn", "Co"):
            return True
        joins = char in _INSIDE or char.isspace()
        return before.isalpha() and after.isalpha() and not joins
    if char.isupper():
        return before.islower()
    return char != "ß" and before.isupper() and after.isupper()
