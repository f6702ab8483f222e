"""Indexing and asking open no connection."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any, NoReturn

import pytest
from command import call


def test_nothing_is_sent_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("# Axolotl\n\nThe axolotl lives at https://example.org/ [[Pond]].\n")
    tried: list[Any] = []

    def refuse(*arguments: Any, **_: Any) -> NoReturn:
        tried.append(arguments)
        raise OSError("offline")

    for name in ("connect", "connect_ex", "sendto"):
        monkeypatch.setattr(socket.socket, name, refuse)
    for name in ("getaddrinfo", "gethostbyname"):
        monkeypatch.setattr(socket, name, refuse)
    for words in (
        ("index", "."),
        ("ask", "Where does the axolotl live?"),
        ("search", "axolotl"),
        ("doctor",),
    ):
        done = call(*words, cwd=tmp_path)
        assert done.code == 0, done.err
    assert tried == []
    with pytest.raises(OSError, match="offline"):
        socket.create_connection(("localhost", 9))  # the guard works
