"""From a passage of a chunk to a citation: the document, the lines, the bytes, the quote."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.ports import Reader
from clew.text.units import as_long, source_span
from clew.types import FILE_TYPES, Chunk, Citation, Document, Evidence


class Citer:
    """Numbers citations from 1, in the order in which they are asked for; the same passage has one number."""

    def __init__(self) -> None:
        self._found: dict[tuple[int, int, int], Citation] = {}

    @property
    def citations(self) -> tuple[Citation, ...]:
        return tuple(self._found.values())

    def at(self, chunk: Chunk, document: Document, start: int, end: int) -> Citation:
        """Cite ``chunk.text[start:end]`` (characters). The whole chunk, where its bytes can't be told."""
        span = source_span(chunk.text, start, end, chunk.start, chunk.end, document.encoding)
        if span is None:
            start, end = 0, len(chunk.text)
            span = (chunk.start, chunk.end)
        return self._cite(chunk, document, start, end, span)

    def at_source(self, chunk: Chunk, document: Document, start: int, end: int) -> Citation:
        """Cite source bytes ``start``..``end`` of a chunk. The whole chunk, where they can't be placed."""
        places = characters(chunk, document, start, end)
        if places is None:
            return self._cite(chunk, document, 0, len(chunk.text), (chunk.start, chunk.end))
        return self._cite(chunk, document, *places, (start, end))

    def _cite(
        self, chunk: Chunk, document: Document, start: int, end: int, span: tuple[int, int]
    ) -> Citation:
        key = (chunk.doc, *span)
        if key not in self._found:
            number = len(self._found) + 1
            self._found[key] = _citation(number, chunk, document, start, end, span)
        return self._found[key]


def cite_all(reader: Reader, groups: Sequence[Sequence[tuple[int, int, int]]]) -> list[tuple[Citation, ...]]:
    """Cite places (chunk, source bytes ``start``..``end``), numbered from 1 in each group. The whole chunk,
    where they can't be placed. All groups together cost two look-ups."""
    wanted = sorted({chunk for group in groups for chunk, _, _ in group})
    chunks = dict(zip(wanted, reader.chunks(wanted), strict=True))
    docs = sorted({chunk.doc for chunk in chunks.values()})
    documents = dict(zip(docs, reader.documents(docs), strict=True))

    def cite(place: tuple[int, int, int], number: int) -> Citation:
        at, start, end = place
        chunk = chunks[at]
        document = documents[chunk.doc]
        places = characters(chunk, document, start, end)
        if places is None:
            return _citation(number, chunk, document, 0, len(chunk.text), (chunk.start, chunk.end))
        return _citation(number, chunk, document, *places, (start, end))

    return [tuple(cite(place, number) for number, place in enumerate(group, 1)) for group in groups]


def cite_document(document: Document) -> Citation:
    """Cite a document as a whole, for what its metadata state: where it begins, with an empty quote."""
    return Citation(
        1,
        document.key,
        document.location,
        document.title,
        0,
        0,
        document.line,
        document.line,
        "",
        "",
        document.file,
    )


def cite_evidence(reader: Reader, groups: Sequence[Sequence[Evidence]]) -> list[tuple[Citation, ...]]:
    """Cite the places that state edges, numbered from 1 in each group; those that no chunk holds too."""
    places = [[(row.chunk, row.start, row.end) for row in group if row.chunk >= 0] for group in groups]
    outside = sorted({row.doc for group in groups for row in group if row.chunk < 0})
    documents = dict(zip(outside, reader.documents(outside), strict=True))
    found = []
    for group, cited in zip(groups, cite_all(reader, places), strict=True):
        inside = iter(cited)
        every = (_outside(documents[row.doc], row) if row.chunk < 0 else next(inside) for row in group)
        found.append(tuple(replace(one, number=number) for number, one in enumerate(every, 1)))
    return found


def _outside(document: Document, row: Evidence) -> Citation:
    last = row.line + row.quote.count("\n")
    where = (document.key, document.location, document.title)
    return Citation(1, *where, row.start, row.end, row.line, last, row.quote, "", document.file)


def characters(chunk: Chunk, document: Document, start: int, end: int) -> tuple[int, int] | None:
    """Return the character positions in ``chunk.text`` of source offsets; None if they aren't in it, or
    within a character."""
    if not chunk.start <= start <= end <= chunk.end:
        return None
    try:
        return _between(chunk, document, start, end)
    except UnicodeDecodeError:
        return None


def _between(chunk: Chunk, document: Document, start: int, end: int) -> tuple[int, int] | None:
    encoding = document.encoding
    text = as_long(chunk.text, encoding, chunk.end - chunk.start)
    errors = "surrogatepass" if encoding.startswith("utf") else "replace"
    data = text.encode(encoding, errors)
    if len(data) == chunk.end - chunk.start:
        first = len(data[: start - chunk.start].decode(encoding, errors))
        last = first + len(data[start - chunk.start : end - chunk.start].decode(encoding, errors))
        return first, last
    # Damaged bytes are one character each, whatever their number: only what stands before the first or
    # after the last of them can be placed.
    head, tail = text.find("\ufffd"), text.rfind("\ufffd") + 1
    before, after = text[:head].encode(encoding, errors), text[tail:].encode(encoding, errors)
    if end - chunk.start <= len(before):
        first = len(before[: start - chunk.start].decode(encoding, errors))
        return first, len(before[: end - chunk.start].decode(encoding, errors))
    skipped = chunk.end - len(after)
    if head >= 0 and start >= skipped:
        first = tail + len(after[: start - skipped].decode(encoding, errors))
        return first, tail + len(after[: end - skipped].decode(encoding, errors))
    return None


def _citation(
    number: int, chunk: Chunk, document: Document, start: int, end: int, span: tuple[int, int]
) -> Citation:
    """Cite characters ``start``..``end`` of a chunk, which are the source bytes ``span``."""
    # A record's or an event's text lies within one line of its file, whatever breaks it has.
    breaks = "\n" if document.media_type in FILE_TYPES else ""
    first = chunk.start_line + (chunk.text.count(breaks, 0, start) if breaks else 0)
    last = first + (chunk.text.count(breaks, start, end) if breaks else 0)
    return Citation(
        number=number,
        key=document.key,
        location=document.location,
        title=document.title,
        start=span[0],
        end=span[1],
        start_line=first,
        end_line=last,
        quote=chunk.text[start:end],
        chunk_id=chunk.id,
        file=document.file,
    )
