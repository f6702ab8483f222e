"""Nothing that is printed holds a password or a key."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.cli.main import run
from clew.errors import ClewError, masked

LOGIN = "http://ada:hunter22@127.0.0.1:9/v1#m"
QUERY = "http://127.0.0.1:9/v1?api_key=hunter22&version=3#m"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        (LOGIN, "http://…@127.0.0.1:9/v1#m"),
        (QUERY, "http://127.0.0.1:9/v1?api_key=…&version=3#m"),
        (
            "two: wss://a:b@x.y/ and https://token@z/?Signature=abc",
            "two: wss://…@x.y/ and https://…@z/?Signature=…",
        ),
        (
            "mail ada@example.org, http://x.y/@ada and key=1",
            "mail ada@example.org, http://x.y/@ada and key=1",
        ),
    ],
)
def test_secrets_in_urls_are_masked_and_nothing_else(text: str, shown: str) -> None:
    assert masked(text) == shown
    assert str(ClewError(text, text, text)) == f"{shown}: {shown}. {shown}"


@pytest.mark.parametrize("url", [LOGIN, QUERY])
@pytest.mark.parametrize("setting", ["CLEW_LLM", "CLEW_RATING_LLM", "CLEW_EMBED_EMBEDDER"])
def test_no_command_prints_them(
    url: str,
    setting: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (tmp_path / "note.md").write_text("# Tide Gauge\n\nIt records the tide.\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert run(["index", ".", "--embedder", "none"]) == 0
    monkeypatch.setenv(setting, url)
    monkeypatch.setenv("CLEW_LLM_RETRIES", "0")
    if setting == "CLEW_RATING_LLM":
        monkeypatch.setenv("CLEW_LLM", "http://127.0.0.1:9/v1#other")
    for command in (
        ["settings"],
        ["settings", "--json"],
        ["llms"],
        ["embedders"],
        ["ask", "what records the tide?"],
        ["ask", "--json", "what records the tide?", "--mode", "global"],
        ["--debug", "ask", "what records the tide?", "--explain"],
        ["index", ".", "--extract", "types", "--dry-run"],
        ["index", ".", "--reports", "llm"],
        ["costs"],
        ["costs", "--json"],
        ["stats", "--json"],
        ["cache"],
    ):
        run(command)
        told = capsys.readouterr()
        assert "hunter22" not in told.out + told.err, command
    kept = b"".join(file.read_bytes() for file in (tmp_path / ".clew").iterdir() if file.is_file())
    assert b"hunter22" not in kept
