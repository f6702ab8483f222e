"""What the corpus states about its nodes, kind by kind; :mod:`clew.ingest.link` makes edges of it."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from clew.algo.lookup import locate
from clew.ingest.cooccur import count_pairs
from clew.ingest.link import KINDS, Statements, joined, state
from clew.ingest.links import LinkTable
from clew.ingest.mentions import Mentions
from clew.ingest.model import Corpus
from clew.ingest.places import chunks_at
from clew.ingest.resolve import Register
from clew.ingest.spans import Line, distinct, expand
from clew.ingest.stated import RelationTable, tag_names
from clew.ingest.tagged import tags_together
from clew.ingest.told import NOTHING, Told, related
from clew.ingest.unlinked import unlinked_mentions
from clew.text.tokens import normal_name
from clew.types import EdgeKind, Floats, Ints, MarkKind


def relate(
    line: Line,
    links: LinkTable,
    stated: RelationTable,
    register: Register,
    number: Ints,
    mentions: Mentions,
    told: Told = NOTHING,
) -> list[Statements]:
    """Return all statements; ``number`` gives the entries' node numbers, -1 for those left out. ``told`` is
    what a language model has said."""
    documents = np.full(len(line.corpus.documents), -1, dtype=np.int32)
    for at, entry in enumerate(register.entries):
        if entry.kind == "document":
            documents[entry.doc] = number[at]
    n_nodes = int(number.max(initial=-1)) + 1
    tags = _tags(register, number)
    rarity = _rarity(line.corpus, mentions, n_nodes)
    references = _references(line, links, register, number, documents)
    asserted = [
        references,
        *_stated(line, stated, number, documents),
        _marked(line, register, number, documents, "tag"),
        _marked(line, register, number, documents, "person"),
    ]
    return [
        *asserted,
        tags_together(asserted, tags, n_nodes),
        _defined(line, register, number, documents),
        _mentioned(line, documents, mentions, rarity),
        unlinked_mentions(line.corpus, documents, joined(asserted, "references"), mentions, rarity),
        _together(line, number, mentions, tags),
        _same(register, number),
        _last_words(line, register, number, mentions),
        _told(line, register, number, told),
    ]


LEAST_STRENGTH = (
    0.01  # of what a model calls no relation and still states; an edge without weight leads nowhere
)


def _told(line: Line, register: Register, number: Ints, told: Told) -> Statements:
    """Relations that a language model found, where their quotes stand."""
    rows = related(register, number, told)
    source, target = (np.array([row[i] for row in rows], dtype=np.int32) for i in (0, 1))
    places = [(one.chunk, one.start, one.end) for _, _, one in rows]
    chunk, start, end = (np.array([place[i] for place in places], dtype=np.int32) for i in range(3))
    doc = line.corpus.chunk_doc[chunk]
    strength = np.array([max(one.strength, LEAST_STRENGTH) for _, _, one in rows], dtype=np.float32)
    return state("related", source, target, strength, (doc, chunk, start, end), line.corpus.doc_time[doc])


def _references(
    line: Line, links: LinkTable, register: Register, number: Ints, documents: Ints
) -> Statements:
    missing = [number[register.by_key[normal_name(name)]] if name else -1 for name in links.name]
    target = np.where(links.target >= 0, documents[links.target], np.array(missing, dtype=np.int32))
    chunk = chunks_at(line.corpus, links.doc, links.start, links.end)
    place = (links.doc, chunk, links.start, links.end)
    time = line.corpus.doc_time[links.doc]
    return state("references", documents[links.doc], target.astype(np.int32), 1.0, place, time)


def _stated(line: Line, table: RelationTable, number: Ints, documents: Ints) -> list[Statements]:
    """What the sources say of documents, people and tags, at its place or its document's first line."""
    source = np.where(table.source >= 0, number[table.source], documents[table.source_doc])
    target = np.where(table.target >= 0, number[table.target], documents[table.target_doc])
    first, until = line.corpus.doc_chunks[table.doc], line.corpus.doc_chunks[table.doc + 1]
    chunk = chunks_at(line.corpus, table.doc, table.start, table.end)
    whole = np.flatnonzero((table.end == 0) & (first < until))
    chunk[table.end == 0] = -1
    chunk[whole] = first[whole]
    start, end = table.start.copy(), table.end.copy()
    start[whole], end[whole] = line.corpus.chunk_start[chunk[whole]], _first_line(line, chunk[whole])
    return [
        state(kind, source[rows], target[rows], 1.0, place, table.time[rows])
        for at, kind in enumerate(KINDS)
        for rows in [np.flatnonzero(table.kind == at)]
        for place in [(table.doc[rows], chunk[rows], start[rows], end[rows])]
    ]


