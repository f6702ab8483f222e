"""Text from notes can't drive a terminal or break JSON."""

from __future__ import annotations

import json

import pytest

from clew.cli import payload, screen
from clew.cli.find import find_index, index_flag
from clew.errors import NoIndex


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "␛[31mred"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("a\u009b31mb", "a\ufffd31mb"),
        ("a\u202egnp.exe", "agnp.exe"),
        ("over\rwritten", "over written"),
        ("[bold]x[/bold] {0} %s :smile:", "[bold]x[/bold] {0} %s :smile:"),
        ("الهدهد 🦉 日本", "الهدهد 🦉 日本"),
        ("one\ntwo", "one\ntwo"),
    ],
)
def test_clean(text: str, shown: str) -> None:
    assert screen.clean(text) == shown


def test_page_takes_nothing_for_markup(capsys: pytest.CaptureFixture[str]) -> None:
    page = screen.Page()
    page.add(("[bold]x[/bold]", "bold"), " [red] :smile: 'text' 12")
    page.add("y" * 500)
    page.send()
    assert capsys.readouterr().out == "[bold]x[/bold] [red] :smile: 'text' 12\n" + "y" * 500 + "\n"


def test_json_holds_what_it_was_given(capsys: pytest.CaptureFixture[str]) -> None:
    value = {"name": "caf\udce9", "control": "\x00\x1b\x7f\u009b", "word": "日本 🦉 الهدهد"}
    screen.write_json("x", value)
    text = capsys.readouterr().out
    assert json.loads(text) == {"schema_version": 1, "command": "x", **value}
    assert "日本" in text
    assert not {"\x00", "\x1b", "\x7f", "\u009b"} & set(text)


def test_numbers_are_rounded() -> None:
    assert payload.plain({"a": 0.123456789, "b": (1, None)}) == {"a": 0.123457, "b": [1, None]}


def test_index_is_found_upwards(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.delenv("CLEW_INDEX", raising=False)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    made = tmp_path / ".clew" / "index.duckdb"
    with pytest.raises(NoIndex):
        find_index(None)
    assert index_flag(made) == f" --index {made}"
    made.parent.mkdir()
    made.write_bytes(b"")
    assert find_index(None) == made
    assert find_index(tmp_path) == made
    assert index_flag(made) == ""
    other = tmp_path / "other.duckdb"
    other.write_bytes(b"")
    monkeypatch.setenv("CLEW_INDEX", str(other))
    assert find_index(None) == other
    assert find_index(made) == made
