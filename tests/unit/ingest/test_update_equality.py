"""The index is a function of the sources: whatever was added, edited, moved or deleted on the way, and with
whatever options an index was made before, an update gives the index that is built from nothing.

CLEW_EQUALITY_EXAMPLES=500 tries so many histories at random; the usual run tries a few, always the same.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from letters import Letters, plugged_in
from vault_notes import BAD, KEYS, RECORD_FILES, contents, corpora
from whole_index import differences, read_whole

from clew import Index, IndexOptions
from clew.index import cache_path, look_at_cache
from clew.options import ChunkOptions, CommunityOptions, EmbedOptions, SourceOptions
from clew.types import BuildResult

EXAMPLES = int(os.environ.get("CLEW_EQUALITY_EXAMPLES", "0"))
STEPS = 12 if EXAMPLES else 10

OPTIONS = {
    "chunk": (
        ChunkOptions(),
        ChunkOptions(size=12),
        ChunkOptions(size=12, overlap=4),
        ChunkOptions(record_size=16),
    ),
    "embed": (EmbedOptions("none"), EmbedOptions("letters:8"), EmbedOptions("letters:5")),
    "community": (
        CommunityOptions(),
        CommunityOptions(max_size=3, levels=2),
        CommunityOptions(seed=1),
        CommunityOptions(over="tags", max_size=5),
        CommunityOptions(over="explicit"),
        CommunityOptions(tags_weight=3.0, entities_weight=0.5),
        CommunityOptions(method="shared-tags"),
        CommunityOptions(method="hubs"),
    ),
    "language": ("auto", "uk", "en"),
    "source": (SourceOptions(), SourceOptions(exclude=("people/",)), SourceOptions(include=("*.md",))),
}


class Vault(RuleBasedStateMachine):
    """A folder of notes, a corpus beside it, and an index of them that is updated after every change."""

    def __init__(self) -> None:
        super().__init__()
        self.home = Path(tempfile.mkdtemp())
        self.vault = self.home / "vault"
        self.vault.mkdir()
        self.corpus = self.home / "corpus.jsonl"
        self.index = self.home / "updated" / "index.duckdb"
        self.options = IndexOptions(embed=EmbedOptions("none"))
        self.remembered: list[bytes] = list(BAD)  # contents that were there once
        self.checked: list[object] = []  # what was there at the last two checks
        self.plug = plugged_in()
        self.plug.start()

    def teardown(self) -> None:
        self.plug.stop()
        shutil.rmtree(self.home)

    # --- what may happen ---

    @initialize(
        files=st.dictionaries(st.sampled_from(KEYS), contents(), min_size=4),
        embed=st.sampled_from(OPTIONS["embed"]),
    )
    def begin(self, files: dict[str, bytes], embed: EmbedOptions) -> None:
        self.options = replace(self.options, embed=embed)
        for key, data in files.items():
            self._write(key, data)

    @rule(key=st.sampled_from(KEYS), data=contents())
    def add_or_edit(self, key: str, data: bytes) -> None:
        self._write(key, data)

    @rule(key=st.sampled_from(KEYS), at=st.integers(0, 1000))
    def bring_back(self, key: str, at: int) -> None:
        """Write what was somewhere before, or still is: the same content under two names."""
        self._write(key, self.remembered[at % len(self.remembered)])

    @rule(at=st.integers(0, 1000), data=contents())
    def append(self, at: int, data: bytes) -> None:
        for path in self._some(at):
            path.write_bytes(path.read_bytes() + b"\n" + data)

    @rule(at=st.integers(0, 1000), count=st.integers(1, 2))
    def delete(self, at: int, count: int) -> None:
        for path in self._some(at, count):
            path.unlink()

    @rule(at=st.integers(0, 1000), key=st.sampled_from(KEYS))
    def move(self, at: int, key: str) -> None:
        for path in self._some(at):
            goal = self.vault / key
            goal.parent.mkdir(parents=True, exist_ok=True)
            path.replace(goal)

    @rule(at=st.integers(0, 1000))
    def exchange(self, at: int) -> None:
        found = self._some(at, 2)
        data = [path.read_bytes() for path in found]
        for path, other in zip(found, reversed(data), strict=True):
            path.write_bytes(other)

    @rule(key=st.sampled_from(RECORD_FILES), data=corpora())
    def write_records(self, key: str, data: bytes) -> None:
        self._write(key, data)

    @rule(data=st.none() | corpora())
    def change_sources(self, data: bytes | None) -> None:
        """Index a corpus beside the folder too, another one, or no more."""
        if data is None:
            self.corpus.unlink(missing_ok=True)
        else:
            self.corpus.write_bytes(data)

    @rule(ignored=st.sampled_from(("", "people/\n", "*.txt\n!plain.txt\n", "README.md\n")))
    def ignore(self, ignored: str) -> None:
        (self.vault / ".gitignore").write_text(ignored)

    @rule(choice=st.sampled_from([(name, value) for name, values in OPTIONS.items() for value in values]))
    def choose(self, choice: tuple[str, object]) -> None:
        name, value = choice
        self.options = replace(self.options, **{name: value})

    @rule()
    def change_nothing(self) -> None: ...

    @precondition(lambda self: self.index.exists())
    @rule(prune=st.booleans())
    def lose_the_cache(self, prune: bool) -> None:
        self.checked.clear()
        if prune:
            look_at_cache(self.index, prune=True)
        else:
            cache_path(self.index).unlink()

    @precondition(lambda self: self.options.embed.embedder != "none")
    @rule(after=st.integers(0, 6), key=st.sampled_from(KEYS), data=contents())
    def interrupt(self, after: int, key: str, data: bytes) -> None:
        """Stop an update while it embeds; what it published and remembered is there at the next one."""
        self.checked.clear()
        self._write(key, data)
        Letters.fails_after = after
        try:
            with suppress(KeyboardInterrupt):
                self._build(self.index)
        finally:
            Letters.fails_after = -1

    # --- what must hold ---

    @invariant()
    def updated_equals_built_from_nothing(self) -> None:
        state = self._state()
        if self.checked == [state, state]:
            return  # nothing has changed since nothing changed
        self.checked = [*self.checked[-1:], state]
        fresh = self.home / "fresh" / "index.duckdb"
        results = self._build(self.index), self._build(fresh)
        told = differences(read_whole(self.index), read_whole(fresh))
        shutil.rmtree(fresh.parent)
        assert not told, told
        updated, built = ((list(r.counts.items()), r.problems, list(r.languages.items())) for r in results)
        assert updated == built

    # --- helpers ---

    def _write(self, key: str, data: bytes) -> None:
        path = self.vault / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.remembered.append(data)

    def _some(self, at: int, count: int = 1) -> list[Path]:
        """Return up to ``count`` of the files that are there."""
        there = sorted(path for path in self.vault.rglob("*.*") if path.is_file())
        return list(dict.fromkeys(there[(at + i) % len(there)] for i in range(count))) if there else []

    def _state(self) -> object:
        files = {path: path.read_bytes() for path in self.home.glob("*.jsonl")}
        files |= {path: path.read_bytes() for path in self.vault.rglob("*") if path.is_file()}
        return files, self.options, cache_path(self.index).exists()

    def _build(self, path: Path) -> BuildResult:
        sources = [self.vault, *([self.corpus] if self.corpus.exists() else [])]
        with Index.build(sources, path, options=self.options) as built:
            assert built.result is not None
            return built.result


Vault.TestCase.settings = settings(
    max_examples=EXAMPLES or 2,
    stateful_step_count=STEPS,
    derandomize=not EXAMPLES,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    print_blob=True,
)
TestVault = Vault.TestCase
