"""An update does no more than it must: what is unchanged is neither parsed nor embedded, and it says so."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from letters import Letters, plugged_in
from whole_index import read_whole

from clew import Index, IndexOptions
from clew.index import cache_path
from clew.ingest.changes import count_changes
from clew.ingest.documents import Work
from clew.options import CommunityOptions, EmbedOptions

OPTIONS = IndexOptions(embed=EmbedOptions("letters:8"))
NOTES = {
    "Tide Gauge.md": "# Tide Gauge\n\nIt stands by the Harbour Office.\n",
    "Harbour Office.md": "---\ndate: 2023-10-20\n---\n# Harbour Office\n\nIt keeps the records.\n",
    "untitled.md": "A note without a heading of its own.\n",
    "plain.txt": "Ada Lindqvist reads the Tide Gauge.\n",
    "log.jsonl": '{"id": "a", "title": "Log", "text": "Written in May."}\n{"id": "b", "text": "Painted."}\n',
}
DOCUMENTS = 6


class Vault:
    """A folder and its index. ``update`` returns the counts of the work, and what was parsed and embedded."""

    def __init__(self, home: Path, parsed: list[str]) -> None:
        self.notes, self.index = home / "notes", home / "i.duckdb"
        self._parsed = parsed
        for key, text in NOTES.items():
            self.write(key, text)

    def write(self, key: str, text: str) -> None:
        path = self.notes / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")

    def move(self, key: str, goal: str) -> None:
        (self.notes / goal).parent.mkdir(parents=True, exist_ok=True)
        (self.notes / key).rename(self.notes / goal)

    def update(self, options: IndexOptions = OPTIONS) -> tuple[dict[str, int], list[str], list[str]]:
        self._parsed.clear()
        Letters.embedded.clear()
        with Index.build([self.notes], self.index, options=options) as built:
            assert built.result is not None
            work = dict(built.result.work)
            assert work["vectors_embedded"] == len(Letters.embedded)
            assert work["documents_parsed"] == len(self._parsed)
            assert work["vectors_embedded"] + work["vectors_reused"] == built.result.counts["vectors"]
            kept = sum(work[f"documents_{kind}"] for kind in ("new", "edited", "moved", "unchanged"))
            assert kept == built.result.counts["documents"]
        return {name: count for name, count in work.items() if count}, [*self._parsed], [*Letters.embedded]


@pytest.fixture
def vault(tmp_path, monkeypatch):
    parsed: list[str] = []
    parse = Work._parse
    monkeypatch.setattr(Work, "_parse", lambda self, raw: (parsed.append(raw.key), parse(self, raw))[1])
    with plugged_in():
        made = Vault(tmp_path, parsed)
        work, read, texts = made.update()
        assert work == {
            "documents_new": DOCUMENTS,
            "documents_parsed": DOCUMENTS,
            "vectors_embedded": DOCUMENTS,
        }
        assert len(read) == len(texts) == DOCUMENTS
        yield made


def test_nothing_changed(vault):
    assert vault.update() == ({"documents_unchanged": DOCUMENTS, "vectors_reused": DOCUMENTS}, [], [])


def test_an_update_without_work_tells_what_the_build_told(vault):
    vault.write("uk.md", "Про це ніхто не знав, доки не з'явився старий маяк біля моря.\n" * 3)
    vault.write("uk2.md", "У місті збудували новий дім для всіх, хто живе біля моря.\n" * 3)
    vault.write("bad.md", "---\ntitle: [unclosed\n---\nText.\n")
    first, again = (Index.build([vault.notes], vault.index, options=OPTIONS) for _ in range(2))
    told = [
        (list(r.counts.items()), r.problems, list(r.languages.items())) for r in (first.result, again.result)
    ]
    assert told[0] == told[1]
    assert again.result.unchanged
    assert len(told[0][2]) > 1


def test_a_lost_index_is_made_from_the_cache(vault):
    vault.index.unlink()
    assert vault.update() == ({"documents_new": DOCUMENTS, "vectors_reused": DOCUMENTS}, [], [])


def test_a_lost_cache_is_made_anew(vault):
    cache_path(vault.index).unlink()
    vault.write("new.md", "# New\n\nA word.\n")
    work, parsed, texts = vault.update()
    assert work["documents_unchanged"] == DOCUMENTS
    assert work["documents_parsed"] == len(parsed) == len(texts) == DOCUMENTS + 1


def test_an_edited_note_alone_is_parsed_and_embedded(vault):
    vault.write("Tide Gauge.md", NOTES["Tide Gauge.md"] + "\nIt counts the waves.\n")
    work, parsed, texts = vault.update()
    assert parsed == ["Tide Gauge.md"]
    assert len(texts) == 1
    assert "waves" in texts[0]
    assert work == {
        "documents_edited": 1,
        "documents_unchanged": DOCUMENTS - 1,
        "documents_parsed": 1,
        "vectors_embedded": 1,
        "vectors_reused": DOCUMENTS - 1,
    }


def test_an_edited_record_alone_is_parsed_and_embedded(vault):
    vault.write("log.jsonl", NOTES["log.jsonl"].replace("in May", "in June"))
    _, parsed, texts = vault.update()
    assert parsed == ["log.jsonl#a"]
    assert [text for text in texts if "June" in text] == texts
    assert len(texts) == 1


def test_only_the_edited_passages_of_a_long_note_are_embedded(vault):
    passages = [f"## Part {n}\n\n" + f"Passage {n} tells of the sea. " * 3 for n in range(8)]
    vault.write("long.md", "# Long\n\n" + "\n\n".join(passages) + "\n")
    vault.update()
    passages[5] = passages[5].replace("sea", "moor")
    vault.write("long.md", "# Long\n\n" + "\n\n".join(passages) + "\n")
    work, parsed, texts = vault.update()
    assert parsed == ["long.md"]
    assert texts
    assert all("moor" in text for text in texts)
    assert work["vectors_reused"] > DOCUMENTS


def test_a_move_or_rename_parses_and_embeds_nothing(vault):
    vault.move("Tide Gauge.md", "instruments/Tide Gauge.md")
    vault.move("Harbour Office.md", "The office.md")
    vault.move("plain.txt", "deep/er/plain.txt")
    vault.move("log.jsonl", "old/log.jsonl")
    work, parsed, texts = vault.update()
    assert parsed == []
    assert texts == ["old/log.jsonl#b\nPainted."]  # a record without a title is called by its key
    assert work["documents_moved"] == 5
    assert work["documents_unchanged"] == 1


def test_a_renamed_note_that_is_called_by_its_file_is_embedded_with_its_new_name(vault):
    """Its title is part of what is embedded; its text isn't parsed anew for that."""
    vault.move("untitled.md", "A pier.md")
    work, parsed, texts = vault.update()
    assert parsed == []
    assert texts == ["A pier\nA note without a heading of its own."]
    assert work == {
        "documents_moved": 1,
        "documents_unchanged": DOCUMENTS - 1,
        "vectors_embedded": 1,
        "vectors_reused": DOCUMENTS - 1,
    }


