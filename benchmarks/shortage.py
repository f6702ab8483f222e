"""Indexing where something is short: space for files, space on the disk, memory, permission.

Each run is a child that calls the command line. It may succeed, or say what is wrong with the exit code 5
(memory: or be killed by the system); then the old index must be there byte for byte. Never may it end in a
message about a fault in Clew or in a traceback, or leave another file behind. Afterwards a run without the
limit must succeed and give the new generation.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from clew.cli.main import run as command
from forked import Outcome, Tell, run

LEFT = {"index.duckdb", "cache.sqlite", "lock"}  # the files of a whole run
KEPT = LEFT | {"cache.sqlite-wal", "cache.sqlite-shm"}
EXIT_UNWRITABLE = 5
MEGABYTE = 1 << 20
NOBODY = 65534
# Said by the C library (exit code 127) and by OpenBLAS (1) before they end the process.
ABORTS = ("cannot allocate memory for thread-local data: ABORT", "OpenBLAS error: Memory allocation")
KINDS = ("file size", "tmpfs", "memory", "read-only")


def shortage(
    notes: Path, work: Path, steps: int, make: Callable[[Path], None], edit: Callable[[Path], None]
) -> tuple[dict[str, Any], list[str]]:
    """Update an index under limits that fall in ``steps`` steps; return counts by limit, and faults."""
    rows: dict[str, Any] = {}
    faults: list[str] = []
    ready = work / "ready"
    make(ready)
    edit(ready)
    size = (ready / ".clew" / "index.duckdb").stat().st_size
    sizes = [int(1.5 * size * at / steps) for at in range(steps)]
    room = [int(size * (0.02 + 3 * at / steps)) for at in range(steps)]
    memory = [int(MEGABYTE * (8 + 400 * at / steps)) for at in range(steps)]
    plan: list[tuple[str, Sequence[int], Callable[[Path, int], Outcome]]] = [
        ("file size", sizes, _in_small_files),
        ("tmpfs", room, _in_small_disk),
        ("memory", memory, _in_little_memory),
        ("read-only", [0], _in_read_only),
    ]
    for kind, limits, attempt in plan:
        outcomes: Counter[str] = Counter()
        for limit in limits:
            case = Case(ready, work / "notes")
            outcome = case.attempt(attempt, limit)
            if outcome is None:
                outcomes["not allowed here"] += 1
                break
            outcomes[_ending(outcome)] += 1
            faults += [f"{kind} {limit}: {fault}" for fault in case.faults(outcome, kind)]
        rows[kind] = {"limits": len(limits), **dict(sorted(outcomes.items()))}
    return rows, faults


class Case:
    """A folder with an index and edited notes, before and after an update under a limit."""

    def __init__(self, ready: Path, notes: Path) -> None:
        self.notes = notes
        shutil.rmtree(notes, ignore_errors=True)
        shutil.copytree(ready, notes)
        self.index = notes / ".clew" / "index.duckdb"
        self.before = self.index.read_bytes()

    def attempt(self, attempt: Callable[[Path, int], Outcome], limit: int) -> Outcome | None:
        """Update under a limit; None if the system doesn't allow to set it."""
        try:
            return attempt(self.notes, limit)
        except (PermissionError, subprocess.CalledProcessError, FileNotFoundError):
            return None

    def faults(self, outcome: Outcome, kind: str) -> list[str]:
        """Return what is wrong after the update, and after one without a limit."""
        found = []
        killed = kind == "memory" and _killed(outcome)
        if outcome.code and not killed and not _told(outcome, kind):
            found.append(f"it ended with {outcome.code}: {outcome.said[-600:]}")
        if outcome.code and self.index.read_bytes() != self.before:
            # Where memory lacks, publishing may be the last thing that succeeds.
            found += _checked(self.index) if kind == "memory" else ["the old index has changed"]
        left = {path.name for path in self.index.parent.iterdir()} - KEPT
        if left and not killed:
            found.append(f"it left {sorted(left)}")
        after = run(lambda tell: update(self.notes))
        if after.code:
            found.append(f"the next run failed: {after.said[-600:]}")
        left = {path.name for path in self.index.parent.iterdir()} - LEFT
        if left:
            found.append(f"the next run left {sorted(left)}")
        return found + _checked(self.index)


