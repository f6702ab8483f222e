"""What is kept of passages between runs changes nothing but the time that reports take."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from small_corpus import make_corpus

from clew.ingest import passages
from clew.ingest.communities import partition
from clew.ingest.graph import extract_graph
from clew.ingest.model import Corpus
from clew.ingest.reports import summarise
from clew.options import CommunityOptions
from clew.stores.cache import SqliteCache, open_cache
from clew.types import Report

FILES = {
    "tide.md": "# Tide Gauge\n\nThe Tide Gauge records the sea in Eelgrass Bay. Made: 1904.\n\n- [ ] oil\n",
    "bay.md": "# Eelgrass Bay\n\nEelgrass Bay lies in the north. See [[tide]].\n\n> Quoted: the sea rose.\n",
    "utf16.md": "# Море\n\nМоре біля Eelgrass Bay спокійне. Tide Gauge стоїть там.\n".encode("utf-16"),
    "code.md": "# Winch\n\nThe winch `turns` slowly.\n\n```\nnone here. None.\n```\n\n| a | b |\n|---|---|\n",
}


def reports(corpus: Corpus, cache: SqliteCache | None = None) -> list[Report]:
    graph = extract_graph(corpus)
    return summarise(corpus, graph, partition(corpus, graph, CommunityOptions()), cache)


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[SqliteCache]:
    made = open_cache(tmp_path / "cache.sqlite")
    yield made
    made.close()


def test_passages_are_read_once_and_reports_stay(cache: SqliteCache, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = make_corpus(FILES)
    expected = reports(corpus)
    assert any(report.findings for report in expected)
    assert reports(corpus, cache) == expected

    def read(*_: object, **__: object) -> list[object]:
        raise AssertionError("a passage is read again")

    monkeypatch.setattr(passages, "units", read)
    assert reports(corpus, cache) == expected


def test_an_edited_note_is_read_anew_and_no_other(
    cache: SqliteCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    reports(make_corpus(FILES), cache)
    files = {**FILES, "bay.md": "# Eelgrass Bay\n\nEelgrass Bay lies in the south. See [[tide]].\n"}
    expected, seen, real = reports(make_corpus(files)), [], passages.units

    def read(text: str, **options: bool) -> list[passages.Unit]:  # type: ignore[name-defined]
        seen.append(text)
        return real(text, **options)

    monkeypatch.setattr(passages, "units", read)
    assert reports(make_corpus(files), cache) == expected
    assert seen
    assert all("south" in text for text in seen)


def test_the_same_text_as_another_kind_of_document_is_read_as_that(cache: SqliteCache) -> None:
    text = "* not a list. But a text.\n\n# No heading. A line.\n"
    for name in ("a.md", "a.txt"):
        corpus = make_corpus({name: text, "b.md": "# List\n\nThe list.\n"})
        assert reports(corpus, cache) == reports(corpus)


@pytest.mark.parametrize("damage", [b"", b"x", b"\xff" * 40, b"\xff" * 41, (10.0**9).hex().encode() * 5])
def test_damaged_entries_are_as_good_as_none(cache: SqliteCache, damage: bytes) -> None:
    corpus = make_corpus(FILES)
    expected = reports(corpus, cache)
    found = passages.Passages(corpus)
    keys = [found._key(chunk) for chunk in range(corpus.n_chunks)]
    cache.put_parts({key: damage for key in cache.parts(keys) if damage})
    assert reports(corpus, cache) == expected
