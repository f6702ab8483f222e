"""Limits of the address space from which not even the libraries can be loaded."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND, clean_environment, run

if sys.platform != "linux":
    pytest.skip("limits the address space", allow_module_level=True)
import resource

SECONDS = 60  # OpenBLAS, left to itself, looks for memory for ever
MEGABYTES = (60, 120, 180, 240, 300)


def limited(megabytes: int, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    size = megabytes << 20
    return subprocess.run(
        [COMMAND, *arguments],
        cwd=cwd,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
    )


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    (tmp_path / "tea.md").write_text("# Tea\n\nTea from Assam is malty.\n", "utf-8")
    assert run("index", ".", "--embedder", "none", cwd=tmp_path).code == 0
    return tmp_path


@pytest.mark.parametrize("megabytes", MEGABYTES)
def test_too_little_to_load_the_libraries(notes: Path, megabytes: int) -> None:
    index = notes / ".clew" / "index.duckdb"
    before = index.read_bytes()
    (notes / "tea.md").write_text("# Tea\n\nTea from Darjeeling is light.\n", "utf-8")
    done = limited(megabytes, "index", ".", "--embedder", "none", cwd=notes)
    assert done.returncode == 5, done.stderr
    assert "there isn't enough memory" in done.stderr
    assert "fault in Clew" not in done.stderr
    assert index.read_bytes() == before


@pytest.mark.parametrize("megabytes", MEGABYTES[:3])
def test_too_little_to_read(notes: Path, megabytes: int) -> None:
    done = limited(megabytes, "search", "tea", cwd=notes)
    assert done.returncode == 1, done.stderr
    assert "there isn't enough memory" in done.stderr
    assert "fault in Clew" not in done.stderr
