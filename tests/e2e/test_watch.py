"""`clew index --watch`, as a user runs it."""

from __future__ import annotations

import json
import os
import queue
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from command import COMMAND, TIMEOUT, clean_environment, run

from clew.stores.lock import index_lock


class Watching:
    """A running `clew index --watch`; ``out`` and ``err`` give its lines as they come."""

    def __init__(self, *arguments: str | Path, cwd: Path) -> None:
        self.process = subprocess.Popen(
            [COMMAND, "index", "--watch", "--embedder", "none", *map(str, arguments)],
            cwd=cwd,
            env=clean_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self._out, self._err = _lines(self.process.stdout), _lines(self.process.stderr)

    def out(self) -> dict[str, Any]:
        """Return the next line of stdout as JSON."""
        found: dict[str, Any] = json.loads(self._out.get(timeout=TIMEOUT) or "null")
        return found

    def err(self, word: str) -> str:
        """Return the next line of stderr that has a word."""
        seen: list[str] = []
        while (line := self._err.get(timeout=TIMEOUT)) is not None:
            seen.append(line)
            if word in line:
                return line
        raise AssertionError(f"no {word!r} in {seen}")

    def silent(self) -> bool:
        """Tell whether it ended without a further line."""
        return self._out.get(timeout=TIMEOUT) is None and self._err.get(timeout=TIMEOUT) is None

    def interrupt(self) -> int:
        """Press Ctrl-C and return the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(TIMEOUT)

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(TIMEOUT)
        for stream in (self.process.stdout, self.process.stderr):
            assert stream is not None
            stream.close()


def _lines(stream: IO[str]) -> queue.Queue[str | None]:
    """Return the lines of a stream as they come, then None."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in stream:
            lines.put(line.rstrip("\n"))
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines


Watch = Callable[..., Watching]


@pytest.fixture
def watch() -> Iterator[Watch]:
    started: list[Watching] = []

    def start(*arguments: str | Path, cwd: Path) -> Watching:
        started.append(Watching(*arguments, cwd=cwd))
        return started[-1]

    yield start
    for one in started:
        one.close()


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "gauge.md").write_text("# Tide gauge\n\nThe gauge was repaired by Tomasz.\n")
    (folder / "pier.md").write_text("# Pier\n\nThe pier carries the [[gauge]].\n")
    return folder


def repaired_by(name: str, notes: Path) -> None:
    beside = notes / ".gauge.md.tmp"
    beside.write_text(f"# Tide gauge\n\nThe gauge was repaired by {name}.\n")
    beside.replace(notes / "gauge.md")


def test_it_tells_of_each_update_until_ctrl_c(notes: Path, watch: Watch) -> None:
    running = watch("notes", cwd=notes.parent)
    assert str(notes) in running.err("Watching")
    repaired_by("Jonas", notes)
    assert "1 document changed (1 edited)" in running.err("changed")
    done = run("ask", "who repaired the gauge?", cwd=notes)
    assert "Jonas" in done.out
    (notes / "pier.md").unlink()
    (notes / "empty.md").write_text("")
    assert "2 documents changed (1 added, 1 removed)" in running.err("changed")
    assert "it holds no text" in running.err("empty.md")
    assert running.interrupt() == 0
    assert "stopped watching" in running.err("clew:")


def test_json_has_a_line_for_each_publication(notes: Path, watch: Watch) -> None:
    running = watch("notes", "--json", cwd=notes.parent)
    first = running.out()
    assert (first["schema_version"], first["command"]) == (1, "index")
    assert first["changed"] == {"added": 2, "edited": 0, "removed": 0}
    repaired_by("Jonas", notes)
    second = running.out()
    assert second["changed"] == {"added": 0, "edited": 1, "removed": 0}
    assert second["counts"]["documents"] == 2
    assert second["generation"] != first["generation"]
    shown = run("stats", "--json", cwd=notes).json["stats"]
    assert shown["generation"] == second["generation"]
    assert running.interrupt() == 0
    assert running._out.get(timeout=TIMEOUT) is None


def test_every_field_of_a_line_is_documented(notes: Path, watch: Watch) -> None:
    from test_docs import DOCS, fields, section, without_data

    running = watch("notes", "--json", cwd=notes.parent)
    text = section((DOCS / "json.md").read_text(encoding="utf-8"), "clew index")
    for field in set(fields(without_data(running.out()))) - {"schema_version", "command"}:
        assert f"{field}: " in text, field


def test_ctrl_c_while_the_first_index_is_made(notes: Path, watch: Watch) -> None:
    """As without --watch: there may be no index yet."""
    for at in range(3000):
        text = f"# Note {at}\n\n" + f"The keeper of light {at} sees Moth {at}. " * 20
        (notes / f"{at}.md").write_text(text)
    running = watch("notes", cwd=notes.parent)
    running.err("Reading notes")
    assert running.interrupt() == 130
    assert "the same command goes on" in running.err("clew:")


def test_it_goes_on_after_what_goes_wrong(notes: Path, watch: Watch) -> None:
    running = watch("notes", cwd=notes.parent)
    running.err("Watching")
    notes.rename(notes.with_name("away"))
    told = running.err("clew:")
    assert f"{notes}: it isn't there" in told
    assert "Watching goes on" in told
    notes.with_name("away").rename(notes)
    running.err("0 documents changed")
    with index_lock(notes / ".clew" / "index.duckdb"):
        repaired_by("Jonas", notes)
        assert f"another run is indexing to it (process {os.getpid()}, since" in running.err("clew:")
    (notes / "more.md").write_text("# More\n")
    running.err("2 documents changed (1 added, 1 edited)")
    assert running.interrupt() == 0


@pytest.mark.skipif(sys.platform != "linux", reason="limits another process")
def test_it_goes_on_after_the_disk_was_full(notes: Path, watch: Watch) -> None:
    import resource

    running = watch("notes", cwd=notes.parent)
    running.err("Watching")
    before = (notes / ".clew/index.duckdb").read_bytes()
    limits = resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, (4096, limits[1]))
    repaired_by("Jonas", notes)
    assert "Watching goes on" in running.err("clew:")
    assert (notes / ".clew/index.duckdb").read_bytes() == before
    resource.prlimit(running.process.pid, resource.RLIMIT_FSIZE, limits)
    (notes / "more.md").write_text("# More\n")
    running.err("2 documents changed (1 added, 1 edited)")
    assert run("doctor", cwd=notes).code == 0


def test_quiet_says_nothing_but_errors(notes: Path, watch: Watch) -> None:
    running = watch("notes", "--quiet", "--index", "x.duckdb", cwd=notes.parent)
    while not (notes.parent / "x.duckdb").exists():
        assert running.process.poll() is None
        time.sleep(0.05)
    shutil.rmtree(notes)
    assert "it isn't there" in running.err("")
    assert running.interrupt() == 0
    assert running.silent()


def test_what_is_wrong_at_first_ends_it(notes: Path, watch: Watch) -> None:
    running = watch("nowhere", cwd=notes)
    assert "nowhere: there is no such file or folder" in running.err("clew:")
    assert running.process.wait(TIMEOUT) == 2


def test_files_that_a_shell_names_are_followed(notes: Path, watch: Watch) -> None:
    running = watch(*sorted(notes.glob("*.md")), cwd=notes.parent)
    running.err("Watching")
    (notes / "other.md").write_text("# Not named\n")
    repaired_by("Jonas", notes)
    assert "1 document changed (1 edited)" in running.err("changed")
    assert run("search", "Jonas", "--json", cwd=notes).json["hits"][0]["document"]["key"] == "gauge.md"
