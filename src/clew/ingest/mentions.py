"""Where nodes are mentioned: links, tags and people as structure marks them, then names in text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from clew.ingest.dictionary import Matches
from clew.ingest.links import LinkTable
from clew.ingest.places import chunks_at, tokens_in
from clew.ingest.resolve import Register
from clew.ingest.spans import Bools, Line, distinct, expand
from clew.ingest.stated import RelationTable, tag_names
from clew.ingest.told import NOTHING, Told, told_mentions
from clew.text.tokens import normal_name
from clew.types import Ints, Longs, TokenFlag

# A link of more words is a sentence: what it names within is looked for as well.
LINK_TOKENS = 6
# A word in more of the chunks than this says nothing by occurring; in a small folder, in more than so many.
EVERYDAY = 0.05
EVERYDAY_FLOOR = 12


@dataclass(frozen=True, slots=True)
class Mentions:
    """Mentions in (chunk, start, end, node) order: nodes (or entries), chunks, source offsets."""

    node: Ints
    chunk: Ints
    start: Ints
    end: Ints

    def df(self, n: int) -> Longs:
        """Count the chunks that mention each of n nodes."""
        pairs = distinct(self.chunk.astype(np.int64) * max(n, 1) + self.node)
        return np.bincount(pairs % max(n, 1), minlength=n)

    def renumber(self, number: Ints) -> Mentions:
        """Give nodes the numbers ``number[node]`` and leave out those at -1; sort."""
        node = number[self.node]
        keep = node >= 0
        return sort_mentions(node[keep], self.chunk[keep], self.start[keep], self.end[keep])


def sort_mentions(node: Ints, chunk: Ints, start: Ints, end: Ints) -> Mentions:
    """Sort mentions and leave out repeats."""
    # By place first: most come in that order, and few share one, which alone are sorted by the rest.
    place = (chunk.astype(np.int64) << 32) + start
    order = np.argsort(place, kind="stable")
    place = place[order]
    same = np.zeros(len(order) + 1, dtype=bool)
    same[1:-1] = place[1:] == place[:-1]
    tied = np.flatnonzero(same[1:] | same[:-1])
    rows = order[tied]
    order[tied] = rows[np.lexsort((node[rows], end[rows], place[tied]))]
    columns = [column[order] for column in (node, chunk, start, end)]
    new = np.ones(len(order), dtype=bool)
    if len(order):
        new[1:] = np.any([column[1:] != column[:-1] for column in columns], axis=0)
    return Mentions(*(column[new].astype(np.int32) for column in columns))


def find_mentions(
    line: Line,
    links: LinkTable,
    stated: RelationTable,
    register: Register,
    find: Callable[[Bools], Matches],
    told: Told = NOTHING,
) -> Mentions:
    """Return all mentions, by entry; ``find`` is the dictionary pass, given the tokens that are taken. What a
    model has ``told`` stands where its quotes do."""
    marked = [_links(line, links, register), _marks(line, register), _stated(line, register, stated)]
    taken = np.zeros(line.size, dtype=bool)
    for _, _, lo, hi in marked:
        short = (hi > lo) & (hi - lo <= LINK_TOKENS)
        _, at = expand(lo[short], hi[short])
        taken[at] = True
    matches = _telling(line, find(taken), register)
    parts = [_in_chunks(line, matches.node, matches.lo, matches.hi)]
    parts += [_spans_in_chunks(line, entry, span, lo, hi) for entry, span, lo, hi in marked]
    parts.append(told_mentions(register, told))
    node, chunk, start, end = (np.concatenate(column) for column in zip(*parts, strict=True))
    return sort_mentions(node, chunk, start, end)


def _telling(line: Line, matches: Matches, register: Register) -> Matches:
    """Leave out words of everyday use: one token, mostly not capitalised, in EVERYDAY of the chunks.

    A heading "Functions" or an emphasised *to* makes a name of a word that occurs everywhere; nobody
    who reads "to" thinks of it, and four in five mentions in a technical book were of that kind. What
    structure marks (a link, a tag) stays, and so does what headings single out.
    """
    n = len(register.entries)
    chunk = line.chunk[matches.lo].astype(np.int64)
    pairs = distinct(matches.node.astype(np.int64) * max(line.corpus.n_chunks, 1) + np.maximum(chunk, 0))
    df = np.bincount(pairs // max(line.corpus.n_chunks, 1), minlength=n)
    single = matches.hi - matches.lo == 1
    small = single & ~line.has(TokenFlag.CAPITAL)[matches.lo]
    mostly = np.bincount(matches.node, small, minlength=n) > 0.5 * np.bincount(matches.node, minlength=n)
    everyday = mostly & (df > max(EVERYDAY_FLOOR, EVERYDAY * line.corpus.n_chunks))
    everyday[sorted(register.topics)] = False
    keep = ~(everyday[matches.node] & single)
    return Matches(matches.lo[keep], matches.hi[keep], matches.node[keep], matches.spelling[keep])


Spans = tuple[Ints, Ints, Ints]  # document, start, end
Marked = tuple[Ints, Spans, Longs, Longs]  # entry, span, token range


def _links(line: Line, links: LinkTable, register: Register) -> Marked:
    documents = {entry.doc: at for at, entry in enumerate(register.entries) if entry.kind == "document"}
    rows = zip(links.target.tolist(), links.name, strict=True)
    entry = [
        documents[target] if target >= 0 else register.by_key.get(normal_name(name), -1)
        for target, name in rows
    ]
    return _marked(line, entry, links.doc, links.start, links.end)


def _stated(line: Line, register: Register, table: RelationTable) -> Marked:
    """The places in text at which sources see what they relate."""
    documents = {entry.doc: at for at, entry in enumerate(register.entries) if entry.kind == "document"}
    placed = np.flatnonzero(table.end > 0)
    entry = [
        at if at >= 0 else documents[doc]
        for at, doc in zip(table.target[placed].tolist(), table.target_doc[placed].tolist(), strict=True)
    ]
    return _marked(line, entry, table.doc[placed], table.start[placed], table.end[placed])


def _marks(line: Line, register: Register) -> Marked:
    rows: list[tuple[int, int, int, int]] = []
    for doc, mark in line.marked("tag"):
        names = tag_names(mark.value or mark.name)
        if mark.end and names:  # a field of a record stands nowhere in its text
            rows.append((register.tags[names[-1].casefold()], doc, mark.start, mark.end))
    for doc, mark in line.marked("person"):
        person = register.people.get(normal_name((mark.value or mark.name).strip()))
        if mark.end and person is not None:
            rows.append((person, doc, mark.start, mark.end))
    columns = [np.array([row[i] for row in rows], dtype=np.int32) for i in range(4)]
    return _marked(line, columns[0].tolist(), *columns[1:])


def _marked(line: Line, entry: list[int], doc: Ints, start: Ints, end: Ints) -> Marked:
    entries = np.array(entry, dtype=np.int32)
    keep = entries >= 0
    entries, doc, start, end = entries[keep], doc[keep], start[keep], end[keep]
    lo, hi = tokens_in(line.corpus, doc, start, end)
    return entries, (doc, start, end), lo, hi


def _spans_in_chunks(line: Line, entry: Ints, span: Spans, lo: Longs, hi: Longs) -> tuple[Ints, ...]:
    """Place marked spans: at their visible words, or, where there are none, whole."""
    doc, start, end = span
    corpus = line.corpus
    worded = hi > lo
    start, end = start.copy(), end.copy()
    start[worded] = corpus.start[lo[worded]]
    end[worded] = corpus.end[hi[worded] - 1]
    chunk = chunks_at(corpus, doc, start, end)
    keep = chunk >= 0
    return entry[keep], chunk[keep], start[keep], end[keep]


def _in_chunks(line: Line, entry: Ints, lo: Longs, hi: Longs) -> tuple[Ints, ...]:
    """Place token ranges in every chunk that holds them whole: chunks may overlap."""
    corpus = line.corpus
    first = np.searchsorted(lo, corpus.token_lo, side="left")
    last = np.searchsorted(lo, corpus.token_hi, side="left")
    chunk, at = expand(first.astype(np.int64), last.astype(np.int64))
    keep = hi[at] <= corpus.token_hi[chunk]
    chunk, at = chunk[keep], at[keep]
    return entry[at], chunk.astype(np.int32), corpus.start[lo[at]], corpus.end[hi[at] - 1]
