"""What servers tell of their models, each in its own way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clew.endpoints.access import Access
from clew.text.estimate import estimate_tokens
from clew.text.subword import encodable

if TYPE_CHECKING:
    import openai

# In the entries of ``/models``: llama.cpp (within ``meta``), vLLM, Groq, OpenRouter and Together, Mistral, LM
# Studio. What is loaded counts more than what the model was trained for.
CONTEXT_KEYS = (
    "n_ctx",
    "loaded_context_length",
    "max_model_len",
    "context_window",
    "context_length",
    "max_context_length",
    "n_ctx_train",
)
TOKENIZE_SECONDS = 5.0


def names_in(models: Any) -> list[str]:
    """Return the models' names in a server's ``/models``."""
    listed = models.get("data") if isinstance(models, Mapping) else None
    entries = listed if isinstance(listed, list) else []
    return [one["id"] for one in entries if isinstance(one, Mapping) and isinstance(one.get("id"), str)]


def context_of(models: Any, model: str) -> int:
    """Return a model's window in a server's ``/models``, or 0. A server of one model may call it anything."""
    listed = models.get("data") if isinstance(models, Mapping) else None
    entries = [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else []
    found = [one for one in entries if one.get("id") == model] or (entries if len(entries) == 1 else [])
    for entry in found[:1]:
        meta = entry.get("meta")
        for place in (meta if isinstance(meta, Mapping) else {}, entry):
            for key in CONTEXT_KEYS:
                value = place.get(key)
                if isinstance(value, int) and value > 0:
                    return value
    return 0


def count_of(client: openai.OpenAI, access: Access, model: str) -> Callable[[str], int] | None:
    """Return a function that lets the server count tokens (llama.cpp's and vLLM's ``/tokenize``), or None
    if it can't."""
    url = (access.url or "").rstrip("/").removesuffix("/v1") + "/tokenize"

    def ask(text: str) -> int:
        sent = encodable(text)
        asked = {"content": sent, "model": model, "prompt": sent, "add_special_tokens": False}
        found: Any = client.post(url, cast_to=object, body=asked, options={"timeout": TOKENIZE_SECONDS})
        tokens = found.get("tokens")
        return len(tokens) if isinstance(tokens, list) else int(found["count"])

    @lru_cache(maxsize=1 << 14)
    def count(text: str) -> int:
        try:
            return ask(text)
        except Exception:  # it could a moment ago
            return estimate_tokens(text)

    try:
        ask("one two")
    except Exception:  # it has no such place
        return None
    return count
