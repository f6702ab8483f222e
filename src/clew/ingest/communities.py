"""Corpus stage: communities of the graph's nodes, all of them.

What is clustered is a projection of the graph: every node, with the edges that say that two nodes
are about the same thing. Weights are relative to each other only.
"""

from __future__ import annotations

from pathlib import PurePosixPath

import numpy as np

from clew.algo.grouping import hub_groups, join_nearest, shared_groups
from clew.algo.leiden import canonical, hierarchy
from clew.ingest.link import KINDS
from clew.ingest.model import Corpus, Graph, Partition
from clew.ingest.spans import distinct
from clew.options import CommunityOptions
from clew.types import Floats, Ints, Longs

# How much an edge of each kind binds its ends into one theme. Being the same or being defined
# binds most; an author or a tag is shared by notes of many themes, and following a person says nothing
# about subjects. Edges of kind ``mentions`` aren't here: mentions are counted below, with idf.
BINDS = {
    "same_as": 3.0,
    "defined_by": 3.0,
    "related": 2.0,
    "references": 1.5,
    "replied_to": 1.5,
    "co_occurs_with": 1.0,
    "tagged_with": 1.0,
    "saved_by": 0.5,
    "authored_by": 0.3,
    "follows": 0.2,
}
# What people state themselves, what they tag, and what is extracted from text, which is all the rest. The
# co-occurrence of two tags is of tags.
EXPLICIT = ("references", "replied_to", "saved_by", "authored_by", "follows")
LEAST_TAGS = 2  # in common, of notes that shared-tags puts together
# An edge's own weight is squeezed into this range before: one scale mustn't drown the others.
LEAST, MOST = 0.25, 4.0
# A node in more than this share of the documents glues what has nothing else in common.
HUB = 0.2
THREAD = 1e-3  # of its weight, by which a node hangs on its neighbour
# Below this many documents a share says little.
FEW = 10
# Folders as groups for what nothing connects: as deep as they go while there are at most this many.
MOST_GROUPS = 12


def partition(corpus: Corpus, graph: Graph, options: CommunityOptions) -> Partition:
    """Partition all nodes of the graph. A function of its arguments: the seed is an option."""
    if not graph.n_nodes:
        none = np.zeros(0, dtype=np.int32)
        return Partition(none, none, none, none)
    source, target, weight = projection(corpus, graph, options)
    level, parent, community, node = hierarchy(
        source,
        target,
        weight,
        graph.n_nodes,
        max_size=options.max_size,
        resolution=options.resolution,
        levels=options.levels,
        seed=options.seed,
        group=groups(corpus, graph),
        label=label(corpus, graph, options, (source, target, weight)),
    )
    return Partition(level, parent, community, node)


def label(
    corpus: Corpus, graph: Graph, options: CommunityOptions, edges: tuple[Ints, Ints, Floats]
) -> Ints | None:
    """Return the fine partition that the options' method makes, shape (N,); None leaves it to Leiden.

    ``hubs`` are the neighbourhoods of the heaviest nodes. ``shared-tags`` puts notes together that share at
    least LEAST_TAGS tags, directly or over others; what has an edge to them goes with the nearest, and the
    rest with a hub: farther out, a few groups would take all.
    """
    if options.method == "leiden":
        return None
    table = canonical(*edges, graph.n_nodes)
    hubs = hub_groups(table)
    if options.method == "hubs":
        return hubs
    source, target = own_tags(graph)
    most = int(max(HUB * len(corpus.documents), FEW))
    found = shared_groups(source, target, graph.n_nodes, LEAST_TAGS, most)
    together = np.bincount(found)[found] > 1
    return join_nearest(table, np.where(together, found, graph.n_nodes + hubs), together, rounds=1)


