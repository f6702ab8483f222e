"""What stands around the passages found: the nodes that they share, and the edges to follow."""

from __future__ import annotations

from collections.abc import Sequence

from clew.algo.bm25 import idf
from clew.query.model import Engine
from clew.text.tokens import normal_name
from clew.types import Hit, Node

HITS = 8
# Nodes of a hit that are looked up; a long passage may mention hundreds.
POOL = 200
# A node in more than this share of the chunks is around everything.
COMMON = 0.1
FEW = 20  # chunks; below this many a share says little
DEFINED = 1.5


def nodes_around(
    hits: Sequence[Hit],
    engine: Engine,
    named: Sequence[int],
    most: int,
    *,
    favour: frozenset[int] = frozenset(),
) -> list[Node]:
    """Return the nodes that the hits share and the question doesn't name, best first.

    A node's weight is its idf × the hits that mention it, by 1 / rank; more if the notes define it or it is
    in ``favour``. The hits' own documents are left out: they are cited already.
    """
    if not hits or most < 1:
        return []
    reader = engine.reader
    ptr, node_of = reader.array("graph.chunk_ptr"), reader.array("graph.chunk_node")
    df = reader.array("graph.node_df")
    defined = set(reader.array("graph.def_node").tolist())
    chunks = reader.count("chunks")
    weight: dict[int, float] = {}
    for rank, hit in enumerate(hits[:HITS]):
        at = hit.chunk.chunk
        for node in node_of[int(ptr[at]) : int(ptr[at + 1])].tolist():
            count = int(df[node])
            if count > max(COMMON * chunks, FEW):
                continue
            rarity = float(idf(count, chunks)) if count < chunks else 0.1
            value = rarity * (DEFINED if node in defined else 1.0) * (2.0 if node in favour else 1.0)
            weight[node] = weight.get(node, 0.0) + value / (2 + rank)
    order = sorted(weight, key=lambda node: (-weight[node], node))[:POOL]
    cited = {hit.document.doc for hit in hits[:HITS]}
    known = {normal_name(node.name) for node in reader.nodes(list(named))}
    found: list[Node] = []
    for node in reader.nodes(order):
        key = normal_name(node.name)
        if key in known or node.node in named or node.doc in cited:
            continue
        known.add(key)
        found.append(node)
    found.sort(key=lambda node: (-weight[node.node] * _sure(node), node.node))
    return found[:most]


def _sure(node: Node) -> float:
    """Weigh by confidence and by letters; a name that stands in one chunk only leads nowhere."""
    letters = sum(char.isalpha() for char in node.name) / max(len(node.name.replace(" ", "")), 1)
    return max(node.confidence, 0.05) * (0.5 if node.df < 2 else 1.0) * letters**2
