"""An index made with other options is made anew as far as they reach, and says so; the cache stays small."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew import Index, IndexOptions, registry
from clew.index import SilentProgress, look_at_cache
from clew.ingest.documents import Work
from clew.options import (
    ChunkOptions,
    CommunityOptions,
    EmbedOptions,
    SourceOptions,
    changed_options,
    flat,
    recorded,
)
from clew.stores.cache import KEEP_RUNS
from clew.text.subword import WordwiseTokenizer
from clew.types import Floats, RawDocument

NOTES = {
    "Newt.md": "# Newt\n\nThe newt knows the [[Axolotl]]. It is green and lives in Mill Pond.\n\n"
    + "Pond. " * 90,
    "Axolotl.md": "# Axolotl\n\nThe axolotl of Mill Pond was seen by Ada Lovelace.\n",
    "Olm.md": "# Olm\n\nThe olm of Mill Pond was seen by Ada Lovelace too. See [[Newt]].\n",
}
RECORDS = '{"id": "r1", "text": "%s"}\n{"id": "r2", "text": "Ada Lovelace fed the newt."}\n' % ("Newt. " * 60)
N_NOTES, N_RECORDS = len(NOTES), 2


def two_tokens(word: str) -> int:
    return 2


@dataclass
class Fake:
    """An embedder of hashes, which counts."""

    name: str
    counted: list[str]
    window: int = 64
    tokenizer: WordwiseTokenizer = field(default_factory=lambda: WordwiseTokenizer("twos", two_tokens))
    dimension: int = 8
    languages: frozenset[str] = frozenset()

    def embed(self, texts: Sequence[str]) -> Floats:
        self.counted += texts
        found: Floats = np.array([self._vector(text) for text in texts], dtype=np.float32).reshape(-1, 8)
        return found

    def _vector(self, text: str) -> Floats:
        bits = blake2b(f"{self.name} {text}".encode(), digest_size=8).digest()
        vector = np.frombuffer(bits, np.uint8).astype(np.float32) + 1
        found: Floats = vector / np.linalg.norm(vector)
        return found

    def embed_question(self, text: str) -> Floats:
        found: Floats = self.embed([text])[0]
        return found


class Told(SilentProgress):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@dataclass
class Bench:
    """A folder and a corpus to index, and what indexing them took."""

    folder: Path
    parsed: list[str] = field(default_factory=list)
    embedded: list[str] = field(default_factory=list)

    def build(self, options: IndexOptions, place: str = "i.duckdb") -> tuple[Any, list[str], str]:
        """Return the result, the lines told, and the generation."""
        self.parsed.clear()
        self.embedded.clear()
        told = Told()
        paths = [self.folder / "notes", self.folder / "corpus.jsonl"]
        with Index.build(paths, self.folder / place, options=options, progress=told) as index:
            return index.result, told.notes, index.engine.reader.generation


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Bench:
    (tmp_path / "notes").mkdir()
    for name, text in NOTES.items():
        (tmp_path / "notes" / name).write_text(text, encoding="utf-8")
    (tmp_path / "corpus.jsonl").write_text(RECORDS, encoding="utf-8")
    made = Bench(tmp_path)
    makers: dict[str, Callable[[], Fake | None]] = {
        "minilm": lambda: Fake("first", made.embedded),
        "second": lambda: Fake("second", made.embedded),
        "wide": lambda: Fake("wide", made.embedded, window=96),
        "other": lambda: Fake("other", made.embedded, tokenizer=WordwiseTokenizer("ones", len)),
        "none": lambda: None,
    }
    monkeypatch.setattr(registry, "make_embedder", lambda options: makers[options.embedder]())
    parse = Work._parse

    def counting(self: Work, raw: RawDocument) -> Any:
        made.parsed.append(raw.key)
        return parse(self, raw)

    monkeypatch.setattr(Work, "_parse", counting)
    return made


BASE = IndexOptions()
ALL = N_NOTES + N_RECORDS


def chunked(**sizes: int) -> IndexOptions:
    return replace(BASE, chunk=ChunkOptions(**sizes))


def embedder(name: str, base: IndexOptions = BASE) -> IndexOptions:
    return replace(base, embed=EmbedOptions(embedder=name))


# Before, after, documents parsed, passages embedded, stages told, words of the line.
CASES = {
    "chunk size": (
        BASE,
        chunked(size=16),
        ALL,
        "some",
        "parse embed",
        "--chunk-size 0 → 16. Notes are parsed",
    ),
    "overlap": (chunked(size=16), chunked(size=16, overlap=8), ALL, "some", "parse embed", "--overlap 0 → 8"),
    "record size": (
        BASE,
        chunked(record_size=16),
        N_RECORDS,
        "some",
        "parse embed",
        "--record-size 4096 → 16. Records are parsed",
    ),
    "the same size by number": (BASE, chunked(size=56), 0, "none", "", "Nothing is parsed or embedded again"),
    "too much overlap": (
        chunked(size=16, overlap=8),
        chunked(size=16, overlap=9),
        0,
        "none",
        "",
        "--overlap",
    ),
    "language": (
        BASE,
        replace(BASE, language="de"),
        ALL,
        "none",
        "parse",
        "--language auto → de. Notes are parsed and cut again; nothing is embedded",
    ),
    "embedder": (BASE, embedder("second"), 0, "all", "embed", "minilm → second. All passages are embedded"),
    "embedder of another window": (BASE, embedder("wide"), ALL, "all", "parse embed", "minilm → wide"),
    "embedder of other tokens": (BASE, embedder("other"), ALL, "all", "parse embed", "minilm → other"),
    "other window, given size": (
        chunked(size=16),
        embedder("wide", chunked(size=16)),
        0,
        "all",
        "embed",
        "nothing is parsed again",
    ),
    "no embedder": (BASE, embedder("none"), 0, "none", "", "Vectors are left out; nothing is parsed"),
    "an embedder at last": (embedder("none"), BASE, 0, "all", "embed", "none → minilm. All passages"),
    "communities": (
        BASE,
        replace(BASE, community=CommunityOptions(max_size=4, resolution=2.0, levels=2, seed=1)),
        0,
        "none",
        "communities",
        "--community-levels 4 → 2, --community-seed 7 → 1. Communities and reports are made again",
    ),
    "files": (
        replace(BASE, source=SourceOptions(exclude=("Olm.md",))),
        BASE,
        1,
        "some",
        "files",
        "--exclude Olm.md → nothing. Files that come in are read",
    ),
    "fewer files": (BASE, replace(BASE, source=SourceOptions(include=("N*",))), 0, "none", "files", "→ N*"),
    "speed alone": (
        BASE,
        replace(BASE, workers=1, embed=EmbedOptions(batch_tokens=64, threads=1)),
        0,
        "none",
        "",
        "",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_options_are_followed_as_far_as_they_reach(bench: Bench, case: str) -> None:
    before, after, n_parsed, embedded, reach, words = CASES[case]
    bench.build(before)
    first = (*bench.embedded,)
    result, told, generation = bench.build(after)
    assert len(bench.parsed) == n_parsed, bench.parsed
    done = (*bench.embedded,)
    assert bool(done) == (embedded != "none")
    if embedded != "all":
        assert not set(done) & set(first)  # vectors of the same texts are used again
    assert " ".join(result.reach) == reach
    lines = [line for line in told if line.startswith("Options have changed: ")]
    assert len(lines) == bool(words)
    assert not words or words in lines[0]
    fresh = bench.build(after, "fresh.duckdb")
    assert fresh[0].changes == fresh[0].reach == ()
    assert generation == fresh[2]
    assert embedded != "all" or set(bench.embedded) == set(done)
    again, silent, _ = bench.build(after)
    assert (again.changes, again.reach, bench.parsed, bench.embedded) == ((), (), [], [])
    assert not any("changed:" in line for line in silent)


def test_every_option_is_told_or_without_effect() -> None:
    """A new option is one of these from the day it is added."""
    others: dict[str, Any] = {"source.include": ("x",), "source.exclude": ("x",), "language": "de"}
    record = recorded(BASE)
    for key, value in flat(BASE):
        section, _, name = key.rpartition(".")
        other = others.get(key, "none" if isinstance(value, str) else (value and value * 2) or 3)
        inner = replace(getattr(BASE, section), **{name: other}) if section else other
        changed = replace(BASE, **{section or name: inner})
        changes = changed_options(record, changed)
        recorded_too = recorded(changed) != record
        assert [change.option for change in changes] == ([key] if recorded_too else []), key
    assert changed_options({"chunk": {"size": 0}}, chunked(overlap=5)) == ()  # it wasn't known then
    for damaged in (None, [], {"chunk": 3}, "x"):
        assert changed_options(damaged, BASE) == ()


def test_going_back_to_earlier_options_costs_nothing(bench: Bench) -> None:
    for size in (0, 16, 24):
        bench.build(chunked(size=size))
    result, _, _ = bench.build(BASE)
    assert (bench.parsed, bench.embedded) == ([], [])
    assert result.reach == ("parse", "embed")  # what they reach; the cache had it all


def test_the_cache_stays_bounded_whatever_options_change(bench: Bench) -> None:
    entries, sizes = [], []
    for run in range(3 * KEEP_RUNS):
        bench.build(chunked(size=16 + run))
        state = look_at_cache(bench.folder / "i.duckdb")
        entries.append(state.entries["analyses"])
        sizes.append(state.bytes)
    assert max(entries) == KEEP_RUNS * ALL
    assert max(sizes[2 * KEEP_RUNS :]) <= 1.25 * max(sizes[: KEEP_RUNS + 2])
    left = look_at_cache(bench.folder / "i.duckdb", prune=True)
    assert left.entries["analyses"] == ALL
