"""Corpora of a few notes through the real document stages, without a model's tokenizer."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from clew.ingest.analyse import analyse
from clew.ingest.gather import gather
from clew.ingest.graph import extract_graph
from clew.ingest.model import Corpus, Graph
from clew.options import ChunkOptions, IndexOptions
from clew.types import RawDocument


class Words:
    """Counts words."""

    name = "words"

    def offsets(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return [np.array([m.start() for m in re.finditer(r"\S+", text)], dtype=np.int32) for text in texts]


class Quiet:
    """A Progress that says nothing."""

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, n: int = 1) -> None: ...

    def note(self, text: str) -> None: ...


def raw(key: str, content: str | bytes, title: str | None = None) -> RawDocument:
    data = content if isinstance(content, bytes) else content.encode("utf-8", "surrogatepass")
    media = "markdown" if key.endswith(".md") else "text" if key.endswith(".txt") else "record"
    return RawDocument(key, key, data, media, title)  # type: ignore[arg-type]


def corpus_of(
    files: Mapping[str, str | bytes],
    titles: Mapping[str, str] | None = None,
    language: str = "auto",
    size: int = 256,
) -> Corpus:
    """Return the corpus of files by key: ``.md`` Markdown, ``.txt`` text, anything else a record."""
    raws = [raw(key, text, (titles or {}).get(key)) for key, text in files.items()]
    options = IndexOptions(chunk=ChunkOptions(size=size), language=language)
    kept, analyses, _ = analyse(raws, options, Words(), 256, [], None, Quiet())
    return gather(kept, analyses)


def graph_of(
    files: Mapping[str, str | bytes], titles: Mapping[str, str] | None = None, **options: str
) -> Graph:
    return extract_graph(corpus_of(files, titles, **options))  # type: ignore[arg-type]


def node(graph: Graph, name: str, kind: str | None = None) -> int:
    """Return the one node of that display name (and kind)."""
    found = [
        i
        for i, (n, k) in enumerate(zip(graph.name, graph.kind, strict=True))
        if n == name and kind in (None, k)
    ]
    assert len(found) == 1, (name, found, graph.name)
    return found[0]


def edges(graph: Graph, kind: str) -> set[tuple[str, str]]:
    """Return the edges of a kind by their ends' names."""
    rows = zip(graph.edge_kind, graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True)
    return {(graph.name[a], graph.name[b]) for k, a, b in rows if k == kind}


def surfaces(corpus: Corpus, graph: Graph, at: int) -> list[str]:
    """Return the texts by which a node is mentioned, in order."""
    out = []
    for i in np.flatnonzero(graph.mention_node == at).tolist():
        chunk = int(graph.mention_chunk[i])
        base = int(corpus.chunk_start[chunk])
        data = corpus.text(chunk).encode("utf-8")
        out.append(data[graph.mention_start[i] - base : graph.mention_end[i] - base].decode("utf-8"))
    return out
