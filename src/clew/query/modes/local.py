"""Local: a walk over the graph from what the question names, then the best sentences."""

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


class Local:
    """Search by a walk; each hit has the path that led to it."""

    name = "local"
    summary = "A walk over the graph from what the question names"

    def answer(self, question: str, engine: Engine, options: AnswerOptions) -> Answer:
        retrieval = with_definitions(question, engine.search(question, PASSAGES, "local"), engine, HITS)
        composed = compose(question, retrieval.hits, engine, options)
        if not composed.sentences:
            return finish(question, self.name, composed, retrieval, [])
        named = [seed.position for seed in retrieval.seeds if seed.kind == "node"]
        related = nodes_around(retrieval.hits, engine, named, options.related)
        return finish(question, self.name, composed, retrieval, related)

    def write(
        self, question: str, engine: Engine, options: AnswerOptions, writer: Writer
    ) -> Generator[str, None, Answer]:
        retrieval = engine.search(question, PASSAGES, "local")
        return (yield from read(question, self.name, retrieval, engine, writer, graph=True))


def make() -> Mode:
    return Local()
