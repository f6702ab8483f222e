"""An open index that can be searched."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import cached_property

from clew.ports import Embedder, Reader
from clew.query.explain import explain
from clew.query.lexicon import IndexLexicon
from clew.query.model import Engine, Lexicon, Retrieval
from clew.query.rank import rank
from clew.query.scope import Scope
from clew.query.space import Space


class IndexEngine:
    """Implements :class:`clew.query.model.Engine`.

    ``load_embedder`` is called at the first question that needs a vector, never if the index has none.
    Who asks, and when, is a question's matter (see :class:`clew.query.ask.Remembering`).
    """

    me = ""

    def __init__(self, reader: Reader, load_embedder: Callable[[], Embedder]) -> None:
        self.reader = reader
        self._load = load_embedder
        self.space = Space(reader)

    @cached_property
    def embedder(self) -> Embedder | None:
        """The embedder of the index; None if it holds no vectors."""
        return self._load() if self.space.has_vectors else None

    @cached_property
    def lexicon(self) -> IndexLexicon:
        return IndexLexicon(self.space, self.reader.meta.get("languages", {}))

    def load(self, question: str) -> None:
        """Read the arrays that every question needs, and what this one does if it names something."""
        _ = self.space.postings
        if self.space.has_vectors:
            _ = self.space.vectors
        nodes = [node for name in self.lexicon.names(question) for node in name.nodes]
        if self.space.defined[nodes].any():
            import scipy.sparse  # noqa: F401  A walk is likely: 0.1 s while the embedder loads.

    @property
    def now(self) -> int:
        return int(time.time())

    @property
    def scope(self) -> Scope | None:
        """What a question looks at: all."""
        return None

    def within(self, scope: Scope | None) -> Engine:
        """Return an engine that looks at what a filter lets pass."""
        return self if scope is None else Within(self, scope)

    def search(self, question: str, k: int, mode: str = "auto", scope: Scope | None = None) -> Retrieval:
        """Rank passages. ``basic`` is hybrid search alone, ``local`` walks the graph, ``auto`` decides."""
        begin = time.perf_counter()
        embed = self.embedder.embed_question if self.embedder is not None else None
        allowed = scope.chunks if scope is not None else None
        ranking = rank(self.space, self.lexicon, question, k, mode, embed, allowed)
        ranked = time.perf_counter()
        hits, seeds = explain(self.space, self.lexicon, question, ranking)
        done = time.perf_counter()
        times = {
            **ranking.milliseconds,
            "explain": 1000 * (done - ranked),
            "total": 1000 * (done - begin),
        }
        counts = {
            "chunks": self.space.n_chunks,
            "nodes": self.space.n_nodes,
            "residual_questions": ranking.rounds,
        }
        if allowed is not None:
            counts["allowed"] = int(allowed.sum())
        return Retrieval(hits, seeds, ranking.walked, ranking.reason, counts, times)


class Within:
    """An engine that finds nothing but what a filter lets pass."""

    me = ""

    def __init__(self, engine: IndexEngine, scope: Scope) -> None:
        self._engine = engine
        self.scope: Scope | None = scope

    @property
    def now(self) -> int:
        return self._engine.now

    @property
    def space(self) -> Space:
        return self._engine.space

    @property
    def reader(self) -> Reader:
        return self._engine.reader

    @property
    def embedder(self) -> Embedder | None:
        return self._engine.embedder

    @property
    def lexicon(self) -> Lexicon:
        return self._engine.lexicon

    def search(self, question: str, k: int, mode: str = "auto") -> Retrieval:
        return self._engine.search(question, k, mode, self.scope)
