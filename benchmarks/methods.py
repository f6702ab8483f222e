"""The methods that the benchmarks compare: plain search, the product's modes, and the baselines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from baselines.fastgraph import FastGraph
from baselines.hipporag import HippoRag
from baselines.lightrag import LightRag
from baselines.linearrag import LinearRag
from baselines.material import gather
from clew.algo.bm25 import bm25
from clew.algo.fuse import rrf, top
from clew.query import rank as ranking
from clew.query.engine import IndexEngine
from clew.types import Floats, Ints
from measure import KS, Method

DEPTH = KS[-1]
PLAIN = ("bm25", "dense", "hybrid")  # what the default must not lose to


def _vector(engine: IndexEngine, question: str) -> Floats | None:
    return engine.embedder.embed_question(question) if engine.embedder is not None else None


def _bm25(engine: IndexEngine, question: str) -> Ints:
    terms = [(at, 1.0) for at in engine.lexicon.positions(question)]
    return top(bm25(engine.space.postings, terms), DEPTH)


def _dense(engine: IndexEngine, question: str) -> Ints:
    vector = _vector(engine, question)
    assert vector is not None, "dense search is only offered with an embedder"
    return top(engine.space.cosines(vector), DEPTH)


def _rrf(engine: IndexEngine, question: str) -> Ints:
    terms = [(at, 1.0) for at in engine.lexicon.positions(question)]
    lexical = top(bm25(engine.space.postings, terms), 100)
    vector = _vector(engine, question)
    assert vector is not None, "fusion is only offered with an embedder"
    dense = top(engine.space.cosines(vector), 100)
    return top(rrf([lexical, dense], engine.space.n_chunks), DEPTH)


def _walk(engine: IndexEngine, question: str) -> Ints:
    scores = ranking.relevance(engine.space, engine.lexicon.positions(question), _vector(engine, question))
    seeds = ranking.node_seeds(engine.space, engine.lexicon.names(question))
    return top(ranking.restart_walk(engine.space, scores, seeds).chunks, DEPTH)


def _ranked(mode: str) -> Callable[[IndexEngine, str], Ints]:
    def method(engine: IndexEngine, question: str) -> Ints:
        embed = engine.embedder.embed_question if engine.embedder is not None else None
        return ranking.rank(engine.space, engine.lexicon, question, DEPTH, mode, embed).chunks

    return method


def _on(engine: IndexEngine, method: Callable[[IndexEngine, str], Ints]) -> Method:
    return lambda question: method(engine, question)


def plain_methods(engine: IndexEngine) -> dict[str, Method]:
    """Return search without a graph."""
    found = {"bm25": _on(engine, _bm25)}
    if engine.embedder is not None:
        found |= {"dense": _on(engine, _dense), "rrf": _on(engine, _rrf)}
    return found | {"hybrid": _on(engine, _ranked("basic"))}


def product_methods(engine: IndexEngine) -> dict[str, Method]:
    """Return the walk alone, the walk with the choice of a set, and the default, which decides."""
    made = {"walk": _walk, "local": _ranked("local"), "auto": _ranked("auto")}
    return {name: _on(engine, method) for name, method in made.items()}


def baseline_methods(engine: IndexEngine, cache: Path) -> dict[str, Method]:
    """Return the baselines; their vectors are kept in ``cache``. None without an embedder: all need one."""
    if engine.embedder is None:
        return {}
    material = gather(engine, cache)
    made = {
        "linearrag": LinearRag(material),
        "hipporag2": HippoRag(material),
        "fast-graphrag": FastGraph(material),
        "lightrag": LightRag(material),
    }
    return {name: _depth(one.rank) for name, one in made.items()}


def _depth(rank: Callable[[str, int], Ints]) -> Method:
    return lambda question: rank(question, DEPTH)


def all_methods(engine: IndexEngine, folder: Path, baselines: bool = False) -> dict[str, Method]:
    """Return every method that the index allows."""
    found = plain_methods(engine)
    if baselines:
        found |= baseline_methods(engine, folder / "baselines.cache")
    return found | product_methods(engine)
