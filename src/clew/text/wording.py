"""How questions are worded: the words that ask, and questions that ask for everything.

Notes seldom ask, so that in them "what" or «скільки» is as rare as a name, and idf can't tell which word of a
question it is about. Function words are a closed class in every language: stop words of 58 languages
(stopwords-iso), others that these lists lack (``common`` in ``wording.json``) and what people say around the
thing that they ask about (``asking``) make a background. It only lowers weights, and keeps such words from
becoming names; a language without one is judged by the notes' own statistics. Questions for everything
(``whole``) are compared with a question by words where no embedder reads its language.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from typing import cast

from clew.text.terms import is_single, terms_of
from clew.text.tokens import normal_words

LONGEST = 8  # characters of an everyday word of a script without spaces


@cache
def _phrases(kind: str, language: str) -> tuple[str, ...]:
    return tuple(_wording().get(language, {}).get(kind, ()))


@cache
def _wording() -> dict[str, dict[str, list[str]]]:
    text = files("clew.text").joinpath("wording.json").read_text("utf-8")
    return cast(dict[str, dict[str, list[str]]], json.loads(text))


@cache
def everyday(language: str) -> frozenset[str]:
    """Return the everyday words of a language as normal forms; of scripts without spaces as strings of them.

    Empty for a language that nothing is known of.
    """
    from stopwordsiso import has_lang, stopwords  # reads 200 kB: only a question needs it

    known = stopwords(language) if has_lang(language) else set()
    asking = [*_phrases("asking", language), *_phrases("common", language)]
    spaced = {word for phrase in [*known, *asking] for word in normal_words(phrase) if not is_single(word)}
    whole = {"".join(normal_words(phrase)) for phrase in [*known, *asking]}
    return frozenset(spaced | {word for word in whole if word and is_single(word[0])})


def is_everyday(words: Sequence[str], languages: Iterable[str]) -> list[bool]:
    """Tell which of a text's words (normal forms, in order) are everyday words in one of the languages.

    Characters of scripts without spaces are, where the longest everyday word from there covers them.
    """
    known = [everyday(language) for language in languages]
    out = [not is_single(word) and any(_bare(word, one) in one for one in known) for word in words]
    at = 0
    while at < len(words):
        size = _covered(words, at, known) if is_single(words[at]) else 0
        out[at : at + size] = [True] * size
        at += max(size, 1)
    return out


def _bare(word: str, known: frozenset[str]) -> str:
    """Return an Arabic word without a prefixed "and", unless it is known with it."""
    return word[1:] if word[0] == "و" and len(word) > 2 and word not in known else word


def _covered(words: Sequence[str], at: int, known: Sequence[frozenset[str]]) -> int:
    """Return how many characters the longest everyday word from ``at`` on has; 0 if none begins there."""
    end = at
    while end < len(words) and end - at < LONGEST and is_single(words[end]):
        end += 1
    for stop in range(end, at, -1):
        text = "".join(words[at:stop])
        if any(text in one for one in known):
            return stop - at
    return 0


@cache
def _whole_terms(language: str) -> tuple[frozenset[str], ...]:
    return tuple(frozenset(terms_of(text, language)) for text in _phrases("whole", language))


def like_whole(text: str, language: str) -> float:
    """Return how much a question's terms are those of a question for everything, 0 to 1 (Jaccard)."""
    terms = frozenset(terms_of(text, language))
    shares = (len(terms & other) / max(len(terms | other), 1) for other in _whole_terms(language))
    return max(shares, default=0.0)


def whole_vocabulary(language: str) -> frozenset[str]:
    """Return the terms that questions for everything are worded with."""
    return frozenset().union(*_whole_terms(language))
