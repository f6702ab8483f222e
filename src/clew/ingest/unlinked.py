"""Unlinked mentions: a note names another note, by its title or an alias, and doesn't link it anywhere."""

from __future__ import annotations

import numpy as np

from clew.ingest.link import Statements, state
from clew.ingest.mentions import Mentions
from clew.ingest.model import Corpus
from clew.ingest.places import tokens_in
from clew.ingest.spans import Bools
from clew.text.wording import is_everyday
from clew.types import FILE_TYPES, MARKDOWN_TYPES, Floats, Ints, Longs, TokenFlag

NESTED = 3  # links that may begin before a place and hold it: an image in a link


def unlinked_mentions(
    corpus: Corpus, documents: Ints, references: Statements, mentions: Mentions, rarity: Floats
) -> Statements:
    """Return a statement for each place where a document names a note that it has no reference to.

    ``documents`` (D,) are the documents' nodes; ``rarity`` (N,) is how much naming a node says, 0 to 1: the
    weight. Only what can link, Markdown, leaves something unlinked, and a name is looked for that is a note's
    own: the records of a corpus have titles that nobody links. What stands in code or in a link that leads
    elsewhere can't be linked, and words of everyday use in their language (is_everyday) are no names.
    """
    media = [document.media_type for document in corpus.documents]
    links = np.array([one in MARKDOWN_TYPES for one in media], dtype=bool)
    is_note = np.array([one in FILE_TYPES or one in MARKDOWN_TYPES for one in media], dtype=bool)
    n_nodes = len(rarity)
    doc_of = np.full(n_nodes, -1, dtype=np.int64)
    known = documents >= 0
    doc_of[documents[known]] = np.flatnonzero(known)
    source, target = corpus.chunk_doc[mentions.chunk].astype(np.int64), doc_of[mentions.node]
    at = np.flatnonzero((target >= 0) & (target != source))
    at = at[links[source[at]] & is_note[target[at]]]
    at = at[_in_prose(corpus, source[at], mentions.start[at], mentions.end[at])]
    key = documents[source[at]].astype(np.int64) * n_nodes + mentions.node[at]
    linked = references.source.astype(np.int64) * n_nodes + references.target
    at = at[~np.isin(key, linked[(references.source >= 0) & (references.target >= 0)])]
    node, doc = mentions.node[at], source[at]
    place = (doc.astype(np.int32), mentions.chunk[at], mentions.start[at], mentions.end[at])
    return state("unlinked_mention", documents[doc], node, rarity[node], place, corpus.doc_time[doc])


def _in_prose(corpus: Corpus, doc: Longs, start: Ints, end: Ints) -> Bools:
    """Tell which places could be made a link: outside code and links, and not of everyday words alone."""
    if not len(doc):
        return np.zeros(0, dtype=bool)
    lo, hi = tokens_in(corpus, doc.astype(np.int32), start, end)
    worded = hi > lo
    code = np.zeros(len(doc), dtype=bool)
    code[worded] = (corpus.flags[lo[worded]] & TokenFlag.CODE) > 0
    keep: Bools = worded & ~code & ~_in_links(corpus, doc, start, end)
    for at in np.flatnonzero(keep & (hi - lo == 1)).tolist():
        language = corpus.documents[int(doc[at])].language
        keep[at] = not is_everyday([corpus.words[corpus.form[lo[at]]]], [language])[0]
    return keep


def _in_links(corpus: Corpus, doc: Longs, start: Ints, end: Ints) -> Bools:
    """Tell which places lie in a link or an embed, wherever it leads."""
    wanted = np.unique(doc).tolist()
    spans = [(of, link.start, link.end) for of in wanted for link in corpus.analyses[of].links]
    inside = np.zeros(len(doc), dtype=bool)
    if not spans:
        return inside
    table = np.array(sorted(spans), dtype=np.int64)
    key = (table[:, 0] << 32) | table[:, 1]
    place = np.searchsorted(key, (doc << 32) | start, side="right") - 1
    for back in range(NESTED):
        at = np.maximum(place - back, 0)
        inside |= (place >= back) & (table[at, 0] == doc) & (table[at, 2] >= end)
    return inside
