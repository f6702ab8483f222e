"""`clew doctor`: each kind of damage is found by the check that is for it, and by none in a whole index."""

from __future__ import annotations

import shutil
import tracemalloc
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

from clew import Index
from clew.options import EmbedOptions, IndexOptions
from clew.stores import checksum
from clew.stores.duckdb import make
from clew.stores.duckdb_read import DuckReader
from clew.testing.factories import make_artifact

NO_VECTORS = IndexOptions(embed=EmbedOptions(embedder="none"))
NOTES = {
    "Ada.md": "# Ada Lovelace\n\nWrote on the [[Engine]] with [[Charles Babbage]]. #maths\n",
    "Engine.md": "# Engine\n\nBuilt by [[Charles Babbage]]. Ada saw it.\n\n## Parts\n\nMill, store.\n",
    "Charles Babbage.md": "---\ntags: [maths]\ndate: 1871-10-18\n---\n\n# Charles Babbage\n\nAn Engine.\n",
    "corpus.jsonl": '{"id": "r1", "title": "Rec", "text": "The Engine in a record."}\n',
    "wide.txt": "Das Ölgemälde zeigt die Engine.",
    "binary.md": "\0\1\2\3" * 100,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of notes with its index, which tests copy."""
    folder = tmp_path_factory.mktemp("doctor") / "notes"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_bytes(text.encode("utf-16" if name == "wide.txt" else "utf-8"))
    Index.build([folder], options=NO_VECTORS).close()
    return folder


@pytest.fixture
def notes(whole: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(whole, tmp_path / "notes"))


def index_of(notes: Path) -> Path:
    return notes / ".clew" / "index.duckdb"


def faults(notes: Path) -> dict[str, tuple[str, ...]]:
    with Index.open(index_of(notes)) as index:
        found = index.doctor()
    assert found.whole is not any(check.faults for check in found.checks)
    return {check.name: check.faults for check in found.checks if check.faults}


def test_a_whole_index_has_no_fault(notes: Path) -> None:
    with Index.open(index_of(notes)) as index:
        found = index.doctor()
    assert found.whole
    names = ["checksum", "positions", "references", "spans", "counts", "arrays", "sources"]
    assert [check.name for check in found.checks] == names
    assert all(check.checked for check in found.checks)
    state = found.sources
    assert state is not None
    assert (state.unchanged, state.changed, state.missing, state.new) == (5, 0, 0, 0)


DAMAGE = {
    "a passage's text": ("UPDATE chunks SET text = text || '.' WHERE chunk = 0", {"checksum"}),
    "a title": ("UPDATE documents SET title = 'X' WHERE doc = 0", {"checksum"}),
    "an option": ("UPDATE meta SET value = '\"x\"' WHERE key = 'clew_version'", {"checksum"}),
    "a lost row": ("DELETE FROM mentions WHERE rowid = 0", {"checksum"}),
    "a number": ("UPDATE chunks SET chunk = 99 WHERE chunk = 1", {"positions"}),
    "an id": ("UPDATE nodes SET id = (SELECT min(id) FROM nodes)", {"positions"}),
    "a document": ("UPDATE chunks SET doc = 99 WHERE chunk = 1", {"references"}),
    "a section": ("UPDATE chunks SET section = 99 WHERE chunk = 1", {"references"}),
    "a node": ("UPDATE mentions SET node = -1 WHERE rowid = 1", {"references"}),
    "an end": ("UPDATE edges SET target = 999 WHERE edge = 0", {"references"}),
    "an edge": ("UPDATE edge_evidence SET edge = 999 WHERE rowid = 0", {"references"}),
    "a report's member": ("UPDATE reports SET members = '[999]' WHERE community = 0", {"references"}),
    "a parent": ("UPDATE communities SET parent = 0 WHERE community = 0", {"references"}),
    "a document's node": ("UPDATE nodes SET doc = -1 WHERE kind = 'document'", {"references"}),
    "a time that isn't": ("UPDATE documents SET created_at = NULL", {"checksum"}),
    "an evidence's document": ("UPDATE edge_evidence SET doc = 99 WHERE rowid = 0", {"references"}),
    "another's document": ("UPDATE edge_evidence SET doc = 1 - sign(doc) WHERE chunk >= 0", {"spans"}),
    "a line of frontmatter": ("UPDATE edge_evidence SET line = 0 WHERE chunk < 0", {"spans"}),
    "words of frontmatter": ("UPDATE edge_evidence SET quote = 'x' WHERE chunk < 0", {"checksum"}),
    "a rank": ("UPDATE nodes SET pagerank = -1 WHERE node = 0", {"counts"}),
    "all ranks": ("UPDATE nodes SET pagerank = pagerank * 2", {"counts"}),
    "a chunk's end": ("UPDATE chunks SET end_byte = 1000000 WHERE chunk = 0", {"spans"}),
    "a chunk's lines": ("UPDATE chunks SET start_line = 0 WHERE chunk = 0", {"spans"}),
    "a mention's start": ("UPDATE mentions SET start_byte = 100000 WHERE rowid = 0", {"spans"}),
    "a finding's end": ("UPDATE report_findings SET end_byte = 100000", {"spans"}),
    "a degree": ("UPDATE nodes SET degree = degree + 1 WHERE node = 0", {"counts"}),
    "a passage count": ("UPDATE nodes SET df = df + 1 WHERE node = 0", {"counts", "arrays"}),
    "a size": ("UPDATE communities SET size = size + 1 WHERE community = 0", {"counts"}),
    "a source": ("UPDATE edges SET source = (SELECT max(node) FROM nodes)", {"arrays"}),
    "an array's bytes": ("UPDATE arrays SET data = data[:-9] WHERE name = 'lex.ptr'", {"arrays"}),
    "an array": ("DELETE FROM arrays WHERE name = 'lex.length'", {"arrays"}),
    "vectors": ("UPDATE meta SET value = '\"minilm\"' WHERE key = 'embedder'", {"arrays"}),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_found(notes: Path, kind: str) -> None:
    statement, expected = DAMAGE[kind]
    with duckdb.connect(str(index_of(notes))) as connection:
        connection.execute(statement)
    found = faults(notes)
    assert found.keys() >= expected | {"checksum"}
    assert all(fault for check in found.values() for fault in check)


def test_changes_of_the_notes_are_counted(notes: Path) -> None:
    (notes / "Ada.md").write_text("# Ada\n\nEdited.\n", encoding="utf-8")
    (notes / "Engine.md").unlink()
    (notes / "New.md").write_text("# New\n", encoding="utf-8")
    with Index.open(index_of(notes)) as index:
        found = index.doctor()
    assert found.whole
    state = found.sources
    assert state is not None
    assert (state.unchanged, state.changed, state.missing, state.new) == (3, 1, 1, 1)


def test_offsets_are_compared_with_the_files(notes: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make()
    reader = store.open(index_of(notes))
    from clew.ingest.verify import verify_sources
    from clew.options import SourceOptions
    from clew.sources.folder import open_source

    class Shifted:
        """A reader whose passages lie a byte beside where they are."""

        def __getattr__(self, name: str) -> object:
            return getattr(reader, name)

        def chunks(self, wanted: object) -> list[object]:
            return [replace(one, start=one.start + 1) for one in reader.chunks(wanted)]  # type: ignore[arg-type]

    sources = [open_source(notes, SourceOptions(), "notes")]
    check, _ = verify_sources(reader, sources)
    assert not check.faults
    check, _ = verify_sources(Shifted(), sources)  # type: ignore[arg-type]
    assert len(check.faults) >= 5
    [place] = reader.evidence_outside()
    assert (place.quote, place.line) == ("maths", 2)
    monkeypatch.setattr(reader, "evidence_outside", lambda: [replace(place, start=place.start + 1)])
    check, _ = verify_sources(reader, sources)
    assert check.faults == (f"Charles Babbage.md: bytes {place.start + 1} to {place.end} aren't 'maths'",)
    reader.close()


def test_moved_notes_are_found_and_absent_ones_said_so(notes: Path, tmp_path: Path) -> None:
    moved = notes.rename(tmp_path / "moved")
    with Index.open(index_of(moved)) as index:
        assert index.doctor().sources is not None
    shutil.copy(index_of(moved), tmp_path / "alone.duckdb")
    with Index.open(tmp_path / "alone.duckdb") as index:
        found = index.doctor()
    assert found.whole
    assert found.sources is None
    assert "isn't where it was" in found.reason


def test_several_sources_and_vectors(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "README.md").write_text(f"# Of {folder}\n\nThe newt.\n", encoding="utf-8")
    one = tmp_path / "one.md"
    one.write_text("# One\n\nA single file.\n", encoding="utf-8")
    with Index.build([tmp_path / "a", tmp_path / "b", one], tmp_path / "i.duckdb") as index:
        found = index.doctor()
        assert found.whole, found
        assert found.sources is not None
        assert found.sources.unchanged == 3
    with duckdb.connect(str(tmp_path / "i.duckdb")) as connection:
        zero = "repeat('\\x00', octet_length(data)::INTEGER)::BLOB"
        connection.execute(f"UPDATE arrays SET data = {zero} WHERE name = 'dense.vectors'")
    with Index.open(tmp_path / "i.duckdb") as index:
        damaged = {check.name for check in index.doctor().checks if check.faults}
    assert damaged >= {"checksum", "arrays"}


def test_a_larger_index_takes_no_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checksum, "ROWS", 4096)

    def peak(n_mentions: int) -> int:
        path = tmp_path / f"{n_mentions}.duckdb"
        make().publish(path, make_artifact(200, n_mentions=n_mentions))
        reader = make().open(path)
        assert isinstance(reader, DuckReader)
        tracemalloc.start()
        try:
            assert checksum.content_hash(reader) == reader.generation
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
            reader.close()

    peak(100)  # imports
    assert peak(60_000) < 1.5 * peak(10_000)
