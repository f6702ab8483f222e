"""Help, version, and commands that need no index."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from command import call, run

import clew

COMMANDS = [
    "demo",
    "index",
    "ask",
    "query",
    "search",
    "show",
    "related",
    "path",
    "match",
    "export",
    "bridge",
    "activity",
    "communities",
    "stats",
    "doctor",
    "cache",
    "costs",
    "llms",
    "settings",
    "embedders",
]


def test_version(tmp_path: Path) -> None:
    done = run("--version", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, f"clew {clew.__version__}\n", "")


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_shows_commands_and_examples(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.code == 0
    assert done.err == ""
    for name in COMMANDS:
        assert name == "query" or f"  {name} " in done.out
    assert 'clew ask "how do traits differ from generics?"' in done.out


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help(tmp_path: Path, name: str) -> None:
    done = call(name, "--help", cwd=tmp_path)
    assert done.code == 0
    assert done.out.startswith(f"Usage: clew {name}")
    assert "--json" in done.out


def test_help_is_quick(tmp_path: Path) -> None:
    run("--help", cwd=tmp_path)  # compiles the modules
    times = []
    for _ in range(5):
        begin = time.perf_counter()
        run("--help", cwd=tmp_path)
        times.append(time.perf_counter() - begin)
    # The aim is 200 ms on an idle machine; this bound catches an import of numpy, duckdb or rich
    # on a slow one (each costs as much again).
    assert min(times) < 0.6


def test_help_imports_nothing_heavy(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from clew.cli.main import run; run(['--help']);"
        "print(sorted({m.partition('.')[0] for m in sys.modules} &"
        " {'numpy','scipy','duckdb','onnxruntime','tokenizers','rich','yaml','regex','msgspec'}),"
        " file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert done.stderr.strip() == "[]"


def test_embedders(tmp_path: Path) -> None:
    from clew.registry import names

    listed = [row["name"] for row in call("embedders", "--json", cwd=tmp_path).json["embedders"]]
    assert listed == [*names("embedders"), "none"]
    text = call("embedders", cwd=tmp_path).out
    assert all(name in text for name in listed)


def test_settings_tell_where_values_come_from(tmp_path: Path) -> None:
    (tmp_path / "clew.toml").write_text("[answer]\nsentences = 3\n", encoding="utf-8")
    found = call("settings", "--json", cwd=tmp_path, CLEW_SEARCH_K="5").json
    assert found["config"] == str(tmp_path / "clew.toml")
    assert found["settings"]["answer.sentences"] == {"value": 3, "origin": str(tmp_path / "clew.toml")}
    assert found["settings"]["search.k"] == {"value": 5, "origin": "CLEW_SEARCH_K"}
    assert found["settings"]["answer.related"]["origin"] == "default"
    assert "clew.toml" in call("settings", cwd=tmp_path).out


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(tmp_path: Path, shell: str) -> None:
    done = run(
        cwd=tmp_path,
        _CLEW_COMPLETE=f"complete_{shell}",
        _TYPER_COMPLETE_ARGS="clew sea",
        COMP_WORDS="clew sea",
        COMP_CWORD="1",
        _TYPER_COMPLETE_FISH_ACTION="get-args",
        _TYPER_COMPLETE_WORD_TO_COMPLETE="sea",
    )
    assert "search" in done.out
