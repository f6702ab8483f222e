"""The document stages: decode, parse, chunk, tokenise. Each document by itself, once per content."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath

from clew.ids import content_hash, make_id
from clew.ingest.chunk import limits
from clew.ingest.documents import PASSAGES, Failures, Items, Work
from clew.ingest.workers import spread
from clew.options import IndexOptions
from clew.ports import Cache, Extractor, Progress, Tokenizer
from clew.text.dates import unread_dates
from clew.text.frontmatter import field_marks
from clew.text.language import preload
from clew.text.tokens import normal_words
from clew.types import FILE_TYPES, Analysis, Problem, RawDocument

PARSE_VERSION = "6"  # raise it whenever the same bytes would be analysed otherwise
# Documents analysed at once share a look into the cache, a commit to it, and a call of the tokenizer.
BATCH_BYTES = 1 << 19
BATCH_DOCS = 512
DATES = "Write it as 2026-01-31, or 2026-01-31 15:04"


def analyse(
    raws: Sequence[RawDocument],
    options: IndexOptions,
    tokenizer: Tokenizer,
    window: int,
    extractors: Sequence[Extractor],
    cache: Cache | None,
    progress: Progress,
    work: Counter[str] | None = None,
) -> tuple[list[RawDocument], list[Analysis], list[Problem]]:
    """Return the documents that could be analysed, their analyses in step, sorted by key, and problems.

    An analysis depends on a document's bytes, media type and the options alone; its title falls
    back on the source's title, then on the file name. A document whose analysis fails is a problem.
    Much that isn't in the cache is spread over processes, which changes nothing in what is returned.
    ``work`` counts the contents that weren't there as ``documents_parsed``.
    """
    ordered = sorted(raws, key=lambda raw: raw.key)
    suffix = dependence(options, tokenizer, window, extractors)
    hashes = [content_hash(raw.data) for raw in ordered]
    keys = [
        make_id(digest, raw.media_type, suffix["record" if raw.media_type in PASSAGES else "note"])
        for digest, raw in zip(hashes, ordered, strict=True)
    ]
    found, missing = _look_up(ordered, hashes, keys, cache)
    if missing and options.language == "auto":
        preload()
    count = Counter(keys)
    progress.advance(sum(count[key] for key in found))
    failed: Failures = {}
    recipe = Work(options, tokenizer, window, extractors)
    codec = cache.codec if cache is not None else None
    for done in spread(recipe, list(_batches(missing)), codec, options.workers, progress):
        if cache is not None and done.analyses:
            cache.put_analyses(done.analyses, done.encoded)
        found.update(done.analyses)
        failed.update(done.failures)
        if work is not None:
            work["documents_parsed"] += len(done.analyses)
        progress.advance(sum(count[key] for key in (*done.analyses, *done.failures)))
    return _in_step(ordered, keys, found, failed)


def _look_up(
    raws: Sequence[RawDocument], hashes: Sequence[str], keys: Sequence[str], cache: Cache | None
) -> tuple[dict[str, Analysis], Items]:
    """Return the stored analyses by key, and the first document of each key that has none."""
    found: dict[str, Analysis] = {}
    if cache is not None:
        for begin in range(0, len(keys), BATCH_DOCS):
            found.update(cache.analyses(keys[begin : begin + BATCH_DOCS]))
    missing: dict[str, tuple[str, RawDocument]] = {}
    for key, digest, raw in zip(keys, hashes, raws, strict=True):
        if key not in found:
            missing.setdefault(key, (digest, raw))
    return found, missing


def _in_step(
    raws: Sequence[RawDocument], keys: Sequence[str], found: Mapping[str, Analysis], failed: Failures
) -> tuple[list[RawDocument], list[Analysis], list[Problem]]:
    kept: list[RawDocument] = []
    analyses: list[Analysis] = []
    problems: list[Problem] = []
    for key, raw in zip(keys, raws, strict=True):
        analysis = found.get(key)
        if analysis is None:
            problems.append(Problem(raw.key, *failed[key]))
            continue
        kept.append(raw)
        analyses.append(_named(analysis, raw))
        problems += [Problem(raw.key, warning, skipped=False) for warning in analysis.warnings]
        for field in unread_dates(analyses[-1].metadata):
            problems.append(Problem(raw.key, f"its {field} isn't a date that can be read", DATES, False))
    return kept, analyses, problems


def dependence(
    options: IndexOptions, tokenizer: Tokenizer, window: int, extractors: Sequence[Extractor]
) -> dict[str, str]:
    """Return the hash of all that an analysis depends on beside the document, by kind: ``note``, ``record``.

    It is a part of the cache's key, and no other option makes an analysis anew.
    """
    names = ",".join(extractor.name for extractor in extractors)
    return {
        kind: make_id(
            PARSE_VERSION,
            ",".join(map(str, limits(options.chunk, window, kind == "record"))),
            tokenizer.name,
            options.language,
            names,
        )
        for kind in ("note", "record")
    }


def _batches(items: Items) -> Iterator[Items]:
    batch: dict[str, tuple[str, RawDocument]] = {}
    size = 0
    for key, (digest, raw) in items.items():
        batch[key] = digest, raw
        size += len(raw.data)
        if size >= BATCH_BYTES or len(batch) >= BATCH_DOCS:
            yield batch
            batch, size = {}, 0
    if batch:
        yield batch


def _named(analysis: Analysis, raw: RawDocument) -> Analysis:
    """Add what isn't in the bytes: the title by which the source knows the document, its metadata, and the
    tags and authors among the fields of a record."""
    marks = (*field_marks(raw.metadata), *analysis.marks) if raw.media_type == "record" else analysis.marks
    title = raw.title or analysis.title or _chapter(raw, analysis) or _stem(raw)
    metadata = {**raw.metadata, **analysis.metadata} if raw.metadata else analysis.metadata
    if title == analysis.title and metadata is analysis.metadata:
        return analysis
    return replace(analysis, title=title, metadata=metadata, marks=marks)


def _chapter(raw: RawDocument, analysis: Analysis) -> str:
    """Return the first heading if it heads the document and the file is named after it: a book's
    `ch04-01-what-is-ownership.md` begins with `## What Is Ownership?`. A file `todo.md` that begins with
    `## Today` keeps its name. Where other headings stand beside the first ("Summary"), it must have all
    words of the file's name, and they none."""
    headings = [section for section in analysis.sections if section.level]
    if raw.media_type != "markdown" or not headings:
        return ""
    top = min(section.level for section in headings)
    if headings[0].level != top:
        return ""
    name = {word for word in normal_words(_stem(raw)) if not any(map(str.isnumeric, word))}
    first, *others = [set(normal_words(section.title)) for section in headings if section.level == top]
    if others and not (name <= first and name.isdisjoint(frozenset().union(*others))):
        return ""
    return headings[0].title if 2 * len(name & first) > len(name) else ""


def _stem(raw: RawDocument) -> str:
    return PurePosixPath(raw.key).stem if raw.media_type in FILE_TYPES else raw.key
