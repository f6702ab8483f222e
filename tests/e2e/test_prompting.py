"""`clew prompts`: what language models are told is listed, exported, changed and used."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import call

from clew import prompts


def test_prompts_are_listed_with_what_they_are_for(tmp_path: Path) -> None:
    done = call("prompts", cwd=tmp_path)
    assert done.code == 0
    assert [line.split()[0] for line in done.out.splitlines()] == prompts.names()
    listed = call("prompts", "--json", cwd=tmp_path).json["prompts"]
    assert all(one["summary"] and one["file"] is None for one in listed)


def test_an_export_is_complete_and_spares_what_is_there(tmp_path: Path) -> None:
    done = call("prompts", "export", "mine", cwd=tmp_path)
    assert done.code == 0
    files = sorted(path.stem for path in (tmp_path / "mine").iterdir())
    assert files == prompts.names()
    changed = tmp_path / "mine" / "answer.md"
    changed.write_text(changed.read_text("utf-8") + "\nBriefly!\n", "utf-8")
    again = call("prompts", "export", "mine", "--json", cwd=tmp_path).json
    assert again["written"] == []
    assert len(again["kept"]) == len(files)
    shown = call("prompts", "show", "answer", "--prompts", "mine", cwd=tmp_path)
    assert shown.out.endswith("Briefly!\n")
    listed = call("prompts", "--prompts", "mine", "--json", cwd=tmp_path).json["prompts"]
    assert all(one["file"] for one in listed)


def test_a_setting_names_the_folder(tmp_path: Path) -> None:
    assert call("prompts", "export", "mine", cwd=tmp_path).code == 0
    (tmp_path / "clew.toml").write_text('[llm]\nprompts = "mine"\n', "utf-8")
    (tmp_path / "mine" / "anwser.md").write_text("?", "utf-8")
    done = call("prompts", cwd=tmp_path)
    assert done.code == 2
    assert "anwser.md" in done.err
    assert "'answer'" in done.err


@pytest.mark.parametrize(
    ("arguments", "told"),
    [(["shwo"], "shwo"), (["show"], "NAME"), (["export"], "DIR"), (["show", "answr"], "'answer'")],
)
def test_what_is_wrong_is_told(tmp_path: Path, arguments: list[str], told: str) -> None:
    done = call("prompts", *arguments, cwd=tmp_path)
    assert done.code == 2
    assert told in done.err
    assert not done.out
