"""The recipe of extraction: from all documents' tokens to the graph, as one function of all of them.

links → names → register → dictionary pass → mentions → what to keep → edges
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from clew.ids import make_id
from clew.ingest.casing import read_casing
from clew.ingest.centrality import pagerank
from clew.ingest.dictionary import find_names, make_names
from clew.ingest.glosses import add_glosses
from clew.ingest.link import LATEST, Edges, known, make_edges
from clew.ingest.links import resolve_links
from clew.ingest.mentions import Mentions, find_mentions
from clew.ingest.model import Corpus, Graph
from clew.ingest.names import Candidates, find_name_candidates
from clew.ingest.phrases import Words, find_phrases
from clew.ingest.relate import relate
from clew.ingest.resolve import Register, resolve, spellings
from clew.ingest.spans import Bools, Line
from clew.ingest.stated import relations
from clew.ingest.told import NOTHING, Told, describe, phrases_of, related
from clew.ingest.topics import find_topics
from clew.ingest.usual import without_names, without_phrases
from clew.ingest.variants import add_acronyms, add_variants
from clew.ports import Progress
from clew.types import UNDATED, Floats, Ints, Longs

# Names in one chunk connect nothing, but a small folder of notes has few others: the sure ones are kept,
# ONCE_SMALL a chunk at first, ONCE_LARGE in collections well beyond ONCE_CHUNKS chunks.
ONCE_SMALL, ONCE_LARGE, ONCE_CHUNKS = 3.0, 0.5, 300
ONCE_SURE = 0.6
# "Examples", a heading, or "here", a link's text, are words that are used everywhere else without being
# set apart: a name that nothing stronger states must be set apart in this share of its chunks.
MARKED_SHARE = 0.2
MOST_A_CHUNK = 3.0  # entities, of any kind, that structure doesn't set apart


def extract_graph(corpus: Corpus, progress: Progress | None = None, told: Told = NOTHING) -> Graph:
    """Return the graph of a corpus: nodes, names, mentions, definitions, edges with evidence.

    ``told`` is what a language model has said of it.
    """
    line = Line(corpus)
    casing = read_casing(line)
    links = resolve_links(corpus)
    named = _worthwhile(line, without_names(line, casing, find_name_candidates(line, casing)))
    words = Words(line, casing) if line.size and corpus.n_chunks else None
    topics = find_topics(line, words)
    phrases = without_phrases(line, find_phrases(line, casing, words))
    register = resolve(line, links, named, topics, phrases, told)
    add_glosses(register, line)
    add_acronyms(register, line)
    add_variants(register, line, casing)
    names = make_names(spellings(register))
    stated = relations(corpus, register.persons, register.tags)
    found = partial(find_names, line, casing, names)
    mentions = find_mentions(line, links, stated, register, found, told)
    order = _order(register, _kept(line, register, mentions))
    number = np.full(len(register.entries), -1, dtype=np.int32)
    number[order] = np.arange(len(order), dtype=np.int32)
    mentions = mentions.renumber(number)
    statements = relate(line, links, stated, register, number, mentions, told)
    edges = make_edges(statements, max(len(order), 1))
    if progress is not None:
        progress.advance()
    return _graph(corpus, register, order, number, mentions, edges, told)


def _worthwhile(line: Line, found: Candidates) -> Candidates:
    """Keep the candidates of several chunks, and the surest of one chunk within a bound."""
    once = np.flatnonzero((found.df < 2) & (found.sure >= ONCE_SURE))
    order = once[np.lexsort((found.key[once], -found.sure[once]))]
    keep = found.df >= 2
    n = line.corpus.n_chunks
    share = ONCE_LARGE + (ONCE_SMALL - ONCE_LARGE) * ONCE_CHUNKS / (n + ONCE_CHUNKS)
    keep[order[: int(share * n)]] = True
    return found.take(keep)


def _kept(line: Line, register: Register, mentions: Mentions) -> Bools:
    """Tell which entries become nodes: structure's all, of the others the best within the bounds."""
    entries = register.entries
    n = len(entries)
    structural = np.fromiter((entry.structural for entry in entries), dtype=bool, count=n)
    sure = np.fromiter((entry.sure for entry in entries), dtype=np.float64, count=n)
    marked = np.fromiter((entry.marked for entry in entries), dtype=np.int64, count=n)
    stated = np.fromiter((entry.stated or not entry.marked for entry in entries), dtype=bool, count=n)
    df = mentions.df(n)
    usual = ~stated & (marked < MARKED_SHARE * df)
    score = sure * np.log1p(df)
    score[(df == 0) | ((df < 2) & (sure < ONCE_SURE)) | structural | usual] = 0
    keys = np.array([entry.key for entry in entries], dtype=object)
    some = np.flatnonzero(score > 0)
    best = some[np.lexsort((keys[some].astype(str), -score[some]))] if len(some) else some
    keep = structural & ~usual
    keep[best[: int(MOST_A_CHUNK * line.corpus.n_chunks)]] = True
    return keep


