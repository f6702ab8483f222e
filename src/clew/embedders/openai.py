"""Any OpenAI-compatible embeddings endpoint, through the ``openai`` package (extra ``openai``).

``openai:MODEL`` asks api.openai.com (or ``OPENAI_BASE_URL``), ``https://HOST/v1#MODEL`` another server. The
key is ``OPENAI_API_KEY``, and goes to the server that was named; a server by URL may need none.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import numpy as np

from clew.algo.encoder import unit
from clew.errors import OptionError, ProviderError
from clew.options import EmbedOptions
from clew.registry import ENDPOINT_SCHEMES, require
from clew.text.subword import WordwiseTokenizer, encodable
from clew.types import Floats

if TYPE_CHECKING:
    import openai

KEY = "OPENAI_API_KEY"
WINDOW = 512  # tokens; the shortest window among the models that are commonly served
BATCH_TOKENS = 16_000  # tokens of a request; the round trip then weighs little beside the work
PARALLEL = 4  # requests at once: hides the round trip without running into usual rate limits
TRIES = 6  # with the client's backoff (half a second, doubled each time, or what the server asks for)
SECONDS = 60.0  # that a reply may take
# The server's tokenizer isn't known. Four letters of English are about a token in all of them; other
# scripts have more tokens a letter.
ASCII_PER_TOKEN = 4


class Endpoint:
    """An embeddings endpoint. The dimension is learnt from a first, one-word request."""

    window = WINDOW
    parallel = PARALLEL
    batch_tokens = BATCH_TOKENS
    languages: frozenset[str] = frozenset()

    def __init__(self, model: str, base_url: str | None, key: str) -> None:
        self.name = model
        self.tokenizer = WordwiseTokenizer("estimated", estimated_tokens)
        self._base_url = base_url
        self._key = key

    @cached_property
    def _client(self) -> openai.OpenAI:
        import openai

        return openai.OpenAI(
            api_key=self._key, base_url=self._base_url, max_retries=TRIES - 1, timeout=SECONDS
        )

    @cached_property
    def dimension(self) -> int:
        """The length of the model's vectors. Raises ProviderError."""
        return int(self._ask(["dimension"]).shape[1])

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors, shape (len(texts), dimension). Raises ProviderError."""
        if not texts:
            return np.zeros((0, self.dimension), dtype=np.float32)
        # An empty text is refused by most servers; a space isn't.
        return unit(self._ask([encodable(text) or " " for text in texts]))

    def embed_question(self, text: str) -> Floats:
        """Return the question's unit vector, shape (dimension,). Raises ProviderError."""
        vector: Floats = self.embed([text])[0]
        return vector

    def _ask(self, texts: list[str]) -> Floats:
        import openai

        thing = f"embedder {self.name!r} at {self._client.base_url}"
        try:
            reply = self._client.embeddings.create(model=self.name, input=texts, encoding_format="float")
        except openai.AuthenticationError as error:
            raise ProviderError(thing, "the key was refused", f"Set {KEY} to a valid key") from error
        except openai.NotFoundError as error:
            remedy = "Check the URL (it usually ends in /v1) and the model's name"
            raise ProviderError(thing, _reason(error), remedy) from error
        except openai.RateLimitError as error:
            remedy = "Run the command again later: what is embedded already is kept"
            raise ProviderError(thing, _reason(error), remedy) from error
        except openai.APIConnectionError as error:
            remedy = "Check that the server runs and the URL is right, or use --embedder minilm"
            raise ProviderError(thing, f"no answer ({error})", remedy) from error
        except (openai.OpenAIError, ValueError) as error:
            raise ProviderError(thing, _reason(error), "See the server's log for the cause") from error
        return _rows(thing, len(texts), reply)


def _rows(thing: str, n: int, reply: openai.types.CreateEmbeddingResponse) -> Floats:
    """Return the reply's vectors in the order of the request: servers may send them in any."""
    remedy = "The server isn't compatible: use another embedder"
    try:
        # A server that sends no index keeps the order, as every one did so far.
        numbers = [i if item.index is None else item.index for i, item in enumerate(reply.data)]
        if sorted(numbers) != list(range(n)):
            raise ProviderError(thing, f"it returned {len(numbers)} vectors for {n} texts", remedy)
        rows = np.array([item.embedding for item in reply.data], dtype=np.float32)
    except (AttributeError, TypeError, ValueError) as error:
        raise ProviderError(thing, f"its reply can't be read ({error})", remedy) from error
    if rows.ndim != 2 or not rows.shape[1]:
        raise ProviderError(thing, "its reply holds no vectors", remedy)
    ordered: Floats = rows[np.argsort(numbers)]
    return ordered


def _reason(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def estimated_tokens(word: str) -> int:
    """Return about how many tokens a word has, rather too many than too few."""
    plain = sum(char.isascii() and char.isalnum() for char in word)
    return max(1, -(-plain // ASCII_PER_TOKEN) + len(word) - plain)


def make(argument: str, options: EmbedOptions) -> Endpoint:
    """Return the embedder. Raises OptionError: no model is named, there is no key, the package is missing."""
    thing = f"embedder {argument or 'openai'!r}"
    url, model = None, argument
    if argument.startswith(ENDPOINT_SCHEMES):
        url, _, model = argument.partition("#")
    if urlsplit(url or "").username or urlsplit(url or "").password:
        raise OptionError(thing, "its URL holds a password", f"Leave it out, and set {KEY}")
    if not model:
        raise OptionError(thing, "it names no model", "Write openai:MODEL or https://HOST/v1#MODEL")
    require("openai", thing, "openai")
    key = os.environ.get(KEY, "")
    if url is None and not key:
        raise OptionError(thing, f"{KEY} isn't set", f"Set {KEY}, or name a server: https://HOST/v1#{model}")
    return Endpoint(model, url, key or "none")
