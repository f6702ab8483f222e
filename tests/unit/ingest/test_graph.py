from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_corpus import corpus_of, edges, graph_of, node, surfaces

from clew.ingest.graph import extract_graph
from clew.ingest.model import Graph
from clew.text.tokens import normal_name

VAULT = {
    "Ada Lovelace.md": "---\naliases: [Countess of Lovelace]\ntags: [people/mathematicians]\n---\n"
    "Ada Lovelace worked with [[Charles Babbage]]. #history\n\n## Notes on the Engine\n\nShe wrote notes.",
    "Charles Babbage.md": "# Charles Babbage\n\nHe built the [engine](Analytical%20Engine.md)."
    " The Countess of Lovelace wrote.",
    "Analytical Engine.md": "A machine of Charles Babbage. See [[Difference Engine]], ![[Ada Lovelace]].\n",
    "log.md": "---\nauthor: Grace Hopper\n---\nRead of ada lovelace in London. Bought tea in London.",
    "more.md": "We went to London. Grace Hopper spoke in London on Ada Lovelace.",
}


def counts(graph: Graph) -> Counter[str]:
    return Counter(graph.edge_kind)


def check(graph: Graph, n_chunks: int) -> None:
    """Hold what is true of every graph."""
    n = graph.n_nodes
    assert len({len(column) for column in (graph.kind, graph.name, graph.normal, graph.node_id)}) <= 1
    assert len(set(graph.node_id)) == n
    order = list(zip(graph.kind, graph.normal, strict=True))
    assert order == sorted(order)
    assert len(graph.doc) == len(graph.confidence) == n
    assert all(0 < c <= 1 for c in graph.confidence.tolist())
    for column in (graph.mention_node, graph.name_node, graph.edge_source, graph.edge_target, graph.def_node):
        assert column.dtype == np.int32
        assert not len(column) or (column.min() >= 0 and column.max() < n)
    assert len(graph.evidence_doc) == len(graph.evidence_chunk)
    assert len(graph.node_time) == len(graph.node_rank) == n
    assert not n or abs(graph.node_rank.sum() - 1) < 1e-6
    outside = graph.evidence_chunk < 0
    for column in (graph.mention_chunk, graph.def_chunk, graph.evidence_chunk[~outside]):
        assert column.dtype == np.int32
        assert not len(column) or (column.min() >= 0 and column.max() < n_chunks)
    for column in (graph.confidence, graph.def_weight, graph.edge_weight):
        assert column.dtype == np.float32
        assert not len(column) or (column.min() > 0 and column.max() <= 1)
    mentions = list(
        zip(
            graph.mention_chunk.tolist(),
            graph.mention_start.tolist(),
            graph.mention_end.tolist(),
            graph.mention_node.tolist(),
            strict=True,
        )
    )
    assert all(a < b for a, b in pairwise(mentions))
    keys = list(zip(graph.edge_kind, graph.edge_source.tolist(), graph.edge_target.tolist(), strict=True))
    assert all(a < b for a, b in pairwise(keys))
    assert all(a != b for _, a, b in keys)
    assert all(a <= b for a, b in pairwise(graph.evidence_edge.tolist()))
    assert set(graph.name_node.tolist()) == set(range(n))


def test_a_small_vault() -> None:
    corpus = corpus_of(VAULT)
    graph = extract_graph(corpus)
    check(graph, corpus.n_chunks)
    assert {("Ada Lovelace", "Charles Babbage"), ("Charles Babbage", "Analytical Engine")} <= edges(
        graph, "references"
    )
    assert ("Analytical Engine", "Difference Engine") in edges(graph, "references")
    assert ("Analytical Engine", "Ada Lovelace") in edges(graph, "references")
    assert {
        ("Ada Lovelace", "people/mathematicians"),
        ("Ada Lovelace", "people"),
        ("Ada Lovelace", "history"),
    } == edges(graph, "tagged_with")
    assert edges(graph, "authored_by") == {("log", "Grace Hopper")}
    assert ("more", "London") in edges(graph, "mentions")
    assert graph.kind[node(graph, "Difference Engine")] == "entity"
    assert graph.doc[node(graph, "Ada Lovelace")] == 0


