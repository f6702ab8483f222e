"""Dumps of events, indexed: nodes, edges, places, updates."""

import json

import pytest
from signed import ANA, BEN, CY, T0, note_of, write_lines

from clew import Index, IndexOptions
from clew.errors import OptionError
from clew.options import EmbedOptions, SourceOptions

NONE = EmbedOptions(embedder="none")
NOTE = ANA.note(
    f"The tide turns, says nostr:{BEN.npub}. 潮が変わる。\n\nSecond paragraph. #sea", [["t", "sea"]]
)
REPLY = BEN.note("It always does.", [["e", NOTE["id"], "", "root"], ["p", ANA.key]], T0 + 60)
ARTICLE = ANA.sign(
    30023,
    f"Springs and neaps.\n\n## Springs\n\nAsk nostr:{CY.npub}.\n\n## Neaps\n\nnostr:{note_of(REPLY)} knows.",
    [["d", "tides"], ["title", "On tides"], ["t", "sea"]],
    T0 + 100,
)
SAVES = BEN.sign(10003, "", [["e", NOTE["id"]], ["a", f"30023:{ANA.key}:tides"]], T0 + 200)
FOLLOWS = BEN.sign(3, "", [["p", ANA.key], ["p", CY.key]], T0 + 5)
EVENTS = [ANA.profile(about="I watch tides."), BEN.profile(), NOTE, REPLY, ARTICLE, SAVES, FOLLOWS]


def build(paths, to, **source):
    options = IndexOptions(embed=NONE, source=SourceOptions(**source))
    return Index.build(paths if isinstance(paths, list) else [paths], to, options=options)


def edges(index):
    """Return the edges by kind and their ends' names."""
    reader = index.engine.reader
    nodes = reader.nodes(range(reader.count("nodes")))
    found = reader.edge_rows(range(reader.count("edges")))
    return {(edge.kind, nodes[edge.source].name, nodes[edge.target].name): edge for edge in found}


def keys(index):
    return set(index.engine.reader.contents())


def whole(index):
    found = index.doctor()
    assert found.whole
    assert [check.faults for check in found.checks] == [()] * len(found.checks)
    assert found.sources is not None
    assert (found.sources.changed, found.sources.missing, found.sources.new) == (0, 0, 0)
    return found


@pytest.fixture
def dump(tmp_path):
    return write_lines(tmp_path / "events.jsonl", EVENTS)


def test_a_dump_becomes_people_notes_and_edges(dump, tmp_path):
    with build(dump, tmp_path / "i.duckdb") as index:
        whole(index)
        assert index.result.problems == ()
        assert keys(index) >= {NOTE["id"], REPLY["id"], f"30023:{ANA.key}:tides", f"3:{BEN.key}:"}
        title = "The tide turns, says @Ben. 潮が変わる。 Second paragraph. #sea"
        found = edges(index)
        for edge, time in {
            ("authored_by", title, "Ana Lima"): T0,
            ("mentions", title, "Ben"): T0,
            ("tagged_with", title, "sea"): T0,
            ("tagged_with", "On tides", "sea"): T0 + 100,
            ("replied_to", "It always does.", title): T0 + 60,
            ("follows", "Ben", "Ana Lima"): T0 + 5,
            ("saved_by", title, "Ben"): T0 + 200,
            ("saved_by", "On tides", "Ben"): T0 + 200,
            ("references", "On tides", "It always does."): T0 + 100,
        }.items():
            assert found[edge].created_at == time, edge
        cy = next(node for kind, one, node in found if kind == "follows" and node.startswith("npub1"))
        assert cy == f"{CY.npub[:9]}…{CY.npub[-4:]}"  # no profile tells a name


def test_every_place_is_in_the_line_of_its_event(dump, tmp_path):
    lines = dump.read_text("utf-8").splitlines()
    with build(dump, tmp_path / "i.duckdb") as index:
        for name in ("Ana Lima", "Ben", "On tides", "sea"):
            card = index.show(name)
            for view in card.edges:
                assert view.evidence, (name, view.edge.kind)
            places = [
                *card.definitions,
                *card.mentions,
                *(one for view in card.edges for one in view.evidence),
            ]
            for one in places:
                event = json.loads(lines[one.start_line - 1])
                assert one.start_line == one.end_line
                assert one.location.endswith("events.jsonl")
                inside = json.dumps(event["tags"], separators=(",", ":"))
                about = json.loads(event["content"]).get("about", "") if event["kind"] == 0 else ""
                assert one.quote in event["content"] or one.quote in inside or one.quote in about
        saved = next(view for view in index.show("Ben").edges if view.edge.kind == "saved_by")
        assert saved.evidence[0].quote.startswith(('["e",', '["a",'))


@pytest.mark.parametrize("name", ["npub", "nostr:npub", "note", "id", "address", "title"])
def test_people_and_events_are_found_by_what_others_call_them(dump, tmp_path, name):
    typed = {
        "npub": ANA.npub, "nostr:npub": f"nostr:{ANA.npub}", "note": note_of(REPLY), "id": REPLY["id"],
        "address": f"30023:{ANA.key}:tides", "title": "on tides",
    }[name]  # fmt: skip
    shown = (
        "Ana Lima" if "npub" in name else "On tides" if name in ("address", "title") else "It always does."
    )
    with build(dump, tmp_path / "i.duckdb") as index:
        assert index.show(typed).node.name == shown


def test_references_are_neither_words_nor_names(dump, tmp_path):
    with build(dump, tmp_path / "i.duckdb") as index:
        reader = index.engine.reader
        names = [node.name for node in reader.nodes(range(reader.count("nodes"))) if node.kind == "entity"]
        assert not [name for name in names if "npub" in name or "nostr" in name or "note1" in name]
        assert all(not hit.parts.get("bm25") for hit in index.search(BEN.npub))


