"""Bad input: a clear message, nothing lost, the rest still indexed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from command import Done, call, run

Make = Callable[[Path], None]


def file(name: str | bytes, data: bytes | str) -> Make:
    """Return what writes a file; folders in the name are made."""

    def make(folder: Path) -> None:
        path = folder / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode("utf-8"))

    return make


def both(*makers: Make) -> Make:
    def make(folder: Path) -> None:
        for maker in makers:
            maker(folder)

    return make


def loop(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "again").symlink_to(folder, target_is_directory=True)
    (folder / "self.md").symlink_to("self.md")


def locked(folder: Path) -> None:
    (folder / "locked.md").write_text("# Locked\n\nNobody reads this.\n", encoding="utf-8")
    (folder / "locked.md").chmod(0)


@dataclass(frozen=True)
class Case:
    """Files to add; keys that must be indexed; keys that must be listed; words that find a key."""

    name: str
    make: Make
    indexed: tuple[str, ...] = ()
    problem: tuple[str, ...] = ()
    find: tuple[str, str] | None = None


SAME = "# Same\n\nThe newt is green.\n"
LONG = "x" * 10_000
BIG = "# Big\n\n" + "The quagga grazes by the river.\n\n" * 20_000 + "So it goes on and on. " * 900_000
EMOJI = "🦉🌊🐚" * 3_000
CASES = [
    Case(
        "two files of one name",
        both(
            file("a/README.md", "# One\n\nThe heron nests.\n"),
            file("b/README.md", "# Two\n\nThe otter dives.\n"),
        ),
        ("a/README.md", "b/README.md"),
        find=("otter dives", "b/README.md"),
    ),
    Case(
        "one content under two names",
        both(
            file("a.md", "# Same\n\nThe newt is green.\n"),
            file("copy/a.md", "# Same\n\nThe newt is green.\n"),
        ),
        ("a.md", "copy/a.md"),
        find=("newt", "a.md"),
    ),
    Case("empty file", file("empty.md", b"")),
    Case("one word", file("word.md", "Petrichor"), ("word.md",), find=("petrichor", "word.md")),
    Case("no entity", file("none.md", "it was so and then it was not.\n"), ("none.md",)),
    Case("10,000 characters without a space", file("long.md", LONG), ("long.md",)),
    Case(
        "20 MB of Markdown",
        file("big.md", BIG),
        ("big.md",),
        find=("quagga", "big.md"),
    ),
    Case("NUL bytes", file("nul.md", b"# Nul\n\nBefore\0after the pangolin.\n")),
    Case(
        "lone surrogate",
        file("lone.md", b"# Lone\n\n\xed\xa0\x80 half beside the okapi.\n"),
        ("lone.md",),
        ("lone.md",),
        find=("okapi", "lone.md"),
    ),
    Case(
        "one wrong byte",
        file("wrong.md", "# Größe\n\nDie Größe — half ".encode() + b"\xff of the Okapia.\n"),
        ("wrong.md",),
        ("wrong.md",),
        find=("Okapia", "wrong.md"),
    ),
    Case(
        "Latin-1",
        file("latin.md", "# Größe\n\nDie Größe des Nilgauantilopenkäfigs ist ungewiß.\n".encode("latin-1")),
        ("latin.md",),
        find=("Nilgauantilopenkäfigs", "latin.md"),
    ),
    Case(
        "lone surrogate escape in JSONL",
        file("lone.jsonl", '{"id": "s1", "title": "S", "text": "half \\ud800 an ibex"}\n'),
        find=("ibex", "s1"),
    ),
    Case(
        "GB2312",
        file("gb.md", "# 北京的鸟\n\n北京有许多乌鸦和喜鹊，它们在公园里过冬。\n".encode("gb2312") * 5),
        ("gb.md",),
        find=("喜鹊", "gb.md"),
    ),
    Case(
        "UTF-16",
        file("wide.md", "# Wide\n\nThe tapir is shy.\n".encode("utf-16")),
        ("wide.md",),
        find=("tapir", "wide.md"),
    ),
    Case(
        "byte order mark",
        file("bom.md", b"\xef\xbb\xbf# Bom\n\nThe gecko climbs.\n"),
        ("bom.md",),
        find=("gecko", "bom.md"),
    ),
    Case("binary named .md", file("binary.md", bytes(range(256)) * 40), problem=("binary.md",)),
    Case("not valid YAML", file("yaml.md", "---\ntitle: [open\n---\n\n# Y\n\nThe lynx.\n"), ("yaml.md",)),
    Case("symlink loop", loop),
    Case("name with spaces", file("a b  c.md", "# Spaces\n\nThe stoat.\n"), ("a b  c.md",)),
    Case("name with quotes", file('it\'s "so".md', "# Quotes\n\nThe mole.\n"), ('it\'s "so".md',)),
    Case(
        "name with backslash, backtick",
        file("back\\slash`tick.md", "# Back\n\nThe vole.\n"),
        ("back\\slash`tick.md",),
    ),
    Case("name with emoji", file("🦉 owl.md", "# Owl\n\nThe owl.\n"), ("🦉 owl.md",)),
    Case(
        "right-to-left name",
        file("ملاحظات عن الطيور.md", "# الطيور\n\nالهدهد طائر جميل.\n"),
        ("ملاحظات عن الطيور.md",),
        find=("الهدهد", "ملاحظات عن الطيور.md"),
    ),
    Case("name that isn't UTF-8", file(b"caf\xe9.md", "# Latin\n\nThe caracal.\n"), find=("caracal", "caf")),
    Case("name that looks like an option", file("--help.md", "# Help\n\nThe serval.\n"), ("--help.md",)),
    Case(
        "markers of models and templates",
        file(
            "marks.md",
            "# {title} <SEP> ##\n\n<|endoftext|> {0} %s $HOME [bold]x[/bold] \x1b[31mred\x07 the kinkajou.\n",
        ),
        ("marks.md",),
        find=("kinkajou", "marks.md"),
    ),
    Case(
        "markers alone in a line and in a heading",
        file("sep.md", "# A <SEP> B\n\n<PAD>\n\nVec<T> holds the binturong.\n"),
        ("sep.md",),
        find=("SEP PAD binturong", "sep.md"),
    ),
    Case(
        "Chinese over a chunk's edge",
        file("zh.md", "# 长文\n\n" + "春天的河边有许多白鹭和翠鸟。" * 800 + "\n"),
        ("zh.md",),
        find=("翠鸟", "zh.md"),
    ),
    Case("emoji over a chunk's edge", file("emoji.md", EMOJI), ("emoji.md",)),
    Case(
        "JSONL with blank and invalid lines",
        file(
            "corpus.jsonl",
            '\n{"id": "r1", "title": "R", "text": "The fossa hunts."}\n{not json\n\n[1, 2]\n"x"\n'
            '{"id": "r2", "title": "R2", "text": "The dhole whistles."}\n',
        ),
        find=("dhole", "r2"),
    ),
    Case("no permission to read", locked, problem=() if os.geteuid() == 0 else ("locked.md",)),
]


@dataclass(frozen=True)
class Indexed:
    """All cases in one folder, each in its own below it, indexed by one run."""

    folder: Path
    problems: dict[str, dict[str, object]]


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Indexed:
    folder = tmp_path_factory.mktemp("bad") / "notes"
    for number, case in enumerate(CASES):
        below = folder / f"{number:02}"
        below.mkdir(parents=True)
        case.make(below)
    (folder / "good.md").write_text("# Good\n\nThe axolotl is well.\n", encoding="utf-8")
    built = run("index", ".", "--embedder", "none", "--json", cwd=folder)
    assert built.code == 0, built.err
    assert built.err == ""
    return Indexed(folder, {one["key"]: one for one in built.json["problems"]})


def test_the_rest_is_indexed_and_each_problem_has_a_reason(indexed: Indexed) -> None:
    _found(indexed.folder, "axolotl", "good.md")
    assert indexed.problems
    for one in indexed.problems.values():
        assert one["reason"]
        assert "Traceback" not in str(one["reason"])


@pytest.mark.parametrize("number", range(len(CASES)), ids=lambda number: CASES[number].name)
def test_bad_input(indexed: Indexed, number: int) -> None:
    case, prefix = CASES[number], f"{number:02}/"
    problems = {key: one for key, one in indexed.problems.items() if key.startswith(prefix)}
    for key in case.problem:
        assert any(key in found for found in problems), problems
    for key in case.indexed:
        assert not problems.get(prefix + key, {}).get("skipped"), problems
        shown = call("show", "--json", "--", prefix + key, cwd=indexed.folder)
        assert shown.code == 0, shown.err
    if case.find is not None:
        words, key = case.find
        _found(indexed.folder, words, key)


def _found(folder: Path, words: str, key: str) -> None:
    """Check that a search finds a document, with its exact bytes, and that text output is harmless."""
    done = call("search", words, "--json", cwd=folder)
    assert done.code == 0, done.err
    hits = done.json["hits"]
    assert any(key in hit["document"]["key"] for hit in hits), [hit["document"]["key"] for hit in hits]
    for hit in hits:
        _exact(folder, hit)
        # Only where the note itself holds half a character may a replacement stand.
        assert "\ufffd" not in hit["chunk"]["text"] or "half" in hit["chunk"]["text"]
    shown = call("search", words, cwd=folder)
    assert shown.code == 0, shown.err
    assert not {char for char in shown.out if ord(char) < 32 and char != "\n"}


def _exact(folder: Path, hit: dict[str, object]) -> None:
    document, chunk = hit["document"], hit["chunk"]
    assert isinstance(document, dict)
    assert isinstance(chunk, dict)
    path = folder / document["key"]
    if not path.is_file():
        return  # a JSONL record, whose offsets count in its text
    data = path.read_bytes()
    for encoding in ("utf-8", "utf-16", "gb2312", "latin-1"):
        text = data[chunk["start"] : chunk["end"]].decode(encoding, "replace")
        if text.lstrip("\ufeff") == chunk["text"]:
            return
    pytest.fail(json.dumps(chunk, ensure_ascii=False)[:300])


def test_citations_of_the_same_content_name_both_files(tmp_path: Path) -> None:
    for name in ("a.md", "b.md"):
        (tmp_path / name).write_text("# Same\n\nThe newt is green.\n", encoding="utf-8")
    call("index", ".", "--embedder", "none", "--quiet", cwd=tmp_path)
    hits = call("search", "newt", "--json", cwd=tmp_path).json["hits"]
    assert {hit["document"]["key"] for hit in hits} == {"a.md", "b.md"}


def test_the_index_of_all_that_is_whole(indexed: Indexed) -> None:
    found = call("doctor", "--json", cwd=indexed.folder)
    assert found.code == 0, found.out
    state = found.json["sources"]
    assert (state["changed"], state["missing"], state["new"]) == (0, 0, 0)


def test_folder_without_documents(tmp_path: Path) -> None:
    done: Done = call("index", ".", "--embedder", "none", cwd=tmp_path)
    assert done.code == 0, done.err
    assert "no document" in done.out
    asked = call("ask", "anything", cwd=tmp_path)
    assert asked.code == 0, asked.err
    assert "hold nothing on this question" in asked.out


def test_documents_without_edges(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(f"{name * 4} {name * 5}.\n", encoding="utf-8")
    assert call("index", ".", "--embedder", "none", cwd=tmp_path).code == 0
    assert call("communities", cwd=tmp_path).code == 0
    done = call("ask", "--mode", "global", "what are the themes?", cwd=tmp_path)
    assert done.code == 0, done.err
