"""HippoRAG 2's retrieval (Gutiérrez et al., "From RAG to Memory: Non-Parametric Continual Learning for
Large Language Models", 2025), without a language model.

Phrase nodes and passage nodes in one graph: edges between the two phrases of a triple (weighted by how
often), between a passage and its phrases, and between synonyms (cosine of names ≥ 0.8). The question's
nearest triples give the phrase seeds, each weighted by the triple's scaled score over the number of
passages that hold the phrase, the best five of them; every passage restarts with 0.05 of its scaled dense
score; personalised PageRank with damping 0.5 ranks the passages.

What differs, for want of a language model: triples are pairs of entities that a sentence mentions
together, the entity of the passage's title taken as one of each sentence (a triple's subject mostly is),
and a triple's vector is its sentence's. The filter of triples by a model is left out; its authors measure
0.7 points for it on average.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array, csr_array, diags_array

from baselines.material import Material, Undirected, facts_of, scaled
from clew.algo.fuse import top
from clew.types import Floats, Ints

SYNONYMS = 0.8
FACTS = 5  # triples, and then phrases, that seed the walk
PASSAGES = 0.05
DAMPING = 0.5
NEIGHBOURS = 100  # synonyms of a phrase at the most
BLOCK = 1024


class HippoRag:
    """``rank`` returns the positions of the best k passages."""

    def __init__(self, material: Material) -> None:
        self.material = material
        self.facts, several = facts_of(material)
        self.vectors = material.sentence_vectors[several]
        together = self.facts.T @ self.facts
        together = together - diags_array(together.diagonal())
        links = material.counts.copy()
        links.data[:] = 1.0
        self.df = np.maximum(np.asarray(links.sum(axis=0), dtype=np.float32).ravel(), 1.0)
        self.graph = Undirected(links, (together + synonyms(material.name_vectors)).tocsr())

    def rank(self, question: str, k: int) -> Ints:
        vector = self.material.vector(question)
        dense = self.material.engine.space.cosines(vector)
        phrases = self._phrases(scaled(self.vectors @ vector)) if len(self.vectors) else None
        if phrases is None:
            return top(dense, k)
        restart = np.concatenate([PASSAGES * scaled(dense), phrases])
        return top(self.graph.walk(restart, DAMPING)[: self.material.n_chunks], k)

    def _phrases(self, scores: Floats) -> Floats:
        """Return the phrases' restart mass, shape (N,): the mean over the nearest triples that hold each."""
        best = top(scores, FACTS)
        held = self.facts[best]
        count = np.asarray(held.sum(axis=0), dtype=np.float32).ravel()
        mean = np.asarray(held.T @ scores[best], dtype=np.float32) / np.maximum(count, 1.0) / self.df
        out = np.zeros_like(mean)
        kept = top(mean, FACTS)
        out[kept] = mean[kept]
        return out


def synonyms(vectors: Floats) -> csr_array[Any, Any]:
    """Return the cosines of at least 0.8 between names, at most 100 a name, symmetric, shape (N, N)."""
    rows, columns, data = [], [], []
    for begin in range(0, len(vectors), BLOCK):
        cosines = vectors[begin : begin + BLOCK] @ vectors.T
        cosines[np.arange(len(cosines)), begin + np.arange(len(cosines))] = 0
        row, column = np.nonzero(cosines >= SYNONYMS)
        value = cosines[row, column]
        order = np.lexsort((-value, row))
        row, column, value = row[order], column[order], value[order]
        rank = np.arange(len(row)) - np.searchsorted(row, row)
        near = rank < NEIGHBOURS
        rows.append(row[near] + begin)
        columns.append(column[near])
        data.append(value[near])
    shape = (len(vectors), len(vectors))
    one_way = coo_array((np.concatenate(data), (np.concatenate(rows), np.concatenate(columns))), shape=shape)
    return one_way.maximum(one_way.T).tocsr()