def nothing_binds(graph: Graph, options: CommunityOptions) -> list[str]:
    """Return what to tell a person where what was chosen to make communities isn't in the notes."""
    kinds = set(graph.edge_kind)
    made = {"explicit": kinds.intersection(EXPLICIT), "tags": kinds.intersection(("tagged_with",))}
    told = []
    if not made.get(options.over, kinds):
        what = "tags" if options.over == "tags" else "links, replies, authors, follows or saves"
        option = f"--community-over {options.over}"
        told.append(f"The notes have no {what}, so {option} finds one theme. Use all, or entities.")
    if options.method == "shared-tags" and "tagged_with" not in kinds:
        told.append("The notes have no tags, so --community-method shared-tags groups them by hubs alone.")
    return told


def own_tags(graph: Graph) -> tuple[Ints, Ints]:
    """Return the pairs of documents and tags, without the tags above others of the same document."""
    rows = np.flatnonzero([kind == "tagged_with" for kind in graph.edge_kind])
    source, target = graph.edge_source[rows], graph.edge_target[rows]
    names = {tag: graph.name[tag].casefold() for tag in np.unique(target).tolist()}
    pairs = list(zip(source.tolist(), (names[tag] for tag in target.tolist()), strict=True))
    above = {(node, name[:at]) for node, name in pairs for at in range(len(name)) if name[at] == "/"}
    own = np.array([pair not in above for pair in pairs], dtype=bool)
    return source[own], target[own]


def projection(
    corpus: Corpus, graph: Graph, options: CommunityOptions | None = None
) -> tuple[Ints, Ints, Floats]:
    """Return the edges to cluster: ``source``, ``target``, ``weight``, shape (E',).

    Where not all kinds of edges shall bind, a node without an edge of those that do hangs on its nearest
    neighbour that has one, by a thread too thin to draw that one along.
    """
    options = options if options is not None else CommunityOptions()
    source, target, weight, kind = _all_edges(corpus, graph)
    if options.over == "all":
        factors = (options.explicit_weight, options.tags_weight, options.entities_weight)
        return source, target, (weight * np.array(factors, dtype=np.float32)[kind]).astype(np.float32)
    binds = (kind == ("explicit", "tags", "entities").index(options.over)) & (weight > 0)
    bound = np.zeros(graph.n_nodes, dtype=bool)
    bound[source[binds]] = bound[target[binds]] = True
    hanging = (bound[source] != bound[target]) & (weight > 0)
    ends = np.where(bound[source], target, source)[hanging]
    rows = np.flatnonzero(hanging)[np.lexsort((np.flatnonzero(hanging), -weight[hanging], ends))]
    ends = np.where(bound[source], target, source)[rows]
    rows = rows[np.flatnonzero(np.diff(ends, prepend=-1))]
    chosen = np.concatenate([np.flatnonzero(binds), rows])
    thin = np.concatenate([weight[binds], THREAD * weight[rows]])
    return source[chosen], target[chosen], thin.astype(np.float32)


def _all_edges(corpus: Corpus, graph: Graph) -> tuple[Ints, Ints, Floats, Ints]:
    """Return all edges that bind with their weights, and whether each is explicit (0), of tags (1) or of
    names (2)."""
    kind = np.fromiter(map(KINDS.index, graph.edge_kind), dtype=np.int32, count=len(graph.edge_kind))
    factor = np.array([BINDS.get(name, 0.0) for name in KINDS], dtype=np.float32)[kind]
    weight = factor * np.clip(graph.edge_weight, LEAST, MOST)
    rarity = _rarity(corpus, graph)
    weight *= rarity[graph.edge_target] if len(weight) else 1.0
    doc_node, node, strength = _document_edges(corpus, graph, rarity)
    is_tag = np.array([name == "tag" for name in graph.kind], dtype=bool)
    kinds = np.full(len(weight), 2, dtype=np.int32)
    kinds[np.array([name in EXPLICIT for name in KINDS], dtype=bool)[kind]] = 0
    tagged, together = (kind == KINDS.index(name) for name in ("tagged_with", "co_occurs_with"))
    linked = graph.edge_source[kinds == 0].astype(np.int64) * graph.n_nodes + graph.edge_target[kinds == 0]
    named = np.where(is_tag[node], 1, 2)
    named[np.isin(doc_node.astype(np.int64) * graph.n_nodes + node, linked)] = 0  # a link is a mention, too
    kinds[tagged | (together & is_tag[graph.edge_source] & is_tag[graph.edge_target])] = 1
    return (
        np.concatenate([graph.edge_source, doc_node]).astype(np.int32),
        np.concatenate([graph.edge_target, node]).astype(np.int32),
        np.concatenate([weight, strength]).astype(np.float32),
        np.concatenate([kinds, named]).astype(np.int32),
    )


