"""A few readers and publications; `benchmarks/crash.py --parts crowd` has ten and fifty, with vectors."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(sys.platform != "linux", reason="it forks, and compares clocks between processes")
def test_readers_see_whole_generations_in_order_while_another_process_publishes() -> None:
    script = ROOT / "benchmarks" / "crash.py"
    few = ["--readers", "3", "--times", "5", "--embedder", "none", "--dry"]
    command = [sys.executable, str(script), "--parts", "crowd", *few]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=240, check=False, env=dict(os.environ)
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no fault" in done.stdout
    assert "by command" in done.stdout
