"""Learn the weights of the choice (clew.algo.select.Weights) and judge them on sets they haven't seen.

    python benchmarks/learn.py BENCH --sets 2wiki,hotpot,musique [--embedder minilm]

For each set left out, the weights are fitted on the others and judged on it: that table is what counts.
The last line fits on all sets: these are the product's defaults. Sets where the default doesn't walk
(chats, news) don't take part, since the choice isn't used there.

The fit: at each state of the greedy choice, the gold passage that scores best should beat the twelve
best others (pairwise logistic loss, L2); states come from the current weights' own choices, five
rounds of it. Non-negative weights, so that each can be read as a worth.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from clew.algo.select import FEATURES, ROUNDS, WEIGHTS, Candidates, State
from clew.options import EmbedOptions
from clew.query import rank as ranking
from clew.query.choose import Pool, pool
from clew.query.engine import IndexEngine
from clew.query.residual import Residual
from clew.types import Floats
from common import existing, save
from measure import open_index, work_folder
from sets import load_sets

Vector = NDArray[np.float64]
DEPTH = 5
OTHERS = 12
PASSES = 5
SHARPNESS = 6.0  # a lead of 1/6 in score is worth one unit of the logistic
L2 = 0.02


@dataclass
class Example:
    """One question's candidates; ``gold`` (n,) marks the passages wanted, of ``wanted`` in all."""

    candidates: Candidates
    pool: Pool
    gold: NDArray[np.bool_]
    wanted: int
    _looks: dict[tuple[int, int], tuple[Floats, Floats]] = field(default_factory=dict)

    def take(self, state: State, chosen: int, turn: int) -> None:
        """Do as :func:`clew.algo.select.select` does with a chosen passage."""
        state.take(chosen)
        if turn >= ROUNDS or state.enough():
            return
        if (chosen, turn) not in self._looks:
            near = self.pool.near(chosen)
            self._looks[chosen, turn] = (near, self.pool.residual(chosen, near, turn))
        state.ask(*self._looks[chosen, turn])


def example(engine: IndexEngine, text: str, gold: frozenset[str], keys: Sequence[str]) -> Example:
    embed = engine.embedder.embed_question if engine.embedder is not None else None
    space, lexicon = engine.space, engine.lexicon
    residual = Residual(space, lexicon, text, embed)
    scores = ranking.relevance(
        space, residual.terms, embed(text) if embed is not None else None, lexicon.unknown(text)
    )
    names = lexicon.names(text)
    mass = ranking.restart_walk(space, scores, ranking.node_seeds(space, names))
    asked = {node for name in names for node in name.nodes}
    found = Pool(space, pool(mass.chunks, scores.hybrid), asked, residual)
    mine = np.array([keys[doc] in gold for doc in space.chunk_doc[found.chunks].tolist()])
    return Example(found.candidates(mass.chunks, scores.dense), found, mine, len(gold))


def choose(one: Example, weights: Vector) -> list[int]:
    state, order = State(one.candidates), []
    for turn in range(min(DEPTH, len(one.gold))):
        best = int(np.argmax(np.where(state.left, state.features() @ weights, -np.inf)))
        order.append(best)
        one.take(state, best, turn)
    return order


def judge(examples: Sequence[Example], weights: Vector) -> tuple[float, float, float]:
    """Return Recall@2, Recall@5 and the share of questions with all gold in the first five, in %."""
    rows = []
    for one in examples:
        order = choose(one, weights)
        two, five = one.gold[order[:2]].sum(), one.gold[order].sum()
        rows.append((two / one.wanted, five / one.wanted, five == one.wanted))
    first, second, third = (100 * np.mean(rows, axis=0)).round(1).tolist()
    return first, second, third


def states(examples: Sequence[Example], weights: Vector) -> tuple[Vector, Vector]:
    """Return the differences gold − other over the states of the choice, shape (m, 9), and their weights."""
    differences, shares = [], []
    for one in examples:
        state = State(one.candidates)
        for turn in range(DEPTH):
            missing = np.flatnonzero(one.gold & state.left)
            if not len(missing):
                break
            features = state.features().astype(np.float64)
            score = features @ weights
            others = np.flatnonzero(~one.gold & state.left)
            others = others[np.argsort(-score[others], kind="stable")[:OTHERS]]
            wanted = missing[np.argmax(score[missing])]
            differences.append(features[wanted] - features[others])
            shares.append(np.full(len(others), 1.0 / max(len(others), 1) / one.wanted))
            best = int(np.argmax(np.where(state.left, score, -np.inf)))
            one.take(state, best, turn)
    share = np.concatenate(shares)
    return np.concatenate(differences), share / share.sum()


def fit(sets: Sequence[Sequence[Example]], off: Sequence[int] = ()) -> Vector:
    """Fit the weights on sets, each counting alike; the features ``off`` stay 0."""
    weights = WEIGHTS.vector().astype(np.float64)
    weights[list(off)] = 0
    bounds = [(0.0, 0.0) if i in off else (0.0, None) for i in range(len(FEATURES))]
    for turn in range(PASSES):
        parts = [states(examples, weights) for examples in sets]
        rows = np.concatenate([part[0] for part in parts])
        share = np.concatenate([part[1] for part in parts])

        def loss(w: Vector, rows: Vector = rows, share: Vector = share) -> tuple[float, Vector]:
            margin = SHARPNESS * (rows @ w)
            slope = -(SHARPNESS / (1 + np.exp(margin)) * share) @ rows
            cost = float((np.logaddexp(0, -margin) * share).sum())
            return cost + L2 * len(sets) * float(w @ w), slope + 2 * L2 * len(sets) * w

        found = minimize(loss, weights, jac=True, method="L-BFGS-B", bounds=bounds).x
        weights = found if turn == PASSES - 1 else (weights + found) / 2
    return weights


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("bench", type=Path)
    parser.add_argument("--sets", default="2wiki,hotpot,musique")
    parser.add_argument("--embedder", default=EmbedOptions().embedder)
    parser.add_argument("--work", type=Path, default=Path(".clew/benchmarks"))
    parser.add_argument("--ablate", action="store_true", help="also with each feature off in turn")
    chosen = parser.parse_args(arguments)
    data: dict[str, list[Example]] = {}
    for one in load_sets([existing(chosen.bench)], chosen.sets.split(",")):
        with open_index(one, chosen.embedder, work_folder(chosen.work, chosen.embedder)) as index:
            engine = index.engine
            keys = [document.key for document in engine.reader.documents()]
            data[one.name] = [example(engine, q.text, q.gold, keys) for q in one.questions]
    results: dict[str, object] = {"embedder": chosen.embedder}
    current = WEIGHTS.vector().astype(np.float64)
    results["current"] = {name: judge(examples, current) for name, examples in data.items()}
    print("current", results["current"], flush=True)
    offs: list[tuple[int, ...]] = [(), *((i,) for i in range(len(FEATURES)) if chosen.ablate)]
    for off in offs:
        label = "without " + FEATURES[off[0]] if off else "all features"
        held = {}
        for name in data:
            weights = fit([examples for other, examples in data.items() if other != name], off)
            held[name] = judge(data[name], weights)
        mean = np.mean(list(held.values()), axis=0).round(2).tolist()
        print(f"{label}: held out {held} mean {mean}", flush=True)
        results[label] = {"held out": held, "mean": mean}
    weights = fit(list(data.values()))
    results["fitted on all"] = dict(zip(FEATURES, weights.round(2).tolist(), strict=True))
    print("fitted on all", results["fitted on all"], {n: judge(e, weights) for n, e in data.items()})
    print(f"saved {save('learn', results, chosen.embedder)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
