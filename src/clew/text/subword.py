"""A model's own tokenizer, from a ``tokenizer.json`` file, run by the ``tokenizers`` library."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import cached_property, lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from clew.types import Ints

if TYPE_CHECKING:
    from tokenizers import Encoding
    from tokenizers import Tokenizer as Rules

# A run without white space, at most as long as keeps a sentence-piece search short (its cost grows with
# the square in some implementations) and the cache of counts small.
WORD = re.compile(r"\S{1,64}")
SURROGATE = re.compile("[\ud800-\udfff]")

# The tokenizers library works on all cores by threads, which a forked child doesn't have. Left to
# itself it notices and prints a warning; said beforehand in the child, it works on one core in silence.
os.register_at_fork(after_in_child=lambda: os.environ.setdefault("TOKENIZERS_PARALLELISM", "false"))


def encodable(text: str) -> str:
    """Return the text with each lone surrogate replaced by U+FFFD, so that it is valid UTF-8.

    The length in characters stays, so offsets hold in both.
    """
    return text if text.isascii() else SURROGATE.sub("\ufffd", text)


class SubwordTokenizer:
    """The tokens of one model. Loaded when first used.

    What looks like a special token in a text (``[SEP]``, ``</s>``) is text.
    """

    def __init__(self, path: Path, name: str, window: int) -> None:
        self.path = path
        self.name = name
        self.window = window

    def load(self) -> None:
        """Read the rules now that make ids."""
        _ = self._cut

    def __reduce__(self) -> tuple[type[SubwordTokenizer], tuple[Path, str, int]]:
        """Another process loads its own."""
        return type(self), (self.path, self.name, self.window)

    def offsets(self, texts: Sequence[str]) -> list[Ints]:
        """Return the character offsets at which each text's tokens begin, ascending, shape (n,)."""
        encodings = self._whole.encode_batch([encodable(t) for t in texts], add_special_tokens=False)
        return [_starts(encoding) for encoding in encodings]

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return each text's token ids with special tokens, cut at the window."""
        encodings = self._cut.encode_batch_fast([encodable(t) for t in texts])
        return [encoding.ids for encoding in encodings]

    @cached_property
    def n_special(self) -> int:
        """How many special tokens the model wants around a text."""
        return int(self._whole.num_special_tokens_to_add(False))

    # Truncation is a state of the library's object, so that two are needed: about 30 ms and 5 MB each.
    @cached_property
    def _whole(self) -> Rules:
        rules = self._load()
        rules.no_truncation()
        return rules

    @cached_property
    def _cut(self) -> Rules:
        rules = self._load()
        rules.enable_truncation(self.window)
        return rules

    def _load(self) -> Rules:
        from tokenizers import Tokenizer

        rules = Tokenizer.from_file(str(self.path))
        rules.no_padding()
        rules.encode_special_tokens = True
        return rules


class WordwiseTokenizer:
    """Offsets for a tokenizer that only says how many tokens a word has.

    Sentence-piece models don't join words across white space, so that a text's tokens are its words'
    tokens. Within a word they are taken to be of equal length.
    """

    def __init__(self, name: str, count: Callable[[str], int]) -> None:
        self.name = name
        self._count = lru_cache(maxsize=1 << 17)(count)

    def offsets(self, texts: Sequence[str]) -> list[Ints]:
        """Return the character offsets at which each text's tokens begin, ascending, shape (n,)."""
        return [self._starts(encodable(text)) for text in texts]

    def _starts(self, text: str) -> Ints:
        starts: list[int] = []
        for word in WORD.finditer(text):
            begin, size = word.start(), word.end() - word.start()
            n = self._count(word.group())
            starts += [begin + size * i // n for i in range(n)]
        return np.array(starts, dtype=np.int32)


def _starts(encoding: Encoding) -> Ints:
    spans = encoding.offsets
    flat = np.fromiter(chain.from_iterable(spans), dtype=np.int32, count=2 * len(spans))
    return flat[::2].copy()
