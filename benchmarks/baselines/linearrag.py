"""LinearRAG's retrieval (Zhuang et al., "LinearRAG: Linear Graph Retrieval-Augmented Generation on
Large-scale Corpora", 2025).

A graph of entities, sentences and passages without relations. First entities are activated: those that
the question names, and from each on through the sentences that mention it and are most like the question,
to the other entities there, their activation multiplied by the sentence's cosine, while it stays above a
threshold. Then personalised PageRank on passages and entities, restarting at the activated entities and,
weakly, at every passage: its scaled dense score and the activated entities that it names, those found
later counting less.

The settings are the authors' published ones. What differs: entities are Clew's mentions instead of spaCy's
(and those of the question are the entities that it names, with activation 1, instead of the nearest ones
to spaCy's finds); passages of one document that follow each other are not linked, since nearly all
documents here are one passage. Without a name in the question it is dense search, as published.
"""

from __future__ import annotations

import numpy as np

from baselines.material import Material, Undirected, scaled
from clew.algo.fuse import top
from clew.types import Floats, Ints

HOPS = 3  # rounds at the most, the question's own entities being the first
THRESHOLD = 0.4  # activation below which an entity leads no further
SENTENCES = 3  # an entity leads through so many of its sentences
DENSE = 2.0  # weight of the dense score in a passage's restart, against the entities'
PASSAGES = 0.05  # weight of passages in the restart, against entities
DAMPING = 0.5


class LinearRag:
    """``rank`` returns the positions of the best k passages."""

    def __init__(self, material: Material) -> None:
        self.material = material
        counts = material.counts
        total = np.asarray(counts.sum(axis=1), dtype=np.float32).ravel()
        shares = counts.copy()
        shares.data = counts.data / np.repeat(total, np.diff(counts.indptr))
        self.graph = Undirected(shares)
        self.sentences_of = material.holds.T.tocsr()
        self.passages_of = counts.T.tocsr()

    def rank(self, question: str, k: int) -> Ints:
        vector = self.material.vector(question)
        dense = self.material.engine.space.cosines(vector)
        weight, found = self._activated(vector, self.material.asked(question))
        if not found:
            return top(dense, k)
        restart = np.concatenate([PASSAGES * self._passages(dense, found), weight])
        return top(self.graph.walk(restart, DAMPING)[: self.material.n_chunks], k)

    def _activated(self, vector: Floats, asked: list[int]) -> tuple[Floats, dict[int, tuple[float, int]]]:
        """Return the entities' restart mass (N,), and each activated one's last activation and round."""
        holds, ends = self.material.holds, self.sentences_of
        weight = np.zeros(holds.shape[1], dtype=np.float32)
        weight[asked] = 1.0
        found = dict.fromkeys(asked, (1.0, 1))
        current = dict.fromkeys(asked, 1.0)
        used: set[int] = set()
        for turn in range(2, HOPS + 1):
            after: dict[int, float] = {}
            for node, activation in current.items():
                mine = ends.indices[ends.indptr[node] : ends.indptr[node + 1]]
                mine = mine[[at not in used for at in mine.tolist()]] if used else mine
                likeness = self.material.sentence_vectors[mine] @ vector
                for at in top(likeness, SENTENCES).tolist():
                    used.add(int(mine[at]))
                    value = activation * float(likeness[at])
                    if value < THRESHOLD:
                        continue
                    for other in holds.indices[holds.indptr[mine[at]] : holds.indptr[mine[at] + 1]].tolist():
                        weight[other] += value
                        after[other] = value
            found |= {node: (value, turn) for node, value in after.items()}
            current = after
        return weight, found

    def _passages(self, dense: Floats, found: dict[int, tuple[float, int]]) -> Floats:
        """Return the passages' restart mass, shape (C,)."""
        bonus = np.zeros(self.material.n_chunks, dtype=np.float32)
        table = self.passages_of
        for node, (activation, turn) in found.items():
            here = slice(int(table.indptr[node]), int(table.indptr[node + 1]))
            bonus[table.indices[here]] += activation * np.log1p(table.data[here]) / turn
        return DENSE * scaled(dense) + np.log1p(bonus)
