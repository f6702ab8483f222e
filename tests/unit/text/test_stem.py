from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.stem import has_stemmer, stem, stem_words

UKRAINIAN = [
    "київ києва києві києву києвом",
    "львів львова львові львову",
    "харків харкова харкові",
    "україна україни україні україну україною",
    "студент студента студентів студентові студентами",
    "книга книги книзі книгою",
    "америка америці америку",
    "прага празі прагу",
    "шевченко шевченка шевченку шевченком",
    "українець українця українці українців",
    "знання знань знанням",
    "працювати працює працюють праця праці",
    "український українського українська українській українські",
    "граф графа графи графів",
    "дніпро дніпра дніпрі",
    "львівський львівського львівській",
    "конспект конспекту конспекти конспектів",
    "солдат солдати солдатів",
]


@pytest.mark.parametrize("group", UKRAINIAN)
def test_ukrainian_cases_share_a_stem(group: str) -> None:
    assert len(set(stem_words(group.split(), "uk"))) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("київ", "кит"), ("граф", "грам"), ("русь", "рух"), ("одеса", "оделі")]
)
def test_different_ukrainian_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one, "uk") != stem(other, "uk")


@pytest.mark.parametrize(
    ("language", "one", "other"),
    [
        ("en", "communities", "community"),
        ("de", "hausern", "haus"),
        ("ru", "москве", "москва"),
        ("ar", "والقاهرة", "القاهرة"),
        ("ar", "المدرسة", "للمدرسة"),
        ("fr", "voitures", "voiture"),
    ],
)
def test_snowball_languages(language: str, one: str, other: str) -> None:
    assert stem(one, language) == stem(other, language)


@pytest.mark.parametrize("language", ["zh", "ja", "und", "xx", ""])
def test_no_stemmer_is_identity(language: str) -> None:
    assert not has_stemmer(language)
    assert stem_words(["notes", "книги", "日"], language) == ["notes", "книги", "日"]


def test_signs_and_digits_stay() -> None:
    assert stem_words(["c++", "c#", "b2b", "2000s"], "en") == ["c++", "c#", "b2b", "2000s"]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.text(max_size=12), max_size=8), st.sampled_from(["en", "uk", "de", "ar", "zh", "pl", "und"])
)
def test_one_stem_a_word_and_none_empty(words: list[str], language: str) -> None:
    stems = stem_words(words, language)
    assert len(stems) == len(words)
    assert all(bool(s) == bool(w) for s, w in zip(stems, words, strict=True))
