from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_corpus import corpus_of

from clew.ingest.casing import read_casing
from clew.ingest.dictionary import choose, find_names, make_names
from clew.ingest.spans import Line
from clew.text.tokens import normal_words


def found(text: str, names: list[str], language: str = "en", others: tuple[str, ...] = ()) -> list[str]:
    """Return the surfaces found in the first of some records."""
    files = {"0": text} | {str(i + 1): other for i, other in enumerate(others)}
    line = Line(corpus_of(files, language=language))
    rows = [(i, name, tuple(normal_words(name)), False, False) for i, name in enumerate(names)]
    matches = find_names(line, read_casing(line), make_names(rows), np.zeros(line.size, dtype=bool))
    places = zip(matches.lo.tolist(), matches.hi.tolist(), strict=True)
    return [line.surface(lo, hi) for lo, hi in places if line.doc[lo] == 0]


@pytest.mark.parametrize(
    "written", ["Docker Compose", "docker compose", "docker-compose", "DockerCompose", "DOCKER COMPOSE"]
)
@pytest.mark.parametrize("name", ["Docker Compose", "docker-compose", "DockerCompose"])
def test_spellings_of_one_name(name: str, written: str) -> None:
    assert found(f"we run {written} there", [name]) == [written]


def test_parts_that_meet_by_chance_are_no_name() -> None:
    assert found("this is an a and no ana", ["ana"]) == ["ana"]
    assert found("in form", ["inform"]) == []


def test_numbers_split_by_joiners_alone() -> None:
    assert found("GPT4 and GPT-4", ["GPT-4"]) == ["GPT4", "GPT-4"]
    assert found("GPT4 and GPT-4 but not GPT 4", ["GPT4"]) == ["GPT4", "GPT-4"]


def test_longest_match_first() -> None:
    names = ["New York", "York", "New York City"]
    assert found("from New York City to New York and York", names) == ["New York City", "New York", "York"]


def test_no_match_across_a_break() -> None:
    assert found("I saw Ada. Lovelace was there, Ada; Lovelace", ["Ada Lovelace"]) == []


def test_breaks_in_the_name_and_after_initials() -> None:
    names = ["Washington, D.C.", "J. R. R. Tolkien"]
    assert found("in Washington, D.C. and by J. R. R. Tolkien, by J.R.R. Tolkien.", names) == [
        "Washington, D.C",
        "J. R. R. Tolkien",
        "J.R.R. Tolkien",
    ]


def test_a_name_that_is_a_word_needs_its_capital() -> None:
    text = "I will ask Will if he will come. Will you?"
    assert found(text, ["Will"], others=("we will see", "they will, I will, you will")) == ["Will"]


def test_accents_and_case_do_not_matter() -> None:
    assert found("bei Gödel und GODEL", ["Kurt Gödel", "Gödel"], "de") == ["Gödel", "GODEL"]


def test_chinese_and_japanese_names_match_by_characters() -> None:
    assert found("他从长安出发到中国各地。", ["长安", "中国", "日本"], "zh") == ["长安", "中国"]
    assert found("日本と中国", ["日"], "ja") == []


def test_c_and_its_kin_are_apart() -> None:
    text = "We write C++ and C# and C here."
    assert found(text, ["C++", "C#"]) == ["C++", "C#"]


@pytest.mark.parametrize(
    ("language", "name", "text", "surface"),
    [
        ("uk", "Київ", "він живе у Києві давно", "Києві"),
        ("uk", "Леся Українка", "книга Лесі Українки тут", "Лесі Українки"),
        ("de", "Goethe", "das ist Goethes Haus", "Goethes"),
        ("en", "smart pointer", "all smart pointers work", "smart pointers"),
        ("ar", "القاهرة", "سافرنا والقاهرة بعيدة", "والقاهرة"),
    ],
)
def test_inflected_forms(language: str, name: str, text: str, surface: str) -> None:
    assert found(text, [name], language) == [surface]


def test_english_names_do_not_inflect() -> None:
    assert found("then Williams came, a universal man", ["William", "university"]) == []


def test_overlapping_chunks_are_no_matter_here() -> None:
    assert found("x " * 300 + "Ada Lovelace", ["Ada Lovelace"]) == ["Ada Lovelace"]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 5)), max_size=20))
def test_choice_is_leftmost_longest_and_disjoint(spans: list[tuple[int, int]]) -> None:
    lo = np.array([a for a, _ in spans], dtype=np.int64)
    hi = np.array([a + n for a, n in spans], dtype=np.int64)
    kept = choose(lo, hi, np.arange(len(spans))).tolist()
    taken: list[tuple[int, int]] = []
    for a, n in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not taken or a >= taken[-1][1]:
            taken.append((a, a + n))
    assert [(int(lo[i]), int(hi[i])) for i in kept] == taken


@settings(max_examples=30, deadline=None)
@given(
    st.lists(
        st.sampled_from(["Ada", "Byron", "in", "of", "ada", "King", "日", "本", "Київ", "c++", "-", ". "]),
        max_size=25,
    ),
    st.lists(
        st.lists(st.sampled_from(["Ada", "Byron", "King", "日", "本", "Київ"]), min_size=1, max_size=3),
        max_size=5,
    ),
)
def test_what_is_found_reads_like_a_name(pieces: list[str], names: list[list[str]]) -> None:
    spelled = [" ".join(parts) for parts in names]
    keys = {"".join(normal_words(name)) for name in spelled}
    for surface in found(" ".join(pieces), spelled, "und"):
        assert "".join(normal_words(surface)) in keys


def test_matches_are_chosen_from_left_to_right() -> None:
    """Against the plain walk: take the longest that begins first and overlaps nothing taken."""
    random = np.random.default_rng(5)
    for _ in range(300):
        n = int(random.integers(0, 40))
        lo = random.integers(0, 30, n)
        hi = lo + random.integers(1, 6, n)
        row = random.permutation(n)
        taken, free = [], 0
        for i in np.lexsort((row, -hi, lo)).tolist():
            if lo[i] >= free:
                taken.append(i)
                free = int(hi[i])
        assert choose(lo, hi, row).tolist() == taken
