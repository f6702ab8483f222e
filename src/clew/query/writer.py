"""A language model that answers: what it is asked with, how much fits, and how its reply is read."""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from clew.options import AnswerOptions
from clew.ports import Caller
from clew.prompts import Prompt, fence, load
from clew.query.checked import Checking
from clew.query.compose import NOTHING, Composed, finish
from clew.query.context import Packed
from clew.query.model import Engine, Retrieval
from clew.query.question import Relevance
from clew.query.spoken import Stream, in_language
from clew.query.support import Supporter
from clew.streams import Turn
from clew.text.language import language_name
from clew.types import Answer, ChatMessage, ChatRequest, Node, Trace

WINDOW = 4096  # tokens, of a model that doesn't tell
REPLY_PART = 4  # a reply takes at most this part of the window: the rest is for reading
TEMPLATE = 8  # tokens that a chat template puts around a message
SLACK = 16  # tokens: what is counted by itself may take a few more in its place


@dataclass(slots=True)
class Writer:
    """Asks a model for one answer. ``rating`` rates what is relevant. ``notes`` says what went otherwise
    than it should, ``counts`` what was given to the model."""

    caller: Caller
    rating: Caller
    options: AnswerOptions
    folder: str = ""
    history: tuple[Turn, ...] = ()
    notes: list[str] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.caller.model.name

    def prompt(self, name: str) -> Prompt:
        return load(name, self.folder)

    def count(self, text: str) -> int:
        return self.caller.model.count(text)

    def reply_tokens(self, caller: Caller | None = None) -> int:
        """Return how many tokens a reply may take."""
        window = (caller or self.caller).model.window or WINDOW
        return max(min(self.options.reply_tokens, window // REPLY_PART), 1)

    def room(self, prompt: Prompt, values: Mapping[str, str], caller: Caller | None = None) -> int:
        """Return how many tokens of context fit into a prompt whose other values are given."""
        model = (caller or self.caller).model
        filled = prompt.fill(**{name: values.get(name, "") for name in prompt.placeholders})
        used = sum(model.count(message.text) + TEMPLATE for message in filled)
        free = (model.window or WINDOW) - self.reply_tokens(caller) - used - SLACK
        return max(min(free, self.options.context_tokens), 0)

    def told(self, budget: int) -> str:
        """Return the conversation so far, its last turns first to be kept, in at most ``budget`` tokens."""
        kept: list[str] = []
        for turn in reversed(self.history):
            text = f"Question: {turn.question}\nAnswer: {turn.answer}"
            if self.count(_conversation([text, *kept])) > budget:
                question = f"Question: {turn.question}"
                if self.count(_conversation([question, *kept])) <= budget:
                    kept.insert(0, question)
                break
            kept.insert(0, text)
        return _conversation(kept) if kept else ""

    def request(
        self,
        messages: Sequence[ChatMessage],
        caller: Caller | None = None,
        schema: Mapping[str, Any] | None = None,
    ) -> ChatRequest:
        return ChatRequest(tuple(messages), self.reply_tokens(caller), 0.0, schema)

    def _answer(self, messages: Sequence[ChatMessage], heed: str = "") -> Stream:
        return self.caller.stream(self.request(_heeding(messages, heed)), stage="answer")

    def write(
        self,
        question: str,
        mode: str,
        messages: Sequence[ChatMessage],
        packed: Packed,
        engine: Engine,
        retrieval: Retrieval,
        related: Sequence[Node],
        *,
        language: str,
        notes: Sequence[str] = (),
    ) -> Generator[str, None, Answer]:
        """Ask for the answer itself, in a language: yield it as it comes, and return it checked."""
        begin = time.perf_counter()
        checking = Checking(packed.items, Supporter(engine), strict=self.options.strict)
        stream = in_language(
            language, self._answer(messages), lambda heed: self._answer(messages, heed), self.notes
        )
        while True:
            try:
                piece = next(stream)
            except StopIteration as stop:
                reply = stop.value
                break
            yield from checking.feed(piece)
        yield from checking.end()
        if reply.finish == "length":
            self.notes.append("The model's answer was cut: it is longer than --reply-tokens allows.")
        if checking.left_out and not checking.text:
            self.notes.append("The notes support none of what the model said, so nothing of it is shown.")
        counts = {
            **self.counts,
            "context_tokens": packed.tokens,
            "context_items": len(packed.items),
            "reply_tokens": reply.usage.reply_tokens,
        }
        took = {"answer": 1000 * (time.perf_counter() - begin)}
        trace = Trace(
            seeds=retrieval.seeds,
            hits=retrieval.hits,
            counts={**retrieval.counts, **counts},
            notes=(*notes, *self.notes),
            milliseconds={**retrieval.milliseconds, **took},
        )
        return Answer(
            question=question,
            text=checking.text,
            sentences=tuple(checking.sentences),
            citations=checking.citations,
            related=tuple(related),
            mode=mode,
            reason=retrieval.reason,
            trace=trace,
            model=self.name,
            removed_citations=checking.removed,
            left_out=checking.left_out,
        )


def _heeding(messages: Sequence[ChatMessage], heed: str) -> list[ChatMessage]:
    """Return messages whose last one ends with what is to be heeded."""
    if not heed:
        return list(messages)
    return [*messages[:-1], replace(messages[-1], text=f"{messages[-1].text}\n\n{heed}")]


def _conversation(parts: Sequence[str]) -> str:
    return f"The conversation so far:\n{fence(chr(10).join(parts))}"


def language_for(code: str) -> str:
    """Return how a prompt names the language of an answer."""
    return language_name(code) or "the language of the question"


def nothing(question: str, mode: str, relevance: Relevance, retrieval: Retrieval) -> Answer:
    """Return the answer where nothing was found that a model could read."""
    return finish(question, mode, Composed((), (), relevance, (relevance.reason or NOTHING,)), retrieval, ())


def drain(pieces: Generator[str, None, Answer]) -> Answer:
    """Return what a generator returns."""
    while True:
        try:
            next(pieces)
        except StopIteration as stop:
            answer: Answer = stop.value
            return answer
