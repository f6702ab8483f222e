"""When files were first committed, as git tells."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from clew.text.files import shown_name

SECONDS = 120  # a history of 100,000 commits takes 10
# A repository's own settings can name programs to run; none is needed to list commits.
SAFELY = ("--no-pager", "-c", "log.showSignature=false", "-c", "core.fsmonitor=false")


def first_commits(folder: Path) -> tuple[dict[str, int], str]:
    """Return when each path below a folder was first committed under its name, in seconds since 1970, and why
    nothing is known of it, or empty. One call of git, which is given up after SECONDS."""
    command = ["git", "-C", str(folder), *SAFELY, "log", "--relative", "--no-renames", "--diff-filter=A"]
    command += ["--name-only", "-z", "--format=%x01%at", "--", "."]
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except FileNotFoundError:
        return {}, "it isn't installed"
    except (OSError, subprocess.TimeoutExpired) as error:
        return {}, f"it didn't answer ({type(error).__name__})"
    if done.returncode:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        return {}, lines[0] if lines else f"it failed with exit code {done.returncode}"
    found: dict[str, int] = {}
    time = 0
    for part in done.stdout.split(b"\0"):  # newest first, so that the oldest is left
        if part.startswith(b"\1"):
            head, _, part = part[1:].partition(b"\n")
            time = int(head)
        name = part.lstrip(b"\n")
        if name:
            found[shown_name(os.fsdecode(name))] = time
    return found, ""
