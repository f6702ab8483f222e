"""An answer on its way: pieces of text that can be iterated, and the whole at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from dataclasses import dataclass

from clew.types import Answer


class AnswerStream(Iterator[str]):
    """The pieces of an answer's text as they come. ``answer`` is the whole, with its citations.

    The pieces make up ``answer.text``. Nothing is asked before the first piece is. Iterating and ``answer``
    raise ProviderError where the model fails; ``text`` is what has come by then.
    """

    def __init__(self, pieces: Generator[str, None, Answer]) -> None:
        self._pieces = pieces
        self._answer: Answer | None = None
        self._come: list[str] = []

    def __next__(self) -> str:
        try:
            piece = next(self._pieces)
        except StopIteration as stop:
            if self._answer is None:
                self._answer = stop.value
            raise StopIteration from None
        self._come.append(piece)
        return piece

    @property
    def text(self) -> str:
        """What has come so far."""
        return "".join(self._come)

    @property
    def answer(self) -> Answer:
        """The whole answer; what hasn't come yet is waited for."""
        for _ in self:
            pass
        if self._answer is None:
            raise RuntimeError("the stream was closed, or has failed, before the answer was whole")
        return self._answer

    def close(self) -> None:
        """End the call to the model, if it goes on."""
        self._pieces.close()


@dataclass(frozen=True, slots=True)
class Turn:
    """A question of a conversation, as it was understood, and its answer."""

    question: str
    answer: str


class Chat:
    """A conversation with an index: each question is understood from those before it.

    ``turns`` is what has been said; take turns off it to forget them.
    """

    def __init__(self, begin: Callable[[str, tuple[Turn, ...]], Generator[str, None, Answer]]) -> None:
        self.turns: list[Turn] = []
        self._begin = begin

    def ask(self, question: str) -> AnswerStream:
        """Return the answer to the next question: its pieces by iterating, the whole as ``.answer``. It is
        part of the conversation once it is whole."""
        return AnswerStream(self._noted(question))

    def _noted(self, question: str) -> Generator[str, None, Answer]:
        answer = yield from self._begin(question, tuple(self.turns))
        self.turns.append(Turn(answer.read_as or question, answer.text))
        return answer


class AsyncAnswerStream(AsyncIterator[str]):
    """The same for an event loop: ``async for piece in stream``, ``await stream`` for the whole answer.

    Every step runs in a thread of its own, one at a time.
    """

    def __init__(self, begin: Callable[[], AnswerStream]) -> None:
        self._begin = begin
        self._stream: AnswerStream | None = None
        self._turn = asyncio.Lock()

    async def __anext__(self) -> str:
        async with self._turn:
            piece = await asyncio.to_thread(self._step)
        if piece is None:
            raise StopAsyncIteration
        return piece

    def _step(self) -> str | None:
        return next(self._opened(), None)

    def _opened(self) -> AnswerStream:
        if self._stream is None:
            self._stream = self._begin()
        return self._stream

    def __await__(self) -> Generator[object, None, Answer]:
        return self._whole().__await__()

    async def _whole(self) -> Answer:
        async with self._turn:
            return await asyncio.to_thread(lambda: self._opened().answer)

    @property
    def text(self) -> str:
        """What has come so far."""
        return self._stream.text if self._stream is not None else ""

    async def aclose(self) -> None:
        """End the call to the model, if it goes on."""
        async with self._turn:
            if self._stream is not None:
                await asyncio.to_thread(self._stream.close)
