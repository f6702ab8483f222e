"""Relational: the best paths between two things that the question names, as sentences."""

from __future__ import annotations

import time

from clew.options import AnswerOptions
from clew.query.kinds import judge_kind
from clew.query.model import Engine, Mode, Retrieval
from clew.query.paths import best_paths, tell
from clew.query.sayings import Sayings, tell_rows
from clew.types import Answer

PATHS = 3
STEPS = 6


class Relational:
    """The k cheapest paths; each edge is cited."""

    name = "relational"
    summary = "The paths between two things that it names"

    def answer(self, question: str, engine: Engine, options: AnswerOptions) -> Answer:
        begin = time.perf_counter()
        names = judge_kind(question, engine).names
        said = Sayings()
        if len(names) < 2:
            reason = "The question names fewer than two things that the notes define."
            return said.answer(question, self.name, reason, Retrieval((), (), False, reason))
        first, last = set(names[0].nodes), set(names[1].nodes) - set(names[0].nodes)
        allowed = None if engine.scope is None else engine.scope.edges_among(first | last)
        most = max(min(PATHS, options.sentences), 1)
        graph = engine.space.graph
        found = best_paths(graph, sorted(first), sorted(last), most, STEPS, allowed) if last else []
        paths = tell(engine.reader, found)
        tell_rows(said, paths)
        a, b = names[0].text, names[1].text
        reason = f"The graph joins “{a}” and “{b}” by these paths, the best first."
        if not paths:
            reason = f"No path of at most {STEPS} steps joins “{a}” and “{b}”."
        took = {"paths": 1000 * (time.perf_counter() - begin)}
        inner = [node for path in paths for node in path.nodes[1:-1]]
        related = tuple({node.node: node for node in inner}.values())[: options.related]
        counts = {"paths": len(paths)}
        return said.answer(
            question, self.name, reason, Retrieval((), (), True, reason, counts, took), related
        )


def make() -> Mode:
    return Relational()
