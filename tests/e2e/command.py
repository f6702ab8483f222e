"""The command line, run as a user runs it, or in this process where only its words matter.

Starting Python and importing numpy takes a second or more on a slow machine, a call in this process
a tenth of that.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

COMMAND = Path(sys.executable).parent / "clew"
TIMEOUT = 300  # seconds; a stuck command fails instead of blocking the suite


@dataclass(frozen=True)
class Done:
    """What a command did."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def clean_environment(**extra: str) -> dict[str, str]:
    """Return this environment without anything that changes what Clew does."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CLEW_") and name not in ("NO_COLOR", "FORCE_COLOR", "PYTHONPATH")
    }
    return {**kept, "PYTHONUTF8": "1", **extra}


def run(*arguments: str | Path, cwd: Path, **environment: str) -> Done:
    """Run ``clew`` in a folder and return what it did."""
    done = subprocess.run(
        [COMMAND, *map(str, arguments)],
        cwd=cwd,
        env=clean_environment(**environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=TIMEOUT,
        check=False,
    )
    return Done(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def call(*arguments: str | Path, cwd: Path, **environment: str) -> Done:
    """Run the command line in this process, in a folder, and return what it did."""
    from clew.cli.main import run as run_here

    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    before = dict(os.environ)
    os.environ.clear()
    os.environ.update(clean_environment(**environment))
    try:
        with contextlib.chdir(cwd), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = run_here([str(argument) for argument in arguments])
    finally:
        os.environ.clear()
        os.environ.update(before)
    texts = [stream.buffer.getvalue().decode("utf-8") for stream in (out, err)]  # type: ignore[attr-defined]
    return Done(code, *texts)
