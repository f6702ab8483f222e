"""What indexing would do and what a language model would cost, without doing it: `clew index --dry-run`.

Notes are read, parsed and linked as in a build. The model's stages run with kept replies alone, so that what
they have left is what a build would ask; nobody is called, and nothing is written.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from clew.ingest.analyse import analyse
from clew.ingest.asking import Left
from clew.ingest.build import dense_texts, published
from clew.ingest.changes import count_changes
from clew.ingest.communities import partition
from clew.ingest.consult import Model, consult
from clew.ingest.embed import count_missing
from clew.ingest.gather import gather
from clew.ingest.graph import extract_graph
from clew.ingest.origins import origins
from clew.ingest.reports import summarise
from clew.ingest.scan import scan
from clew.ingest.unchanged import fingerprint, unchanged
from clew.options import IndexOptions, recorded
from clew.ports import AnalysisCodec, Cache, Embedder, Extractor, Progress, Source, Store, Tokenizer
from clew.types import Analysis, Cost, Forecast, Foreseen, Saving, Usage

# From so many calls on, what this model's replies have taken so far tells more than a guess.
KNOWN = 5


class Unwritten:
    """A Cache that is read and never written."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache
        self.problem = cache.problem

    @property
    def codec(self) -> AnalysisCodec | None:
        return None

    def analyses(self, keys: Sequence[str]) -> dict[str, Analysis]:
        return self._cache.analyses(keys)

    def put_analyses(
        self, items: Mapping[str, Analysis], encoded: Mapping[str, bytes] = MappingProxyType({})
    ) -> None: ...

    def vectors(self, embedder: str, keys: Sequence[str]) -> dict[str, NDArray[np.float16]]:
        return self._cache.vectors(embedder, keys)

    def put_vectors(self, embedder: str, items: Mapping[str, NDArray[np.float16]]) -> None: ...

    def parts(self, keys: Sequence[str]) -> dict[str, bytes]:
        return self._cache.parts(keys)

    def put_parts(self, items: Mapping[str, bytes]) -> None: ...

    def replies(self, keys: Sequence[str]) -> dict[str, bytes]:
        return self._cache.replies(keys)

    def put_replies(self, items: Mapping[str, bytes]) -> None: ...

    def costs(self) -> list[Cost]:
        return self._cache.costs()

    def add_costs(self, costs: Sequence[Cost]) -> None: ...

    def savings(self) -> list[Saving]:
        return self._cache.savings()

    def add_saving(self, saving: Saving) -> None: ...

    def stats(self) -> dict[str, int]:
        return self._cache.stats()

    def unused(self) -> int:
        return self._cache.unused()

    def drop_unused(self) -> int:
        return 0

    def prune(self) -> int:
        return 0

    def close(self) -> None:
        self._cache.close()


class _Silence:
    """A Progress that says nothing: nobody is asked, whatever the stages are called."""

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, n: int = 1) -> None: ...

    def note(self, text: str) -> None: ...


def foresee(
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
) -> Forecast:
    """Return what ``build`` with the same arguments would do; ``cache`` isn't written if it is Unwritten.

    Raises SourceError.
    """
    progress.stage("scan")
    raws, problems = scan(sources)
    asks = model.record(options) if model is not None else None
    made = fingerprint(raws, recorded(options), tokenizer, window, extractors, embedder, asks)
    if not rebuild and unchanged(store.imprint(path), made, origins(sources)) is not None:
        same = {"documents_unchanged": len(raws)}
        return Forecast(str(path), {"documents": len(raws)}, same, (), tuple(problems), unchanged=True)
    work: Counter[str] = Counter()
    progress.stage("parse", len(raws))
    raws, analyses, failed = analyse(raws, options, tokenizer, window, extractors, cache, progress, work)
    corpus = gather(raws, analyses)
    there = published(store, path)
    work.update(count_changes(there.contents, {one.key: one.content_hash for one in corpus.documents}))
    work["vectors_embedded"], work["vectors_reused"] = 0, 0
    if embedder is not None:
        missing, rows = count_missing(dense_texts(corpus), embedder, cache)
        work["vectors_embedded"], work["vectors_reused"] = missing, rows - missing
    stages: list[Foreseen] = []
    if model is not None:
        progress.stage("link")
        graph = extract_graph(corpus, progress)
        communities = partition(corpus, graph, options.community)
        reports = summarise(corpus, graph, communities)
        progress.stage("estimate")
        found = consult(corpus, graph, communities, reports, options, model, model.kept, _Silence())
        stages = _stages(model, found.left, cache.costs() if cache is not None else [])
    counts = {
        "documents": len(corpus.documents),
        "bytes": sum(document.size for document in corpus.documents),
        "chunks": corpus.n_chunks,
    }
    return Forecast(str(path), counts, dict(work), tuple(stages), (*problems, *failed))


def _stages(model: Model, left: Mapping[str, Left], costs: Iterable[Cost]) -> list[Foreseen]:
    """Return what is left by stage, with the replies that are kept and what the rest will cost."""
    name = model.caller.model.name
    known = {one.stage: one for one in costs if one.model == name and one.calls >= KNOWN}
    kept: dict[str, int] = {one.stage: one.kept for one in model.kept.ledger.rows}
    stages = []
    for stage in [*left, *(stage for stage in kept if stage not in left)]:
        one = left.get(stage, Left())
        reply = one.reply_tokens
        if stage in known:
            reply = round(one.calls * known[stage].reply_tokens / known[stage].calls)
        price = model.caller.price
        money = price.of(Usage(one.prompt_tokens, reply, exact=False)) if price is not None else None
        stages.append(
            Foreseen(stage, one.items, one.calls, kept.get(stage, 0), one.prompt_tokens, reply, money)
        )
    return stages
