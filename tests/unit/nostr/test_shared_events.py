"""One event is one note, whichever sources have it, and by itself or within a repost."""

import json

import pytest
from signed import ANA, BEN, CY, T0, write_lines
from test_nostr_index import NONE, build, edges, keys, whole

from clew import Index, IndexOptions

NOTE = ANA.note("The tide turns at noon.")
GONE = ANA.note("Forget this.", at=T0 + 1)
OLD = ANA.sign(30023, "# On tides\n\nOnce.", [["d", "tides"], ["title", "On tides"]], T0 + 2)
NEW = ANA.sign(30023, "# On tides\n\nTwice.", [["d", "tides"], ["title", "On tides"]], T0 + 3)
DELETION = ANA.sign(5, "", [["e", GONE["id"]]], T0 + 4)


@pytest.fixture
def folders(tmp_path):
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
    write_lines(tmp_path / "one" / "events.jsonl", [ANA.profile(), NOTE, GONE, OLD])
    write_lines(tmp_path / "two" / "events.jsonl", [ANA.profile(), NOTE, NEW, DELETION, BEN.note("Mine.")])
    return [tmp_path / "one", tmp_path / "two"]


def test_two_folders_with_the_same_events_have_each_once(folders, tmp_path):
    with build(folders, tmp_path / "i.duckdb") as index:
        found = [key.split("/", 1)[1] for key in keys(index)]
        assert len(found) == len(set(found))
        assert f"one/{NOTE['id']}" in keys(index)
        assert f"two/30023:{ANA.key}:tides" in keys(index)  # the newer one, which the other folder has
        assert not [key for key in keys(index) if GONE["id"] in key]  # deleted there
        assert index.show("On tides").node.degree
        assert "Twice" in index.search("on tides")[0].chunk.text
        assert index.search("noon")[0].document.location.endswith("one/events.jsonl")
        whole(index)


def test_the_order_of_the_folders_says_nothing(folders, tmp_path):
    with build(folders, tmp_path / "a.duckdb") as one, build(folders[::-1], tmp_path / "b.duckdb") as other:
        assert one.engine.reader.generation == other.engine.reader.generation


def test_an_update_sees_what_the_other_source_says_of_an_event(folders, tmp_path):
    path = tmp_path / "i.duckdb"
    build(folders, path).close()
    write_lines(folders[1] / "more.jsonl", [ANA.sign(5, "", [["e", NOTE["id"]]], T0 + 9)])
    with build(folders, path) as index:
        assert not [key for key in keys(index) if NOTE["id"] in key]
        whole(index)


def test_files_that_are_named_together_are_one_set(folders, tmp_path):
    files = [folder / "events.jsonl" for folder in folders]
    with build(files, tmp_path / "i.duckdb") as index:
        assert keys(index) >= {NOTE["id"], f"30023:{ANA.key}:tides"}
        assert len(keys(index)) == 4  # and two kinds of Ben and Ana


@pytest.mark.parametrize("kind", [6, 16])
def test_what_a_repost_holds_is_read(kind, tmp_path):
    held = CY.note("Copper turns green in the rain. #copper", [["t", "copper"]])
    tags = [["e", held["id"]], ["p", CY.key]]
    repost = BEN.sign(kind, json.dumps(held), tags, T0 + 20)
    dump = write_lines(tmp_path / "events.jsonl", [BEN.profile(), CY.profile(), repost])
    with build(dump, tmp_path / "i.duckdb") as index:
        assert keys(index) >= {held["id"], repost["id"]}
        hit = index.search("what turns green in the rain?")[0]
        assert (hit.document.kind, hit.document.line) == ("note", 3)
        assert any(kind == "references" and "repost" in a for kind, a, _ in edges(index))
        assert index.match('"copper" <-tagged_with- note -authored_by-> person').rows
        whole(index)


def test_a_forged_or_damaged_embedded_event_is_only_pointed_at(tmp_path):
    held = CY.note("True words.")
    forged = {**held, "content": "False words."}
    reposts = [
        BEN.sign(6, text, [["e", held["id"]]], T0 + at)
        for at, text in enumerate((json.dumps(forged), "{", "[]", '"x"', "null", "{}", json.dumps([held])))
    ]
    with build(write_lines(tmp_path / "events.jsonl", reposts), tmp_path / "i.duckdb") as index:
        assert keys(index) == {repost["id"] for repost in reposts}
        assert not index.search("words")


def test_an_event_by_itself_counts_before_its_copy(tmp_path):
    held = CY.note("Copper turns green.")
    repost = BEN.sign(6, json.dumps(held), [["e", held["id"]]], T0 + 20)
    for name, events, line in (("a", [repost, held], 2), ("b", [held, repost], 1)):
        (tmp_path / name).mkdir()
        with build(
            write_lines(tmp_path / name / "events.jsonl", events), tmp_path / f"{name}.duckdb"
        ) as index:
            assert [doc.line for doc in index.engine.reader.documents() if doc.kind == "note"] == [line]


def test_a_copy_in_a_repost_is_deleted_by_its_author(tmp_path):
    held = CY.note("Copper turns green.")
    repost = BEN.sign(6, json.dumps(held), [["e", held["id"]]], T0 + 20)
    deletion = CY.sign(5, "", [["e", held["id"]]], T0 + 30)
    with Index.build(
        [write_lines(tmp_path / "events.jsonl", [repost, deletion])],
        tmp_path / "i.duckdb",
        options=IndexOptions(embed=NONE),
    ) as index:
        assert keys(index) == {repost["id"]}
