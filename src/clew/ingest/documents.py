"""The document stages of one document: decode, parse, chunk, tokenise. It depends on nothing but its bytes,
its media type and the options, so that any process may do it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from clew.ingest.chunk import cut
from clew.options import IndexOptions
from clew.ports import Extractor, Tokenizer
from clew.text.decode import Decoded, NotText, decode
from clew.text.language import detect_all
from clew.text.markdown import parse_markdown
from clew.text.plain import parse_opaque, parse_plain, parse_post
from clew.text.tokens import tokenize
from clew.text.wordwise import TokenPlaces
from clew.types import (
    FILE_TYPES,
    Analysis,
    ChunkSpan,
    Ints,
    Link,
    Mark,
    MediaType,
    ParsedDocument,
    RawDocument,
    Section,
)

PASSAGES: frozenset[str] = frozenset(("record", "post"))  # they are passages as they stand
_PARSERS: Mapping[MediaType, Callable[[str], ParsedDocument]] = {
    "markdown": parse_markdown,
    "article": parse_markdown,
    "text": parse_plain,
    "record": parse_plain,
    "post": parse_post,
    "event": parse_opaque,
}
LANGUAGE_CHARS = 300  # as many as detection looks at

Items = Mapping[str, tuple[str, RawDocument]]  # by cache key: the hash of the content, the document
Failures = dict[str, tuple[str, str]]  # by cache key: reason, remedy

_Spanned = TypeVar("_Spanned", ChunkSpan, Section, Link, Mark)


class Work:
    """Analyses documents that aren't in the cache."""

    def __init__(
        self, options: IndexOptions, tokenizer: Tokenizer, window: int, extractors: Sequence[Extractor]
    ) -> None:
        self._options = options
        self._places = TokenPlaces(tokenizer)
        self._window = window
        self._extractors = extractors

    def analyse(self, items: Items) -> tuple[dict[str, Analysis], Failures]:
        """Return analyses by cache key, and (reason, remedy) for those that failed."""
        parsed: dict[str, tuple[Decoded, ParsedDocument]] = {}
        done: dict[str, Analysis] = {}
        failed: Failures = {}
        for key, (_, raw) in items.items():
            try:
                parsed[key] = self._parse(raw)
            except NotText as error:
                failed[key] = (str(error), "Save it as UTF-8 text, or exclude it")
            except MemoryError:  # not the file's fault: without it the index would be of other notes
                raise
            except Exception as error:  # one bad file never ends a run
                failed[key] = _unexpected(error)
        read = [key for key in parsed if items[key][1].media_type != "event"]
        starts = dict.fromkeys(parsed, np.zeros(0, dtype=np.int32))
        starts.update(zip(read, self._places.starts([parsed[key][1].text for key in read]), strict=True))
        languages = self._languages({key: document for key, (_, document) in parsed.items()})
        for key, (decoded, document) in parsed.items():
            digest, raw = items[key]
            try:
                done[key] = self._finish(digest, raw, decoded, document, starts[key], languages[key])
            except MemoryError:
                raise
            except Exception as error:  # as above
                failed[key] = _unexpected(error)
        return done, failed

    def _parse(self, raw: RawDocument) -> tuple[Decoded, ParsedDocument]:
        decoded = decode(raw.data)
        document = _PARSERS[raw.media_type](decoded.text)
        extra = [mark for extractor in self._extractors for mark in extractor.extract(document)]
        if extra:
            marks = sorted(
                [*document.marks, *extra], key=lambda mark: (mark.start, mark.end, mark.kind, mark.name)
            )
            document = replace(document, marks=tuple(marks))
        return decoded, document

    def _finish(
        self,
        digest: str,
        raw: RawDocument,
        decoded: Decoded,
        document: ParsedDocument,
        starts: Ints,
        language: str,
    ) -> Analysis:
        opaque, short = raw.media_type == "event", raw.media_type in PASSAGES
        spans = () if opaque else cut(document, starts, self._options.chunk, self._window, short)
        headings = [(block.start, block.end) for block in document.blocks if block.kind == "heading"]
        tokens = tokenize(document.text, document.prose, document.code, headings)
        data = document.text.encode("utf-8")
        warnings = (*decoded.warnings, *document.warnings)
        if not spans and not opaque:
            warnings += ("it holds no text",)
        analysis = Analysis(
            content_hash=digest,
            encoding=decoded.encoding,
            language=language,
            title=document.title,
            metadata=document.metadata,
            size=len(raw.data),
            sections=document.sections,
            chunks=spans,
            texts=tuple(data[span.start : span.end].decode("utf-8") for span in spans),
            lines=_lines(data, spans) if raw.media_type in FILE_TYPES else tuple([(1, 1)] * len(spans)),
            links=document.links,
            marks=document.marks,
            tokens=tokens,
            warnings=warnings,
            front=_front(data, document),
        )
        return analysis if decoded.chars is None else _to_source(analysis, decoded)

    def _languages(self, documents: Mapping[str, ParsedDocument]) -> dict[str, str]:
        if self._options.language != "auto":
            return dict.fromkeys(documents, self._options.language)
        return dict(zip(documents, detect_all(list(map(_sample, documents.values()))), strict=True))


def _sample(document: ParsedDocument) -> str:
    """Return the beginning of a document's prose, as much as its language is told by."""
    data = document.text.encode("utf-8", "surrogatepass")
    sample: list[str] = []
    size = 0
    for start, end in document.prose:
        piece = data[start : min(end, start + 4 * LANGUAGE_CHARS)].decode("utf-8", "ignore")
        sample.append(piece)
        size += len(piece)
        if size >= LANGUAGE_CHARS:
            break
    return " ".join(sample)


def _front(data: bytes, document: ParsedDocument) -> str:
    """Return the frontmatter as written; it is the first block, from offset 0, if there is any. An event is
    nothing else."""
    first = document.blocks[0] if document.blocks else None
    is_there = first is not None and first.kind == "frontmatter" and first.start == 0
    return data[: first.end].decode("utf-8") if is_there and first is not None else ""


def _unexpected(error: Exception) -> tuple[str, str]:
    reason = f"its analysis failed ({type(error).__name__}: {error})"
    return reason, "Please report this with the file; exclude it until then"


def _lines(data: bytes, spans: Sequence[ChunkSpan]) -> tuple[tuple[int, int], ...]:
    """Return each span's first and last 1-based line."""
    breaks = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == 10)
    first = np.searchsorted(breaks, [span.start for span in spans]) + 1
    last = np.searchsorted(breaks, [span.end - 1 for span in spans]) + 1
    return tuple(zip(first.tolist(), last.tolist(), strict=True))


def _to_source(analysis: Analysis, decoded: Decoded) -> Analysis:
    """Turn text offsets into source offsets, for encodings other than UTF-8."""

    def moved(items: Sequence[_Spanned]) -> tuple[_Spanned, ...]:
        ends = np.array([(item.start, item.end) for item in items], dtype=np.int32).reshape(-1, 2)
        places = decoded.to_source(ends).tolist()
        return tuple(replace(item, start=a, end=b) for item, (a, b) in zip(items, places, strict=True))

    tokens = analysis.tokens
    return replace(
        analysis,
        sections=moved(analysis.sections),
        chunks=moved(analysis.chunks),
        links=moved(analysis.links),
        marks=moved(analysis.marks),
        tokens=replace(tokens, start=decoded.to_source(tokens.start), end=decoded.to_source(tokens.end)),
        front_at=int(decoded.to_source(np.zeros(1, dtype=np.int32))[0]) if analysis.front else 0,
    )