def generation(paths, to, **source):
    with build(paths, to, **source) as index:
        return index.engine.reader.generation


def test_order_and_repeats_make_no_difference(dump, tmp_path):
    first = generation(dump, tmp_path / "1.duckdb")
    (tmp_path / "more").mkdir()
    again = write_lines(tmp_path / "more" / "events.jsonl", [*EVENTS, *EVENTS])
    assert generation(again, tmp_path / "2.duckdb") == first


def test_a_longer_dump_is_the_least_work_and_the_index_is_that_of_a_new_one(dump, tmp_path):
    to = tmp_path / "i.duckdb"
    build(dump, to).close()
    more = [
        CY.note("Fresh.", at=T0 + 300), BEN.delete(REPLY), BEN.sign(3, "", [["p", CY.key]], T0 + 400),
        ANA.sign(30023, "Rewritten.", [["d", "tides"], ["title", "On tides"]], T0 + 500),
    ]  # fmt: skip
    write_lines(dump, [*EVENTS, *more])
    with build(dump, to) as index:
        assert index.result.work["documents_parsed"] == 3
        assert index.result.work["documents_unchanged"] == 4
        assert REPLY["id"] not in keys(index)
        found = edges(index)
        assert ("follows", "Ben", "Ana Lima") not in found
        assert not [kind for kind, _, _ in found if kind == "replied_to"]
        updated = index.engine.reader.generation
        whole(index)
        assert any("1 were deleted by their authors" in note for note in index.result.notes)
    assert generation(dump, tmp_path / "new.duckdb") == updated
    with build(dump, to) as index:
        assert index.result.unchanged


def test_a_folder_of_notes_and_dumps_is_one(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "Tide.md").write_text("# Tide\n\nSee [[Moon]].\n", "utf-8")
    (folder / "other.jsonl").write_text('{"id":"1","text":"A record on the moon."}\n', "utf-8")
    (folder / "settings.json").write_text('{"a": [1, 2]}', "utf-8")
    write_lines(folder / "one.jsonl", EVENTS[:4])
    (folder / "two.json").write_text(json.dumps([*EVENTS[3:], BEN.delete(REPLY)]), "utf-8")
    with build(folder, None) as index:
        found = keys(index)
        assert found >= {"Tide.md", "other.jsonl#1", NOTE["id"], f"30023:{ANA.key}:tides"}
        assert REPLY["id"] not in found
        assert len(found) == 2 + 6
        whole(index)
    files = [folder / "one.jsonl", folder / "two.json"]
    with build(files, tmp_path / "files.duckdb") as index:
        assert REPLY["id"] not in keys(index)  # together they are one set of events
        assert len(keys(index)) == 6
        whole(index)


def test_a_json_file_of_something_else_is_read_if_it_is_named(tmp_path):
    (tmp_path / "settings.json").write_text('{"colour": "seagreen"}', "utf-8")
    (tmp_path / "a.md").write_text("A note.", "utf-8")
    for paths in ([tmp_path / "settings.json"], [tmp_path / "settings.json", tmp_path / "a.md"]):
        with build(paths, tmp_path / "i.duckdb") as index:
            assert "settings.json" in keys(index)
    with build(tmp_path, tmp_path / "folder.duckdb") as index:
        assert keys(index) == {"a.md"}


def test_what_is_refused_is_listed_and_the_rest_indexed(dump, tmp_path):
    forged = {**NOTE, "content": "Send money"}
    with dump.open("a", encoding="utf-8") as file:
        file.write(json.dumps(forged) + "\n{not json\n")
    with build(dump, tmp_path / "i.duckdb") as index:
        reasons = [(problem.key, problem.skipped) for problem in index.result.problems]
        assert reasons == [("events.jsonl:8", True), ("events.jsonl:9", True)]
        assert "hash" in index.result.problems[0].reason
        assert len(keys(index)) == 7


UNKNOWN = ANA.sign(1984, "x", [["e", NOTE["id"]]])


def test_options_select_events(dump, tmp_path):
    write_lines(dump, [*EVENTS, UNKNOWN])

    def count(**source):
        with build(dump, tmp_path / "i.duckdb", **source) as index:
            kinds = [document.kind for document in index.engine.reader.documents()]
            assert index.show("Ana Lima").node.kind == "person"  # profiles tell names all the same
            return sorted(kinds)

    assert len(count()) == 8
    assert "event-1984" in count()
    assert len(count(unknown_kinds="ignore")) == 7
    assert count(kinds=("1", "article")) == ["article", "note", "note"]
    assert count(kinds=("1000-2000",)) == ["event-1984"]
    assert count(author=(ANA.npub,), kinds=("1",)) == ["note"]
    assert count(author=(ANA.key, BEN.npub), kinds=("1",)) == ["note", "note"]
    assert count(since=str(T0 + 61), kinds=("1-40000",)) == ["article", "bookmarks"]
    assert count(until=str(T0 + 59), kinds=("1",)) == ["note"]


@pytest.mark.parametrize(
    "source",
    [
        {"kinds": ("x",)},
        {"unknown_kinds": "hide"},
        {"author": ("nobody",)},
        {"since": "soon"},
        {"until": "x"},
    ],
)
def test_options_that_mean_nothing_are_refused(dump, tmp_path, source):
    with pytest.raises(OptionError, match=f"--{next(iter(source)).replace('_', '-')}"):
        build(dump, tmp_path / "i.duckdb", **source)


def test_a_secret_key_isnt_shown(dump, tmp_path):
    with pytest.raises(OptionError) as error:
        build(dump, tmp_path / "i.duckdb", author=("nsec1" + "q" * 58,))
    assert "qqqq" not in str(error.value)
