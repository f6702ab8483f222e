"""The recipe of indexing, to be read from top to bottom.

scan → parse, chunk → gather → extract, resolve, link → communities → reports → publish → embed → publish
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from clew import __version__
from clew.calls.make import Callers
from clew.errors import IndexFileError
from clew.ingest.analyse import analyse, dependence
from clew.ingest.assemble import assemble
from clew.ingest.changes import count_changes
from clew.ingest.communities import partition
from clew.ingest.embed import dense_text, embed_chunks, language_note
from clew.ingest.gather import gather
from clew.ingest.graph import extract_graph
from clew.ingest.lexical import index_terms
from clew.ingest.model import Corpus
from clew.ingest.origins import origins
from clew.ingest.reach import tell
from clew.ingest.reports import summarise
from clew.ingest.scan import scan
from clew.ingest.unchanged import fingerprint, unchanged
from clew.options import IndexOptions, recorded
from clew.ports import Cache, Embedder, Extractor, Progress, Source, Store, Tokenizer
from clew.types import Artifact, BuildResult, Problem

# What a build counts of its work; see BuildResult.
WORK = (
    "documents_new",
    "documents_edited",
    "documents_moved",
    "documents_removed",
    "documents_unchanged",
    "documents_parsed",
    "vectors_embedded",
    "vectors_reused",
)


@dataclass(slots=True)
class _Clock:
    """Seconds by stage, and the stage's name to whoever watches."""

    progress: Progress
    seconds: dict[str, float] = field(default_factory=dict)
    _name: str = ""
    _since: float = 0.0

    def stage(self, name: str, total: int | None = None) -> None:
        self.stop()
        self._name, self._since = name, time.perf_counter()
        self.progress.stage(name, total)

    def stop(self) -> None:
        if self._name:
            took = time.perf_counter() - self._since
            self.seconds[self._name] = self.seconds.get(self._name, 0.0) + took
        self._name = ""