def test_mentions_of_a_note_in_any_case_by_title_alias_and_link() -> None:
    corpus = corpus_of(VAULT)
    graph = extract_graph(corpus)
    assert Counter(surfaces(corpus, graph, node(graph, "Ada Lovelace"))) == {
        "Ada Lovelace": 3,
        "Countess of Lovelace": 1,
        "ada lovelace": 1,
    }
    assert "engine" in surfaces(corpus, graph, node(graph, "Analytical Engine"))


def test_definitions() -> None:
    corpus = corpus_of(VAULT)
    graph = extract_graph(corpus)
    rows = zip(graph.def_node.tolist(), graph.def_chunk.tolist(), graph.def_weight.tolist(), strict=True)
    found = {(graph.name[at], chunk): weight for at, chunk, weight in rows}
    first = int(corpus.doc_chunks[0])
    assert found["Ada Lovelace", first] == 1
    assert 0 < found["Notes on the Engine", first + 1] <= 0.5
    assert ("Notes on the Engine", "Ada Lovelace") in edges(graph, "defined_by")


def test_two_people_of_one_name_stay_two() -> None:
    files = {
        "work/Alex Kim.md": "Alex Kim is a colleague in Berlin.",
        "family/Alex Kim.md": "Alex Kim is a cousin from Oslo.",
        "log.md": "Alex Kim called today. Then Alex Kim called again.",
    }
    corpus = corpus_of(files)
    graph = extract_graph(corpus)
    documents = [
        i
        for i, (name, kind) in enumerate(zip(graph.name, graph.kind, strict=True))
        if name == "Alex Kim" and kind == "document"
    ]
    assert len(documents) == 2
    entity = node(graph, "Alex Kim", "entity")
    assert len(surfaces(corpus, graph, entity)) == 4
    assert {
        (graph.name[a], int(graph.doc[b]))
        for k, a, b in zip(graph.edge_kind, graph.edge_source, graph.edge_target, strict=True)
        if k == "defined_by"
    } == {
        ("Alex Kim", 0),
        ("Alex Kim", 2),
    }


@pytest.mark.parametrize(
    ("title", "written"),
    [
        ("Docker Compose", "docker-compose"),
        ("docker-compose", "DockerCompose"),
        ("Kurt Gödel", "Kurt Godel"),
        ("Smart Pointer", "smart pointers"),
        ("Tolkien", "Tolkien's"),
        ("Theodred II (Bishop of Elmham)", "Theodred II"),
        ("&quot;Q&quot; Is for Quarry", '"Q" Is for Quarry'),
        ("日本", "日本"),
    ],
)
def test_a_title_is_mentioned_in_other_spellings(title: str, written: str) -> None:
    files = {"1": "first", "2": f"and then {written} was seen"}
    graph = graph_of(files, {"1": title, "2": "other"}, language="en")
    assert ("other", graph.name[int(np.flatnonzero(graph.doc == 0)[0])]) in edges(graph, "mentions")


def test_what_must_stay_apart() -> None:
    files = {"1": "x", "2": "y", "3": "z", "4": "日本と中国。C と C++ と C#。"}
    graph = graph_of(files, {"1": "日本", "2": "中国", "3": "C++", "4": "log"})
    mentioned = {target for source, target in edges(graph, "mentions") if source == "log"}
    assert {"日本", "中国", "C++"} <= mentioned
    assert len({normal_name(name) for name in ("C", "C++", "C#")}) == 3


def test_titles_that_are_dates_or_shared_by_many_define_nothing() -> None:
    files = {f"{i:03d}": f"message {i} on things" for i in range(30)}
    graph = graph_of(files, dict.fromkeys(files, "20260408"))
    assert not len(graph.def_node)
    graph = graph_of(files, dict.fromkeys(files, "Chat"))
    assert not len(graph.def_node)


def test_generic_headings_define_nothing() -> None:
    files = {
        f"{i}.md": f"# Thing {'abcdef'[i]}\n\n## Overview\n\ntext\n\n## Part {'abcdef'[i]}\n\nmore"
        for i in range(6)
    }
    graph = graph_of(files)
    assert "Overview" not in graph.name
    assert "Part a" in graph.name


