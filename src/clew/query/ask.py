"""The recipe of an answer: route → search and compose, in the mode → the trace."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import replace

from clew.options import AnswerOptions
from clew.ports import Embedder, Reader
from clew.query.apart import embed_apart
from clew.query.model import Engine, Lexicon, Mode, Retrieval, Writing
from clew.query.route import STRUCTURAL, Route, choose, route
from clew.query.scope import Scope
from clew.query.space import Space
from clew.query.writer import Writer, drain
from clew.types import Answer, Floats

TELLING = ("global", "drift", *STRUCTURAL)  # modes that say what they looked at


def ask(
    question: str,
    engine: Engine,
    mode: str,
    options: AnswerOptions,
    make_mode: Callable[[str], Mode],
    *,
    me: str = "",
    now: int | None = None,
) -> Answer:
    """Answer a question. ``mode`` is ``auto`` or a name that ``make_mode`` knows. ``me`` is who asks,
    ``now`` when (seconds since 1970; None: at present)."""
    return drain(stream(question, engine, mode, options, make_mode, me=me, now=now))


def stream(
    question: str,
    engine: Engine,
    mode: str,
    options: AnswerOptions,
    make_mode: Callable[[str], Mode],
    writer: Writer | None = None,
    *,
    me: str = "",
    now: int | None = None,
) -> Generator[str, None, Answer]:
    """Answer a question: yield the text as it comes, and return the answer, of the same text. ``writer`` is
    the language model that writes it, where the mode can have one write. Raises ProviderError, also in the
    middle."""
    begin = time.perf_counter()
    remembering = Remembering(engine, me, now)
    found = choose(question, remembering) if mode == "auto" else Route(mode, "")
    chosen, why = found.mode, found.why
    routed = time.perf_counter()
    answer, made, first = None, make_mode(chosen), ""
    if mode == "auto" and chosen in STRUCTURAL:
        answer = made.answer(question, remembering, options)
        if not answer.text:
            # Nothing in the graph answers it in this way: passages may all the same.
            first = f"{why} {_sentence(answer.reason)}"
            chosen, why = route(question, remembering)
            why = f"{first} {why}"
            answer, made = None, make_mode(chosen)
    elif mode == "auto" and chosen == "global" and writer is None:
        answer = made.answer(question, remembering, options)
        other = route(question, remembering) if not answer.text else (chosen, why)
        if other[0] != chosen:  # it was merely worded like one on the whole
            (chosen, why), answer = other, None
            made = make_mode(chosen)
    if answer is None and writer is not None and isinstance(made, Writing):
        answer = yield from made.write(question, remembering, options, writer)
    else:
        answer = answer or made.answer(question, remembering, options)
        if answer.text:
            yield answer.text
    times = {
        **answer.trace.milliseconds,
        "route": 1000 * (routed - begin),
        "total": 1000 * (time.perf_counter() - begin),
    }
    reason = _sentence(answer.reason)
    if first and not answer.text:
        reason = f"{first} {reason}"
    elif mode == "auto" and answer.text:
        # The other modes' own reason is how they searched, which the route has said.
        reason = f"{why} {reason}" if chosen in TELLING else why
    return replace(answer, reason=reason, trace=replace(answer.trace, milliseconds=times))


def _sentence(text: str) -> str:
    """Return a reason as a sentence: with a capital and a full stop."""
    text = text.strip()
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text[-1] in ".!?" else ".")


class Remembering:
    """An engine that does nothing twice for one question: routing and the mode ask for the same things."""

    def __init__(self, engine: Engine, me: str = "", now: int | None = None) -> None:
        self._engine = engine
        self.me = me
        self.now = int(time.time()) if now is None else now
        self._found: dict[tuple[str, int, str], Retrieval] = {}
        self._embedder: Embedder | None = None

    @property
    def reader(self) -> Reader:
        return self._engine.reader

    @property
    def lexicon(self) -> Lexicon:
        return self._engine.lexicon

    @property
    def space(self) -> Space:
        return self._engine.space

    @property
    def scope(self) -> Scope | None:
        return self._engine.scope

    @property
    def embedder(self) -> Embedder | None:
        if self._embedder is None and self._engine.embedder is not None:
            self._embedder = _RememberingEmbedder(self._engine.embedder)
        return self._embedder

    def search(self, question: str, k: int, mode: str = "auto") -> Retrieval:
        key = (question, k, mode)
        if key not in self._found:
            self._found[key] = self._engine.search(question, k, mode)
        return self._found[key]


class _RememberingEmbedder:
    """An embedder that keeps the vectors that one question needs."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self.name, self.dimension = embedder.name, embedder.dimension
        self.window, self.languages = embedder.window, embedder.languages
        self.tokenizer = embedder.tokenizer
        self._questions: dict[str, Floats] = {}
        self._texts: dict[tuple[str, ...], Floats] = {}

    def embed(self, texts: Sequence[str]) -> Floats:
        key = tuple(texts)
        if key not in self._texts:
            self._texts[key] = embed_apart(self._embedder, texts)
        return self._texts[key]

    def embed_question(self, text: str) -> Floats:
        if text not in self._questions:
            self._questions[text] = self._embedder.embed_question(text)
        return self._questions[text]
