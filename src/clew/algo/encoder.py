"""Sentence vectors from a transformer in an ONNX file: token ids in, unit vectors out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from clew.room import lacks_memory
from clew.types import Floats, Longs

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

Pooling = Literal["mean", "cls"]
INPUTS = frozenset({"input_ids", "attention_mask", "token_type_ids"})

QUIET = 3  # ONNX Runtime's log level: errors only; its warnings speak of graph internals


class SentenceEncoder:
    """Runs the graph and makes one vector of a text's token vectors: their mean, or the first one
    (Reimers and Gurevych 2019, arXiv:1908.10084, section 3).

    The graph takes ``input_ids`` and ``attention_mask`` (and ``token_type_ids`` where declared), shape
    (B, L), and gives token vectors, shape (B, L, d), or sentence vectors, shape (B, d), as its first
    output. The session is made when first used, or by ``load``; threads may share it.
    """

    def __init__(self, path: Path, threads: int = 0, pooling: Pooling = "mean") -> None:
        self.path = path
        self.threads = threads
        self.pooling = pooling
        self._session: InferenceSession | None = None
        self._loading = Lock()

    @property
    def session(self) -> InferenceSession:
        # Two threads that come first would each make one: a quarter of a second and 90 MB.
        with self._loading:
            if self._session is None:
                self._session = self._open()
            return self._session

    def load(self) -> None:
        """Make the session now: a quarter of a second, of which other threads can use most."""
        _ = self.session

    def _open(self) -> InferenceSession:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = self.threads
        options.log_severity_level = QUIET
        # Threads that spin while they wait for work slow down whatever else runs on the machine.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        with _memory_errors():
            return onnxruntime.InferenceSession(str(self.path), options, providers=["CPUExecutionProvider"])

    @cached_property
    def inputs(self) -> dict[str, str]:
        """The graph's inputs and their types."""
        return {wanted.name: wanted.type for wanted in self.session.get_inputs()}

    def vectors(self, ids: Sequence[Sequence[int]]) -> Floats:
        """Return unit vectors for lists of token ids, shape (len(ids), d), run as one padded batch."""
        tokens, mask = pad(ids)
        given = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)}
        feeds = {
            name: given[name].astype(np.int32) if kind == "tensor(int32)" else given[name]
            for name, kind in self.inputs.items()
        }
        with _memory_errors():
            output: Any = self.session.run(None, feeds)[0]
        hidden: Floats = output.astype(np.float32, copy=False)
        if hidden.ndim == 2:
            return unit(hidden)
        return unit(hidden[:, 0, :] if self.pooling == "cls" else mean_pool(hidden, mask))


@contextmanager
def _memory_errors() -> Iterator[None]:
    """Raise MemoryError where onnxruntime had too little memory, of which only its text tells."""
    try:
        yield
    except Exception as error:
        if lacks_memory(error):
            raise MemoryError(str(error)) from error
        raise


def pad(ids: Sequence[Sequence[int]]) -> tuple[Longs, Longs]:
    """Return the ids as a matrix padded with 0 at the end, and its mask (1 where a token stands)."""
    width = max((len(row) for row in ids), default=0)
    tokens = np.zeros((len(ids), width), dtype=np.int64)
    mask = np.zeros((len(ids), width), dtype=np.int64)
    for i, row in enumerate(ids):
        tokens[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return tokens, mask


def mean_pool(hidden: Floats, mask: Longs) -> Floats:
    """Return the mean of each row's unmasked token vectors: (B, L, d) and (B, L) → (B, d)."""
    weights = mask.astype(np.float32)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1)
    pooled: Floats = np.matmul(weights[:, None, :], hidden)[:, 0, :]
    return pooled


def unit(vectors: Floats) -> Floats:
    """Return the rows scaled to length 1; a row of zeros stays zero."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    scaled: Floats = vectors / np.maximum(norms, np.finfo(np.float32).tiny)
    return scaled