@contextmanager
def _without_gc() -> Iterator[None]:
    """Pause the cycle collector: the stages make millions of objects and next to no cycles, and
    walking over them again and again took a tenth of the time or more."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@_without_gc()
def build(
    sources: Sequence[Source],
    path: Path,
    options: IndexOptions,
    *,
    store: Store,
    cache: Cache | None,
    embedder: Embedder | None,
    tokenizer: Tokenizer,
    window: int,
    extractors: Sequence[Extractor],
    progress: Progress,
    callers: Callers | None = None,
    rebuild: bool = False,
) -> BuildResult:
    """Index the sources and publish at ``path``, first without vectors, then with them.

    ``tokenizer`` and ``window`` size the chunks; they are the embedder's, or the default one's
    where ``embedder`` is None. Where the index was made from just this, there is nothing to do but to say
    so, unless it shall ``rebuild``. Raises SourceError and PublishError; a problem with one document
    is listed in the result.
    """
    clock = _Clock(progress)
    clock.stage("scan")
    raws, problems = scan(sources)
    made = fingerprint(raws, recorded(options), tokenizer, window, extractors, embedder)
    imprint, places = store.imprint(path), origins(sources)
    record = unchanged(imprint, made, places)
    if imprint is not None and record is not None and not rebuild:
        clock.stop()
        return _as_it_was(path, record, imprint.meta, problems, embedder, clock.seconds)
    analysis = dependence(options, tokenizer, window, extractors)
    changes, reach, line = tell(imprint, options, analysis, embedder)
    if line:
        progress.note(line)
    there = _published(store, path)
    work = Counter(dict.fromkeys(WORK, 0))
    clock.stage("parse", len(raws))
    raws, analyses, failed = analyse(raws, options, tokenizer, window, extractors, cache, progress, work)
    problems = [*problems, *failed]
    clock.stage("link")
    corpus = gather(raws, analyses)
    work.update(count_changes(there.contents, {one.key: one.content_hash for one in corpus.documents}))
    del raws, analyses  # as below: the memory of each stage is needed by the next
    graph = extract_graph(corpus, progress)
    clock.stage("terms")
    postings, token_terms = index_terms(corpus)
    clock.stage("communities")
    communities = partition(corpus, graph, options.community)
    reports = summarise(corpus, graph, communities)
    clock.stage("publish")
    artifact = assemble(
        corpus, graph, communities, reports, postings, token_terms, _meta(corpus, options, analysis)
    )
    artifact = replace(artifact, sources=places)
    languages, size = _languages(corpus), sum(document.size for document in corpus.documents)
    texts = _dense_texts(corpus) if embedder is not None else []
    del corpus, graph, communities, reports, postings, token_terms
    embeds = bool(texts)
    if not embeds:
        artifact = _with_record(artifact, made, size, failed)
    # An index with this embedder's vectors answers better until the new one is whole than a new one without.
    if not embeds or embedder is None or there.embedder != embedder.name:
        store.publish(path, artifact)
        if embeds:
            progress.note("Published without vectors: questions can be asked now, while embedding goes on.")
    notes: list[str] = []
    if embedder is not None and embeds:
        notes += language_note(languages, embedder)
        clock.stage("embed", len(texts))
        vectors = embed_chunks(texts, embedder, options.embed, cache, progress, work)
        clock.stage("publish")
        artifact = replace(
            artifact,
            arrays={**artifact.arrays, "dense.chunk": vectors[0], "dense.vectors": vectors[1]},
            meta={**artifact.meta, "embedder": embedder.name, "dimension": embedder.dimension},
        )
        artifact = _with_record(artifact, made, size, failed)
        store.publish(path, artifact)
    clock.stop()
    counts = _counts(artifact, size)
    return BuildResult(
        str(path),
        counts,
        clock.seconds,
        tuple(problems),
        languages,
        tuple(notes),
        changes=changes,
        reach=reach,
        work=dict(work),
    )


def _with_record(artifact: Artifact, made: str, size: int, failed: Sequence[Problem]) -> Artifact:
    """Add what the next build asks: of what this is made, and what there was to tell."""
    counts = list(_counts(artifact, size).items())  # pairs, as JSON keeps no order of keys
    return replace(artifact, made={"from": made, "counts": counts, "problems": list(map(asdict, failed))})


def _as_it_was(
    path: Path,
    record: Mapping[str, Any],
    meta: Mapping[str, Any],
    problems: Sequence[Problem],
    embedder: Embedder | None,
    seconds: Mapping[str, float],
) -> BuildResult:
    """Return the result of a build that had nothing to do: what the build that made the index told."""
    told = [*problems, *(Problem(**problem) for problem in record["problems"])]
    languages = _most_first(meta["languages"])
    notes = language_note(languages, embedder) if embedder is not None and meta["embedder"] else []
    nothing = "Nothing has changed since the index was made: it is as it was."
    counts = dict(record["counts"])
    work = dict.fromkeys(WORK, 0) | {
        "documents_unchanged": counts["documents"],
        "vectors_reused": counts["vectors"],
    }
    return BuildResult(
        str(path), counts, seconds, tuple(told), languages, (*notes, nothing), unchanged=True, work=work
    )


@dataclass(frozen=True, slots=True)
class _Published:
    """What is asked of the index that an update replaces."""

    contents: Mapping[str, str] = field(default_factory=dict)  # hashes by key
    embedder: str | None = None  # of its vectors


def _published(store: Store, path: Path) -> _Published:
    try:
        reader = store.open(path)
    except IndexFileError:
        return _Published()
    try:
        return _Published(reader.contents(), reader.meta.get("embedder"))
    except IndexFileError:  # it is damaged, and about to be replaced
        return _Published()
    finally:
        reader.close()


def _dense_texts(corpus: Corpus) -> list[str]:
    texts: list[str] = []
    for document, stated, analysis in zip(corpus.documents, corpus.stated, corpus.analyses, strict=True):
        title = document.title if stated.titled else ""
        texts += [
            dense_text(title, analysis.sections[span.section].path, text)
            for span, text in zip(analysis.chunks, analysis.texts, strict=True)
        ]
    return texts


def _languages(corpus: Corpus) -> dict[str, int]:
    """Return the number of documents by language, most first."""
    counts = Counter(document.language for document in corpus.documents)
    return _most_first(counts)


def _most_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _meta(corpus: Corpus, options: IndexOptions, analysis: Mapping[str, str]) -> dict[str, Any]:
    return {
        "clew_version": __version__,
        "embedder": None,
        "dimension": 0,
        "options": recorded(options),
        "analysis": analysis,
        "languages": _languages(corpus),
    }


def _counts(artifact: Artifact, size: int) -> dict[str, int]:
    def rows(table: str) -> int:
        columns = artifact.tables[table]
        return len(next(iter(columns.values())))

    kinds: Mapping[str, int] = Counter(artifact.tables["nodes"]["kind"])
    return {
        "documents": rows("documents"),
        "bytes": size,
        "chunks": rows("chunks"),
        "nodes": rows("nodes"),
        "entities": kinds.get("entity", 0),
        "tags": kinds.get("tag", 0),
        "people": kinds.get("person", 0),
        "mentions": rows("mentions"),
        "edges": rows("edges"),
        "communities": rows("communities"),
        "vectors": len(artifact.arrays.get("dense.chunk", ())),
    }
