"""What a model is asked about the notes: which passages go into one call, and the requests of extraction.

A request is a function of its passages, their title and headings, the prompt, the options and the
model's tokenizer and window. So an unchanged note makes the requests that it made before, to which the
replies are kept.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from clew.ingest.model import Corpus
from clew.options import ExtractOptions
from clew.ports import ChatModel
from clew.prompts import Prompt, fence
from clew.prompts.shape import NUMBER, Schema, listed, string, structure
from clew.types import ChatMessage, ChatRequest

# A reply lists entities with descriptions and quotes: it may be longer than the text, seldom four times.
REPLY_TIMES, REPLY_LEAST, REPLY_MOST = 4, 800, 4096
GLEANED = 600  # tokens of a reply that names what was missed, at least
# … and takes about this many tokens, and so many for each token of text: what estimates go by until it is
# known what this model's replies take.
REPLY_BASE, REPLY_SHARE = 100, 1.5
TEMPLATE = 4  # tokens that a chat template puts around a message
PIECE_LEAST = 50  # tokens of notes in a call, however small the window is

# Characters of what a reply says of each thing, …
NAME, TYPE, PHRASE, DESCRIPTION, QUOTE = 100, 40, 120, 300, 400
MOST_ENTITIES, MOST_RELATIONS = 100, 150  # … and how many things: a passage names a few dozen
# Tokens of a reply for each entity and each relation that it may list. An item takes some 45, so that both
# lists have room; where one is full the other isn't, as a rule.
FOR_ENTITY, FOR_RELATION = 70, 90


def extraction(tokens: int) -> Schema:
    """Return the form of an extraction in a reply of at most ``tokens`` tokens. Entities come first, so that
    a model has named what it relates; both lists end while there are tokens for the other."""
    description, phrase, quote = string(DESCRIPTION), string(PHRASE), string(QUOTE)
    entity = structure(name=string(NAME), type=string(TYPE), description=description, quote=quote)
    relation = structure(
        source=string(NAME), target=string(NAME), phrase=phrase, strength=NUMBER, quote=quote
    )
    return structure(
        entities=listed(entity, min(tokens // FOR_ENTITY, MOST_ENTITIES)),
        relationships=listed(relation, min(tokens // FOR_RELATION, MOST_RELATIONS)),
    )


@dataclass(frozen=True, slots=True)
class Left:
    """What isn't done: things (documents, names, reports), and about what it takes."""

    items: int = 0
    calls: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0

    def __add__(self, other: Left) -> Left:
        return Left(
            self.items + other.items,
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.reply_tokens + other.reply_tokens,
        )

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.reply_tokens


DONE = Left()


@dataclass(frozen=True, slots=True)
class Call:
    """One call about a document: the chunks that it shows, and the tokens of their text."""

    doc: int
    chunks: tuple[int, ...]
    text: str
    tokens: int


