"""Quotes are found where they stand, as they stand or nearly, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.text.quotes import NEAR, Passage, fold

TEXT = (
    "**Tide Gauge No. 3** recorded 4.62 metres before the [[Pier|pier]] went under, and the party went on.\n"
    "我从长安来。 والقاهرة مدينة كبيرة.  Анна Берг полагодила маяк.\n"
    "Die Gezeitenpegel der Straße.  Cafe\u0301 au lait; `Vec<T>` and C++."
)


@pytest.mark.parametrize(
    ("quote", "found", "how"),
    [
        ("Tide Gauge No. 3", "Tide Gauge No. 3", "exact"),
        ("tide gauge no 3 recorded", "Tide Gauge No. 3** recorded", "marks"),
        ("the pier. Went under", None, ""),  # what the link's target says stands between
        ("recorded 4.62 meters before the [[Pier|pier]] went under", "recorded 4.62 metres before", "near"),
        ("长安", "长安", "exact"),
        ("القاهرة", "القاهرة", "exact"),
        ("АННА БЕРГ", "Анна Берг", "marks"),
        ("STRASSE", "Straße", "marks"),
        ("café", "Cafe\u0301", "marks"),
        ("Tide Gauge … and the party went on", "and the party went on", "exact"),
        ("C++", "C++", "exact"),
    ],
)
def test_a_quote_is_found_as_it_stands(quote: str, found: str | None, how: str) -> None:
    place = Passage(TEXT).find(quote)
    if found is None:
        assert place is None
        return
    assert place is not None
    assert place.how == how
    assert TEXT[place.start : place.end].startswith(found)


@pytest.mark.parametrize(
    "quote",
    [
        "art",  # of "party"
        "pegel",  # of a compound
        "нна Берг",
        "recorded 4.63 metres before the [[Pier|pier]] went under",  # another number
        "Hanna Berg",
        "**",
        "",
        " \n",
        "nothing of the kind is said in this text",
    ],
)
def test_what_the_text_doesnt_say_isnt_found(quote: str) -> None:
    assert Passage(TEXT).find(quote) is None


def test_the_first_place_that_is_a_word_counts() -> None:
    text = "A party of art lovers, and art"
    place = Passage(text).find("art")
    assert place is not None
    assert place.start == text.index(" art ") + 1


words = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=60)


@given(words, words, words)
def test_any_part_between_spaces_is_found(before: str, quote: str, after: str) -> None:
    text = f"{before} {quote} {after}"
    place = Passage(text).find(quote)
    if not any(map(str.isalnum, quote.strip())):
        assert place is None or fold(text[place.start : place.end])[0]
        return
    assert place is not None
    assert fold(text[place.start : place.end])[0] == fold(quote)[0]


@given(st.text(max_size=200), st.text(max_size=80))
def test_what_is_found_says_what_was_quoted(text: str, quote: str) -> None:
    from rapidfuzz import fuzz

    place = Passage(text).find(quote)
    if place is not None:
        assert 0 <= place.start < place.end <= len(text)
        parts = [quote, *quote.replace("…", "...").split("...")]
        there = fold(text[place.start : place.end])[0]
        assert max(fuzz.ratio(there, fold(part)[0]) for part in parts) >= NEAR
