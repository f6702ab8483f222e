"""Basic: hybrid search, then the best sentences."""

from __future__ import annotations

from collections.abc import Generator

from clew.options import AnswerOptions
from clew.query.around import nodes_around
from clew.query.compose import HITS, compose, finish
from clew.query.defining import with_definitions
from clew.query.model import Engine, Mode
from clew.query.read import read
from clew.query.writer import Writer
from clew.types import Answer

PASSAGES = 12


class Basic:
    """Hybrid search alone."""

    name = "basic"
    summary = "Hybrid search alone: words and vectors"

    def answer(self, question: str, engine: Engine, options: AnswerOptions) -> Answer:
        retrieval = with_definitions(question, engine.search(question, PASSAGES, "basic"), engine, HITS)
        composed = compose(question, retrieval.hits, engine, options)
        related = nodes_around(retrieval.hits, engine, (), options.related) if composed.sentences else []
        return finish(question, self.name, composed, retrieval, related)

    def write(
        self, question: str, engine: Engine, options: AnswerOptions, writer: Writer
    ) -> Generator[str, None, Answer]:
        retrieval = engine.search(question, PASSAGES, "basic")
        return (yield from read(question, self.name, retrieval, engine, writer))


def make() -> Mode:
    return Basic()
