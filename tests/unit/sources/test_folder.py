"""Walking folders."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from clew.errors import SourceError
from clew.options import SourceOptions
from clew.sources.folder import open_source
from clew.types import Problem, RawDocument


def write(root: Path, *names: str, data: str = "text") -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data, encoding="utf-8")


def read(root: Path, **options: object) -> tuple[list[RawDocument], list[Problem]]:
    items = list(open_source(root, SourceOptions(**options), "notes").read())  # type: ignore[arg-type]
    return (
        [item for item in items if isinstance(item, RawDocument)],
        [item for item in items if isinstance(item, Problem)],
    )


def keys(root: Path, **options: object) -> list[str]:
    raws, problems = read(root, **options)
    assert problems == []
    return [raw.key for raw in raws]


def test_files_in_key_order_with_location_and_type(tmp_path: Path) -> None:
    write(
        tmp_path,
        "b.md",
        "a/README.md",
        "README.md",
        "a/x.TXT",
        "pic.png",
        "a/c.markdown",
        "d.org",
        "Makefile",
    )
    raws, problems = read(tmp_path)
    assert problems == []
    assert [raw.key for raw in raws] == [
        "README.md",
        "a/README.md",
        "a/c.markdown",
        "a/x.TXT",
        "b.md",
        "d.org",
    ]
    assert [raw.media_type for raw in raws] == [
        "markdown",
        "markdown",
        "markdown",
        "text",
        "markdown",
        "text",
    ]
    assert [raw.location for raw in raws] == [raw.key for raw in raws]
    assert raws[0].data == b"text"


def test_hidden_things_are_left_out(tmp_path: Path) -> None:
    write(tmp_path, ".hidden.md", ".git/x.md", ".clew/y.md", "a/.obsidian/z.md", "a/seen.md")
    assert keys(tmp_path) == ["a/seen.md"]


def test_a_hidden_root_is_read(tmp_path: Path) -> None:
    write(tmp_path / ".notes", "a.md")
    assert keys(tmp_path / ".notes") == ["a.md"]


def test_gitignore_at_every_level(tmp_path: Path) -> None:
    write(
        tmp_path,
        "drafts/a.md",
        "build/b.md",
        "keep.md",
        "sub/c.md",
        "sub/d.md",
        "sub/deep/d.md",
        "e.md",
        "sub/drafts/f.md",
    )
    (tmp_path / ".gitignore").write_text("/drafts/\nbuild/\ne.md\n# comment\n")
    (tmp_path / "sub/.gitignore").write_text("d.md\n!e.md\n")
    write(tmp_path, "sub/e.md")
    assert keys(tmp_path) == ["keep.md", "sub/c.md", "sub/drafts/f.md", "sub/e.md"]


def test_include_and_exclude(tmp_path: Path) -> None:
    write(tmp_path, "a/x.md", "a/y.md", "b/x.md", "c.txt", "a/t/z.md")
    assert keys(tmp_path, include=("a/", "*.txt")) == ["a/t/z.md", "a/x.md", "a/y.md", "c.txt"]
    assert keys(tmp_path, exclude=("t/", "y.md", "/b")) == ["a/x.md", "c.txt"]
    assert keys(tmp_path, include=("*.md",), exclude=("a/",)) == ["b/x.md"]


def test_jsonl_inside_a_folder(tmp_path: Path) -> None:
    write(tmp_path, "d/c.jsonl", data='{"id": "x", "text": "one"}\n')
    raws, _ = read(tmp_path)
    assert [(raw.key, raw.location, raw.media_type, raw.line) for raw in raws] == [
        ("d/c.jsonl#x", "d/c.jsonl", "record", 1)
    ]


def test_one_file_is_a_source_too(tmp_path: Path) -> None:
    write(tmp_path, "notes.md")
    assert keys(tmp_path / "notes.md") == ["notes.md"]


@pytest.mark.parametrize(
    "name",
    [
        "with space",
        'quo"te',
        "back\\slash",
        "tick`",
        "🎉",
        "עברית",
        "a'b",
        "{title}",
        "[b]",
        "%s",
        "-x",
        "#h",
    ],
)
def test_odd_names(tmp_path: Path, name: str) -> None:
    if sys.platform == "win32" and any(char in name for char in '"\\'):
        pytest.skip("not a file name on this system")
    write(tmp_path, f"{name}.md")
    assert keys(tmp_path) == [f"{name}.md"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes any bytes for a name")
def test_a_name_that_is_not_utf8(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("x")
    [key] = keys(tmp_path)
    assert key == "caf\\xe9.md"


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_links(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    write(root, "a/x.md", ".shared/s.md", "real.md")
    write(outside, "o.md")
    (root / "a/loop").symlink_to(root)
    (root / "a/self").symlink_to("self")
    (root / "other").symlink_to(root / "a")
    (root / "shared").symlink_to(root / ".shared")
    (root / "copy.md").symlink_to(root / "real.md")
    (root / "gone.md").symlink_to(root / "nowhere.md")
    (root / "out.md").symlink_to(outside / "o.md")
    (root / "away").symlink_to(outside)
    raws, problems = read(root)
    assert [raw.key for raw in raws] == ["a/x.md", "real.md", "shared/s.md"]
    assert sorted(problem.key for problem in problems) == ["away", "gone.md", "out.md"]
    assert all(problem.remedy for problem in problems)


@pytest.mark.skipif(sys.platform == "win32", reason="modes mean little there")
def test_unreadable_things_are_problems(tmp_path: Path) -> None:
    write(tmp_path, "no.md", "ok.md", "shut/x.md")
    if os.geteuid() == 0:
        pytest.skip("root reads everything")
    (tmp_path / "no.md").chmod(0)
    (tmp_path / "shut").chmod(0)
    raws, problems = read(tmp_path)
    (tmp_path / "shut").chmod(0o700)
    assert [raw.key for raw in raws] == ["ok.md"]
    assert sorted(problem.key for problem in problems) == ["no.md", "shut/"]
    assert all("can't be read" in problem.reason for problem in problems)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes")
def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    raws, problems = read(tmp_path)
    assert raws == []
    assert "regular file" in problems[0].reason


def test_large_files_are_skipped_and_said_so(tmp_path: Path) -> None:
    write(tmp_path, "big.md", data="x" * 5000)
    write(tmp_path, "small.md")
    raws, problems = read(tmp_path, max_bytes=4000)
    assert [raw.key for raw in raws] == ["small.md"]
    assert "5000 bytes" in problems[0].reason
    assert problems[0].remedy


def test_a_folder_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match="no such file or folder"):
        read(tmp_path / "nowhere")


def test_an_empty_folder(tmp_path: Path) -> None:
    assert keys(tmp_path) == []


def test_deep_folders(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["d"] * 200)
    deep.mkdir(parents=True)
    write(deep, "x.md")
    assert keys(tmp_path) == ["d/" * 200 + "x.md"]


# --- times of version control ---


def commit(folder: Path, when: str, message: str = "x") -> None:
    times = {"GIT_AUTHOR_DATE": when, "GIT_COMMITTER_DATE": when, "GIT_CONFIG_GLOBAL": os.devnull}
    who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
    for command in (["add", "-A"], [*who, "commit", "-qm", message]):
        subprocess.run(["git", *command], cwd=folder, check=True, env={**os.environ, **times})


@pytest.mark.skipif(shutil.which("git") is None, reason="git isn't installed")
def test_git_tells_when_a_note_was_first_committed(tmp_path: Path) -> None:
    folder = tmp_path / "repo" / "my notes"
    (folder / "sub").mkdir(parents=True)
    subprocess.run(["git", "init", "-q"], cwd=tmp_path / "repo", check=True)
    for name in ("a.md", 'sub/ü "q".md', "../outside.md"):
        (folder / name).write_text("One.\n", encoding="utf-8")
    commit(tmp_path / "repo", "2020-01-02T03:04:05+02:00")
    (folder / "a.md").write_text("Two.\n", encoding="utf-8")
    (folder / "b.md").write_text("Two.\n", encoding="utf-8")
    commit(tmp_path / "repo", "2021-01-02T03:04:05Z")
    (folder / "new.md").write_text("Not committed.\n", encoding="utf-8")
    options = SourceOptions(git_times=True)
    found = {raw.key: raw.committed_at for raw in open_source(folder, options, "n").read()}  # type: ignore[union-attr]
    assert found == {"a.md": 1577927045, "b.md": 1609556645, 'sub/ü "q".md': 1577927045, "new.md": None}
    [alone] = open_source(folder / "b.md", options, "n").read()
    assert isinstance(alone, RawDocument)
    assert alone.committed_at == 1609556645
    plain = open_source(folder, SourceOptions(), "n").read()
    assert {raw.committed_at for raw in plain if isinstance(raw, RawDocument)} == {None}


def test_a_folder_without_git_is_read_all_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.md").write_text("One.\n", encoding="utf-8")
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for path in (os.environ["PATH"], ""):
        monkeypatch.setenv("PATH", path)
        found = list(open_source(tmp_path, SourceOptions(git_times=True), "n").read())
        assert [raw.key for raw in found if isinstance(raw, RawDocument)] == ["a.md"]
        [problem] = [one for one in found if isinstance(one, Problem)]
        assert not problem.skipped
        assert problem.reason.startswith("git tells no times: ")
