"""Filters: what they let pass, everywhere, before anything is ranked; what they say of what isn't there."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from clew import Filter, Index, IndexOptions
from clew.errors import NotFound, OptionError
from clew.options import EmbedOptions
from clew.query.scope import scope_of, window

NOW = int(datetime(2026, 5, 31, 12, tzinfo=UTC).timestamp())


def note(text: str, **fields: str) -> str:
    front = "".join(f"{name}: {value}\n" for name, value in fields.items())
    return f"---\n{front}---\n{text}\n" if front else f"{text}\n"


NOTES = {
    "Soil.md": note("# Soil\n\nSoil holds water. [[Compost]] feeds it.", tags="[garden]", date="2026-05-30"),
    "Compost.md": note(
        "# Compost\n\nCompost rots to [[Soil]]. #garden/heap", date="2025-01-31", author="Jane Doe"
    ),
    "Sail.md": note("# Sail\n\nA sail holds water badly.", tags="[ship]", author="Олена Коваль"),
    "2026-02-28.md": note(
        "# Diary\n\nWatered the soil with [[Sail]].", tags="[garden, ship]", author="Jane Doe"
    ),
    "Keel.md": note("# Keel\n\nThe keel is under water.", date="03/04/2024"),
    "corpus.jsonl": '{"id": "r", "title": "Record", "text": "Water in a record.", "date": "2026-05-31"}\n',
}


@pytest.fixture(scope="module", params=["none", "minilm"])
def index(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[Index]:
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / name).write_text(text, encoding="utf-8")
    options = IndexOptions(embed=EmbedOptions(embedder=request.param))
    with Index.build([folder], folder.parent / "index.duckdb", options=options) as built:
        yield built


def where(**given: object) -> Filter:
    return Filter(**{"now": NOW, **given})  # type: ignore[arg-type]


PASSES: list[tuple[Filter, set[str]]] = [
    (where(), set(NOTES) - {"corpus.jsonl"} | {"corpus.jsonl#r"}),
    (where(kinds=("record",)), {"corpus.jsonl#r"}),
    (where(kinds=("note", "record")), set(NOTES) - {"corpus.jsonl"} | {"corpus.jsonl#r"}),
    (where(tags=("garden",)), {"Soil.md", "Compost.md", "2026-02-28.md"}),
    (where(tags=("#Garden",)), {"Soil.md", "Compost.md", "2026-02-28.md"}),
    (where(tags=("garden/heap",)), {"Compost.md"}),
    (where(tags=("garden", "ship")), {"2026-02-28.md"}),
    (where(tags=("garden/heap,ship",)), {"Compost.md", "Sail.md", "2026-02-28.md"}),
    (where(authors=("jane doe",)), {"Compost.md", "2026-02-28.md"}),
    (where(authors=("Jane Doe", "олена коваль")), {"Compost.md", "2026-02-28.md", "Sail.md"}),
    (where(since="2d"), {"Soil.md", "corpus.jsonl#r"}),
    (where(since="2026-05-31"), {"corpus.jsonl#r"}),
    (where(since="4mo"), {"2026-02-28.md", "Soil.md", "corpus.jsonl#r"}),
    (where(until="2025"), {"Compost.md"}),
    (where(until="2026-02-28"), {"Compost.md", "2026-02-28.md"}),
    (where(since="2026-02", until="2026-02"), {"2026-02-28.md"}),
    (where(since=NOW), set()),
    (where(edges=("references",)), {"Soil.md", "Compost.md", "Sail.md", "2026-02-28.md"}),
    (where(edges=("authored_by",), since="1y"), {"2026-02-28.md"}),
    (where(tags=("garden",), authors=("Jane Doe",), until="2025-12-31"), {"Compost.md"}),
]


@pytest.mark.parametrize("mode", ["basic", "local"])
@pytest.mark.parametrize(("condition", "keys"), PASSES, ids=[str(i) for i in range(len(PASSES))])
def test_search_finds_what_passes(index: Index, condition: Filter, keys: set[str], mode: str) -> None:
    found = index.search("water soil keel compost sail", 10, mode, where=condition)
    assert {hit.document.key for hit in found} == keys
    assert index.passing(condition).documents == len(keys)


def test_k_passages_are_found_where_there_are_k(tmp_path: Path) -> None:
    for i in range(40):
        text = f"# Water {i}\n\nWater, water and water everywhere, water."
        (tmp_path / f"{i}.md").write_text(note(text), encoding="utf-8")
    for i in range(3):
        (tmp_path / f"rare {i}.md").write_text(note(f"# Rare {i}\n\nSome water.", tags="[rare]"), "utf-8")
    with Index.build([tmp_path], options=IndexOptions(embed=EmbedOptions("none"))) as index:
        found = index.search("water", 3, where=Filter(tags=("rare",)))
        assert sorted(hit.document.key for hit in found) == ["rare 0.md", "rare 1.md", "rare 2.md"]
        assert found[0].score == pytest.approx(1.0)  # scaled among those that pass


@pytest.mark.parametrize("mode", ["auto", "basic", "local", "global", "drift"])
def test_an_answer_cites_what_passes(index: Index, mode: str) -> None:
    for condition, keys in PASSES:
        answer = index.ask("What holds water, soil or compost?", mode, where=condition)
        assert {citation.key for citation in answer.citations} <= keys
        assert {hit.document.key for hit in answer.trace.hits} <= keys


def test_notes_without_a_time_are_counted(index: Index) -> None:
    passing = index.passing(where(since="10y"))
    assert (passing.documents, passing.undated, passing.every) == (4, 2, 6)
    assert index.passing(where(since="10y", tags=("ship",))).undated == 1
    assert index.passing(where(since="10y", kinds=("record",))).undated == 0
    assert index.passing(where(tags=("ship",))).undated == 0


def test_related_passes(index: Index) -> None:
    def names(condition: Filter | None) -> set[str]:
        return {one.node.name for one in index.related("Soil", 50, where=condition)}

    every = names(None)
    assert {"Compost", "garden"} <= every
    assert names(where(kinds=("tag",))) <= {"garden", "garden/heap", "ship"}
    assert "garden" in names(where(kinds=("tag",)))
    assert names(where(kinds=("note",))) & every <= {"Compost", "Sail", "Diary", "Keel"}
    assert names(where(edges=("references",))) == {"Compost"} | (every & {"Diary"})
    assert "Compost" not in names(where(since="2026"))
    assert names(where(since=NOW)) == set()


def test_show_passes(index: Index) -> None:
    card = index.show("Soil", where=where(edges=("references",)))
    assert {edge.edge.kind for edge in card.edges} == {"references"}
    card = index.show("Sail", where=where(since="2026-02", until="2026-02"))
    assert {mention.key for mention in card.mentions} == {"2026-02-28.md"}
    times = [edge.edge.created_at for edge in index.show("Soil", where=where(until="2025")).edges]
    last = window(where(until="2025"))[1]
    assert times
    assert all(time is not None and last is not None and time <= last for time in times)


def test_a_path_passes(index: Index) -> None:
    free = index.paths("Compost", "Soil", 1).paths
    assert free
    assert not index.paths("Compost", "Keel", 1, where=where(edges=("references",))).paths
    for path in index.paths("Compost", "Sail", 3, where=where(kinds=("note",))).paths:
        assert {node.kind for node in path.nodes} == {"document"}
    for path in index.paths("Compost", "Soil", 3, where=where(edges=("references",))).paths:
        assert {step.view.edge.kind for step in path.steps} == {"references"}


def test_communities_pass(index: Index) -> None:
    every = index.communities()
    some = index.communities(where=where(authors=("Олена Коваль",)))
    assert 0 < len(some) <= len(every)
    for view in some:
        assert {citation.key for citation in view.citations} <= {"Sail.md"}
    assert index.communities(where=where(since=NOW)) == []


def test_stats_pass(index: Index) -> None:
    found = index.stats(where=where(kinds=("note",), tags=("garden",)))
    assert found["documents"] == 3
    assert found["documents_by_kind"] == {"note": 3}
    assert found["nodes_by_kind"] == {"document": 3}
    assert found["edges_by_kind"].keys() <= {"references", "mentions", "co_occurs_with", "unlinked_mention"}


WRONG: list[tuple[Filter, type[Exception], str]] = [
    (where(tags=("gardn",)), NotFound, r"--tag gardn: no note has this tag\. Nearest: garden"),
    (where(tags=("garden,shp",)), NotFound, r"--tag shp: .* Nearest: .*ship"),
    (where(authors=("Jane Do",)), NotFound, r"--author Jane Do: .* Nearest: Jane Doe"),
    (where(authors=("Soil",)), NotFound, "no note names this author"),
    (where(kinds=("recrd",)), OptionError, "Did you mean record"),
    (where(kinds=("note,persn",)), OptionError, "Did you mean person"),
    (where(edges=("reference",)), OptionError, "Did you mean references"),
    (where(since="soon"), OptionError, "--since: 'soon' isn't a time"),
    (where(until="7 fortnights"), OptionError, "--until: '7 fortnights' isn't a time"),
    (where(since="2026-02", until="2026-01"), OptionError, "is before --since 2026-02"),
]


@pytest.mark.parametrize(("condition", "error", "message"), WRONG, ids=[message for _, _, message in WRONG])
def test_what_there_is_not_is_told_with_the_nearest(
    index: Index, condition: Filter, error: type[Exception], message: str
) -> None:
    for ask in (index.passing, lambda one: index.search("water", where=one)):
        with pytest.raises(error, match=message):
            ask(condition)


def test_passages_of_people_are_refused(index: Index) -> None:
    with pytest.raises(OptionError, match="passages are of documents"):
        index.search("water", where=where(kinds=("person",)))


TIMES = [
    ("7d", NOW - 7 * 86_400),
    ("12h", NOW - 43_200),
    ("30min", NOW - 1_800),
    ("3mo", int(datetime(2026, 2, 28, 12, tzinfo=UTC).timestamp())),  # there is no 31st of February
    ("1y", int(datetime(2025, 5, 31, 12, tzinfo=UTC).timestamp())),
    ("2026-05-31T13:00+02:00", int(datetime(2026, 5, 31, 11, tzinfo=UTC).timestamp())),
]


@pytest.mark.parametrize(("text", "time"), TIMES)
def test_times_are_counted_from_now(text: str, time: int) -> None:
    assert window(where(since=text))[0] == time


def test_masks_are_made_once(index: Index) -> None:
    space = index.engine.space
    one = scope_of(space, Filter(tags=("garden",)))
    assert one is scope_of(space, Filter(tags=("garden",)))
    assert one is not scope_of(space, Filter(tags=("ship",)))
    for i in range(20):
        scope_of(space, Filter(since=i))
    assert len(space.scopes) <= 8
    assert scope_of(space, Filter()) is None
    assert one is not None
    assert np.array_equal(one.chunks, one.docs[space.chunk_doc])


def test_a_pattern_matches_documents_that_pass(index: Index) -> None:
    def authors(condition: Filter | None) -> set[tuple[str, str]]:
        rows = index.match("person <-authored_by- note", where=condition).rows
        return {(row.nodes[0].name, row.nodes[1].name) for row in rows}

    assert len(authors(None)) == 3
    assert authors(where(until="2025")) == {("Jane Doe", "Compost")}
    assert authors(where(kinds=("record",))) == set()
    assert authors(where(edges=("references",))) == set()
