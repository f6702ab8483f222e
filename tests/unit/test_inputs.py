"""Which sources paths become: files that are named together are read as their folder would be."""

from __future__ import annotations

import itertools
import os
from pathlib import Path

import pytest

from clew import Index, IndexOptions
from clew.errors import UsageError
from clew.inputs import default_path, open_sources
from clew.options import EmbedOptions, SourceOptions

NO_VECTORS = IndexOptions(embed=EmbedOptions(embedder="none"))
NOTES = ("a.md", "b.md", "sub/b.md", "sub/deep/c.txt")


@pytest.fixture
def notes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in NOTES:
        path = tmp_path / "notes" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# {path.stem}\n\nThe axolotl of {name} sees [[b]].\n")
    return Path("notes")


def keys(index: Index) -> list[str]:
    return [document.key for document in index.engine.reader.documents()]


NAMED = {
    "all files": [f"notes/{name}" for name in NOTES],
    "what a shell makes of notes/*": ["notes/a.md", "notes/b.md", "notes/sub"],
    "a folder and what is in it": ["notes/sub", "notes/sub/b.md", "notes/a.md", "notes/b.md"],
    "by other ways": ["notes/a.md", "notes/sub/../b.md", "notes/sub/"],
}


@pytest.mark.parametrize("how", NAMED)
def test_named_together_they_are_their_folder(notes: Path, how: str) -> None:
    with Index.build([notes], "whole.duckdb", options=NO_VECTORS) as whole:
        for order in (NAMED[how], NAMED[how][::-1]):
            with Index.build(order, options=NO_VECTORS) as named:
                assert named.file == Path("notes/.clew/index.duckdb")  # as it would be typed
                assert keys(named) == keys(whole) == list(NOTES)
                assert named.engine.reader.generation == whole.engine.reader.generation
                assert [hit.document.location for hit in named.search("axolotl", k=9)] == [
                    hit.document.location for hit in whole.search("axolotl", k=9)
                ]
                found = named.doctor()
                assert found.whole
                assert found.sources is not None
                assert (found.sources.unchanged, found.sources.new) == (4, 0)


@pytest.mark.parametrize(
    ("named", "found", "home"),
    [
        (["a.md", "b.md"], ["a.md", "b.md"], "notes"),
        (["a.md", "sub/b.md"], ["a.md", "sub/b.md"], "notes"),
        (["sub/b.md", "sub/deep/c.txt"], ["b.md", "deep/c.txt"], "notes/sub"),
        (["a.md"], ["a.md"], "notes"),
        (["a.md", "sub"], ["a.md", "sub/b.md", "sub/deep/c.txt"], "notes"),
        (["a.md", "sub/deep"], ["a.md/a.md", "deep/c.txt"], "notes"),  # not beside it: a source of its own
    ],
)
def test_only_what_was_named_is_read(notes: Path, named: list[str], found: list[str], home: str) -> None:
    paths = [notes / name for name in named]
    assert default_path(paths).resolve() == Path(home, ".clew/index.duckdb").resolve()
    with Index.build(paths, options=NO_VECTORS) as index:
        assert keys(index) == found
        assert [Path(one.file) for one in index.engine.reader.documents()] == [
            (notes / name).absolute() for name in NOTES if any(name.startswith(part) for part in named)
        ]


def test_patterns_and_ignore_files_hold_in_named_folders(notes: Path) -> None:
    """What a shell leaves in ``notes/*`` isn't more than ``notes`` holds; a file that is named was meant."""
    (notes / ".gitignore").write_text("deep\nb.md\n")
    options = IndexOptions(source=SourceOptions(exclude=("c.txt",)), embed=EmbedOptions(embedder="none"))
    with Index.build([notes / "a.md", notes / "b.md", notes / "sub"], options=options) as index:
        assert keys(index) == ["a.md", "b.md"]


def test_the_index_of_named_files_is_spared_and_grows(notes: Path) -> None:
    Index.build([notes / "a.md", notes / "sub/b.md"], options=NO_VECTORS).close()
    for fewer in (["a.md"], ["a.md", "b.md"]):
        with pytest.raises(UsageError, match="would be lost"):
            Index.build([notes / name for name in fewer], options=NO_VECTORS)
    for more in (["a.md", "sub/b.md", "b.md"], ["a.md", "b.md", "sub"], ["."]):
        Index.build([notes / name for name in more], options=NO_VECTORS).close()
    with pytest.raises(UsageError, match="would be lost"):
        Index.build([notes / "a.md", notes / "b.md"], options=NO_VECTORS)


def test_a_moved_folder_still_knows_its_named_files(notes: Path) -> None:
    Index.build([notes / "a.md", notes / "b.md"], options=NO_VECTORS).close()
    notes.rename("moved")
    Path("moved/b.md").unlink()
    with Index.open("moved/.clew/index.duckdb") as index:
        assert {hit.document.location for hit in index.search("axolotl")} == {"moved/a.md", "moved/b.md"}
        state = index.doctor().sources
        assert state is not None
        assert (state.unchanged, state.missing, state.new) == (1, 1, 0)


def test_files_without_a_common_folder_stay_apart(tmp_path: Path) -> None:
    """An index of ``/home/a.md /srv/b.md`` isn't put at the root of the disk."""
    far, near = Path(os.__file__).resolve(), tmp_path.resolve() / "a.md"
    near.write_text("# A\n")
    if os.path.commonpath([far, near]) != far.anchor:
        pytest.skip("Python and the temporary folder are in one folder")
    assert default_path([near, far]) == near.parent / ".clew/index.duckdb"
    names = [Path(str(source.path)) for source in open_sources([near, far], NO_VECTORS)]
    assert sorted(names) == sorted([near, far])


def test_many_named_files_are_compared_quickly(notes: Path) -> None:
    from clew.ingest.origins import lost
    from clew.types import Origin

    parts = tuple(f"{a}/{b}.md" for a, b in itertools.product(range(100), range(100)))
    old, new = Origin("n", "/n", "", parts), Origin("n", "/n", "", parts[1:])
    assert lost([old], [old]) == []
    assert lost([old], [new]) == [old]
    assert lost([new], [old]) == []
    assert lost([new], [Origin("n", "/")]) == []
