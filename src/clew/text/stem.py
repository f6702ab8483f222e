"""Stems of words, by language. Words are *normal forms* (case-folded, accents stripped).

Snowball (PyStemmer) has most languages that inflect by suffixes. It has no Ukrainian one; its
Russian stemmer doesn't know і, ї, є or the Ukrainian endings, and a lemmatiser's dictionary
(simplemma: 0.9 s to load) doesn't hold the names that notes are full of. So Ukrainian has a light
stemmer here, in the manner of Savoy's (2009) light stemmers for Slavic languages: it strips the
endings of cases and of common verb forms and evens out the alternations that cases bring. A word
of a language without a stemmer is its own stem.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from functools import lru_cache

import Stemmer

# ISO 639-1 → Snowball. Croatian and Bosnian inflect as Serbian does, which Snowball reads in both scripts.
SNOWBALL = {
    "ar": "arabic",
    "bs": "serbian",
    "ca": "catalan",
    "cs": "czech",
    "da": "danish",
    "de": "german",
    "el": "greek",
    "en": "english",
    "eo": "esperanto",
    "es": "spanish",
    "et": "estonian",
    "eu": "basque",
    "fa": "persian",
    "fi": "finnish",
    "fr": "french",
    "ga": "irish",
    "hi": "hindi",
    "hr": "serbian",
    "hu": "hungarian",
    "hy": "armenian",
    "id": "indonesian",
    "it": "italian",
    "lt": "lithuanian",
    "nb": "norwegian",
    "ne": "nepali",
    "nl": "dutch",
    "nn": "norwegian",
    "no": "norwegian",
    "pl": "polish",
    "pt": "portuguese",
    "ro": "romanian",
    "ru": "russian",
    "sr": "serbian",
    "st": "sesotho",
    "sv": "swedish",
    "ta": "tamil",
    "tr": "turkish",
    "yi": "yiddish",
}

# The article with what is glued before it (and, with, like, so, to), and "and" alone: the prefixes of
# light10 (Larkey et al. 2007). Snowball leaves some of them.
_ARABIC_ARTICLE = re.compile("^(?:(?:وال|بال|كال|فال|لل|ال)(?=...)|و(?=....))")

_stemmers = threading.local()  # a Stemmer object keeps a buffer and isn't safe to share between threads


def stem(word: str, language: str) -> str:
    """Return the stem of a normal form. ``language`` is an ISO 639-1 code, or ``"und"``: the word itself."""
    return stem_words((word,), language)[0]


def stem_words(words: Sequence[str], language: str) -> list[str]:
    """Return the stems of normal forms, in order. Words with a digit or a sign (C++, B2B) stay."""
    function = _function(language)
    if function is None:
        return list(words)
    stems = function(words)
    return [
        stemmed if stemmed and word.isalpha() else word for word, stemmed in zip(words, stems, strict=True)
    ]


def has_stemmer(language: str) -> bool:
    """Tell whether words of a language are stemmed."""
    return language == "uk" or language in SNOWBALL


def _function(language: str) -> Callable[[Sequence[str]], list[str]] | None:
    if language == "uk":
        return _stem_ukrainian_words
    algorithm = _available().get(language)
    if algorithm is None:
        return None
    stemmer = getattr(_stemmers, algorithm, None)
    if stemmer is None:
        stemmer = Stemmer.Stemmer(algorithm)
        setattr(_stemmers, algorithm, stemmer)
    if language == "ar":
        return lambda words: list(stemmer.stemWords([_ARABIC_ARTICLE.sub("", word) for word in words]))
    return lambda words: list(stemmer.stemWords(list(words)))


@lru_cache(maxsize=1)
def _available() -> dict[str, str]:
    """Older releases of PyStemmer know fewer languages; a language they lack isn't stemmed."""
    known = set(Stemmer.algorithms())
    return {code: name for code, name in SNOWBALL.items() if name in known}


# --- Ukrainian -----------------------------------------------------------------------------------

MIN_STEM = 3  # letters that stay; shorter stems would merge unrelated words


def _endings(text: str) -> re.Pattern[str]:
    longest_first = sorted(text.split(), key=lambda ending: (-len(ending), ending))
    return re.compile(f"(?<=...)(?:{'|'.join(longest_first)})$")


_REFLEXIVE = re.compile("(?<=...)(?:ся|сь)$")
# Only the large class of verbs in -увати and the plural -ають: -ати, -али would cut солдати, капітали.
_VERB = _endings(
    "увати ював ювати ував увала ювала увало ювало ували ювали ує ює ують юють уємо юємо уєте юєте уєш юєш "
    "уючи юючи ають яють"
)
_CASE = _endings(
    "а я о е є у ю и і ї ь й ий ій їй ого його ому йому им їм ими їми их їх ої єї ою ею єю ом ем єм "
    "ам ям ах ях ами ями ові еві єві ей"
)
# Possessives and place names in -ів, -ов-, -ев- (Львів, Львова) and the genitive plural (студентів).
_POSSESSIVE = re.compile("(?:(?<=...)(?:ів|ов|ев)|(?<=..)(?:їв|єв))$")
_DOUBLED = re.compile(r"([бвгджзклмнпрстфхцчшщ])\1$")
_FLEETING = re.compile("(?<=...)[еєо](?=[кц]$)")  # українець, українця; книжок, книжка
_CLOSED = re.compile("і(?=[^аеєиіїоуюя]*$)")  # ніч, ночі; Харків's own і was stripped above
_SOFTENED = str.maketrans("цзс", "кгх")  # Америка, в Америці; Прага, у Празі


def _stem_ukrainian_words(words: Sequence[str]) -> list[str]:
    return [stem_ukrainian(word) for word in words]


@lru_cache(maxsize=1 << 17)
def stem_ukrainian(word: str) -> str:
    """Return the light stem of a Ukrainian normal form.

    The stem is a key, not a word: і in a closed last syllable becomes о, a last ц becomes к, and in
    stems of four or more letters з becomes г and с becomes х, as cases alternate them.
    """
    if len(word) <= MIN_STEM or not ("\u0400" <= word[0] <= "\u04ff"):
        return word
    base = _REFLEXIVE.sub("", word)
    stemmed = _VERB.sub("", base)
    if stemmed == base:
        stemmed = _CASE.sub("", base)
    stemmed = _POSSESSIVE.sub("", stemmed)
    stemmed = _DOUBLED.sub(r"\1", stemmed)
    stemmed = _FLEETING.sub("", stemmed)
    stemmed = _CLOSED.sub("о", stemmed)
    last = stemmed[-1]
    if last == "ц" or (last in "зс" and len(stemmed) > MIN_STEM):
        stemmed = stemmed[:-1] + last.translate(_SOFTENED)
    return stemmed
