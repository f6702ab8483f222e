"""What sources state by structure rather than in words: who wrote what, replies, follows, tags, saves.

A source names documents and people by ids of its own; here they become documents and entries of the register.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from clew.ingest.link import KINDS
from clew.ingest.model import Corpus, Stated
from clew.types import UNDATED, Ints, Longs, Ref, Relation

_End = tuple[int, int]  # an entry and a document, of which one is -1
_NOWHERE: _End = (-1, -1)


@dataclass(frozen=True, slots=True)
class RelationTable:
    """Relations whose ends are both there, in their documents' order, columns of equal length.

    ``kind`` indexes :data:`clew.ingest.link.KINDS`. Each end is an entry (``source``, ``target``), or, where
    that is -1, a document (``source_doc``, ``target_doc``). ``doc``, ``start``, ``end`` is the place that
    states it; ``end`` is 0 where that is the document as a whole. ``time`` is in seconds, or UNDATED.
    """

    kind: Ints
    source: Ints
    source_doc: Ints
    target: Ints
    target_doc: Ints
    doc: Ints
    start: Ints
    end: Ints
    time: Longs


def relations(corpus: Corpus, persons: Mapping[str, int], tags: Mapping[str, int]) -> RelationTable:
    """Return what the sources state of documents, ``persons`` (entries by id) and ``tags`` (entries by name).

    That a document has an author is a relation of it. A tag below others relates to those too.
    """
    if not any(stated.relations or stated.author for stated in corpus.stated):
        return _table([])
    ids = document_ids(corpus)

    def ends(ref: Ref | None, doc: int) -> list[_End]:
        if ref is None:
            return [(-1, doc)]
        if ref.kind == "tag":
            return [(tags[part.casefold()], -1) for part in tag_names(ref.id)]
        if ref.kind == "person":
            return [(persons[ref.id], -1)]
        return [(-1, ids.get(ref.id, -1))]

    rows: list[tuple[int, ...]] = []
    for document, stated in zip(corpus.documents, corpus.stated, strict=True):
        doc, size = document.doc, document.size
        for relation in _of(stated):
            time = relation.created_at if relation.created_at is not None else document.created_at
            place = (doc, relation.start, relation.end) if relation.end <= size else (doc, 0, 0)
            number = KINDS.index(relation.kind)
            rows += [
                (number, *source, *target, *place, UNDATED if time is None else time)
                for source in ends(relation.source, doc)
                for target in ends(relation.target, doc)
                if source != target and _NOWHERE not in (source, target)
            ]
    return _table(rows)


def _of(stated: Stated) -> Iterator[Relation]:
    if stated.author is not None:
        yield Relation("authored_by", stated.author)
    yield from stated.relations


def _table(rows: list[tuple[int, ...]]) -> RelationTable:
    columns = np.array(rows, dtype=np.int64).reshape(-1, 9).T
    ints = [column.astype(np.int32) for column in columns[:8]]
    return RelationTable(ints[0], ints[1], ints[2], ints[3], ints[4], ints[5], ints[6], ints[7], columns[8])


def document_ids(corpus: Corpus) -> dict[str, int]:
    """Return the documents by their keys and the ids that sources know them by; the first of several."""
    found: dict[str, int] = {}
    for document, stated in zip(corpus.documents, corpus.stated, strict=True):
        for name in (document.key, *stated.ids):
            found.setdefault(name, document.doc)
    return found


def stated_names(corpus: Corpus) -> tuple[dict[str, dict[str, int]], dict[str, str]]:
    """Return the names of people by id, each with the document that states it, the one to show first, and a
    label for everybody that is spoken of. What people say of themselves comes before what others say."""
    labels: dict[str, str] = {}
    rows: list[tuple[str, bool, int, int, str]] = []
    for document, stated in zip(corpus.documents, corpus.stated, strict=True):
        for ref in _people(stated):
            if len(ref.label) > len(labels.get(ref.id, "")):
                labels[ref.id] = ref.label
            labels.setdefault(ref.id, ref.id)
        own = stated.author.id if stated.author is not None else ""
        for person in stated.people:
            labels.setdefault(person.id, person.id)
            names = enumerate(person.names)
            rows += [(person.id, person.id != own, document.doc, rank, name) for rank, name in names]
    names_of: dict[str, dict[str, int]] = {}
    for person_id, _, doc, _, name in sorted(rows):
        if name.strip():
            names_of.setdefault(person_id, {}).setdefault(name.strip(), doc)
    return names_of, labels


def _people(stated: Stated) -> Iterator[Ref]:
    refs = chain.from_iterable((one.source, one.target) for one in stated.relations)
    for ref in (stated.author, *refs):
        if ref is not None and ref.kind == "person":
            yield ref


def stated_tags(corpus: Corpus) -> set[str]:
    """Return the names of all tags that sources relate to something."""
    return {
        ref.id
        for stated in corpus.stated
        for relation in stated.relations
        for ref in (relation.source, relation.target)
        if ref is not None and ref.kind == "tag"
    }


def tag_names(tag: str) -> list[str]:
    """Return a tag and the tags above it: "a/b" is under "a"."""
    parts = [part for part in tag.lstrip("#").split("/") if part]
    return ["/".join(parts[: i + 1]) for i in range(len(parts))]
