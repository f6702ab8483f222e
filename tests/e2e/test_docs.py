"""The documentation holds every command, option and JSON field, and its commands work."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, call, clean_environment
from test_commands import COMMANDS

from clew.settings import known

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
tables = runpy.run_path(str(DOCS / "tables.py"))


def section(page: str, title: str) -> str:
    """Return the text of a page under a heading of level 2."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", page, re.DOTALL | re.MULTILINE)
    assert found, f"there is no heading {title!r}"
    return found[1]


@pytest.mark.parametrize("name", ["cli.md", "settings.md", "models.md"])
def test_tables_are_current(name: str) -> None:
    page = (DOCS / name).read_text(encoding="utf-8")
    assert tables["rendered"](page) == page, "run `python docs/tables.py`"


def test_every_command_and_option_is_documented() -> None:
    page = (DOCS / "cli.md").read_text(encoding="utf-8")
    for name, command in tables["commands"]().items():
        text = page if name == "clew" else section(page, f"clew {name}")
        for typed, _ in tables["options"](command):
            assert f"`{typed}`" in text, f"{name}: {typed}"


def test_every_setting_is_documented() -> None:
    page = (DOCS / "settings.md").read_text(encoding="utf-8")
    for setting in known().values():
        for word in (setting.key, setting.variable, setting.flag):
            assert f"`{word}`" in page


def fields(value: Any) -> Iterator[str]:
    """Yield the names of all fields in a JSON value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name
            yield from fields(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from fields(inner)


# Names that are data, not fields: parts of a score, stages, counts, options.
DATA = {"parts", "counts", "entries", "milliseconds", "seconds", "languages", "stats", "settings"}


def without_data(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: None if k in DATA and isinstance(v, dict) else without_data(v) for k, v in value.items()}
    if isinstance(value, list):
        return [without_data(inner) for inner in value]
    return value


@pytest.mark.parametrize("name", [*COMMANDS, "index"])
def test_every_json_field_is_documented(vault: Path, tmp_path: Path, name: str) -> None:
    page = (DOCS / "json.md").read_text(encoding="utf-8")
    shared = section(page, "Shared shapes")
    text = section(page, "clew ask" if name == "query" else f"clew {name}") + shared
    arguments = COMMANDS.get(name, (str(vault), "--index", str(tmp_path / "x.duckdb"), "--embedder", "none"))
    found = call(name, *arguments, "--json", cwd=vault).json
    for field in set(fields(without_data(found))) - {"schema_version", "command"}:
        assert re.search(rf"\b{field}: ", text), field


def shell_commands(page: str) -> list[str]:
    blocks = re.findall(r"^```sh\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    return [command for block in blocks for command in block.strip().splitlines()]


def test_tutorial_commands_work_in_order(tmp_path: Path) -> None:
    commands = shell_commands((DOCS / "tutorial.md").read_text(encoding="utf-8"))
    assert len(commands) > 12
    shown = [f"echo '$ {n}'\n{command}" for n, command in enumerate(commands)]
    environment = clean_environment()
    environment["PATH"] = f"{COMMAND.parent}:{environment['PATH']}"
    done = subprocess.run(
        ["bash", "-euc", "\n".join(shown)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr
    outputs = dict(re.findall(r"^\$ (\d+)\n(.*?)(?=^\$ \d+$|\Z)", done.stdout, re.DOTALL | re.MULTILINE))
    said = {command: outputs[str(number)] for number, command in enumerate(commands)}
    assert "Halcyon" in said['clew ask "What is the cat of Tomasz Okoye called?"']
    assert "clew.toml" in said["clew settings"]
    assert "hold nothing" in said['clew ask "How is quantum chromodynamics renormalised?"']


def test_python_examples_work(vault: Path) -> None:
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    [example] = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    done = subprocess.run(
        [sys.executable, "-c", example],
        cwd=vault,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Tomasz" in done.stdout


def test_readme_says_what_is_tested() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install . && clew demo" in readme
    assert "pip install -e '.[dev]' && pytest" in readme
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", readme):
        assert (ROOT / target).exists(), target


@pytest.mark.parametrize("page", sorted(path.name for path in DOCS.glob("*.md")))
def test_links_between_pages_lead_somewhere(page: str) -> None:
    text = (DOCS / page).read_text(encoding="utf-8")
    text = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+?)(?:#[^)]*)?\)", text):
        assert (DOCS / target).exists(), f"{page}: {target}"


def test_every_promise_names_a_test() -> None:
    page = (DOCS / "reliability.md").read_text(encoding="utf-8")
    tables = re.findall(r"^\| what happens \|.*?tested by \|\n\|[-|]+\n((?:\|.*\n)+)", page, re.MULTILINE)
    rows = [line for table in tables for line in table.splitlines()]
    assert len(rows) > 20
    for row in rows:
        named = re.findall(r"`((?:unit|e2e|contract)/\S+\.py)`", row.rstrip(" |").rpartition(" | ")[2])
        assert named, row
        for name in named:
            assert (ROOT / "tests" / name).is_file(), row