def test_a_copy_and_what_comes_back_cost_nothing(vault):
    vault.write("copy/Tide Gauge.md", NOTES["Tide Gauge.md"])
    work, parsed, texts = vault.update()
    assert work == {
        "documents_new": 1,
        "documents_unchanged": DOCUMENTS,
        "vectors_reused": DOCUMENTS + 1,
    }
    assert parsed == texts == []
    (vault.notes / "Harbour Office.md").unlink()
    assert vault.update()[0]["documents_removed"] == 1
    vault.write("Harbour Office.md", NOTES["Harbour Office.md"])
    work, parsed, texts = vault.update()
    assert work["documents_new"] == 1
    assert parsed == texts == []


def test_options_of_the_graph_parse_and_embed_nothing(vault):
    work, parsed, texts = vault.update(
        IndexOptions(embed=OPTIONS.embed, community=CommunityOptions(max_size=3))
    )
    assert work == {"documents_unchanged": DOCUMENTS, "vectors_reused": DOCUMENTS}
    assert parsed == texts == []


def test_another_embedder_of_the_same_tokens_parses_nothing(vault):
    work, parsed, texts = vault.update(IndexOptions(embed=EmbedOptions("letters:5")))
    assert parsed == []
    assert len(texts) == work["vectors_embedded"] == DOCUMENTS


def test_a_note_is_kept_whatever_its_frontmatter_holds(vault):
    """Values of YAML that the cache has no form for would make a note be parsed at every update."""
    dates = ["2024-02-29", "12:30:00", "2024-02-29T12:30:00Z"]
    numbers = ["0x1f", "1e400", ".nan", "12345678901234567890123"]
    nested = ["~", "!!binary aGk=", "!!set {a, b}", "{1: 2, true: no}", "[1, [2, {a: .inf}]]"]
    values = [*dates, *numbers, *nested]
    for n, value in enumerate(values):
        vault.write(f"value{n}.md", f"---\nfield: {value}\n---\n# Value {n}\n\nText {n}.\n")
    vault.update()
    vault.write("new.md", "# New\n\nA word.\n")
    assert vault.update()[1] == ["new.md"]


def test_changes_are_counted_by_key_and_content():
    assert count_changes({}, {}) == dict.fromkeys(
        [f"documents_{kind}" for kind in ("new", "edited", "moved", "removed", "unchanged")], 0
    )
    before = {"a": "1", "b": "2", "c": "3", "d": "3", "e": "4"}
    now = {"a": "1", "b": "9", "x": "3", "y": "3", "z": "3", "w": "5"}
    assert Counter(count_changes(before, now)) == Counter(
        documents_unchanged=1, documents_edited=1, documents_moved=2, documents_new=2, documents_removed=1
    )


def test_what_was_counted_does_not_depend_on_what_the_index_holds(vault):
    """The counts are of the run: two indexes of the same notes are the same whatever it took to make them."""
    vault.write("new.md", "# New\n\nA word.\n")
    vault.update()
    before = read_whole(vault.index)
    vault.index.unlink()
    cache_path(vault.index).unlink()
    vault.update()
    assert read_whole(vault.index) == before
