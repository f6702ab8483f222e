"""Small corpora through the real document stages, with graphs whose names are given."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from clew import registry
from clew.ids import make_id
from clew.ingest.analyse import analyse
from clew.ingest.gather import gather
from clew.ingest.model import Corpus, Graph
from clew.options import EmbedOptions, IndexOptions
from clew.text.tokens import normal_name
from clew.types import UNDATED, RawDocument


class Quiet:
    """A Progress that says nothing."""

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, n: int = 1) -> None: ...

    def note(self, text: str) -> None: ...


def make_corpus(files: Mapping[str, str | bytes], order: Sequence[str] | None = None) -> Corpus:
    """Return the corpus of some files, given to it in ``order``."""
    embedder = registry.make_embedder(EmbedOptions())
    assert embedder is not None
    raws = []
    for key in order or sorted(files):
        content = files[key]
        data = content if isinstance(content, bytes) else content.encode()
        raws.append(RawDocument(key, key, data, "markdown" if key.endswith(".md") else "text"))
    raws, analyses, problems = analyse(
        raws, IndexOptions(), embedder.tokenizer, embedder.window, [], None, Quiet()
    )
    assert not [problem for problem in problems if problem.skipped], problems
    return gather(raws, analyses)


def make_graph(corpus: Corpus, names: Sequence[str]) -> Graph:
    """Return the graph of documents and of entities with these names.

    A heading that is a name defines it; every occurrence, in any letter case, is a mention.
    """
    rows = [("document", d.title, d.doc) for d in corpus.documents]
    rows += [("entity", name, -1) for name in sorted(names)]
    place = {(kind, name): i for i, (kind, name, _) in enumerate(rows)}
    mentions, definitions = [], []
    for chunk in range(corpus.n_chunks):
        doc = corpus.documents[int(corpus.chunk_doc[chunk])]
        text = corpus.text(chunk)
        low = int(corpus.chunk_start[chunk])
        if chunk == int(corpus.doc_chunks[doc.doc]):
            definitions.append((doc.doc, chunk, 1.0))
        for name in names:
            node = place["entity", name]
            for match in re.finditer(re.escape(name), text, re.IGNORECASE):
                begin, end = (low + len(text[:at].encode(doc.encoding)) for at in match.span())
                mentions.append((chunk, begin, end, node))
            if re.search(rf"^#+ {re.escape(name)}\s*$", text, re.MULTILINE):
                definitions.append((node, chunk, 0.8))
    table = np.array(sorted(mentions), dtype=np.int32).reshape(-1, 4)
    defs = np.array(sorted(definitions)).reshape(-1, 3)
    none = np.zeros(0, dtype=np.int32)
    ids = tuple(make_id(kind, name, str(doc)) for kind, name, doc in rows)
    normal = tuple(normal_name(name) for _, name, _ in rows)
    return Graph(
        kind=tuple(row[0] for row in rows),
        name=tuple(row[1] for row in rows),
        normal=normal,
        node_id=ids,
        doc=np.array([row[2] for row in rows], dtype=np.int32),
        confidence=np.ones(len(rows), dtype=np.float32),
        type=("",) * len(rows),
        description=("",) * len(rows),
        node_time=np.full(len(rows), UNDATED, dtype=np.int64),
        node_rank=np.full(len(rows), 1 / max(len(rows), 1)),
        name_node=np.arange(len(rows), dtype=np.int32),
        name_surface=tuple(row[1] for row in rows),
        name_key=normal,
        mention_node=table[:, 3].copy(),
        mention_chunk=table[:, 0].copy(),
        mention_start=table[:, 1].copy(),
        mention_end=table[:, 2].copy(),
        def_node=defs[:, 0].astype(np.int32),
        def_chunk=defs[:, 1].astype(np.int32),
        def_weight=defs[:, 2].astype(np.float32),
        edge_kind=(),
        edge_source=none,
        edge_target=none,
        edge_weight=np.zeros(0, dtype=np.float32),
        edge_time=none.astype(np.int64),
        edge_phrase=(),
        evidence_edge=none,
        evidence_doc=none,
        evidence_chunk=none,
        evidence_start=none,
        evidence_end=none,
    )
