"""Chat with an OpenAI-compatible server, in the ways that servers differ."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from clew.endpoints.access import Access
from clew.endpoints.facts import context_of, count_of
from clew.endpoints.failure import NotReached, Refused, explain
from clew.endpoints.manner import NEW_LIMIT, OLD_LIMIT, Manner
from clew.endpoints.wire import body_of, finish_of, reply_of, text_of, usage_of
from clew.errors import ProviderBusy, ProviderDown, ProviderError, masked
from clew.options import LlmOptions
from clew.text.estimate import estimate_tokens
from clew.types import ChatReply, ChatRequest, Usage

if TYPE_CHECKING:
    import openai

Result = TypeVar("Result")
CONNECT_SECONDS = 10.0  # until a connection must have come about
LM_STUDIO = "/api/v0/models"  # where it tells more of its models
# An answer of more bytes than this for each token that was allowed, and for what is around it, has no end.
BYTES_PER_TOKEN = 128
SPARE_BYTES = 1 << 20
MESSAGE_TOKENS = 4


class ChatEndpoint:
    """A ChatModel behind a URL. What a server has refused once (a schema, a temperature, a name of an
    option) it isn't asked again. Threads may share it."""

    def __init__(self, name: str, model: str, access: Access, options: LlmOptions) -> None:
        self.name = name
        self._model = model
        self._access = access
        self._options = options
        # OpenAI takes no bound on a text's length in its strict mode.
        self._manner = Manner("schema", NEW_LIMIT) if access.url is None else Manner("bounded", OLD_LIMIT)
        self._reached = False  # it has answered

    @property
    def thing(self) -> str:
        """The model and its place, for messages."""
        at = masked(self._access.url or "api.openai.com").rstrip("/")
        return self.name if self.name.startswith(at) else f"{self.name} at {at}"

    @cached_property
    def _client(self) -> openai.OpenAI:
        import openai

        headers: dict[str, Any] = {name: openai.Omit() for name in self._access.unwanted}
        headers |= dict(self._access.headers)
        return openai.OpenAI(
            api_key=self._access.key or "none",
            base_url=self._access.url,
            default_headers=headers,
            max_retries=0,  # whoever calls repeats calls, within the limits of all of them
            timeout=openai.Timeout(
                self._options.timeout, connect=min(CONNECT_SECONDS, self._options.timeout)
            ),
        )

    @cached_property
    def window(self) -> int:
        """Tokens of prompt and reply together, as the server tells them; 0 if it doesn't."""
        return self._options.window or self.learn_window()

    def learn_window(self) -> int:
        """Return the window that the server tells, or 0."""
        if self._access.url is None:
            return 0  # OpenAI doesn't tell
        root = self._access.url.rstrip("/").removesuffix("/v1")
        told = (self.get(place) for place in ("/models", f"{root}{LM_STUDIO}"))
        return next((window for listed in told if (window := context_of(listed, self._model))), 0)

    def get(self, path: str) -> Any:
        """Return the JSON at a path or URL of the server, or None if there is none."""
        try:
            return self._client.get(path, cast_to=object, options={"timeout": CONNECT_SECONDS})
        except Exception:  # whatever it is: what would be asked isn't needed, and the first call will tell
            return None

    @cached_property
    def _counter(self) -> Callable[[str], int]:
        """The server's own count where it is near enough to be asked for each text; else an estimate."""
        counted = count_of(self._client, self._access, self._model) if self._access.is_loopback else None
        return counted if counted is not None else estimate_tokens

    def count(self, text: str) -> int:
        """Return the number of the model's tokens: told by a server on this machine that can, else an
        estimate that is rather too high."""
        return self._counter(text)

    def check(self) -> None:
        """Raise ProviderError if it is plain that no call can go well."""

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply. Raises ProviderError."""
        self.check()
        return self._adapting(request, partial(self._complete, request), streams=False)

    def stream(self, request: ChatRequest) -> Generator[str, None, ChatReply]:
        """Yield the pieces of the reply as they come, and return the whole. Raises ProviderError."""
        self.check()
        chunks = self._adapting(request, partial(self._open, request), streams=True)
        return (yield from self._pieces(chunks, request))

    # --- one call ---

    def _complete(self, request: ChatRequest, manner: Manner) -> ChatReply:
        body = body_of(request, manner.form, manner.limit, warm=manner.warm)
        deadline = time.monotonic() + self._options.timeout
        most = request.max_tokens * BYTES_PER_TOKEN + SPARE_BYTES
        data = bytearray()
        with (
            self._explained(),
            self._client.chat.completions.with_streaming_response.create(
                model=self._model, **body
            ) as response,
        ):
            for part in response.iter_bytes():
                data += part
                if time.monotonic() > deadline:
                    raise TimeoutError
                if len(data) > most:
                    raise ProviderError(
                        self.thing,
                        f"its answer to a request for {request.max_tokens:,} tokens has no end",
                        "The server doesn't keep to max_tokens: use another",
                    )
            found = json.loads(data)
        return reply_of(found, self.thing, partial(self._estimated, request))

    def _open(self, request: ChatRequest, manner: Manner) -> Any:
        body = body_of(request, manner.form, manner.limit, warm=manner.warm)
        extra: dict[str, Any] = {"stream_options": {"include_usage": True}} if manner.tells_usage else {}
        with self._explained():
            return self._client.chat.completions.create(model=self._model, stream=True, **extra, **body)

    def _pieces(self, chunks: Any, request: ChatRequest) -> Generator[str, None, ChatReply]:
        deadline = time.monotonic() + self._options.timeout
        pieces: list[str] = []
        reason: str | None = None
        usage: Usage | None = None
        try:
            with self._explained():
                for chunk in chunks:
                    if time.monotonic() > deadline:
                        raise TimeoutError
                    found = chunk.to_dict()
                    usage = usage_of(found) or usage
                    for choice in (found.get("choices") or [])[:1]:
                        reason = choice.get("finish_reason") or reason
                        piece = text_of((choice.get("delta") or {}).get("content"))
                        if piece:
                            pieces.append(piece)
                            yield piece
        finally:
            chunks.close()
        if reason is None:
            raise ProviderBusy(self.thing, "its reply broke off", "Try again", sent=True)
        text = "".join(pieces)
        return ChatReply(text, usage or self._estimated(request, text), finish_of(reason))

    def _estimated(self, request: ChatRequest, reply: str) -> Usage:
        asked = sum(self.count(message.text) + MESSAGE_TOKENS for message in request.messages)
        return Usage(asked, self.count(reply), exact=False)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn whatever the client raises into a ProviderError."""
        access = self._access
        try:
            yield
            self._reached = True
        except ProviderError:
            raise
        except Exception as error:
            found = explain(error, self.thing, access.variable, self._options.timeout, access.secrets)
            if isinstance(found, NotReached) and not self._reached:
                found = self.not_there()
            raise found from None if access.secrets else error

    def not_there(self) -> ProviderError:
        """Return the error for a server that has never answered."""
        return ProviderDown(self.thing, "no server answers there", "Start it, or correct the URL")

    def _adapting(self, request: ChatRequest, call: Callable[[Manner], Result], *, streams: bool) -> Result:
        """Make a call; where the server refuses how something is asked, ask in the next manner, and remember
        the one that it takes."""
        manner, first = self._manner, None
        while True:
            try:
                result = call(manner)
            except Refused as error:
                first = first or error
                then = manner.after(error.reason, schema=request.schema, streams=streams)
                if then is None:
                    raise first from None
                manner = then
                continue
            if first is not None:
                self._manner = manner
            return result