def test_acronyms_and_last_words_are_same_as() -> None:
    files = {
        "1": "We asked the World Health Organization (WHO) and J. R. R. Tolkien. So Tolkien asked the WHO.",
        "2": "They read J. R. R. Tolkien there, since Tolkien writes well.",
        "3": "Всесвітня організація охорони здоров'я (ВООЗ) діє. Це ВООЗ.",
    }
    graph = graph_of(files)
    same = {frozenset(pair) for pair in edges(graph, "same_as")}
    assert frozenset(("World Health Organization", "WHO")) in same
    assert frozenset(("J. R. R. Tolkien", "Tolkien")) in same
    assert any("ВООЗ" in pair for pair in same)


def test_things_that_occur_together() -> None:
    files = {str(i): "We met Ada Lovelace and, at noon, saw Mount Etna." for i in range(3)}
    files |= {str(i): f"Nothing here of note, just number {i}. It rained." for i in range(3, 30)}
    corpus = corpus_of(files)
    graph = extract_graph(corpus)
    assert ("Ada Lovelace", "Mount Etna") in edges(graph, "co_occurs_with")
    edge = [i for i, kind in enumerate(graph.edge_kind) if kind == "co_occurs_with"]
    assert set(edge) <= set(graph.evidence_edge.tolist())


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"a.md": ""},
        {"a.md": "word"},
        {"a.md": "日"},
        {"a.md": "...!?"},
        {"a.md": "nothing to see here at all"},
        {"a.md": "x" * 10_000},
        {"a.md": "Ada Lovelace met Charles Babbage."},
        {"a.md": "# \n\n[[ ]] # # [](x) `` ` ``\n"},
        {"a/README.md": "", "b/README.md": ""},
        {"a.md": "<|endoftext|> {title} <SEP> ## \x00 \U0001f600 (((( WHO ("},
    ],
)
def test_next_to_nothing(files: dict[str, str]) -> None:
    corpus = corpus_of(files)
    graph = extract_graph(corpus)
    check(graph, corpus.n_chunks)
    assert graph.kind.count("document") == len(files)


def test_overlapping_chunks_hold_their_mentions() -> None:
    text = "# Long\n\n" + " ".join(
        f"Sentence {i} speaks of Ada Lovelace and of Mount Etna." for i in range(60)
    )
    corpus = corpus_of({"a.md": text}, size=40)
    graph = extract_graph(corpus)
    check(graph, corpus.n_chunks)
    assert set(surfaces(corpus, graph, node(graph, "Ada Lovelace"))) == {"Ada Lovelace"}


PIECES = [
    "Ada Lovelace", "Charles Babbage", "the engine", "Київ", "у Києві", "李白", "在长安", "القاهرة", "WHO",
    "World Health Organization (WHO)", "[[Ada Lovelace]]", "[[Missing Note|x]]", "#tag/sub", "`code`",
    "**Bold Term**", "\n\n## Heading\n\n", "\n\n- item\n", "“Quoted Title”", ". ", "GPT-4", "C++", "x",
    "J. R. R. Tolkien", "\U0001f600",
]  # fmt: skip
NOTES = st.dictionaries(
    st.sampled_from(["a.md", "b.md", "dir/c.md", "dir/a.md", "d.txt", "rec"]),
    st.lists(st.sampled_from(PIECES), max_size=14).map(" ".join),
    max_size=5,
)


@settings(max_examples=40, deadline=None)
@given(NOTES, st.randoms(use_true_random=False))
def test_a_graph_is_sound_and_does_not_depend_on_the_order_of_files(
    files: dict[str, str], random: object
) -> None:
    corpus = corpus_of(files)
    graph = extract_graph(corpus)
    check(graph, corpus.n_chunks)
    for i in range(len(graph.mention_node)):
        chunk = int(graph.mention_chunk[i])
        start, end = int(graph.mention_start[i]), int(graph.mention_end[i])
        assert corpus.chunk_start[chunk] <= start < end <= corpus.chunk_end[chunk]
    keys = list(files)
    random.shuffle(keys)  # type: ignore[attr-defined]
    other = extract_graph(corpus_of({key: files[key] for key in keys}))
    for name in Graph.__slots__:
        one, two = getattr(graph, name), getattr(other, name)
        assert np.array_equal(one, two) if isinstance(one, np.ndarray) else one == two, name
