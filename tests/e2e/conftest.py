"""The shipped notes, indexed once for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import run


@pytest.fixture(scope="session")
def vault(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The shipped notes with their index, made by `clew demo`. Tests leave it as it is."""
    folder = tmp_path_factory.mktemp("demo") / "sorrel"
    done = run("demo", "--keep", folder, cwd=folder.parent)
    assert done.code == 0, done.err
    (folder / "demo.txt").write_text(done.out, encoding="utf-8")  # for the tests of its screen
    return folder
