"""From a passage of a chunk to a citation: the document, the lines, the bytes, the quote."""

from __future__ import annotations

from clew.text.units import source_span
from clew.types import Chunk, Citation, Document


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

    def at_source(self, chunk: Chunk, document: Document, start: int, end: int, quote: str) -> Citation:
        """Cite source bytes ``start``..``end`` of a chunk, whose text is ``quote``."""
        place = chunk.text.find(quote)
        while place >= 0:
            span = source_span(
                chunk.text, place, place + len(quote), chunk.start, chunk.end, document.encoding
            )
            if span == (start, end):
                return self._cite(chunk, document, place, place + len(quote), span)
            place = chunk.text.find(quote, place + 1)
        return self._cite(chunk, document, 0, len(chunk.text), (chunk.start, chunk.end))

    def _cite(
        self, chunk: Chunk, document: Document, start: int, end: int, span: tuple[int, int]
    ) -> Citation:
        key = (chunk.doc, *span)
        if key not in self._found:
            first = chunk.start_line + chunk.text.count("\n", 0, start)
            self._found[key] = Citation(
                number=len(self._found) + 1,
                key=document.key,
                location=document.location,
                title=document.title,
                start=span[0],
                end=span[1],
                start_line=first,
                end_line=first + chunk.text.count("\n", start, end),
                quote=chunk.text[start:end],
                chunk_id=chunk.id,
            )
        return self._found[key]
