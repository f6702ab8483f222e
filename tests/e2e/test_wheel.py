"""The wheel works on its own: built, installed in a fresh environment, with no network."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from command import clean_environment

ROOT = Path(__file__).parents[2]
NOWHERE = "http://127.0.0.1:9"  # the discard port: a connection is refused at once


@pytest.mark.slow
def test_demo_from_the_wheel_without_a_network(tmp_path: Path) -> None:
    # Without isolation the build needs nothing from a registry: the backend is a development extra.
    subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT],
        check=True,
        capture_output=True,
    )
    [wheel] = tmp_path.glob("*.whl")
    home = tmp_path / "venv"
    venv.create(home, with_pip=True, symlinks=True)
    python = home / "bin" / "python"
    subprocess.run([python, "-m", "pip", "install", "--no-deps", "--no-index", wheel], check=True)
    # The dependencies are those of this environment; clew itself comes from the wheel, since a
    # folder named in a .pth file stands after the environment's own. Editable installs are .pth
    # files too and aren't read from there.
    inner = Path(sysconfig.get_path("purelib", vars={"base": str(home), "platbase": str(home)}))
    (inner / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    names = ("http_proxy", "https_proxy", "all_proxy")
    proxies = dict.fromkeys([*names, *map(str.upper, names)], NOWHERE)
    environment = clean_environment(**proxies, no_proxy="", NO_PROXY="", HOME=str(tmp_path))
    where = subprocess.run(
        [python, "-c", "import clew; print(clew.__file__)"],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment,
    )
    assert Path(where.stdout.strip()).is_relative_to(home)
    done = subprocess.run(
        [home / "bin" / "clew", "demo", "--keep", tmp_path / "notes"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Tomasz" in done.stdout
    assert done.stdout.rstrip().endswith("clew index ~/notes")
