"""Ctrl-C at a terminal while a language model is asked."""

from __future__ import annotations

import os
import select
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, call, clean_environment

from clew.testing.faults import FaultServer

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)

import pty

CTRL_C = b"\x03"
SECONDS = 60.0


Step = tuple[Callable[[str], Any], bytes]


def typed(vault: Path, arguments: list[str], steps: list[Step]) -> tuple[int, str]:
    """Run a command at a terminal; type each step's keys once its condition on what is shown holds."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(vault)
        os.execve(COMMAND, [COMMAND, *arguments], {**clean_environment(), "TERM": "xterm", "COLUMNS": "100"})
    shown, steps, end = b"", list(steps), time.monotonic() + SECONDS
    while time.monotonic() < end:
        if steps and steps[0][0](shown.decode("utf-8", "replace")):
            os.write(terminal, steps.pop(0)[1])
        if not select.select([terminal], [], [], 0.05)[0]:
            continue
        try:
            piece = os.read(terminal, 1 << 16)
        except OSError:  # Linux says so when the other end is closed
            break
        if not piece:
            break
        shown += piece
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    return os.waitstatus_to_exitcode(status), shown.decode("utf-8", "replace")


def never(body: dict[str, Any]) -> str:
    time.sleep(SECONDS)
    return "late"


def test_a_question_that_is_stopped_says_how_to_go_on(vault: Path) -> None:
    with FaultServer(never) as server:
        asked = (lambda shown: server.seen.requests, CTRL_C)
        code, shown = typed(vault, ["ask", "--llm", f"{server.url}#m", "who repaired the gauge?"], [asked])
        server.closing.set()
    assert code == 130
    assert "clew: stopped before the answer was whole." in shown
    assert "--llm none" in shown


def test_a_conversation_goes_on_after_a_question_that_is_stopped(vault: Path) -> None:
    with FaultServer(never) as server:
        steps = [
            (lambda shown: "> " in shown, b"who repaired the gauge?\n"),
            (lambda shown: server.seen.requests, CTRL_C),
            (lambda shown: "Stopped." in shown, b"/quit\n"),
        ]
        code, shown = typed(vault, ["chat", "--llm", f"{server.url}#m"], steps)
        server.closing.set()
    assert code == 0
    assert "Stopped." in shown


def test_an_extraction_that_is_stopped_goes_on_where_it_was(vault: Path, tmp_path: Path) -> None:
    vault = Path(shutil.copytree(vault, tmp_path / "notes"))

    def slow(body: dict[str, Any]) -> str:
        time.sleep(0.1)
        return '{"entities": [], "relationships": []}'

    with FaultServer(slow) as server:
        command = ["index", ".", "--embedder", "none", "--extract", "llm", "--llm", f"{server.url}#m"]
        stop = (lambda shown: len(server.seen.requests) > 3, CTRL_C)
        code, shown = typed(vault, [*command, "--llm-concurrency", "1"], [stop])
        before = len(server.seen.requests)
        assert code == 130
        assert "the same command goes on from here" in shown
        assert call("ask", "who repaired the gauge?", cwd=vault).code == 0  # what was published is whole
        done = call(*command, cwd=vault)
        after = len(server.seen.requests)
        assert done.code == 0, done.err
        # One call was under way when it was stopped.
        assert f"{before - 1} replies kept" in done.out or f"{before} replies kept" in done.out
        again = call(*command, cwd=vault)
        assert len(server.seen.requests) == after, again.out
