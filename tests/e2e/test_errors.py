"""Each message names the thing, the reason and the remedy, on stderr, with its exit code."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, call, clean_environment, run

READING = [
    ("ask", "x"),
    ("query", "x"),
    ("search", "x"),
    ("show", "x"),
    ("related", "x"),
    ("path", "x", "y"),
    ("match", "note -- note"),
    ("export", "json", "graph.json"),
    ("bridge",),
    ("activity",),
    ("communities",),
    ("stats",),
    ("doctor",),
    ("cache",),
    ("costs",),
]


@pytest.mark.parametrize("arguments", READING, ids=lambda arguments: str(arguments[0]))
def test_no_index(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    done = call(*arguments, cwd=tmp_path)
    assert done.code == 4
    assert done.out == ""
    assert "there is no index in this folder or above it" in done.err
    assert "clew index FOLDER" in done.err


def test_named_index_that_is_not_there(tmp_path: Path) -> None:
    done = call("stats", "--index", "nowhere.duckdb", cwd=tmp_path)
    assert done.code == 4
    assert "nowhere.duckdb: there is no index" in done.err
    done = call("stats", cwd=tmp_path, CLEW_INDEX="elsewhere.duckdb")
    assert done.code == 4
    assert "elsewhere.duckdb (CLEW_INDEX)" in done.err


@pytest.mark.parametrize("content", [b"", b"not an index", b"\0" * 5000])
def test_not_an_index(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.duckdb").write_bytes(content)
    done = call("ask", "--index", "x.duckdb", "anything", cwd=tmp_path)
    assert done.code == 4
    assert done.out == ""
    assert "x.duckdb" in done.err
    assert "Traceback" not in done.err


def test_truncated_index(vault: Path, tmp_path: Path) -> None:
    whole = (vault / ".clew" / "index.duckdb").read_bytes()
    (tmp_path / "half.duckdb").write_bytes(whole[: len(whole) // 2])
    done = call("ask", "--index", "half.duckdb", "storm", cwd=tmp_path)
    assert done.code == 4
    assert "half.duckdb" in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("index", "nowhere"), 2, ["nowhere", "no such"]),
        (("index", ".", "--chunk-size", "99999"), 2, ["--chunk-size: 99999 is out of range", "8192"]),
        (("index", ".", "--chunk-size", "many"), 2, ["--chunk-size"]),
        (("index", ".", "--embedder", "minilmm"), 2, ["minilmm", "Did you mean 'minilm'?"]),
        (("index",), 2, ["PATH"]),
        (("index", ""), 2, ["empty", "clew index ."]),
        (("indx", "."), 2, ["No such command 'indx'", "index"]),
        (("ask", "--mod", "auto", "x"), 2, ["--mod"]),
        (("ask", "  "), 2, ["question", "empty"]),
        (("ask",), 2, ["QUESTION"]),
        (("communities", "--level", "-1"), 2, ["--level"]),
    ],
)
def test_usage(tmp_path: Path, arguments: tuple[str, ...], code: int, words: list[str]) -> None:
    done = call(*arguments, cwd=tmp_path)
    assert done.code == code
    assert done.out == ""
    assert done.err.startswith("clew: ")
    assert "Traceback" not in done.err
    for word in words:
        assert word in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("ask", "--mode", "globl", "x"), ["globl", "global"]),
        (("search", "--mode", "drift", "x"), ["drift", "basic", "local"]),
        (("show", "Tmasz Okyoe"), ["Tmasz Okyoe", "Tomasz Okoye"]),
        (("path", "Tomasz", "Nobody Atall"), ["Nobody Atall"]),
        (("search", "-k", "0", "x"), ["-k: 0 is out of range", "1 to 1000"]),
        (("communities", "--level", "99"), ["--level", "99"]),
    ],
)
def test_usage_of_an_index(vault: Path, arguments: tuple[str, ...], words: list[str]) -> None:
    done = call(*arguments, cwd=vault)
    assert done.code == 2
    assert done.out == ""
    for word in words:
        assert word in done.err


def test_unknown_key_in_the_settings(tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("A note.\n", encoding="utf-8")
    (tmp_path / "clew.toml").write_text("[chunk]\nsiez = 3\n", encoding="utf-8")
    done = call("index", ".", cwd=tmp_path)
    assert done.code == 2
    assert "clew.toml: chunk.siez: no such option. Did you mean chunk.size?" in done.err
    assert not (tmp_path / ".clew").exists()


def test_traceback_only_on_request(tmp_path: Path) -> None:
    assert "Traceback" not in run("stats", cwd=tmp_path).err
    assert "Traceback" in run("--debug", "stats", cwd=tmp_path).err
    assert "Traceback" in run("stats", "--debug", cwd=tmp_path).err
    assert "Traceback" in run("stats", cwd=tmp_path, CLEW_DEBUG="1").err


def test_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("# A\n\nText.\n", encoding="utf-8")
    (tmp_path / "file").write_text("", encoding="utf-8")
    # A file where a folder must be: refused for root as well, which a read-only mode isn't.
    done = call(
        "index", "notes", "--index", tmp_path / "file" / "x.duckdb", "--embedder", "none", cwd=tmp_path
    )
    assert done.code == 5
    assert "x.duckdb" in done.err or "file" in done.err
    assert "Traceback" not in done.err


def test_interrupt_leaves_the_last_index(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Alpha\n\nThe axolotl is well.\n", encoding="utf-8")
    assert run("index", ".", "--embedder", "none", "--quiet", cwd=tmp_path).code == 0
    before = (tmp_path / ".clew" / "index.duckdb").read_bytes()
    for number in range(400):
        text = f"# Note {number}\n\n" + f"Sentence {number} of the long note on newts. " * 500
        (tmp_path / f"n{number}.md").write_text(text, encoding="utf-8")
    with subprocess.Popen(
        [COMMAND, "index", ".", "--embedder", "none"],
        cwd=tmp_path,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stderr is not None
        for line in process.stderr:
            if line.startswith("Reading notes"):
                break
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert out == ""
    assert "The index published last is whole; the same command goes on from here." in err
    assert "Traceback" not in err
    assert (tmp_path / ".clew" / "index.duckdb").read_bytes() == before
    assert "axolotl" in run("search", "axolotl", cwd=tmp_path).out


def test_full_disk_leaves_the_last_index(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Alpha\n\nThe axolotl is well.\n", encoding="utf-8")
    assert run("index", ".", "--embedder", "none", "--quiet", cwd=tmp_path).code == 0
    index = tmp_path / ".clew" / "index.duckdb"
    before = index.read_bytes()
    (tmp_path / "b.md").write_text("# Beta\n\nThe newt is green.\n", encoding="utf-8")
    # A limit on the size of files makes writes fail as a full disk does, without needing one.
    done = subprocess.run(
        ["bash", "-c", f"ulimit -f 64; exec '{COMMAND}' index . --embedder none"],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 5, done.stderr
    assert "Traceback" not in done.stderr
    assert "Free some space" in done.stderr.replace("\n", " ")
    assert index.read_bytes() == before
