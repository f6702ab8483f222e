"""Several processes give what one gives, and nothing that happens to them loses a document."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time

import loky
import numpy as np
import pytest

from clew import Index, IndexOptions
from clew.ingest import analyse as analysing
from clew.ingest import workers
from clew.options import EmbedOptions
from clew.types import RawDocument

SCRIPT = """
import os, signal, sys
from clew import Index, IndexOptions
from clew.index import SilentProgress
from clew.ingest import analyse, workers
from clew.options import EmbedOptions
workers.LEAST_BYTES, analyse.BATCH_BYTES = 1, 2000
print("begun", flush=True)
class Told(SilentProgress):
    def advance(self, n=1):
        global told
        if len(sys.argv) > 3 and n and not told:
            told = True
            if sys.argv[3] == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            os.killpg(0, signal.SIGINT)
    def note(self, text): print(text)
told = False
options = IndexOptions(embed=EmbedOptions(embedder="none"), workers=2)
with Index.build([sys.argv[1]], sys.argv[2], options=options, progress=Told()) as index:
    print(index.engine.reader.generation)
"""


class Told:
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.done = 0

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, n: int = 1) -> None:
        self.done += n

    def note(self, text: str) -> None:
        self.notes.append(text)


class Fours:
    """A token for every four characters of a word."""

    name = "fours"

    def offsets(self, texts):
        starts = [[match.start() for match in re.finditer(r"\S{1,4}", text)] for text in texts]
        return [np.array(places, dtype=np.int32) for places in starts]


class Deadly(Fours):
    """Ends every process but the one that made it."""

    def __init__(self):
        self.home = os.getpid()

    def offsets(self, texts):
        if os.getpid() != self.home:
            os._exit(3)
        return super().offsets(texts)


class Rooted(Fours):
    """Can't be sent anywhere."""

    def __reduce__(self):
        raise TypeError("it stays here")


@pytest.fixture
def pools(monkeypatch):
    """Make few bytes enough for processes; return the sizes of the pools that are made."""
    made: list[int] = []
    real = loky.ProcessPoolExecutor

    def pool(n, **options):
        made.append(n)
        return real(n, **options)

    monkeypatch.setattr(loky, "ProcessPoolExecutor", pool)
    monkeypatch.setattr(workers, "LEAST_BYTES", 1)
    monkeypatch.setattr(analysing, "BATCH_BYTES", 2000)
    return made


def text(number: int) -> str:
    rng = random.Random(number)
    words = [
        "Ada",
        "Київ",
        "東京",
        "engine",
        "[[Note 3]]",
        "#tag",
        "**bold**",
        "`code`",
        "wrote",
        "to",
        "x" * 30,
    ]
    body = "\n\n".join(" ".join(rng.choices(words, k=30)) + "." for _ in range(4))
    return f"---\ntitle: Note {number}\nn: {number}\n---\n# Note {number}\n\n{body}\n"


def raws(count: int = 30) -> list[RawDocument]:
    made = [RawDocument(f"{i}.md", f"{i}.md", text(i).encode(), "markdown") for i in range(count)]
    binary = RawDocument("binary.md", "binary.md", bytes(range(256)) * 8, "markdown")
    other = RawDocument("utf16.md", "utf16.md", text(3).encode("utf-16"), "markdown")
    same = RawDocument("same.md", "same.md", made[5].data, "markdown")
    return [*made, binary, other, same]


def run(tokenizer, count, told=None):
    told = told or Told()
    options = IndexOptions(workers=count)
    return analysing.analyse(raws(), options, tokenizer, 64, (), None, told), told


def assert_same(found, expected):
    assert [raw.key for raw in found[0]] == [raw.key for raw in expected[0]]
    assert [repr(analysis) for analysis in found[1]] == [repr(analysis) for analysis in expected[1]]
    assert found[2] == expected[2]
    assert len(found[1]) == 32
    assert [problem.key for problem in found[2] if problem.skipped] == ["binary.md"]


def test_processes_find_what_one_finds(pools):
    alone, _ = run(Fours(), 1)
    assert pools == []
    together, told = run(Fours(), 3)
    assert pools == [2], "this process reads as well"
    assert told.notes == []
    assert told.done == len(raws())
    assert_same(together, alone)


@pytest.mark.parametrize(("tokenizer", "started"), [(Deadly(), [1]), (Rooted(), [])])
def test_what_processes_cannot_do_is_done_here(pools, tokenizer, started):
    alone, _ = run(Fours(), 1)
    found, told = run(tokenizer, 2)
    assert pools == started
    assert len(told.notes) == len(started)
    assert told.done == len(raws())
    assert_same(found, alone)


def test_a_system_without_semaphores(pools, monkeypatch):
    def refuse(*_, **__):
        raise NotImplementedError

    alone, _ = run(Fours(), 1)
    monkeypatch.setattr(loky, "ProcessPoolExecutor", refuse)
    assert_same(run(Fours(), 2)[0], alone)


def test_little_text_starts_no_process(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError

    monkeypatch.setattr(loky, "ProcessPoolExecutor", refuse)
    monkeypatch.setattr(analysing, "BATCH_BYTES", 2000)
    run(Fours(), 0)


@pytest.fixture
def notes(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(40):
        (folder / f"{number}.md").write_text(text(number), "utf-8")
    return folder


def test_one_index_whatever_the_number_of_processes(pools, notes, tmp_path):
    generations = set()
    for count in (1, 2):
        options = IndexOptions(embed=EmbedOptions(embedder="none"), workers=count)
        with Index.build([notes], tmp_path / str(count) / "i.duckdb", options=options) as index:
            generations.add(index.engine.reader.generation)
        with Index.build([notes], tmp_path / str(count) / "i.duckdb", options=options) as index:
            generations.add(index.engine.reader.generation)  # from the cache
    assert pools == [1]
    assert len(generations) == 1


def script(tmp_path, notes, *more):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT, "utf-8")
    return subprocess.Popen(
        [sys.executable, path, notes, tmp_path / "s" / "i.duckdb", *more],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def test_a_script_needs_no_guard(notes, tmp_path):
    out, err = script(tmp_path, notes).communicate(timeout=120)
    assert err == ""
    begun, _generation = out.split()
    assert begun == "begun"  # once: no process has run the script again


@pytest.mark.skipif(os.name == "nt", reason="no process groups")
def test_an_interrupt_ends_all_processes_in_silence(notes, tmp_path):
    run = script(tmp_path, notes, "interrupt")
    _, err = run.communicate(timeout=120)
    assert run.returncode == -signal.SIGINT
    assert err.count("Traceback") == 1
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert_no_process_is_left(run.pid)


@pytest.mark.skipif(os.name == "nt", reason="no process groups")
def test_processes_end_with_the_one_that_indexes(notes, tmp_path):
    """Killed for its memory, say, it can't end them itself."""
    run = script(tmp_path, notes, "kill")
    run.wait(timeout=120)
    assert run.returncode == -signal.SIGKILL
    assert_no_process_is_left(run.pid)
    run.communicate()


def assert_no_process_is_left(group):
    for _ in range(300):
        try:
            os.killpg(group, 0)
        except ProcessLookupError:
            return
        time.sleep(0.1)
    raise AssertionError("a process is left")
