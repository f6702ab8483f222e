"""The recipe of indexing, to be read from top to bottom.

scan → parse, chunk → gather → extract, resolve, link → communities → reports → publish → embed → publish
→ (with a language model) consult → publish
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
from clew.errors import IndexFileError
from clew.ingest.analyse import analyse, dependence
from clew.ingest.assemble import assemble
from clew.ingest.changes import count_changes
from clew.ingest.communities import nothing_binds, partition
from clew.ingest.consult import Model, consult
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
from clew.room import memory_kept
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


@dataclass(slots=True)
class _Staged:
    """A Progress whose stages are timed by the clock."""

    clock: _Clock

    def stage(self, name: str, total: int | None = None) -> None:
        self.clock.stage(name, total)

    def advance(self, n: int = 1) -> None:
        self.clock.progress.advance(n)

    def note(self, text: str) -> None:
        self.clock.progress.note(text)


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


@memory_kept()
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
    model: Model | None = None,
    rebuild: bool = False,
) -> BuildResult:
    """Index the sources and publish at ``path``, first without vectors, then with them, then with what a
    ``model`` adds.

    ``tokenizer`` and ``window`` size the chunks; they are the embedder's, or the default one's
    where ``embedder`` is None. Where the index was made from just this, there is nothing to do but to say
    so, unless it shall ``rebuild``. Raises SourceError and PublishError; a problem with one document
    is listed in the result.
    """
    clock = _Clock(progress)
    clock.stage("scan")
    raws, problems = scan(sources)
    told = [note for source in sources for note in getattr(source, "notes", ())]
    asks = model.record(options) if model is not None else None
    made = fingerprint(raws, recorded(options), tokenizer, window, extractors, embedder, asks)
    imprint, places = store.imprint(path), origins(sources)
    record = unchanged(imprint, made, places)
    if imprint is not None and record is not None and not rebuild:
        clock.stop()
        return _as_it_was(path, record, imprint.meta, problems, embedder, clock.seconds, told)
    analysis = dependence(options, tokenizer, window, extractors)
    changes, reach, line = tell(imprint, options, analysis, embedder, asks)
    if line:
        progress.note(line)
    there = published(store, path)
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
    terms = index_terms(corpus)
    clock.stage("communities")
    communities = partition(corpus, graph, options.community)
    reports = summarise(corpus, graph, communities, cache)
    told = [*told, *nothing_binds(graph, options.community)]
    clock.stage("publish")
    meta = _meta(corpus, options, analysis)
    artifact = replace(assemble(corpus, graph, communities, reports, *terms, meta), sources=places)
    languages, size = _languages(corpus), sum(document.size for document in corpus.documents)
    texts = dense_texts(corpus) if embedder is not None else []
    if model is None:
        del corpus, graph, communities, reports, terms
    embeds = bool(texts)
    if not embeds and model is None:
        artifact = _with_record(artifact, made, size, failed)
    # What is there with this embedder's vectors or this model's graph answers better until the new one is
    # whole than a new one without.
    has_vectors = embeds and embedder is not None and there.embedder == embedder.name
    has_model = asks is not None and there.model == asks["model"]
    if not has_vectors and not has_model:
        store.publish(path, artifact)
        if embeds or model is not None:
            progress.note(_early(embeds, model))
    notes = list(told)
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
        if model is None:
            artifact = _with_record(artifact, made, size, failed)
        if not has_model:
            store.publish(path, artifact)
    found = None
    if model is not None:
        # Kept replies are free: where much is new, what hasn't changed needn't wait for it.
        for caller in (model.kept, model.caller) if has_model else (model.caller,):
            found = consult(corpus, graph, communities, reports, options, model, caller, _Staged(clock))
            clock.stage("publish")
            meta = {**artifact.meta, "model": asks}
            whole = assemble(corpus, found.graph, found.communities, found.reports, *terms, meta)
            artifact = replace(whole, sources=places, arrays={**artifact.arrays, **whole.arrays})
            # What failed or is left to do is asked again by the next build, even if nothing has changed.
            artifact = _with_record(artifact, made if found.complete else "", size, failed)
            store.publish(path, artifact)
            if not found.left:
                break
            if caller is model.kept:
                progress.note(f"Published with what {caller.model.name} has said before; now it is asked.")
    if found is not None:
        problems, notes = [*problems, *found.problems], [*notes, *found.notes]
        work.update(found.work)
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
        left={stage: asdict(one) for stage, one in found.left.items()} if found is not None else {},
        costs=tuple(model.costs()) if model is not None else (),
    )


def _early(embeds: bool, model: Model | None) -> str:
    """Say what an index lacks that is published before all is done."""
    lacks = ["vectors"] if embeds else []
    doing = ["embedding goes on"] if embeds else []
    if model is not None:
        name = model.caller.model.name
        lacks.append(f"what {name} adds")
        doing.append(f"{name} is asked")
    return (
        f"Published without {' and '.join(lacks)}: questions can be asked now, while {' and '.join(doing)}."
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
    notes: Sequence[str],
) -> BuildResult:
    """Return the result of a build that had nothing to do: what the build that made the index told."""
    listed = [*problems, *(Problem(**problem) for problem in record["problems"])]
    languages = _most_first(meta["languages"])
    if embedder is not None and meta["embedder"]:
        notes = [*notes, *language_note(languages, embedder)]
    nothing = "Nothing has changed since the index was made: it is as it was."
    counts = dict(record["counts"])
    work = dict.fromkeys(WORK, 0) | {
        "documents_unchanged": counts["documents"],
        "vectors_reused": counts["vectors"],
    }
    return BuildResult(
        str(path), counts, seconds, tuple(listed), languages, (*notes, nothing), unchanged=True, work=work
    )


@dataclass(frozen=True, slots=True)
class Published:
    """What is asked of the index that an update replaces."""

    contents: Mapping[str, str] = field(default_factory=dict)  # hashes by key
    embedder: str | None = None  # of its vectors
    model: str | None = None  # that was asked about it


def published(store: Store, path: Path) -> Published:
    """Return what is asked of the index at ``path``; nothing if there is none that can be read."""
    try:
        reader = store.open(path)
    except IndexFileError:
        return Published()
    try:
        asked = reader.meta.get("model")
        model = asked.get("model") if isinstance(asked, Mapping) else None
        return Published(reader.contents(), reader.meta.get("embedder"), model)
    except IndexFileError:  # it is damaged, and about to be replaced
        return Published()
    finally:
        reader.close()


def dense_texts(corpus: Corpus) -> list[str]:
    """Return what is embedded of each chunk."""
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
        "model": None,
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
