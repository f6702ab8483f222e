"""Work in forked children: cheap to start, as everything is imported already, and free to be killed.

The parent must have started no thread: it opens no index and loads no model. Children do.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

Tell = Callable[[str, Any], None]
PIPE_BYTES = 1 << 20  # what a child may say before anybody reads it


@dataclass
class Outcome:
    """How a child ended: its exit code (negative: the signal that killed it), what it printed, and what it
    told, by name, in order."""

    code: int
    said: str
    told: dict[str, list[Any]] = field(default_factory=dict)

    def last(self, name: str) -> Any:
        """Return what was told last under a name, or None."""
        return self.told.get(name, [None])[-1]


@dataclass
class Child:
    """A running child, head of a process group of its own."""

    pid: int
    printed: int
    told: int
    began: float

    def kill(self) -> None:
        """Kill the whole group, as a power cut would."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)

    def wait(self) -> Outcome:
        """Wait for its end; what is left of its group is killed."""
        _, status = os.waitpid(self.pid, 0)
        self.kill()
        said = _drain(self.printed).decode("utf-8", "replace")
        outcome = Outcome(os.waitstatus_to_exitcode(status), said)
        for line in _drain(self.told).decode("utf-8").split("\n")[:-1]:  # the last may be cut
            name, value = json.loads(line)
            outcome.told.setdefault(name, []).append(value)
        return outcome


def start(work: Callable[[Tell], int | None]) -> Child:
    """Fork; the child does ``work``, telling what it likes, and exits with what that returns."""
    printed, told = os.pipe(), os.pipe()
    for _, into in (printed, told):
        _widen(into)
    pid = os.fork()
    if pid == 0:
        _run(work, printed[1], told[1])
    os.close(printed[1])
    os.close(told[1])
    with contextlib.suppress(OSError):  # it may have done so itself, or be gone
        os.setpgid(pid, pid)
    return Child(pid, printed[0], told[0], time.monotonic())


def run(work: Callable[[Tell], int | None]) -> Outcome:
    """Do ``work`` in a child and wait for it."""
    return start(work).wait()


def import_what(work: Callable[[Tell], int | None]) -> None:
    """Do ``work`` in a child once, and import what it has imported, for the children to come."""

    def learn(tell: Tell) -> int | None:
        code = work(tell)
        tell("modules", sorted(sys.modules))
        return code

    for name in run(learn).last("modules") or []:
        if name not in sys.modules:
            with contextlib.suppress(Exception):  # it isn't imported under this name
                importlib.import_module(name)


@contextmanager
def busy(processes: int = 1) -> Iterator[None]:
    """Keep so many processes running in circles."""

    def circle(_: Tell) -> None:
        while True:
            pass

    children = [start(circle) for _ in range(processes)]
    try:
        yield
    finally:
        for child in children:
            child.kill()
            child.wait()


def _run(work: Callable[[Tell], int | None], printed: int, told: int) -> None:
    """The child's life."""
    code = 70
    try:
        os.setpgid(0, 0)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        sys.stdout, sys.stderr = (open(at, "w", encoding="utf-8", closefd=False) for at in (1, 2))  # noqa: SIM115
        signal.signal(signal.SIGINT, signal.SIG_DFL)

        def tell(name: str, value: Any) -> None:
            os.write(told, json.dumps([name, value]).encode() + b"\n")

        code = work(tell) or 0
    except BaseException:
        with contextlib.suppress(BaseException):
            os.write(2, traceback.format_exc().encode())
    finally:
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):
                stream.flush()
        os._exit(code)


def _widen(pipe: int) -> None:
    with contextlib.suppress(ImportError, AttributeError, OSError):  # not Linux, or not allowed
        import fcntl

        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIPE_BYTES)


def _drain(pipe: int) -> bytes:
    """Read what is in a pipe, not waiting for others that hold its other end."""
    os.set_blocking(pipe, False)
    parts = []
    with contextlib.suppress(BlockingIOError):
        while part := os.read(pipe, 1 << 16):
            parts.append(part)
    os.close(pipe)
    return b"".join(parts)
