"""fast-graphrag's retrieval (Circlemind, 2024), without a language model.

Entities and relations in a graph, passages beside it. The question's entities, matched with the graph's by
the cosine of their names (at least 0.7), seed a personalised PageRank with damping 0.85 on the entities;
scores below 0.005 are dropped; a relation scores the sum of its entities, a passage the sum of its
relations.

What differs, for want of a language model: relations are sentences that mention several entities (the
title's taken as one of each), and the question's entities are those that it names. With none, the question
itself is matched with the entities' names (at least 0.5), as published for generic entities; failing that,
it is dense search.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array, diags_array

from baselines.material import Material, Undirected, facts_of
from clew.algo.fuse import top
from clew.types import Floats, Ints

NAMED = 0.7
GENERIC = 0.5
DAMPING = 0.85
FLOOR = 0.005


class FastGraph:
    """``rank`` returns the positions of the best k passages; those without any score by cosine."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self.facts, several = facts_of(material)
        self.chunk = material.sentence_chunk[several]
        together = self.facts.T @ self.facts
        none = csr_array((0, together.shape[0]), dtype=np.float32)
        self.graph = Undirected(none, (together - diags_array(together.diagonal())).tocsr())

    def rank(self, question: str, k: int) -> Ints:
        vector = self.material.vector(question)
        dense = self.material.engine.space.cosines(vector)
        seeds = self._seeds(question, vector)
        if not seeds.any():
            return top(dense, k)
        nodes = self.graph.walk(seeds, DAMPING)
        nodes[nodes < FLOOR] = 0
        score = np.zeros(self.material.n_chunks, dtype=np.float32)
        np.add.at(score, self.chunk, self.facts @ nodes)
        return np.lexsort((-dense, -score))[:k].astype(np.int32)

    def _seeds(self, question: str, vector: Floats) -> Floats:
        names = self.material.name_vectors
        asked = self.material.asked(question)
        cosines = (names @ names[asked].T).max(axis=1) if asked else names @ vector
        floor = NAMED if asked else GENERIC
        return np.where(cosines >= floor, cosines, 0).astype(np.float32)