def _marked(line: Line, register: Register, number: Ints, documents: Ints, kind: MarkKind) -> Statements:
    """Tags (and the tags above them) and authors of documents."""
    rows: list[tuple[int, int, int, int]] = []
    for marked, mark in line.marked(kind):
        name = (mark.value or mark.name).strip()
        if kind == "tag":
            found = [register.tags[part.casefold()] for part in tag_names(name)]
        else:
            found = [register.people[key] for key in [normal_name(name)] if key in register.people]
        rows += [(marked, int(number[at]), mark.start, mark.end) for at in found]
    doc, node, start, end = (np.array([row[i] for row in rows], dtype=np.int32) for i in range(4))
    chunk = chunks_at(line.corpus, doc, start, end)
    chunk[end == 0] = -1  # a field of a record
    place = (doc, chunk, start, end)
    edge: EdgeKind = "tagged_with" if kind == "tag" else "authored_by"
    return state(edge, documents[doc], node, 1.0, place, line.corpus.doc_time[doc])


def _defined(line: Line, register: Register, number: Ints, documents: Ints) -> Statements:
    """Entities and the documents whose titles or headings define them."""
    corpus = line.corpus
    rows: list[tuple[int, int, float, int]] = []
    for (at, first), weight in register.defines.items():
        doc = int(corpus.chunk_doc[first])
        if number[at] >= 0 and register.entries[at].doc != doc:
            rows.append((int(number[at]), int(documents[doc]), weight, first))
    rows.sort()
    node, target, chunk = (np.array([row[i] for row in rows], dtype=np.int32) for i in (0, 1, 3))
    weights: Floats = np.array([row[2] for row in rows], dtype=np.float32)
    holder = corpus.chunk_doc[chunk]
    place = (holder, chunk, corpus.chunk_start[chunk], _first_line(line, chunk))
    return state("defined_by", node, target, weights, place, corpus.doc_time[holder])


def _first_line(line: Line, chunk: Ints) -> Ints:
    """Return where the first line of each chunk ends, in source offsets."""
    corpus = line.corpus
    out = corpus.chunk_end[chunk].copy()
    for i, at in enumerate(chunk.tolist()):
        text = corpus.text(at)
        head = text.split("\n", 1)[0]
        if len(head) < len(text):
            encoding = corpus.documents[int(corpus.chunk_doc[at])].encoding
            size = len(head.encode(encoding, "replace"))
            out[i] = min(int(out[i]), int(corpus.chunk_start[at]) + size)
    return out


def _tags(register: Register, number: Ints) -> dict[int, str]:
    """Return the tags' names by node, folded."""
    rows = zip(number.tolist(), register.entries, strict=True)
    return {node: entry.told for node, entry in rows if node >= 0 and entry.kind == "tag"}


def _rarity(corpus: Corpus, mentions: Mentions, n_nodes: int) -> Floats:
    """Return how rare each node is, 0.01 to 1: ln(C / df) / ln C, 0 for one in all chunks, 1 for one in a
    single chunk, shape (N,)."""
    df = np.maximum(mentions.df(n_nodes), 1)
    rarity = np.log((corpus.n_chunks + 1) / df) / np.log(max(corpus.n_chunks, 1) + 1)
    found: Floats = np.clip(rarity, 0.01, 1).astype(np.float32)
    return found


def _mentioned(line: Line, documents: Ints, mentions: Mentions, rarity: Floats) -> Statements:
    """Documents and what they mention, with the first place; the weight is the node's rarity."""
    corpus = line.corpus
    n_nodes = len(rarity)
    source = documents[corpus.chunk_doc[mentions.chunk]]
    key = source.astype(np.int64) * max(n_nodes, 1) + mentions.node
    _, first = np.unique(key, return_index=True)  # the first in the mentions' order
    node, chunk = mentions.node[first], mentions.chunk[first]
    doc = corpus.chunk_doc[chunk]
    place = (doc, chunk, mentions.start[first], mentions.end[first])
    return state("mentions", source[first], node, rarity[node], place, corpus.doc_time[doc])


