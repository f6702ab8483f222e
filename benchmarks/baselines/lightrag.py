"""LightRAG's retrieval in its mode ``mix`` (Guo et al., "LightRAG: Simple and Fast Retrieval-Augmented
Generation", 2024), without a language model.

Low-level keywords find the nearest entities, high-level ones the nearest relations, the question itself the
nearest passages; the passages of the entities and those of the relations, each ordered by cosine, and the
nearest passages are merged in turn.

What differs, for want of a language model: the low-level keywords are the entities that the question names
(the question itself if none), the high-level ones the question, and relations are sentences that mention
several entities.
"""

from __future__ import annotations

from itertools import chain, zip_longest

import numpy as np

from baselines.material import Material, facts_of
from clew.algo.fuse import top
from clew.types import Floats, Ints

NEAREST = 40  # entities, and relations, of a question


class LightRag:
    """``rank`` returns the positions of the best k passages."""

    def __init__(self, material: Material) -> None:
        self.material = material
        _, several = facts_of(material)
        self.vectors = material.sentence_vectors[several]
        self.chunk = material.sentence_chunk[several]
        self.passages_of = material.counts.T.tocsr()

    def rank(self, question: str, k: int) -> Ints:
        vector = self.material.vector(question)
        dense = self.material.engine.space.cosines(vector)
        asked, names = self.material.asked(question), self.material.name_vectors
        low = names[asked].mean(axis=0) if asked else vector
        entities = self.passages_of[top(names @ low, NEAREST)].indices
        relations = self.chunk[top(self.vectors @ vector, NEAREST)]
        lists = [top(dense, k), _ordered(entities, dense), _ordered(relations, dense)]
        merged = (chunk for chunk in chain.from_iterable(zip_longest(*lists)) if chunk is not None)
        return np.array(list(dict.fromkeys(map(int, merged)))[:k], dtype=np.int32)


def _ordered(chunks: Ints, dense: Floats) -> list[int]:
    """Return the distinct passages, those most like the question first."""
    distinct = np.unique(chunks)
    found: list[int] = distinct[np.argsort(-dense[distinct], kind="stable")].tolist()
    return found
