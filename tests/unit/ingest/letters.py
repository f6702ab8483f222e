"""A small embedder: a text's vector counts its letters. It says how many texts it was given."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import ClassVar
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from clew import registry
from clew.options import EmbedOptions
from clew.registry import Plugin
from clew.types import Floats, Ints

WINDOW = 24


class Words:
    """Places words and single characters of scripts without spaces."""

    name = "letters"

    def offsets(self, texts: Sequence[str]) -> list[Ints]:
        found = [
            [match.start() for match in re.finditer(r"[\u3400-\u9fff]|\w+|[^\w\s]", text)] for text in texts
        ]
        return [np.array(starts, dtype=np.int32) for starts in found]


class Letters:
    """Deterministic, and the same for a text whatever stands beside it. ``letters:8`` has 8 dimensions."""

    window = WINDOW
    languages: frozenset[str] = frozenset()
    tokenizer = Words()
    embedded: ClassVar[list[str]] = []  # by all instances; tests clear it
    fails_after = -1  # texts that are still embedded before KeyboardInterrupt; -1: all

    def __init__(self, dimension: int) -> None:
        self.dimension = dimension
        self.name = f"letters-{dimension}"

    def embed(self, texts: Sequence[str]) -> Floats:
        if Letters.fails_after >= 0:
            if Letters.fails_after < len(texts):
                raise KeyboardInterrupt
            Letters.fails_after -= len(texts)
        Letters.embedded.extend(texts)
        return np.vstack([self.embed_question(text) for text in texts])

    def embed_question(self, text: str) -> Floats:
        counts: NDArray[np.float64] = np.ones(self.dimension)
        for letter in text:
            counts[ord(letter) % self.dimension] += 1
        vector: Floats = (counts / np.linalg.norm(counts)).astype(np.float32)
        return vector


def make(argument: str, options: EmbedOptions) -> Letters:
    return Letters(int(argument or 8))


def plugged_in() -> mock._patch_dict:
    """Return a context in which ``letters`` is among the embedders."""
    letters = Plugin("letters", f"{__name__}:make", "Counts letters")
    return mock.patch.dict(registry.BUILT_IN, embedders=(*registry.BUILT_IN["embedders"], letters))
