"""A sentence-embedding model in a folder of the user's: ``onnx:FOLDER``.

The folder is laid out as the sentence-transformers project does: ``model.onnx`` (or ``onnx/model.onnx``) and
``tokenizer.json``. Where they are there, ``sentence_bert_config.json`` gives the window,
``1_Pooling/config.json`` the pooling and ``config_sentence_transformers.json`` the prefixes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from functools import cached_property
from hashlib import file_digest
from pathlib import Path
from typing import Any

import numpy as np

from clew.algo.encoder import INPUTS, Pooling, SentenceEncoder
from clew.errors import OptionError
from clew.ids import content_hash, make_id
from clew.options import EmbedOptions
from clew.text.subword import SubwordTokenizer
from clew.types import Floats

GRAPHS = ("model.onnx", "onnx/model.onnx")
LENGTH = 512  # positions of most such models, where the folder doesn't say
LONGEST = 8192  # a larger number stands for "not limited" in such files
PASSAGE_PREFIXES = ("passage", "document")  # names that models give their prefix for passages
NAMED = 12  # hexadecimal digits of the hash in the name: other weights or rules are another model


class OnnxFolder:
    """A transformer from a folder, through ONNX Runtime."""

    languages: frozenset[str] = frozenset()

    def __init__(self, folder: Path, graph: Path, threads: int) -> None:
        self.folder = folder
        # Batches side by side on one core each; see clew.embedders.minilm.
        self.parallel = threads or os.cpu_count() or 1
        length = self._length()
        rules = folder / "tokenizer.json"
        # Analyses are kept under the tokenizer's name: another with these tokens makes none of them anew.
        self.tokenizer = SubwordTokenizer(rules, content_hash(rules.read_bytes())[:NAMED], length)
        prompts = _read(folder / "config_sentence_transformers.json").get("prompts") or {}
        self._question_prefix = str(prompts.get("query") or "")
        self._passage_prefix = next((str(prompts[n]) for n in PASSAGE_PREFIXES if prompts.get(n)), "")
        self.encoder = SentenceEncoder(graph, threads=1, pooling=self._pooling())
        self.window = length - self._taken()

    @cached_property
    def name(self) -> str:
        """The folder's name and the hash of all that makes its vectors: graph, tokens, prefixes, pooling."""
        with self.encoder.path.open("rb") as file:
            graph = file_digest(file, "sha256").hexdigest()
        prefixes = (self._question_prefix, self._passage_prefix)
        rules = make_id(graph, self.tokenizer.name, *prefixes, self.encoder.pooling, str(self.window))
        return f"{self.folder.name}-{rules[:NAMED]}"

    @cached_property
    def dimension(self) -> int:
        """The length of the vectors."""
        return int(self.embed(["dimension"]).shape[1])

    def load(self) -> None:
        """Read the model now, so that the first text needn't wait for it."""
        self.encoder.load()
        self.tokenizer.load()

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors, shape (len(texts), dimension); texts are cut at the window."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        return self.encoder.vectors(self.tokenizer.ids([self._passage_prefix + text for text in texts]))

    def embed_question(self, text: str) -> Floats:
        """Return the question's unit vector, shape (dimension,)."""
        vector: Floats = self.encoder.vectors(self.tokenizer.ids([self._question_prefix + text]))[0]
        return vector

    def _taken(self) -> int:
        """The tokens that special ones and the prefix take of the model's length."""
        return self.tokenizer.n_special + len(self.tokenizer.offsets([self._passage_prefix])[0])

    def _length(self) -> int:
        told = _read(self.folder / "sentence_bert_config.json").get("max_seq_length")
        told = told or _read(self.folder / "tokenizer_config.json").get("model_max_length")
        return int(told) if isinstance(told, int | float) and 8 < told <= LONGEST else LENGTH

    def _pooling(self) -> Pooling:
        told = _read(self.folder / "1_Pooling" / "config.json")
        modes = [mode for mode, on in told.items() if mode.startswith("pooling_mode_") and on is True]
        if modes in ([], ["pooling_mode_mean_tokens"]):
            return "mean"
        if modes == ["pooling_mode_cls_token"]:
            return "cls"
        raise OptionError(
            f"embedder 'onnx:{self.folder}'",
            f"its pooling isn't known here ({', '.join(modes)})",
            "Use a model that takes the mean or the first token",
        )


def _read(path: Path) -> dict[str, Any]:
    """Return a JSON object from a file; an empty one if the file isn't there. Raises OptionError."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise OptionError(str(path), f"it can't be read ({error})", "Repair or remove the file") from error
    return value if isinstance(value, dict) else {}


def make(argument: str, options: EmbedOptions) -> OnnxFolder:
    """Return the embedder. Raises OptionError if a file of the folder is missing or doesn't fit."""
    thing = f"embedder 'onnx:{argument}'"
    layout = "Write onnx:FOLDER, a folder with model.onnx and tokenizer.json"
    folder = Path(argument).expanduser()
    if not argument or not folder.is_dir():
        raise OptionError(thing, "it names no folder", layout)
    graph = next((folder / name for name in GRAPHS if (folder / name).is_file()), None)
    if graph is None or not (folder / "tokenizer.json").is_file():
        missing = "model.onnx" if graph is None else "tokenizer.json"
        raise OptionError(thing, f"there is no {missing} in the folder", layout)
    try:
        embedder = OnnxFolder(folder.resolve(), graph, options.threads)
        strange = sorted(set(embedder.encoder.inputs) - INPUTS)
    except OptionError:
        raise
    # The two libraries raise bare exceptions of many classes for files that they can't read.
    except Exception as error:
        raise OptionError(thing, f"its files can't be loaded ({error})", layout) from error
    if strange:
        raise OptionError(
            thing, f"its graph wants inputs that aren't known here: {', '.join(strange)}", layout
        )
    return embedder
