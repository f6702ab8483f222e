"""The whole of indexing: deterministic, and a function of the sources."""

from pathlib import Path

import pytest

from clew import Index, IndexOptions
from clew.options import EmbedOptions

NONE = IndexOptions(embed=EmbedOptions(embedder="none"))
NOTES = {
    "a/Alpha.md": "# Alpha\n\nAlpha knows [[Beta]] and the Golden Gate Bridge. #x\n",
    "b/Beta.md": "# Beta\n\nBeta crossed the Golden Gate Bridge in Київ.\n",
    "README.md": "Read [Alpha](a/Alpha.md).\n",
    "b/README.md": "Another readme about tea.\n",
}


def write(folder, notes):
    for key, text in notes.items():
        path = folder / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def generation(folder, path):
    with Index.build([folder], path, options=NONE) as index:
        return index.engine.reader.generation


def test_same_notes_same_index_whatever_the_order_of_making(tmp_path):
    write(tmp_path / "one", NOTES)
    write(tmp_path / "two", dict(reversed(NOTES.items())))
    first = generation(tmp_path / "one", tmp_path / "1" / "i.duckdb")
    assert generation(tmp_path / "two", tmp_path / "2" / "i.duckdb") == first


def test_same_notes_same_index_however_the_folder_is_typed(tmp_path, monkeypatch):
    notes = tmp_path / "notes"
    write(notes, NOTES)
    (tmp_path / "link").symlink_to(notes, target_is_directory=True)
    monkeypatch.chdir(tmp_path)
    typed = ["notes", "notes/", "./notes", "notes/../notes", str(notes), "link"]
    found = {generation(folder, tmp_path / "i.duckdb") for folder in typed}
    monkeypatch.chdir(notes)
    found |= {generation(folder, notes / ".clew" / "index.duckdb") for folder in (".", "../notes")}
    assert len(found) == 1


def test_several_sources_are_one_index_in_any_order(tmp_path, monkeypatch):
    for folder in ("x/notes", "y/notes"):
        write(tmp_path / folder, {"README.md": f"# Of {folder}\n\nThe newt is green.\n"})
    monkeypatch.chdir(tmp_path)
    orders = [["x/notes", "y/notes"], ["y/notes", "x/notes"], ["x/notes", "y/notes", "./x/notes/"]]
    generations = set()
    for paths in orders:
        with Index.build(paths, "i.duckdb", options=NONE) as index:
            generations.add(index.engine.reader.generation)
            documents = index.engine.reader.documents()
            assert [one.key for one in documents] == ["notes-2/README.md", "notes/README.md"]
            assert [one.location for one in documents] == ["y/notes/README.md", "x/notes/README.md"]
            assert [hit.document.location for hit in index.search("newt")]
            for one in documents:
                assert f"# Of {one.location}".removesuffix("/README.md") in Path(one.file).read_text()
                assert index.engine.reader.find_documents(one.location) == [one]
    assert len(generations) == 1


def test_names_beside_wrong_bytes_are_where_they_stand(tmp_path):
    notes = tmp_path / "notes"
    write(notes, NOTES)
    damaged = "# Größe\n\nDie Größe ".encode() + b"\xff of Alpha\xff\xff and \xed\xa0\x80 Beta, Alpha.\n"
    (notes / "damaged.md").write_bytes(damaged)
    with Index.build([notes], tmp_path / "i.duckdb", options=NONE) as index:
        reader = index.engine.reader
        doc = next(one.doc for one in reader.documents() if one.key == "damaged.md")
        found = [m for chunk in reader.chunks_of(doc) for m in reader.mentions(chunk=chunk.chunk)]
        assert {"Alpha", "Beta"} <= {mention.surface for mention in found}
        for mention in found:
            assert damaged[mention.start : mention.end].decode("utf-8", "replace") == mention.surface
        assert index.doctor().whole


def test_an_update_equals_a_build_from_nothing(tmp_path):
    notes = tmp_path / "notes"
    write(notes, NOTES)
    updated = tmp_path / "updated" / "i.duckdb"
    generation(notes, updated)
    (notes / "b" / "Beta.md").rename(notes / "Gamma.md")
    (notes / "README.md").unlink()
    write(notes, {"New.md": "# New\n\nAll about Alpha.\n"})
    assert generation(notes, updated) == generation(notes, tmp_path / "fresh" / "i.duckdb")


def test_deleted_notes_leave_no_trace(tmp_path):
    notes = tmp_path / "notes"
    write(notes, NOTES)
    path = tmp_path / "i.duckdb"
    generation(notes, path)
    (notes / "b" / "Beta.md").unlink()
    with Index.build([notes], path, options=NONE) as index:
        assert index.search("Київ") == []
        keys = [document.key for document in index.engine.reader.documents()]
        assert keys == ["README.md", "a/Alpha.md", "b/README.md"]


@pytest.mark.parametrize(
    "notes",
    [{}, {"empty.md": ""}, {"one.md": "word"}, {"none.md": "the and of"}, {"a.md": "Ada", "b.md": "Bob"}],
    ids=["no files", "empty file", "one word", "no entity", "entities without edges"],
)
def test_little_or_nothing_to_index(tmp_path, notes):
    folder = tmp_path / "notes"
    folder.mkdir()
    write(folder, notes)
    with Index.build([folder], options=NONE) as index:
        for mode in ("auto", "basic", "local", "global", "drift"):
            index.ask("what is this about?", mode=mode)
        index.search("word", mode="local")
        index.communities()


def test_an_open_index_sees_a_newer_one(tmp_path):
    write(tmp_path / "n", {"a.md": "# A\n\nOld tea.\n"})
    path = tmp_path / "i.duckdb"
    Index.build([tmp_path / "n"], path, options=NONE).close()
    with Index.open(path) as reader:
        assert reader.search("tea")
        write(tmp_path / "n", {"b.md": "# B\n\nFresh coffee.\n"})
        Index.build([tmp_path / "n"], path, options=NONE).close()
        assert reader.search("coffee")[0].document.key == "b.md"


class Watcher:
    """Remembers what a build tells, and what is published whenever a stage begins."""

    def __init__(self, path):
        self.path, self.notes, self.seen = path, [], {}

    def stage(self, name, total=None):
        if self.path.exists():
            with Index.open(self.path) as index:
                self.seen[name] = (index.stats()["embedder"], index.stats()["documents"])

    def advance(self, n=1): ...

    def note(self, text):
        self.notes.append(text)


def test_a_first_build_can_be_asked_before_it_is_embedded(tmp_path):
    write(tmp_path / "n", {"a.md": "# A\n\nOld tea.\n"})
    path = tmp_path / "i.duckdb"
    watcher = Watcher(path)
    Index.build([tmp_path / "n"], path, progress=watcher).close()
    assert watcher.seen["embed"] == (None, 1)
    assert any("asked now" in note for note in watcher.notes)
    write(tmp_path / "n", {"b.md": "# B\n\nNew tea.\n"})
    again = Watcher(path)
    with Index.build([tmp_path / "n"], path, progress=again) as index:
        assert again.seen["embed"] == (
            index.stats()["embedder"],
            1,
        )  # until the new is whole
        assert index.stats()["documents"] == 2
