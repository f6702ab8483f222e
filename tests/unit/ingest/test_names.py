from __future__ import annotations

import numpy as np
from made_corpus import corpus_of

from clew.ingest.casing import read_casing
from clew.ingest.names import find_name_candidates
from clew.ingest.phrases import Spread, find_phrases
from clew.ingest.spans import Line, distinct, hash_words


def names(files: dict[str, str], language: str = "auto") -> dict[str, tuple[int, float]]:
    """Return the candidates' surfaces with (chunks, confidence)."""
    line = Line(corpus_of(files, language=language))
    found = find_name_candidates(line, read_casing(line))
    rows = zip(found.lo.tolist(), found.hi.tolist(), found.df.tolist(), found.sure.tolist(), strict=True)
    return {line.surface(lo, hi): (df, sure) for lo, hi, df, sure in rows}


def test_runs_of_capitals_are_names_and_sentence_starts_are_not() -> None:
    found = names({"1": "Yesterday we met Etan Boritzer. The weather was fine. We like the weather."})
    assert "Etan Boritzer" in found
    assert not {"The", "We"} & set(found)
    assert found["Yesterday"][1] < 0.5  # never seen elsewhere: it might be one


def test_a_word_that_is_lower_case_elsewhere_does_not_begin_a_name() -> None:
    found = names({"1": "But Alan Turing said so. He was right, but it took years, but not long."})
    assert "Alan Turing" in found
    assert "But Alan Turing" not in found


def test_initials_join_and_other_full_stops_do_not() -> None:
    found = names(
        {"1": "I read a book by J. R. R. Tolkien. Bilbo goes on a trip to Lake Town. Then he returns."}
    )
    assert "J. R. R. Tolkien" in found
    assert not any("Bilbo" in name and "Tolkien" in name for name in found)


def test_abbreviations_are_learned() -> None:
    texts = {
        str(i): f"They prayed at St. {name} in the evening."
        for i, name in enumerate(["Maurice", "Paul", "John"])
    }
    assert {"St. Maurice", "St. Paul", "St. John"} <= set(names(texts))


def test_connectors_are_learned_from_names_that_recur() -> None:
    texts = {
        str(i): "She saw the Bishop of Elmham at court. He liked the Duke of Lucca. They met Guy and Lambert."
        for i in range(2)
    }
    texts |= {
        "x": "He met Hugh and Marozia there.",
        "y": "She met Boso and Bertha there.",
        "z": "We met Ann and Tom.",
    }
    texts |= {"v": "They met Max and Eve here.", "w": "You met Ida and Leo here."}
    texts |= {"u": "We ran and ran and swam and slept and ate and drank."}
    found = names(texts)
    assert "Bishop of Elmham" in found
    assert "Hugh and Marozia" not in found


def test_numbers_within_names_but_no_dates_and_no_counters() -> None:
    texts = {
        str(i): f"We saw Listing {i} and used GPT-4 aboard Apollo 11 in May 19{i + 70}." for i in range(12)
    }
    found = names(texts)
    assert {"GPT-4", "Apollo 11"} <= set(found)
    assert not any(name.startswith(("Listing ", "May ")) for name in found)


def test_shouting_and_headings_are_no_evidence() -> None:
    found = names({"a.md": "# Quite Ordinary Words\n\nTHIS IS VERY IMPORTANT and so on.\n"})
    assert not found


def test_common_part_of_different_runs() -> None:
    found = names({"1": "They saw President Barack Obama.", "2": "They saw Senator Barack Obama again."})
    assert "Barack Obama" in found


def test_german_nouns_do_not_flood() -> None:
    text = "Das kleine Haus steht am Rand der Stadt. Im Garten spielt ein Kind mit dem Ball."
    text += " Dort traf er Angela Merkel."
    found = names({"1": text}, language="de")
    assert "Angela Merkel" in found
    assert not {"Haus", "Stadt", "Garten", "Kind", "Ball"} & set(found)


def phrases(texts: list[str], language: str = "auto") -> set[str]:
    line = Line(corpus_of({f"{i:03d}": text for i, text in enumerate(texts)}, language=language))
    found = find_phrases(line, read_casing(line))
    return {line.surface(lo, hi) for lo, hi in zip(found.lo.tolist(), found.hi.tolist(), strict=True)}


def test_chinese_phrases_without_spaces() -> None:
    found = phrases(["他住在洛阳城外。", "我去洛阳看花。", "洛阳很大。", "今年的花不大。"], "zh")
    assert "洛阳" in found
    assert not any(len(phrase) == 1 for phrase in found)


def test_arabic_words_that_recur() -> None:
    found = phrases(["زرنا القاهرة في الصيف", "تقع القاهرة على النيل", "هذا بيت كبير"], "ar")
    assert "القاهرة" in found


def test_phrases_of_a_large_text_cling_and_function_words_do_not() -> None:
    texts = ["the borrow checker rejects it, as the borrow checker must, even though it runs"] * 6
    texts += [
        f"the text number {chr(97 + i % 26) * 4} goes on even though nobody reads it for the day"
        for i in range(300)
    ]
    found = {phrase.lower() for phrase in phrases(texts, "en")}
    assert "borrow checker" in found or "the borrow checker" in found
    assert "even though" not in found


def test_phrases_are_bounded_and_deterministic() -> None:
    texts = [f"слово{i % 7} речення{i % 5} книга{i % 3} щось" for i in range(60)]
    assert phrases(texts, "uk") == phrases(texts, "uk")
    assert len(phrases(texts, "uk")) <= 80


def test_nothing_in_nothing() -> None:
    assert names({"1": ""}) == {}
    assert phrases(["", "!"]) == set()


def test_spread_of_units_of_one_size_is_the_poisson_model() -> None:
    spread = Spread(np.full(100, 10))
    value = spread.residual_idf(np.array([5]), np.array([1]))[0]
    assert np.isclose(value, np.log2(100 * (1 - np.exp(-0.05))), atol=1e-4)


def test_hash_of_joined_words_follows_from_the_parts() -> None:
    value, power = hash_words(["docker", "compose", "dockercompose", "日本", "", "x" * 5000])
    with np.errstate(over="ignore"):
        assert value[0] * power[1] + value[1] == value[2]
    assert len(set(value.tolist())) == 6


def test_distinct() -> None:
    assert distinct(np.array([3, 1, 3, 2])).tolist() == [1, 2, 3]
    assert distinct(np.zeros(0, dtype=np.int64)).tolist() == []
