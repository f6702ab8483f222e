"""A language model that says what a test tells it to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Mapping, Sequence

from clew.errors import ProviderError
from clew.types import ChatReply, ChatRequest, Usage

Reply = str | Exception
PIECE = 4  # characters of a streamed piece, and, as most tokenizers have it, of a token


class ScriptedChatModel:
    """A ChatModel with fixed replies. ``requests`` holds what it was asked, in order.

    ``script`` is one of: a sequence of replies, given in turn; a mapping from a text to the reply to
    requests that contain it (the first that matches, in the mapping's order); a function of the
    request. A reply that is an exception is raised. A reply longer than the request allows is cut, as a real
    model's would be. Raises ProviderError when it has no reply left or none matches.
    """

    def __init__(
        self,
        script: Sequence[Reply] | Mapping[str, Reply] | Callable[[ChatRequest], Reply],
        name: str = "scripted",
        window: int = 8192,
    ) -> None:
        if isinstance(script, str):
            raise TypeError("a script is a sequence of replies, not one text")
        self.name = name
        self.window = window
        self.requests: list[ChatRequest] = []
        self._script = script
        self._lock = threading.Lock()

    def count(self, text: str) -> int:
        """Return a quarter of the characters, rounded up."""
        return -(-len(text) // PIECE)

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the scripted reply."""
        with self._lock:
            turn = len(self.requests)
            self.requests.append(request)
        reply = self._reply(request, turn)
        if isinstance(reply, Exception):
            raise reply
        text = reply[: PIECE * request.max_tokens]
        asked = sum(self.count(message.text) for message in request.messages)
        usage = Usage(asked, self.count(text))
        return ChatReply(text, usage, "stop" if len(text) == len(reply) else "length")

    def stream(self, request: ChatRequest) -> Generator[str, None, ChatReply]:
        """Yield the scripted reply in pieces of a few characters."""
        reply = self.complete(request)
        for start in range(0, len(reply.text), PIECE):
            yield reply.text[start : start + PIECE]
        return reply

    def _reply(self, request: ChatRequest, turn: int) -> Reply:
        script = self._script
        if callable(script):
            return script(request)
        if isinstance(script, Mapping):
            asked = "\n".join(message.text for message in request.messages)
            found = next((reply for text, reply in script.items() if text in asked), None)
            if found is None:
                raise ProviderError(self.name, "no reply is scripted for this prompt", "Add one")
            return found
        if turn >= len(script):
            raise ProviderError(self.name, f"its {len(script)} replies are used up", "Add more")
        return script[turn]
