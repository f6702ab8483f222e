"""A language model that says what a test tells it to."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from clew.errors import ProviderError

Reply = str | Exception


@dataclass(frozen=True, slots=True)
class Request:
    """What a model was asked."""

    prompt: str
    system: str
    max_tokens: int


class ScriptedChatModel:
    """A ChatModel with fixed replies. ``requests`` holds what it was asked, in order.

    ``script`` is one of: a sequence of replies, given in turn; a mapping from a text to the reply to
    prompts that contain it (the first that matches, in the mapping's order); a function of the
    request. A reply that is an exception is raised.
    Raises ProviderError when it has no reply left or none matches.
    """

    def __init__(
        self,
        script: Sequence[Reply] | Mapping[str, Reply] | Callable[[Request], Reply],
        name: str = "scripted",
    ) -> None:
        if isinstance(script, str):
            raise TypeError("a script is a sequence of replies, not one text")
        self.name = name
        self.requests: list[Request] = []
        self._script = script
        self._lock = threading.Lock()

    def complete(self, prompt: str, *, system: str = "", max_tokens: int = 1024) -> str:
        """Return the scripted reply."""
        request = Request(prompt, system, max_tokens)
        with self._lock:
            turn = len(self.requests)
            self.requests.append(request)
        reply = self._reply(request, turn)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def _reply(self, request: Request, turn: int) -> Reply:
        script = self._script
        if callable(script):
            return script(request)
        if isinstance(script, Mapping):
            found = next((reply for text, reply in script.items() if text in request.prompt), None)
            if found is None:
                raise ProviderError(self.name, "no reply is scripted for this prompt", "Add one")
            return found
        if turn >= len(script):
            raise ProviderError(self.name, f"its {len(script)} replies are used up", "Add more")
        return script[turn]
