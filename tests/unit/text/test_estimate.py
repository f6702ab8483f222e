from __future__ import annotations

import json
from pathlib import Path

import pytest

from clew.embedders import minilm
from clew.options import EmbedOptions
from clew.text.estimate import WINDOW, estimate_tokens
from clew.text.subword import encodable

# Texts in two dozen languages and forms, each with the tokens that tokenizers make of it which Clew can run:
# SmolLM2's, of 49,152 pieces of English, and those of its embedders.
SAMPLES = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "token_counts.jsonl").read_text("utf-8").splitlines()
]
KINDS = [sample["kind"] for sample in SAMPLES]


@pytest.mark.parametrize("sample", SAMPLES, ids=KINDS)
def test_an_estimate_is_never_below_any_tokenizer_and_not_far_above_the_worst(sample: dict) -> None:
    most = max(sample["tokens"].values())
    assert most <= estimate_tokens(sample["text"]) <= 1.6 * most


def test_the_languages_that_were_asked_for_are_there() -> None:
    assert {"en", "de", "uk", "zh", "ja", "ko", "ar", "fr"} <= set(KINDS)


def test_the_counts_are_those_of_the_tokenizer() -> None:
    tokenizer = minilm.make("", EmbedOptions()).tokenizer
    for sample in SAMPLES:
        assert sample["tokens"]["minilm"] == len(tokenizer.offsets([sample["text"]])[0])


def test_a_prompt_in_several_languages_is_estimated_by_its_parts() -> None:
    english, german = (next(s for s in SAMPLES if s["kind"] == kind) for kind in ("en", "de"))
    parts = [english["text"] + "\n", german["text"] + "\n"]
    text = "".join(part * (2 * WINDOW // len(part)) for part in parts)
    counted = sum((2 * WINDOW // len(s["text"])) * max(s["tokens"].values()) for s in (english, german))
    assert counted <= estimate_tokens(text) <= 1.6 * counted


def test_any_text_has_an_estimate_and_a_longer_one_has_a_higher() -> None:
    assert estimate_tokens("") == 0
    for text in ("a", " ", "\0", "lone \ud800", "👩‍👩‍👧", "\u00a0", "\x7f", "\n" * 3000):
        assert 1 <= estimate_tokens(text) <= estimate_tokens(text * 10)
        assert estimate_tokens(encodable(text)) == estimate_tokens(text)