def plan_calls(corpus: Corpus, model: ChatModel, most: int) -> list[Call]:
    """Return the calls that show all chunks, in order: neighbours of one document share a call up to ``most``
    tokens, and a chunk of more is shown in pieces."""
    calls: list[Call] = []
    for doc in range(len(corpus.documents)):
        open_: Call | None = None
        for chunk in range(int(corpus.doc_chunks[doc]), int(corpus.doc_chunks[doc + 1])):
            text = corpus.text(chunk).strip()
            if not any(map(str.isalpha, text)):
                continue
            tokens = model.count(text)
            if open_ is not None and open_.tokens + tokens <= most:
                open_ = Call(doc, (*open_.chunks, chunk), f"{open_.text}\n\n{text}", open_.tokens + tokens)
                continue
            if open_ is not None:
                calls.append(open_)
            open_ = Call(doc, (chunk,), text, tokens)
            if tokens > most:
                parts = -(-tokens // most)
                calls += [Call(doc, (chunk,), part, model.count(part)) for part in cut(text, parts)]
                open_ = None
        if open_ is not None:
            calls.append(open_)
    return calls


def cut(text: str, parts: int) -> Iterator[str]:
    """Yield a text in about ``parts`` pieces of one length, cut after a line or a word where there is one."""
    size = -(-len(text) // parts)
    at = 0
    while at < len(text):
        end = min(at + size, len(text))
        if end < len(text):
            half = at + size // 2
            end = max(text.rfind("\n", half, end), 0) or max(text.rfind(" ", half, end), 0) or end
        yield text[at:end].strip()
        at = end


class Asker:
    """Makes the requests of extraction for one model, prompt and options."""

    def __init__(
        self, corpus: Corpus, model: ChatModel, options: ExtractOptions, prompt: Prompt, gleaning: Prompt
    ) -> None:
        self.corpus = corpus
        self.model = model
        self.types = options.entity_types
        self._prompt = prompt
        self._gleaning = gleaning
        fixed = count_messages(model, self._messages("", ""))
        self.text_tokens = fit(model.window, fixed, options.tokens)

    def plan(self) -> list[Call]:
        return plan_calls(self.corpus, self.model, self.text_tokens)

    def request(self, call: Call) -> ChatRequest:
        """Return the first request of a call."""
        return self._request(self._messages(self._above(call), call.text), call)

    def again(self, call: Call, replies: Sequence[Any]) -> ChatRequest | None:
        """Return the request that asks what the replies so far have missed; None if the window leaves no room
        for a reply."""
        messages = list(self.request(call).messages)
        for reply in replies:
            messages.append(ChatMessage("assistant", json.dumps(reply, ensure_ascii=False)))
            messages += self._gleaning.fill()
        request = self._request(tuple(messages), call)
        return request if request.max_tokens >= GLEANED else None

    def estimate(self, call: Call, request: ChatRequest, rounds: int) -> Left:
        """Return what a request takes, and ``rounds`` more that ask what was missed."""
        reply = min(REPLY_BASE + round(REPLY_SHARE * call.tokens), request.max_tokens)
        prompt = count_messages(self.model, request.messages)
        more = count_messages(self.model, self._gleaning.fill()) + reply + TEMPLATE
        prompts = sum(prompt + number * more for number in range(1 + rounds))
        return Left(0, 1 + rounds, prompts, (1 + rounds) * reply)

    def _request(self, messages: tuple[ChatMessage, ...], call: Call) -> ChatRequest:
        most = min(max(REPLY_TIMES * call.tokens, REPLY_LEAST), REPLY_MOST)
        tokens = reply_room(self.model, messages, most)
        return ChatRequest(messages, tokens, schema=extraction(tokens))

    def _messages(self, above: str, text: str) -> tuple[ChatMessage, ...]:
        return self._prompt.fill(types=", ".join(self.types), passage=fence(f"{above}\n\n{text}".strip()))

    def _above(self, call: Call) -> str:
        """Return a note's title and the headings of its first passage: what "it" may stand for."""
        document, analysis = self.corpus.documents[call.doc], self.corpus.analyses[call.doc]
        span = analysis.chunks[call.chunks[0] - int(self.corpus.doc_chunks[call.doc])]
        path = analysis.sections[span.section].path
        return " > ".join(dict.fromkeys(" ".join(part.split()) for part in (document.title, *path) if part))


def fit(window: int, fixed: int, wanted: int) -> int:
    """Return how many tokens of text a call may show beside a prompt of ``fixed`` tokens."""
    if not window:
        return wanted
    room = window - fixed
    return max(min(wanted, room // 3), PIECE_LEAST)  # a third for the text, the rest for the reply


def reply_room(model: ChatModel, messages: Sequence[ChatMessage], most: int) -> int:
    """Return the tokens that a reply may take: ``most``, or what the window leaves."""
    if not model.window:
        return most
    return max(min(most, model.window - count_messages(model, messages)), 64)


def count_messages(model: ChatModel, messages: Sequence[ChatMessage]) -> int:
    """Return the tokens of a conversation, about: templates add a few a message."""
    return sum(model.count(message.text) + TEMPLATE for message in messages)
