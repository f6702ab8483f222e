"""Ranking: hybrid seeds, entity seeds, the gated walk, the choice of a set, and when to use them."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from clew.algo.bm25 import bm25, most
from clew.algo.fuse import scaled, top
from clew.algo.lookup import distinct_below
from clew.algo.select import Choice
from clew.algo.walk import Walk, walk
from clew.query.choose import Pool, pool
from clew.query.lexicon import IndexLexicon, Named
from clew.query.residual import Embed, Residual
from clew.query.scope import Bools
from clew.query.space import Space
from clew.types import Floats, Ints, Seed

DENSE_WEIGHT = 0.5  # against 0.5 for BM25; chosen over eleven sets of four kinds: docs/benchmarks.md
# Where the best passage by words has less than this share of what BM25 could give the question, the words
# that it has are those of any passage ("what did they do with the …"), and they count less in proportion:
# 17 points of Recall@5 on paraphrases, and nothing elsewhere.
CERTAIN = 0.2
NODE_SHARE = 0.02  # nodes mentioned in more of the chunks than this lead everywhere, so nowhere
NODE_FLOOR = 2  # … but in a small index a node in this many chunks is still specific
# A name in the question is a node's only if the node is meant in this share of the chunks that hold the
# name's words (the link probability of Mihalcea & Csomai, "Wikify!", 2007). Code "a" or a heading "Note"
# stand in a few chunks, the words in most: there, what a question says with them isn't the node.
MEANT = 0.1
UNDEFINED = 0.3  # weight of a seed that nothing in the corpus defines
CHUNK_MASS = 0.05  # restart mass of the hybrid seeds, against 1 for the entity seeds
CHUNK_SEEDS = 30
NEIGHBOURS = 3000  # chunks of a walk at the most; with 2,000 or with all 7,000 recall is within 0.2 points
# Walk for a question that names nothing defined only where this share of the chunks is linked: on
# linked corpora that gains 1 to 1.5 points of Recall@5, on chats and news it would lose as much or more.
LINKED = 0.5
LAST = np.float32(1e-6)  # what the chunk that is least close in meaning has, where a filter allows few
# The walk leads to the passage that defines a name. Where notes have more passages than this on average
# that is merely where they begin: on three technical folders walking lost 3 to 16 points of Recall@5.
LONG_NOTES = 3.0


@dataclass(frozen=True, slots=True)
class Relevance:
    """Scaled scores of every chunk, each in 0..1, shape (C,)."""

    bm25: Floats
    dense: Floats | None
    hybrid: Floats


@dataclass(frozen=True, slots=True)
class Ranking:
    """Chunks in rank order with their scores' parts, and what led there.

    ``node_seeds`` are the nodes that the question names, with their weights; ``via`` gives for a chunk
    the node by which a chunk ranked before it led there. ``rounds`` counts the residual questions.
    """

    chunks: Ints
    scores: Floats
    parts: Mapping[str, Floats]
    seeds: tuple[Seed, ...]
    walked: bool
    reason: str
    node_seeds: Mapping[int, float] = field(default_factory=dict)
    via: Mapping[int, int] = field(default_factory=dict)
    milliseconds: Mapping[str, float] = field(default_factory=dict)
    rounds: int = 0


def relevance(
    space: Space,
    terms: list[int],
    vector: Floats | None,
    unknown: int = 0,
    allowed: Bools | None = None,
) -> Relevance:
    """Score all chunks by BM25 and, where there is a question vector, by cosine; fuse by weighted sum.

    ``terms`` are the postings' positions of the question's terms, and ``unknown`` counts its words that no
    chunk has. Chunks that aren't ``allowed`` (C,) score 0, and count for nothing in scaling the others.

    Min-max scores beat reciprocal rank fusion on every development set, by 8 points on chat logs:
    ranks throw away how much better the first hit is than the tenth.
    """
    raw = bm25(space.postings, [(at, 1.0) for at in terms])
    if allowed is not None:
        raw *= allowed
    # Against 0, the score of a chunk without the words: where all have some, the last is worth something.
    lexical = scaled(np.append(raw, np.float32(0)))[:-1]
    if vector is None:
        return Relevance(lexical, None, lexical)
    dense = _among(space.cosines(vector), allowed)
    certainty = min(1.0, float(raw.max(initial=0.0)) / (CERTAIN * most(space.postings, terms, unknown)))
    words = np.float32((1 - DENSE_WEIGHT) * certainty)
    return Relevance(lexical, dense, words * lexical + np.float32(DENSE_WEIGHT) * dense)


def _among(scores: Floats, allowed: Bools | None) -> Floats:
    """Scale scores among the chunks that are allowed; of few, the last is worth something too."""
    if allowed is None:
        return scaled(scores)
    out = np.zeros(len(scores), dtype=np.float32)
    out[allowed] = np.maximum(scaled(scores[allowed]), LAST)
    return out


def node_seeds(space: Space, names: list[Named]) -> dict[int, float]:
    """Return the restart weight of the nodes that the question names: idf / √df, less if undefined.

    Left out are nodes that are mentioned too often to lead anywhere, and those that the words of the
    question seldom mean in the notes.
    """
    limit = max(NODE_SHARE * space.n_chunks, NODE_FLOOR)
    found: dict[int, float] = {}
    for name in names:
        for node in name.nodes:
            df = int(space.node_df[node])
            if 0 < df <= limit and df >= MEANT * name.holders:
                defined = float(space.defined[node])
                weight = float(space.node_idf[node]) / df**0.5 * (UNDEFINED + (1 - UNDEFINED) * defined)
                found[node] = max(found.get(node, 0.0), weight)
    return found


def rank(
    space: Space,
    lexicon: IndexLexicon,
    question: str,
    k: int,
    mode: str,
    embed: Embed | None = None,
    allowed: Bools | None = None,
) -> Ranking:
    """Rank chunks for a question. ``mode``: basic (hybrid), local (walk), auto (walk if it can help).

    ``embed`` makes a question's unit vector; without it passages are compared by words alone. Only chunks
    that are ``allowed`` (C,) are ranked and walked over; None allows all.
    """
    clock = {"start": time.perf_counter()}
    vector = embed(question) if embed is not None and question.strip() else None
    clock["embed"] = time.perf_counter()
    unknown = lexicon.unknown(question) if vector is not None else 0
    scores = relevance(space, lexicon.positions(question), vector, unknown, allowed)
    clock["hybrid"] = time.perf_counter()
    names = lexicon.names(question)
    seeds = node_seeds(space, names)
    walks, reason = _decide(space, seeds, mode)
    if allowed is not None and not allowed.any():
        walks, reason = False, "no note passes the filter"
    if not walks:
        return _plain(space, scores, k, reason, clock)
    mass = restart_walk(space, scores, seeds, allowed)
    clock["walk"] = time.perf_counter()
    asked = {node for name in names for node in name.nodes}
    residual = Residual(space, lexicon, question, embed)
    few = pool(mass.chunks, scores.hybrid)
    candidates = Pool(space, few if allowed is None else few[allowed[few]], asked, residual)
    choice = candidates.choose(mass.chunks, scores.dense, k)
    clock["choose"] = time.perf_counter()
    return _chosen(space, scores, mass, candidates, choice, seeds, reason, clock)


def _decide(space: Space, seeds: Mapping[int, float], mode: str) -> tuple[bool, str]:
    if mode == "basic":
        return False, "hybrid search, as asked"
    if mode == "local":
        return True, "a walk on the graph, as asked"
    if space.n_chunks > LONG_NOTES * space.n_docs:
        return False, "these notes are long, so that what a title names is spread over many passages"
    if any(space.defined[node] > 0 for node in seeds):
        return True, "the question names something that the notes define"
    if space.linked_share >= LINKED:
        return True, "these notes explain each other's names"
    return False, "the question names nothing that the notes define"


def restart_walk(
    space: Space, scores: Relevance, seeds: Mapping[int, float], allowed: Bools | None = None
) -> Walk:
    """Walk from the seeds over their neighbourhood; masses are of all chunks (C,) and nodes (N,)."""
    nodes = np.zeros(space.n_nodes, dtype=np.float32)
    for node, weight in seeds.items():
        nodes[node] = weight
    first = top(scores.hybrid, CHUNK_SEEDS)
    first = first[scores.hybrid[first] > 0]
    chunks = np.zeros(space.n_chunks, dtype=np.float32)
    chunks[first] = 1.0 / (1.0 + np.arange(len(first), dtype=np.float32))
    if nodes.sum() > 0:
        nodes /= nodes.sum()
        chunks *= CHUNK_MASS / max(float(chunks.sum()), 1e-9)
    gate = scores.bm25 if scores.dense is None else (scores.bm25 + scores.dense) / 2
    gate = gate.astype(np.float32)
    here = neighbourhood(space, scores.hybrid, list(seeds))
    if allowed is not None:
        here = np.flatnonzero(allowed).astype(np.int32) if here is None else here[allowed[here]]
    if here is None:
        return walk(space.links, chunks, nodes, gate)
    links, known = space.links_among(here)
    local = walk(links, chunks[here], nodes[known], gate[here])
    mass = Walk(np.zeros_like(chunks), np.zeros_like(nodes))
    mass.chunks[here], mass.nodes[known] = local.chunks, local.nodes
    return mass


def neighbourhood(space: Space, hybrid: Floats, seeds: list[int]) -> Ints | None:
    """Return the chunks that a walk can matter in, ascending; None for all of a small index.

    From the seeds' chunks and the best of the hybrid ranking over the nodes that they mention, the
    rarest first, until NEIGHBOURS chunks are found: a walk's cost is bounded, whatever the index holds.
    """
    if space.n_chunks <= NEIGHBOURS:
        return None
    near = [space.chunks_of(node) for node in sorted(seeds)]
    start = np.unique(np.concatenate([top(hybrid, 4 * CHUNK_SEEDS), *near]))[: NEIGHBOURS // 4]
    mentioned = distinct_below(space.mentions[start].indices, space.n_nodes)
    df = space.node_df[mentioned]
    leading = mentioned[df > 1]  # a node of one chunk leads nowhere else
    leading = leading[np.argsort(space.node_df[leading], kind="stable")]
    room = np.searchsorted(np.cumsum(space.node_df[leading]), NEIGHBOURS - len(start))
    reached = space.links.back[leading[:room]].indices
    return distinct_below(np.concatenate([start, reached]), space.n_chunks)


def _seeds(space: Space, scores: Relevance, seeds: Mapping[int, float]) -> tuple[Seed, ...]:
    nodes = sorted(seeds, key=lambda node: (-seeds[node], node))
    labels = space.node_names(nodes)
    out = [
        Seed(
            "node",
            node,
            labels[node],
            seeds[node],
            "the question names it, and the notes define it"
            if space.defined[node] > 0
            else "the question names it",
        )
        for node in nodes
    ]
    for chunk in top(scores.hybrid, 5).tolist():
        if scores.hybrid[chunk] > 0:
            out.append(
                Seed("chunk", chunk, "", float(scores.hybrid[chunk]), "its words are like the question's")
            )
    return tuple(out)


def _parts(scores: Relevance, chunks: Ints) -> dict[str, Floats]:
    parts = {"bm25": scores.bm25[chunks]}
    if scores.dense is not None:
        parts["dense"] = scores.dense[chunks]
    parts["hybrid"] = scores.hybrid[chunks]
    return parts


def _plain(space: Space, scores: Relevance, k: int, reason: str, clock: dict[str, float]) -> Ranking:
    chunks = top(scores.hybrid, k, space.chunk_rank)
    chunks = chunks[scores.hybrid[chunks] > 0]
    return Ranking(
        chunks,
        scores.hybrid[chunks],
        _parts(scores, chunks),
        _seeds(space, scores, {}),
        False,
        reason,
        milliseconds=_took(clock),
    )


def _chosen(
    space: Space,
    scores: Relevance,
    mass: Walk,
    candidates: Pool,
    choice: Choice,
    seeds: Mapping[int, float],
    reason: str,
    clock: dict[str, float],
) -> Ranking:
    chunks = candidates.chunks[choice.order]
    parts = {
        **_parts(scores, chunks),
        "walk": mass.chunks[chunks],
        "own": choice.own,
        "coverage": choice.coverage,
        "named": choice.named,
        "shares": choice.shares,
        "residual": choice.residual,
    }
    via = {
        int(chunk): int(candidates.nodes[node])
        for chunk, node in zip(chunks.tolist(), choice.via.tolist(), strict=True)
        if node >= 0
    }
    found = _seeds(space, scores, seeds)
    took = _took(clock)
    return Ranking(chunks, choice.score, parts, found, True, reason, dict(seeds), via, took, choice.rounds)


def _took(clock: dict[str, float]) -> dict[str, float]:
    names = list(clock)
    return {later: 1000 * (clock[later] - clock[earlier]) for earlier, later in pairwise(names)}
