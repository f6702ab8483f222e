"""The document stages: decode, parse, chunk, tokenise. Each document by itself, once per content."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import PurePosixPath
from typing import TypeVar

import numpy as np

from clew.ids import content_hash, make_id
from clew.ingest.chunk import cut
from clew.options import IndexOptions
from clew.ports import Cache, Extractor, Progress, Tokenizer
from clew.text.decode import Decoded, NotText, decode
from clew.text.language import detect
from clew.text.markdown import parse_markdown
from clew.text.plain import parse_plain
from clew.text.tokens import tokenize
from clew.text.wordwise import TokenPlaces
from clew.types import Analysis, ChunkSpan, Ints, Link, Mark, ParsedDocument, Problem, RawDocument, Section

PARSE_VERSION = "3"  # raise it whenever the same bytes would be analysed otherwise
# Documents analysed at once share a look into the cache, a commit to it, and a call of the tokenizer.
BATCH_BYTES = 1 << 20
BATCH_DOCS = 512
LANGUAGE_CHARS = 300  # as many as detection looks at

_Spanned = TypeVar("_Spanned", ChunkSpan, Section, Link, Mark)


def analyse(
    raws: Sequence[RawDocument],
    options: IndexOptions,
    tokenizer: Tokenizer,
    window: int,
    extractors: Sequence[Extractor],
    cache: Cache | None,
    progress: Progress,
) -> tuple[list[RawDocument], list[Analysis], list[Problem]]:
    """Return the documents that could be analysed, their analyses in step, sorted by key, and problems.

    An analysis depends on a document's bytes, media type and the options alone; its title falls
    back on the source's title, then on the file name. A document whose analysis fails is a problem.
    """
    ordered = sorted(raws, key=lambda raw: raw.key)
    suffix = _suffix(options, tokenizer, window, extractors)
    work = _Work(options, tokenizer, window, extractors)
    kept: list[RawDocument] = []
    analyses: list[Analysis] = []
    problems: list[Problem] = []
    for batch in _batches(ordered):
        hashes = [content_hash(raw.data) for raw in batch]
        keys = [make_id(digest, raw.media_type, suffix) for digest, raw in zip(hashes, batch, strict=True)]
        stored = cache.analyses(keys) if cache is not None else {}
        missing = {
            key: (digest, raw)
            for key, digest, raw in zip(keys, hashes, batch, strict=True)
            if key not in stored
        }
        fresh, failed = work.analyse(missing)
        if cache is not None and fresh:
            cache.put_analyses(fresh)
        for key, raw in zip(keys, batch, strict=True):
            found = stored.get(key) or fresh.get(key)
            if found is None:
                problems.append(Problem(raw.key, *failed[key]))
                continue
            kept.append(raw)
            analyses.append(_named(found, raw))
            problems += [Problem(raw.key, warning, skipped=False) for warning in found.warnings]
        progress.advance(len(batch))
    return kept, analyses, problems


def _suffix(options: IndexOptions, tokenizer: Tokenizer, window: int, extractors: Sequence[Extractor]) -> str:
    """Return the part of the cache's key that is the same for all documents."""
    chunk = ",".join(f"{name}={value}" for name, value in sorted(asdict(options.chunk).items()))
    names = ",".join(extractor.name for extractor in extractors)
    return make_id(PARSE_VERSION, chunk, str(window), tokenizer.name, options.language, names)


def _batches(raws: Sequence[RawDocument]) -> Iterator[list[RawDocument]]:
    batch: list[RawDocument] = []
    size = 0
    for raw in raws:
        batch.append(raw)
        size += len(raw.data)
        if size >= BATCH_BYTES or len(batch) >= BATCH_DOCS:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _named(analysis: Analysis, raw: RawDocument) -> Analysis:
    """Add what isn't in the bytes: the title by which the source knows the document, its metadata."""
    title = raw.title or analysis.title or _stem(raw)
    metadata = {**raw.metadata, **analysis.metadata} if raw.metadata else analysis.metadata
    if title == analysis.title and metadata is analysis.metadata:
        return analysis
    return replace(analysis, title=title, metadata=metadata)