def document_nodes(corpus: Corpus, graph: Graph) -> Ints:
    """Return the node of each document, -1 where it has none, shape (D,)."""
    found = np.full(len(corpus.documents), -1, dtype=np.int32)
    has = np.flatnonzero(graph.doc >= 0)
    found[graph.doc[has]] = has
    return found


def _rarity(corpus: Corpus, graph: Graph) -> Floats:
    """Return how much sharing each node says, by the documents that name it or point to it, shape (N,)."""
    doc_node = document_nodes(corpus, graph)
    pairs = [(graph.mention_node, doc_node[corpus.chunk_doc[graph.mention_chunk]])]
    pairs.append((graph.edge_target, graph.edge_source))
    node = np.concatenate([pair[0] for pair in pairs]).astype(np.int64)
    from_node = np.concatenate([pair[1] for pair in pairs]).astype(np.int64)
    named = distinct(node * (graph.n_nodes + 1) + from_node + 1)
    df = np.bincount(named // (graph.n_nodes + 1), minlength=graph.n_nodes)
    total = max(len(corpus.documents), int(df.max(initial=1)), 1)
    rarity = np.log1p(total / np.maximum(df, 1)) / np.log1p(total)
    rarity[df > max(HUB * total, FEW)] *= 0.1
    return np.asarray(rarity, dtype=np.float32)


def _document_edges(corpus: Corpus, graph: Graph, rarity: Floats) -> tuple[Ints, Ints, Floats]:
    """Return an edge from each document to each node it mentions: idf × saturated count."""
    doc_node = document_nodes(corpus, graph)
    at = doc_node[corpus.chunk_doc[graph.mention_chunk]].astype(np.int64)
    node = graph.mention_node.astype(np.int64)
    keep = (at >= 0) & (at != node)
    pair, count = np.unique(at[keep] * graph.n_nodes + node[keep], return_counts=True)
    at, node = pair // graph.n_nodes, pair % graph.n_nodes
    strength = rarity[node] * (count / (count + 1.0)) * 2
    return at.astype(np.int32), node.astype(np.int32), strength.astype(np.float32)


def groups(corpus: Corpus, graph: Graph) -> Longs:
    """Return the folder of each node, as a number, for what nothing connects, shape (N,).

    A document's folder is its own; another node's is that of the first document that mentions it;
    what no document mentions is in folder 0.
    """
    folder = _folders([document.key for document in corpus.documents])
    first = np.full(graph.n_nodes, len(folder), dtype=np.int64)
    np.minimum.at(first, graph.mention_node, corpus.chunk_doc[graph.mention_chunk].astype(np.int64))
    first = np.where(graph.doc >= 0, graph.doc, first)
    return np.append(folder, 0)[first]


def _folders(keys: list[str]) -> Longs:
    """Number the folders of the keys, at the greatest depth at which there are few."""
    parts = [PurePosixPath(key).parts[:-1] for key in keys]
    best = np.zeros(len(keys), dtype=np.int64)
    for depth in range(1, max((len(part) for part in parts), default=0) + 1):
        names = sorted({part[:depth] for part in parts})
        if len(names) > MOST_GROUPS:
            break
        place = {name: i for i, name in enumerate(names)}
        best = np.array([place[part[:depth]] for part in parts], dtype=np.int64)
    return best