def _order(register: Register, keep: Bools) -> Ints:
    """Return the kept entries in node order: kind, normal name, then what tells them apart."""
    entries = register.entries
    kept = sorted(
        np.flatnonzero(keep).tolist(), key=lambda i: (entries[i].kind, entries[i].key, entries[i].told)
    )
    return np.array(kept, dtype=np.int32)


def _graph(
    corpus: Corpus,
    register: Register,
    order: Ints,
    number: Ints,
    mentions: Mentions,
    edges: Edges,
    told: Told,
) -> Graph:
    nodes = [register.entries[at] for at in order.tolist()]
    keys = {(at, node.name): node.key for at, node in enumerate(nodes)}
    for (at, surface), words in register.spellings.items():
        if number[at] >= 0:
            keys[int(number[at]), surface] = "".join(words) or surface.strip()
    names = sorted(keys)
    defines = sorted(
        (int(number[at]), chunk, weight)
        for (at, chunk), weight in register.defines.items()
        if number[at] >= 0
    )
    doc = _ints(node.doc for node in nodes)
    types, descriptions = describe(register, number, len(nodes), told)
    return Graph(
        kind=tuple(node.kind for node in nodes),
        name=tuple(node.name for node in nodes),
        normal=tuple(node.key for node in nodes),
        node_id=tuple(make_id("node", node.kind, node.key, node.told) for node in nodes),
        doc=doc,
        confidence=np.array([node.sure for node in nodes], dtype=np.float32),
        type=tuple(types),
        description=tuple(descriptions),
        node_time=_node_times(corpus, doc, mentions, edges),
        node_rank=pagerank(edges, len(nodes)),
        name_node=_ints(at for at, _ in names),
        name_surface=tuple(surface for _, surface in names),
        name_key=tuple(keys[name] for name in names),
        mention_node=mentions.node,
        mention_chunk=mentions.chunk,
        mention_start=mentions.start,
        mention_end=mentions.end,
        def_node=_ints(row[0] for row in defines),
        def_chunk=_ints(row[1] for row in defines),
        def_weight=_floats([row[2] for row in defines]),
        edge_kind=edges.kind,
        edge_source=edges.source,
        edge_target=edges.target,
        edge_weight=edges.weight,
        edge_time=edges.time,
        edge_phrase=_phrases(edges, phrases_of(related(register, number, told))),
        evidence_edge=edges.evidence_edge,
        evidence_doc=edges.evidence_doc,
        evidence_chunk=edges.evidence_chunk,
        evidence_start=edges.evidence_start,
        evidence_end=edges.evidence_end,
    )


def _phrases(edges: Edges, phrases: Mapping[tuple[int, int], str]) -> tuple[str, ...]:
    """Return what a model called each edge, empty for those that it didn't tell."""
    rows = zip(edges.kind, edges.source.tolist(), edges.target.tolist(), strict=True)
    return tuple(phrases.get((a, b), "") if kind == "related" else "" for kind, a, b in rows)


def _node_times(corpus: Corpus, doc: Ints, mentions: Mentions, edges: Edges) -> Longs:
    """Return when each node was written, if it is a document, else when it was first named, shape (N,)."""
    stands = doc >= 0
    time = np.full(len(doc), LATEST, dtype=np.int64)
    doc_time = known(corpus.doc_time)
    np.minimum.at(time, mentions.node, doc_time[corpus.chunk_doc[mentions.chunk]])
    for ends in (edges.source, edges.target):
        np.minimum.at(time, ends, known(edges.time))
    time[stands] = doc_time[doc[stands]]
    return np.where(time == LATEST, UNDATED, time)


def _ints(values: object) -> Ints:
    return np.fromiter(values, dtype=np.int32)  # type: ignore[call-overload,no-any-return]


def _floats(values: list[float]) -> Floats:
    return np.array(values, dtype=np.float32)
