"""Indexing what an index was made from does nothing; indexing anything else does it all."""

from dataclasses import replace

import pytest

from clew import Index, IndexOptions
from clew.ingest import unchanged
from clew.options import ChunkOptions, EmbedOptions

PLAIN = IndexOptions(embed=EmbedOptions(embedder="none"))


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    (folder / "sub").mkdir(parents=True)
    (folder / "tea.md").write_text("# Tea\n\nTea from Assam is malty. See [[Coffee]]. #drink\n", "utf-8")
    (folder / "sub" / "coffee.md").write_text("# Coffee\n\nCoffee from Ethiopia. #drink\n", "utf-8")
    return folder


def made(folder, options=PLAIN, **more):
    index = Index.build([folder], folder.parent / "x.duckdb", options=options, **more)
    index.close()
    return index.result


def test_nothing_is_done_twice_and_the_same_is_told(notes):
    (notes / "odd.md").write_text("---\ntitle: [\n---\nText of a note.\n", "utf-8")
    first = made(notes)
    stamp = (notes.parent / "x.duckdb").stat()
    again = made(notes)
    assert not first.unchanged
    assert again.unchanged
    assert (notes.parent / "x.duckdb").stat().st_mtime_ns == stamp.st_mtime_ns
    assert list(again.counts.items()) == list(first.counts.items())
    assert (again.problems, again.languages) == (first.problems, first.languages)
    assert first.problems
    assert "othing has changed" in again.notes[-1]


def edit(notes):
    (notes / "tea.md").write_text("# Tea\n\nTea from Darjeeling. See [[Coffee]]. #drink\n", "utf-8")


def add(notes):
    (notes / "new.md").write_text("Water.\n", "utf-8")


def rename(notes):
    (notes / "tea.md").rename(notes / "sub" / "tea.md")


def delete(notes):
    (notes / "tea.md").unlink()


@pytest.mark.parametrize("change", [edit, add, rename, delete])
def test_any_change_of_the_notes_is_taken_up(notes, change):
    made(notes)
    change(notes)
    assert not made(notes).unchanged
    assert made(notes).unchanged


@pytest.mark.parametrize(
    "options",
    [
        replace(PLAIN, chunk=ChunkOptions(size=64)),
        replace(PLAIN, language="en"),
        replace(PLAIN, community=replace(PLAIN.community, seed=8)),
        IndexOptions(),
    ],
)
def test_other_options_are_taken_up(notes, options):
    made(notes)
    assert not made(notes, options).unchanged
    assert made(notes, options).unchanged


def test_the_number_of_processes_is_no_change(notes):
    made(notes)
    assert made(notes, replace(PLAIN, workers=1)).unchanged


def test_other_code_is_taken_up(notes, monkeypatch):
    made(notes)
    monkeypatch.setattr(unchanged, "_code", lambda: ["another"])
    assert not made(notes).unchanged


def test_a_damaged_or_missing_index_is_made_anew(notes):
    made(notes)
    path = notes.parent / "x.duckdb"
    path.write_bytes(path.read_bytes()[:-100_000])
    assert not made(notes).unchanged
    path.unlink()
    assert not made(notes).unchanged


def test_rebuild_is_done_whatever_is_there(notes):
    first = made(notes)
    again = made(notes, rebuild=True)
    assert not again.unchanged
    assert again.counts == first.counts


def test_what_made_it_is_no_part_of_the_generation(notes, monkeypatch):
    def generation():
        index = Index.build([notes], notes.parent / "x.duckdb", options=PLAIN)
        try:
            return index.result.unchanged, index.stats()["generation"]
        finally:
            index.close()

    first = generation()
    monkeypatch.setattr(unchanged, "_code", lambda: ["another machine's libraries"])
    assert generation() == first
    assert first[0] is False


def test_the_cache_of_a_run_that_did_nothing_stays_whole(notes):
    made(notes)
    for _ in range(12):
        assert made(notes).unchanged
    store_cache = notes.parent / "x.duckdb.cache"
    from clew.stores.cache import open_cache

    cache = open_cache(store_cache, new_run=False)
    assert cache.stats()["analyses"] == 2
    assert cache.unused() == 0
    cache.close()


def test_the_fingerprint_has_no_order_of_files(notes):
    from clew import registry
    from clew.index import open_sources
    from clew.ingest.scan import scan

    raws, _ = scan(open_sources([notes], PLAIN))
    embedder = registry.make_embedder(EmbedOptions())

    def hashed(given):
        return unchanged.fingerprint(given, {}, embedder.tokenizer, 256, [], embedder)

    assert hashed(raws) == hashed(list(reversed(raws)))
    assert hashed(raws) != hashed(raws[:1])
