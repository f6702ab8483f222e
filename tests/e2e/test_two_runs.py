"""Two `clew index` of one folder at once: one works, the other waits, or says who holds the lock."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from command import COMMAND, TIMEOUT, clean_environment, run

from clew.stores.lock import WAIT_SECONDS, holder

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="stops and kills processes by signals")
INDEX = ("index", "notes", "--embedder", "none")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for at in range(400):
        text = f"# Note {at}\n\n" + f"The keeper of light {at} sees Moth {at}. " * 20
        (folder / f"{at}.md").write_text(text, "utf-8")
    return folder


@contextmanager
def stopped(notes: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a run and stop it while it holds the lock."""
    process = subprocess.Popen(
        [COMMAND, *INDEX], cwd=notes.parent, env=clean_environment(), stderr=subprocess.PIPE, text=True
    )
    try:
        until = time.monotonic() + TIMEOUT
        while (who := holder(notes / ".clew" / "lock")) is None or who.pid != process.pid:
            assert process.poll() is None
            assert time.monotonic() < until
            time.sleep(0.005)
        process.send_signal(signal.SIGSTOP)
        yield process
    finally:
        process.kill()
        process.communicate()


def test_the_second_names_the_first_and_a_killed_one_holds_nothing(notes: Path) -> None:
    with stopped(notes) as first:
        began = time.monotonic()
        done = run(*INDEX, cwd=notes.parent)
        assert time.monotonic() - began >= WAIT_SECONDS
        assert done.code == 5
        told = rf"another run is indexing to it \(process {first.pid}, since \d{{4}}-\d\d-\d\d [\d:]{{8}}\)"
        assert re.search(told, " ".join(done.err.split()))
        assert "Traceback" not in done.err
        first.kill()
        first.wait()
        assert run(*INDEX, cwd=notes.parent).code == 0
    assert run("doctor", cwd=notes).code == 0


def test_the_second_waits_for_a_first_that_finishes(notes: Path) -> None:
    with stopped(notes) as first:
        second = subprocess.Popen([COMMAND, *INDEX], cwd=notes.parent, env=clean_environment())
        try:
            first.send_signal(signal.SIGCONT)
            assert first.wait(TIMEOUT) == 0
            assert second.wait(TIMEOUT) == 0
        finally:
            second.kill()
            second.wait()
    assert run("doctor", cwd=notes).code == 0
