"""Any OpenAI-compatible endpoint, through the ``openai`` package (extra ``llm``): OpenAI, llama.cpp's server,
vLLM, LM Studio and others.

``openai:MODEL`` asks api.openai.com (or ``OPENAI_BASE_URL``), ``http://HOST/v1#MODEL`` another server.
"""

from __future__ import annotations

import os

from clew.endpoints.access import OPENAI_URL, access_to
from clew.endpoints.chat import ChatEndpoint
from clew.errors import OptionError, masked
from clew.options import LlmOptions
from clew.registry import ENDPOINT_SCHEMES, require


def make(argument: str, options: LlmOptions) -> ChatEndpoint:
    """Return the model. Raises OptionError: none is named, there is no key, the package is missing."""
    url, model = None, argument
    if argument.startswith(ENDPOINT_SCHEMES):
        url, _, model = argument.partition("#")
    thing = f"language model {model or url or 'openai'!r}"
    if not model:
        raise OptionError(thing, "it names no model", "Write openai:MODEL or http://HOST/v1#MODEL")
    require("openai", thing, "llm")
    name = f"openai:{model}"
    if url is None:
        url = os.environ.get(OPENAI_URL) or None
    access = access_to(url, thing)
    if access.url is not None:
        name = f"{masked(access.url.rstrip('/'))}#{model}"
    return ChatEndpoint(name, model, access, options)
