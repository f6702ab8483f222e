"""What indexing shows while it runs."""

from __future__ import annotations

import io

import pytest

from clew.cli import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def drive(watch: progress.Watch) -> None:
    with watch:
        watch.stage("scan")
        watch.stage("parse", 1200)
        for _ in range(12):
            watch.advance(100)
        watch.note("[bold]now\x1b[31m")
        watch.stage("embed", 5)
        watch.advance(5)


def test_lines_where_there_is_no_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    drive(progress.watch(quiet=False))
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "Finding notes",
        "Reading notes (1,200)",
        "[bold]now␛[31m",
        "Embedding (5)",
    ]


def test_quiet_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    drive(progress.watch(quiet=True))
    assert capsys.readouterr() == ("", "")


def test_bars_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("NO_COLOR", "1")
    drive(progress.watch(quiet=False))
    text = terminal.getvalue()
    for word in ("Finding notes", "Reading notes", "1,200", "[bold]now␛[31m", "Embedding"):
        assert word in text
    assert "\x1b[31m" not in text