def update(notes: Path) -> int:
    """Index a folder by the command line. Only for children."""
    return command(["index", str(notes), "--embedder", "none"])


def _told(outcome: Outcome, kind: str) -> bool:
    """Tell whether a message names the thing, the reason, and the remedy, and speaks of no fault in Clew."""
    words = {
        "file size": ("disk is full", "Free some space"),
        "tmpfs": ("disk is full", "Free some space"),
        "memory": ("enough memory", "Close other programs"),
        "read-only": ("can't be written", "--index"),
    }[kind]
    said = " ".join(outcome.said.split())
    clear = "Traceback" not in said and "fault in Clew" not in said and "clew: " in said
    return outcome.code == EXIT_UNWRITABLE and clear and all(word in said for word in words)


def _killed(outcome: Outcome) -> bool:
    """Tell whether the system, or a library that found no memory, ended the process."""
    return outcome.code < 0 or any(words in outcome.said for words in ABORTS)


def _ending(outcome: Outcome) -> str:
    if _killed(outcome):
        return "killed"
    return "updated" if outcome.code == 0 else f"exit code {outcome.code}"


def _checked(index: Path) -> list[str]:
    """Return what `clew doctor` finds."""

    def work(tell: Tell) -> int:
        return command(["doctor", "--index", str(index)])

    outcome = run(work)
    return [f"clew doctor: {outcome.said[-600:]}"] if outcome.code else []


# --- what is short -------------------------------------------------------------------------------


def _in_small_files(notes: Path, limit: int) -> Outcome:
    """No file may become larger: writing fails as on a full disk (Python ignores the signal)."""

    def work(tell: Tell) -> int:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        return update(notes)

    return run(work)


def _in_small_disk(notes: Path, limit: int) -> Outcome:
    """The folder of the index is a disk with so many bytes left, beside the index itself."""
    folder = notes / ".clew"
    aside = notes.with_name("aside")
    shutil.rmtree(aside, ignore_errors=True)
    shutil.copytree(folder, aside)
    whole = sum(path.stat().st_size for path in aside.iterdir()) + 4 * 4096
    with _mounted(folder, "-t", "tmpfs", "-o", f"size={whole + limit}"):
        shutil.copytree(aside, folder, dirs_exist_ok=True)
        outcome = run(lambda tell: update(notes))
        shutil.rmtree(aside)
        shutil.copytree(folder, aside)
    shutil.copytree(aside, folder, dirs_exist_ok=True)
    return outcome


def _in_read_only(notes: Path, limit: int) -> Outcome:
    """The folder of the index can be read only; for the superuser, who may write anywhere, a mount."""
    folder = notes / ".clew"
    if os.geteuid() == 0:
        with _mounted(folder, "--bind", source=folder):
            subprocess.run(["mount", "-o", "remount,ro,bind", str(folder)], check=True, capture_output=True)
            return run(lambda tell: update(notes))
    folder.chmod(0o555)
    try:
        return run(lambda tell: update(notes))
    finally:
        folder.chmod(0o755)


@contextmanager
def _mounted(folder: Path, *options: str, source: str | Path = "tmpfs") -> Iterator[None]:
    """Mount something at a folder. Raises CalledProcessError or FileNotFoundError where that can't be."""
    command = ["mount", *options, str(source), str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True, capture_output=True)


def _in_little_memory(notes: Path, limit: int) -> Outcome:
    """So many bytes more than the process has now."""

    def work(tell: Tell) -> int:
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[0])
        whole = pages * resource.getpagesize() + limit
        resource.setrlimit(resource.RLIMIT_AS, (whole, whole))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        return update(notes)

    return run(work)