def _together(line: Line, number: Ints, mentions: Mentions, tags: Iterable[int]) -> Statements:
    """Nodes that occur together above chance, with places that hold both; not two tags, which are counted by
    documents (see tagged.py)."""
    n_nodes = int(number.max(initial=-1)) + 1
    pairs = distinct(mentions.chunk.astype(np.int64) * max(n_nodes, 1) + mentions.node)
    chunk, node = (pairs // max(n_nodes, 1)).astype(np.int32), (pairs % max(n_nodes, 1)).astype(np.int32)
    found = count_pairs(chunk, node, line.corpus.n_chunks, n_nodes)
    is_tag = np.zeros(n_nodes, dtype=bool)
    is_tag[list(tags)] = True
    pair, at = found.place_pair, found.place_chunk
    a, b = found.a[pair], found.b[pair]
    apart = ~(is_tag[a] & is_tag[b])
    pair, at, a, b = pair[apart], at[apart], a[apart], b[apart]
    # Mentions are sorted by chunk and start: the first of a node in a chunk is the first of its pair.
    key = mentions.chunk.astype(np.int64) * max(n_nodes, 1) + mentions.node
    keys, first = np.unique(key, return_index=True)
    one = first[np.searchsorted(keys, at.astype(np.int64) * max(n_nodes, 1) + a)]
    two = first[np.searchsorted(keys, at.astype(np.int64) * max(n_nodes, 1) + b)]
    start = np.minimum(mentions.start[one], mentions.start[two])
    end = np.maximum(mentions.end[one], mentions.end[two])
    doc = line.corpus.chunk_doc[at]
    time = line.corpus.doc_time[doc]
    return state("co_occurs_with", a, b, found.weight[pair], (doc, at, start, end), time)


def _same(register: Register, number: Ints) -> Statements:
    rows = sorted(
        (int(number[a]), int(number[b]), weight)
        for (a, b), weight in register.same.items()
        if number[a] >= 0 and number[b] >= 0
    )
    return state("same_as", [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows])


# "Tolkien" is J. R. R. Tolkien if at least this share of the documents with the short name have the long
# one too. The edge weighs as much as that share, times LAST_WORD, or more where the long name is defined.
LAST_WORD_SHARE = 0.5
LAST_WORD, LAST_WORD_DEFINED = 0.6, 0.8
# A defined name with initials is a person's: notes on others use the last word alone without the long name.
INITIALS = 0.5


def _last_words(line: Line, register: Register, number: Ints, mentions: Mentions) -> Statements:
    """Last words used alone for the one longer name that ends so."""
    rows = sorted((number[a], number[b]) for a, b in register.last_words if number[a] >= 0 and number[b] >= 0)
    short, long = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
    n_docs = max(len(line.corpus.documents), 1)
    places = distinct(mentions.node.astype(np.int64) * n_docs + line.corpus.chunk_doc[mentions.chunk])
    lo, hi = (np.searchsorted(places, key * n_docs) for key in (short, short + 1))
    pair, at = expand(lo, hi)
    wanted = long[pair] * n_docs + places[at] % n_docs
    found = locate(places, wanted)[1]
    both = np.bincount(pair[found], minlength=len(rows))
    share = both / np.maximum(hi - lo, 1)
    defined = np.zeros(int(number.max(initial=-1)) + 1, dtype=bool)
    kinds = [(at, entry.kind) for at, entry in zip(number.tolist(), register.entries, strict=True)]
    defined[[at for at, kind in kinds if at >= 0 and kind in ("document", "person")]] = True
    weight = share * np.where(defined[long], LAST_WORD_DEFINED, LAST_WORD)
    initials = np.isin(long, _with_initials(register, number)) & defined[long]
    weight[initials] = np.maximum(weight[initials], INITIALS)
    keep = (share >= LAST_WORD_SHARE) | initials
    ends = short[keep].astype(np.int32), long[keep].astype(np.int32)
    return state("same_as", *ends, weight[keep].astype(np.float32))


def _with_initials(register: Register, number: Ints) -> list[int]:
    """Return the nodes that have a name with a word of one letter before its last."""
    return sorted(
        {
            int(number[at])
            for (at, _), words in register.spellings.items()
            if any(len(word) == 1 and word.isalpha() for word in words[:-1])
        }
    )
