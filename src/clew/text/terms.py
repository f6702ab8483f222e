"""From words to index terms: stems, and bigrams for scripts without spaces.

A term is published as a 64-bit hash, so that a vocabulary opens as one sorted array.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b

import regex

from clew.text.stem import stem_words
from clew.text.tokens import SINGLE, normal_words

HANGUL = regex.compile(r"\p{Hangul}{3,}")


@lru_cache(maxsize=1 << 17)
def term_hash(term: str) -> int:
    """Return a term's 64-bit hash. Two of a million terms collide with a chance of 3 in 10⁸."""
    return int.from_bytes(blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def expand(words: Sequence[str], language: str) -> list[tuple[str, ...]]:
    """Return the terms of each word by itself: its stem, and for Hangul the syllable bigrams too.

    Korean glues particles to nouns and has no Snowball stemmer; bigrams meet across them.
    """
    stems = stem_words(words, language)
    out: list[tuple[str, ...]] = []
    for word, stem in zip(words, stems, strict=True):
        if not word.isascii() and HANGUL.fullmatch(word):
            out.append((stem, *(word[i : i + 2] for i in range(len(word) - 1))))
        else:
            out.append((stem,))
    return out


def terms_of(text: str, language: str) -> list[str]:
    """Return the index terms of a text in order, with repeats.

    Characters of scripts without spaces give the character and, with the next one, a bigram.
    """
    words = normal_words(text)
    out: list[str] = []
    for i, parts in enumerate(expand(words, language)):
        out.extend(parts)
        if i + 1 < len(words) and is_single(words[i]) and is_single(words[i + 1]):
            out.append(words[i] + words[i + 1])
    return out


def is_single(word: str) -> bool:
    """Tell whether a word is one character of a script without spaces."""
    return not word.isascii() and SINGLE.fullmatch(word) is not None
