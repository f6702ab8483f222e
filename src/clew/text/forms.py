"""Whether two words are forms of one, by language."""

from __future__ import annotations

import re

# Languages whose names take endings (cases, the genitive -s). Elsewhere "Williams" isn't a form of
# William, and names of one word are compared as they stand.
_CODES = "ar bs cs da de el et fi hr hu hy lt lv nb nn no pl ro ru sk sl sr sv ta tr uk"
INFLECTS_NAMES = frozenset(re.findall(r"\w+", _CODES))
LEAST_LETTERS = 4  # of a word that may be inflected
# What may differ at the end, in letters: (shorter word's rest, longer word's rest).
REST_NAMES, REST_PLURAL = (3, 5), (1, 3)


def inflected(one: str, other: str, language: str) -> bool:
    """Tell whether two words of one stem differ as forms of one word do.

    Stemmers go further than inflection ("university" and "universal" have one stem): forms differ only at
    the end, and there by little.
    """
    if one == other:
        return True
    short, long = sorted((one, other), key=len)
    if len(short) < LEAST_LETTERS:  # "net", "nets", but no case endings on so short a word
        return language not in INFLECTS_NAMES and len(short) == LEAST_LETTERS - 1 and long[:-1] == short
    rest = REST_NAMES if language in INFLECTS_NAMES else REST_PLURAL
    if language == "ar":  # the article and conjunctions stand before the word
        return True
    common = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    return 2 * common >= len(short) and len(short) - common <= rest[0] and len(long) - common <= rest[1]
