"""Following notes: every change is published, nothing else is, and no failure ends it."""

from __future__ import annotations

import itertools
import os
import queue
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import clew
from clew import Index, IndexOptions
from clew.errors import NotFound, PublishError, SourceError
from clew.options import EmbedOptions, SourceOptions
from clew.stores.lock import index_lock
from clew.types import Problem, RawDocument
from clew.watching import Pace, Update, Watcher, stamp_of

NO_VECTORS = IndexOptions(embed=EmbedOptions(embedder="none"))
FAST = Pace(quiet=0.1, burst=2.0, look=0.2, sweep=1e6, again=0.3)
WAIT = 60.0  # seconds; a watch that tells nothing fails instead of blocking the suite


def wait_until(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + WAIT
    while not holds():
        assert time.monotonic() < until, "it didn't come about"
        time.sleep(0.02)


class Counting(Watcher):
    """A watcher that counts its looks and builds."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.looks, self.builds = 0, 0

    def _stamps(self) -> tuple[str, ...]:
        stamps = super()._stamps()
        self.looks += 1
        return stamps

    def _build(self, *arguments: Any) -> Update:
        self.builds += 1
        return super()._build(*arguments)


class Following:
    """A watcher in a thread of its own, and its updates."""

    def __init__(self, watcher: Counting) -> None:
        self.watcher = watcher
        self.first = watcher.update()
        self._updates: queue.Queue[Update] = queue.Queue()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, args=(watcher,))
        self._thread.start()

    def _run(self, watcher: Watcher) -> None:
        for update in watcher.follow(stop=self._stop):
            self._updates.put(update)

    def next(self) -> Update:
        return self._updates.get(timeout=WAIT)

    def next_published(self) -> Update:
        update = self.next()
        while update.error is not None:
            update = self.next()
        return update

    def wait_for_a_look(self) -> None:
        """Wait until the files have been looked at, wholly after now."""
        wanted = self.watcher.looks + 2
        wait_until(lambda: self.watcher.looks >= wanted)

    def close(self) -> None:
        self._stop.set()
        self._thread.join(WAIT)
        assert not self._thread.is_alive()


Follow = Callable[..., Following]


@pytest.fixture
def follow() -> Iterator[Follow]:
    started: list[Following] = []

    def start(*paths: Path, options: IndexOptions = NO_VECTORS, pace: Pace = FAST, **more: Any) -> Following:
        started.append(Following(Counting(paths, options=options, pace=pace, **more)))
        return started[-1]

    yield start
    for one in started:
        one.close()


def write(path: Path, text: str = "The axolotl is well.") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {path.stem}\n\n{text}\n", encoding="utf-8")
    return path


def keys(index: Path) -> list[str]:
    with Index.open(index) as opened:
        return [document.key for document in opened.engine.reader.documents()]


def counts(update: Update) -> tuple[int, int, int]:
    assert update.error is None, update.error
    return update.added, update.edited, update.removed


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for name in ("a.md", "b.md", "deep/c.md"):
        write(tmp_path / "notes" / name)
    return tmp_path / "notes"


def file_of(notes: Path) -> Path:
    return notes / ".clew" / "index.duckdb"


def test_every_kind_of_change_is_published(notes: Path, follow: Follow) -> None:
    watch = follow(notes)
    assert counts(watch.first) == (3, 0, 0)
    generations = [watch.first.generation]

    def change(act: Callable[[], Any], added: int, edited: int, removed: int) -> None:
        act()
        update = watch.next()
        assert counts(update) == (added, edited, removed)
        assert update.changed == added + edited + removed
        with Index.open(file_of(notes)) as index:
            assert index.engine.reader.generation == update.generation
        generations.append(update.generation)

    change(lambda: write(notes / "a.md", "The newt is ill."), 0, 1, 0)
    change(lambda: write(notes / "new.md"), 1, 0, 0)
    change((notes / "b.md").unlink, 0, 0, 1)
    change(lambda: (notes / "a.md").rename(notes / "deep/z.md"), 1, 0, 1)
    change(lambda: write(notes / "new/folder/x.md"), 1, 0, 0)
    change(lambda: write(notes / "new/folder/x.md", "In a folder that is new."), 0, 1, 0)
    change(lambda: (notes / "new").rename(notes / "old"), 1, 0, 1)
    change(lambda: write(notes / "old/folder/x.md", "In a folder that was renamed."), 0, 1, 0)
    change(lambda: (notes / ".gitignore").write_text("old\n"), 0, 0, 1)
    change((notes / ".gitignore").unlink, 1, 0, 0)
    assert generations[9] == generations[4]  # the same notes are the same generation
    assert generations[10] == generations[8]
    assert len(set(generations)) == 9
    assert keys(file_of(notes)) == ["deep/c.md", "deep/z.md", "new.md", "old/folder/x.md"]


def test_the_index_is_as_one_made_anew(notes: Path, tmp_path: Path, follow: Follow) -> None:
    watch = follow(notes)
    write(notes / "a.md", "The newt of [[b]] is ill.")
    watch.next()
    (notes / "deep/c.md").unlink()
    last = watch.next()
    with Index.build([notes], tmp_path / "anew.duckdb", options=NO_VECTORS) as anew:
        assert anew.engine.reader.generation == last.generation


IGNORED = {
    "hidden folder": ".obsidian/x.md",
    "hidden file": ".x.md",
    "gitignored folder": "build/x.md",
    "gitignored file": "x.log.md",
    "excluded": "drafts/x.md",
    "another kind": "deep/picture.png",
    "an editor's": "deep/c.md~",
    "the index's": ".clew/x.md",
}


@pytest.mark.parametrize("what", IGNORED)
def test_what_the_source_ignores_is_no_change(notes: Path, follow: Follow, what: str) -> None:
    name = IGNORED[what]
    (notes / ".gitignore").write_text("build\n*.log.md\n")
    write(notes / name)
    options = IndexOptions(source=SourceOptions(exclude=("drafts",)), embed=EmbedOptions(embedder="none"))
    watch = follow(notes, options=options, pace=SWEEPING)
    assert counts(watch.first) == (3, 0, 0)
    for act in (lambda: write(notes / name, "Something else."), (notes / name).unlink):
        act()
        watch.wait_for_a_look()
        assert watch.watcher.builds == 1
    write(notes / "a.md", "Now the newt.")
    assert counts(watch.next()) == (0, 1, 0)
    assert watch.watcher.builds == 2


def test_its_own_files_arent_even_looked_at(notes: Path, follow: Follow) -> None:
    named = notes / "graph.duckdb"
    watch = follow(notes, path=named)
    write(notes / "a.md", "Now the newt.")
    watch.next()
    watch.watcher._due = float("inf")
    looks = watch.watcher.looks
    for name in ("graph.duckdb.lock", "graph.duckdb.cache-wal", "graph.duckdb"):
        assert watch.watcher._is_own(str(notes / name))
        (notes / name).touch()
    write(notes / "b.md", "Now the newt.")
    watch.next()
    assert watch.watcher.looks <= looks + 2  # for the publication before, and for b.md
    assert not watch.watcher._is_own(str(notes / "a.md"))


def dance_of_vim(note: Path, text: str) -> None:
    """What vim does with `backupcopy=no`, which is what most editors do: the file is away for a moment."""
    swap, backup = note.with_name(f".{note.name}.swp"), note.with_name(f"{note.name}~")
    swap.write_text("b0VIM")
    (note.parent / "4913").write_text("")
    (note.parent / "4913").unlink()
    note.rename(backup)
    time.sleep(0.02)
    write(note, text)
    backup.unlink()
    swap.unlink()


def dance_of_rename(note: Path, text: str) -> None:
    """Write beside it, remove it, rename: what editors and synchronisers do where they can't replace."""
    temporary = note.with_name(f"{note.name}.tmp123")
    temporary.write_text(f"# {note.stem}\n\n{text}.\n")
    note.unlink()
    time.sleep(0.02)
    temporary.rename(note)


def dance_of_pieces(note: Path, text: str) -> None:
    """Truncate, and write piece by piece."""
    with note.open("w") as file:
        for piece in (f"# {note.stem}\n\n", text, " in ", "pieces.\n"):
            file.write(piece)
            file.flush()
            time.sleep(0.02)


@pytest.mark.parametrize("dance", [dance_of_vim, dance_of_rename, dance_of_pieces])
@pytest.mark.parametrize("named", ["folder", "file"])
def test_an_editors_dance_is_one_edit(
    notes: Path, follow: Follow, dance: Callable[[Path, str], None], named: str
) -> None:
    patient = Pace(quiet=1.0, burst=10.0, look=1.0, sweep=1e6, again=0.3)
    watch = follow(notes if named == "folder" else notes / "a.md", pace=patient)
    for number in range(2):  # also the second time, when the first file is no more
        dance(notes / "a.md", f"Draft {number}")
        assert counts(watch.next()) == (0, 1, 0)
    assert watch.watcher.builds == 3


def test_a_burst_is_one_update(notes: Path, follow: Follow) -> None:
    watch = follow(notes, pace=Pace(quiet=1.0, burst=30.0, look=1.0, sweep=1e6, again=0.3))
    for at in range(200):
        write(notes / f"burst/{at}.md")
    assert counts(watch.next()) == (200, 0, 0)
    assert watch.watcher.builds == 2


def test_a_change_during_the_build_is_published_next(
    notes: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After the notes were read, before the watch begins or goes on."""
    build, number = Index.build, itertools.count()

    def build_and_edit(*arguments: Any, **more: Any) -> Index:
        index = build(*arguments, **more)
        if (at := next(number)) < 3:
            write(notes / f"late {at}.md")
        return index

    monkeypatch.setattr(Index, "build", build_and_edit)
    watch = follow(notes)
    for _ in range(3):
        assert counts(watch.next()) == (1, 0, 0)


def test_touching_publishes_nothing(notes: Path, follow: Follow) -> None:
    watch = follow(notes)
    (notes / "a.md").touch()
    wait_until(lambda: watch.watcher.builds == 2)
    write(notes / "b.md", "Now the newt.")
    assert counts(watch.next()) == (0, 1, 0)


def test_a_folder_that_is_away_for_a_while(notes: Path, follow: Follow) -> None:
    watch = follow(notes)
    notes.rename(notes.with_name("away"))
    missing = watch.next()
    assert isinstance(missing.error, SourceError)
    assert str(notes) in str(missing.error)
    assert "until it is back" in str(missing.error)
    assert missing.result is None
    assert not notes.exists()  # nobody made it
    write(notes.with_name("away") / "d.md")
    notes.with_name("away").rename(notes)
    assert counts(watch.next()) == (1, 0, 0)
    write(notes / "a.md", "After its return.")
    assert counts(watch.next()) == (0, 1, 0)


def test_an_empty_folder_where_notes_were_is_told(notes: Path, tmp_path: Path, follow: Follow) -> None:
    """As when a disk is unmounted: the folder that it was mounted at stays."""
    file = tmp_path / "x.duckdb"
    watch = follow(notes, path=file)
    notes.rename(notes.with_name("away"))
    notes.mkdir()
    error = watch.next().error
    while "it isn't there" in str(error):
        error = watch.next().error
    assert isinstance(error, SourceError)
    assert f"{notes}: it is empty now" in str(error)
    assert keys(file) == ["a.md", "b.md", "deep/c.md"]
    notes.rmdir()
    write(notes.with_name("away") / "d.md")
    notes.with_name("away").rename(notes)
    assert counts(watch.next_published()) == (1, 0, 0)


def test_all_notes_may_be_deleted(notes: Path, follow: Follow) -> None:
    watch = follow(notes)
    for name in ("a.md", "b.md", "deep/c.md"):
        (notes / name).unlink()
    removed = 0
    while removed < 3:
        removed += watch.next_published().removed
    assert keys(file_of(notes)) == []


def test_a_folder_in_the_place_of_another(notes: Path, tmp_path: Path, follow: Follow) -> None:
    """What watched the old folder would tell nothing any more."""
    watch = follow(notes, path=tmp_path / "x.duckdb")
    notes.rename(tmp_path / "old")
    write(notes / "other.md")
    watch.next_published()
    write(notes / "other.md", "An edit in the new folder.")
    assert counts(watch.next_published()) == (0, 1, 0)
    assert keys(tmp_path / "x.duckdb") == ["other.md"]


def test_a_bad_file_doesnt_end_it(notes: Path, follow: Follow) -> None:
    watch = follow(notes)
    (notes / "bad.md").write_bytes(bytes(range(256)) * 40)
    os.mkfifo(notes / "pipe.md")
    write(notes / "deep/new.md")
    update = watch.next()
    assert counts(update) == (1, 0, 0)
    assert update.result is not None
    assert {problem.key for problem in update.result.problems} == {"bad.md", "pipe.md"}
    write(notes / "a.md", "Now the newt.")
    assert counts(watch.next()) == (0, 1, 0)


def test_a_held_lock_is_told_once_and_tried_again(
    notes: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.stores.lock.index_lock.__wrapped__.__defaults__", (0.2,))
    watch = follow(notes)
    with index_lock(file_of(notes)):
        write(notes / "a.md", "Now the newt.")
        held = watch.next()
        assert isinstance(held.error, PublishError)
        assert f"process {os.getpid()}, since " in str(held.error)
        builds = watch.watcher.builds
        wait_until(lambda: watch.watcher.builds >= builds + 2)
    assert counts(watch.next()) == (0, 1, 0)  # without a further change; told once


def test_any_failure_of_an_update_is_told(
    notes: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch
) -> None:
    watch = follow(notes)
    build = Index.build
    failures = iter([OSError(28, "No space left on device"), MemoryError("no memory"), ValueError("a fault")])

    def fail(*arguments: Any, **more: Any) -> Index:
        for failure in failures:
            raise failure
        return build(*arguments, **more)

    monkeypatch.setattr(Index, "build", fail)
    write(notes / "a.md", "Now the newt.")
    told = [str(watch.next().error) for _ in range(3)]
    assert told == ["[Errno 28] No space left on device", "no memory", "a fault"]
    assert counts(watch.next()) == (0, 1, 0)


def test_the_first_failure_is_raised(notes: Path, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        next(clew.watch([tmp_path / "nowhere"]))
    watcher = Watcher([notes], options=NO_VECTORS)
    with index_lock(file_of(notes)), pytest.raises(PublishError):
        watcher.update()
    assert counts(watcher.update()) == (3, 0, 0)


def test_several_sources_of_every_kind(notes: Path, tmp_path: Path, follow: Follow) -> None:
    one, other = write(tmp_path / "elsewhere/one.md"), tmp_path / "corpus.jsonl"
    other.write_text('{"id": "r1", "text": "The axolotl."}\n')
    watch = follow(notes, one, other)
    assert counts(watch.first) == (5, 0, 0)
    write(one, "The newt.")
    assert counts(watch.next_published()) == (0, 1, 0)
    other.write_text('{"id": "r1", "text": "The newt."}\n{"id": "r2", "text": "The frog."}\n')
    assert counts(watch.next_published()) == (1, 1, 0)
    write(notes / "deep/c.md", "The newt.")
    assert counts(watch.next_published()) == (0, 1, 0)


SWEEPING = Pace(quiet=0.1, burst=2.0, look=0.1, sweep=0.1, again=0.3)


@pytest.mark.parametrize("what", ["tells of nothing", "can't tell"])
def test_a_system_that_tells_of_no_change(
    notes: Path, follow: Follow, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    """Network folders, and a system whose number of watches is used up."""

    def tell_nothing(*_: Any, stop_event: threading.Event, **__: Any) -> Iterator[set[Any]]:
        if what == "can't tell":
            raise OSError("OS file watch limit reached")
        while not stop_event.wait(0.1):
            yield set()

    monkeypatch.setattr("watchfiles.watch", tell_nothing)
    watch = follow(notes, pace=SWEEPING)
    write(notes / "deep/c.md", "The newt.")
    assert counts(watch.next()) == (0, 1, 0)
    write(notes / "new/d.md", "The newt.")
    assert counts(watch.next()) == (1, 0, 0)


def test_a_removed_index_is_made_again(notes: Path, follow: Follow) -> None:
    watch = follow(notes, pace=SWEEPING)
    shutil.rmtree(notes / ".clew")
    watch.next_published()
    assert keys(file_of(notes)) == ["a.md", "b.md", "deep/c.md"]


def test_the_first_update_tells_what_changed_since_the_index(notes: Path) -> None:
    Index.build([notes], options=NO_VECTORS).close()
    write(notes / "a.md", "Now the newt.")
    (notes / "b.md").unlink()
    stop = threading.Event()
    updates = clew.watch([notes], options=NO_VECTORS, stop=stop)
    assert counts(next(updates)) == (0, 1, 1)
    stop.set()
    assert list(updates) == []


def test_a_source_without_a_stamp_is_read() -> None:
    class Plain:
        name, path = "plain", None

        def __init__(self, *items: RawDocument | Problem) -> None:
            self.items = items

        def read(self) -> Iterator[RawDocument | Problem]:
            yield from self.items

    one = RawDocument("a", "a", b"text", "markdown")
    same = [Plain(one), Plain(replace(one))]
    others = [
        Plain(),
        Plain(replace(one, data=b"other")),
        Plain(replace(one, key="b")),
        Plain(replace(one, title="T")),
        Plain(replace(one, metadata={"a": 1})),
        Plain(one, Problem("c", "bad")),
    ]
    stamps = [stamp_of(source) for source in (*same, *others)]
    assert stamps[0] == stamps[1]
    assert len(set(stamps)) == 1 + len(others)