def _stem(raw: RawDocument) -> str:
    return raw.key if raw.media_type == "record" else PurePosixPath(raw.key).stem


class _Work:
    """Analyses documents that aren't in the cache."""

    def __init__(
        self, options: IndexOptions, tokenizer: Tokenizer, window: int, extractors: Sequence[Extractor]
    ) -> None:
        self._options = options
        self._places = TokenPlaces(tokenizer)
        self._window = window
        self._extractors = extractors

    def analyse(
        self, items: Mapping[str, tuple[str, RawDocument]]
    ) -> tuple[dict[str, Analysis], dict[str, tuple[str, str]]]:
        """Return analyses by cache key, and (reason, remedy) for those that failed."""
        parsed: dict[str, tuple[Decoded, ParsedDocument]] = {}
        done: dict[str, Analysis] = {}
        failed: dict[str, tuple[str, str]] = {}
        for key, (_, raw) in items.items():
            try:
                parsed[key] = self._parse(raw)
            except NotText as error:
                failed[key] = (str(error), "Save it as UTF-8 text, or exclude it")
            except Exception as error:  # one bad file never ends a run
                failed[key] = _unexpected(error)
        starts = self._places.starts([document.text for _, document in parsed.values()])
        for (key, (decoded, document)), token_starts in zip(parsed.items(), starts, strict=True):
            digest, raw = items[key]
            try:
                done[key] = self._finish(digest, raw, decoded, document, token_starts)
            except Exception as error:  # as above
                failed[key] = _unexpected(error)
        return done, failed

    def _parse(self, raw: RawDocument) -> tuple[Decoded, ParsedDocument]:
        decoded = decode(raw.data)
        parse = parse_markdown if raw.media_type == "markdown" else parse_plain
        document = parse(decoded.text)
        extra = [mark for extractor in self._extractors for mark in extractor.extract(document)]
        if extra:
            marks = sorted(
                [*document.marks, *extra], key=lambda mark: (mark.start, mark.end, mark.kind, mark.name)
            )
            document = replace(document, marks=tuple(marks))
        return decoded, document

    def _finish(
        self, digest: str, raw: RawDocument, decoded: Decoded, document: ParsedDocument, starts: Ints
    ) -> Analysis:
        is_record = raw.media_type == "record"
        spans = cut(document, starts, self._options.chunk, self._window, is_record)
        headings = [(block.start, block.end) for block in document.blocks if block.kind == "heading"]
        tokens = tokenize(document.text, document.prose, document.code, headings)
        data = document.text.encode("utf-8")
        warnings = (*decoded.warnings, *document.warnings)
        if not spans:
            warnings += ("it holds no text",)
        analysis = Analysis(
            content_hash=digest,
            encoding=decoded.encoding,
            language=self._language(data, document),
            title=document.title,
            metadata=document.metadata,
            size=len(raw.data),
            sections=document.sections,
            chunks=spans,
            texts=tuple(data[span.start : span.end].decode("utf-8") for span in spans),
            lines=tuple([(1, 1)] * len(spans)) if is_record else _lines(data, spans),
            links=document.links,
            marks=document.marks,
            tokens=tokens,
            warnings=warnings,
        )
        return analysis if decoded.chars is None else _to_source(analysis, decoded)

    def _language(self, data: bytes, document: ParsedDocument) -> str:
        if self._options.language != "auto":
            return self._options.language
        sample: list[str] = []
        size = 0
        for start, end in document.prose:
            piece = data[start : min(end, start + 4 * LANGUAGE_CHARS)].decode("utf-8", "ignore")
            sample.append(piece)
            size += len(piece)
            if size >= LANGUAGE_CHARS:
                break
        return detect(" ".join(sample))


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
    )
