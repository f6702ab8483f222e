"""A few kills at random moments; `benchmarks/crash.py` does two hundred, with vectors and processes too."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="it forks, and kills process groups")
def test_a_killed_run_leaves_the_old_index_or_the_new_one() -> None:
    script = ROOT / "benchmarks" / "crash.py"
    command = [sys.executable, str(script), "--kills", "8", "--embedder", "none", "--dry"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no fault" in done.stdout
