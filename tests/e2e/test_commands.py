"""Every command on the shipped notes, as text and as JSON."""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import duckdb
import pytest
from command import COMMAND, call, clean_environment, run

from clew.demo import CONNECTION, FACT, THEMES

COMMANDS: dict[str, tuple[str, ...]] = {
    "ask": (FACT,),
    "query": (FACT,),
    "search": ("storm",),
    "show": ("Tomasz Okoye",),
    "related": ("Storm Petrel",),
    "path": CONNECTION,
    "match": ("note -references-> note",),
    "bridge": (),
    "activity": (),
    "communities": (),
    "stats": (),
    "doctor": (),
    "cache": (),
    "costs": (),
    "llms": (),
    "settings": (),
    "embedders": (),
}


def exact(vault: Path, place: dict[str, Any]) -> str:
    """Return the bytes that a citation's offsets give, as text."""
    data = (vault / place["key"]).read_bytes()
    return data[place["start"] : place["end"]].decode("utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_alone_on_stdout(vault: Path, name: str) -> None:
    done = call(name, *COMMANDS[name], "--json", cwd=vault)
    assert done.code == 0, done.err
    assert done.err == ""
    assert done.json["schema_version"] == 1
    assert done.json["command"] == ("ask" if name == "query" else name)


def test_the_installed_command_keeps_stdout_for_data(vault: Path) -> None:
    done = run("ask", FACT, "--json", cwd=vault)
    assert done.code == 0, done.err
    assert done.err == ""
    assert "Tomasz" in done.json["answer"]


def test_cited_paths_open_from_any_folder(vault: Path) -> None:
    for here, flag in ((vault, ()), (vault / "journal", ()), (vault.parent, ("--index", vault))):
        places = call("search", "October storm", *flag, cwd=here).out.splitlines()
        found = call("search", "October storm", "--json", *flag, cwd=here).json["hits"]
        for hit in found:
            document, line = hit["document"], hit["chunk"]["start_line"]
            assert any(f"{document['location']}:{line}" in place for place in places)
            assert (here / document["location"]).samefile(document["file"])
            assert (vault / document["key"]).samefile(document["file"])
            below = (vault / document["key"]).is_relative_to(here)
            assert Path(document["location"]).is_absolute() is not below
            assert call("show", document["location"], *flag, cwd=here).code == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_text_is_on_stdout_without_colours(vault: Path, name: str) -> None:
    done = call(name, *COMMANDS[name], cwd=vault)
    assert done.code == 0, done.err
    assert done.err == ""
    assert done.out.strip()
    assert "\x1b" not in done.out


def test_demo_asks_three_questions_and_names_its_commands(vault: Path) -> None:
    text = (vault / "demo.txt").read_text(encoding="utf-8")
    for command in ("$ clew index .", "$ clew ask ", "$ clew path ", "$ clew ask --mode global "):
        assert command in text
    assert FACT in text
    assert THEMES in text
    assert text.rstrip().endswith("clew index ~/notes")
    assert (vault / ".clew" / "index.duckdb").is_file()


def test_demo_refuses_a_folder_that_is_there(vault: Path) -> None:
    done = call("demo", "--keep", vault, cwd=vault)
    assert done.code == 2
    assert "it is there already" in done.err


def test_fact_of_two_hops(vault: Path) -> None:
    found = call("ask", FACT, "--json", cwd=vault).json
    assert "Tomasz" in found["answer"]
    numbers = {one["number"] for one in found["citations"]}
    assert found["sentences"]
    for sentence in found["sentences"]:
        assert set(sentence["citations"]) <= numbers
        assert sentence["citations"]
    for place in found["citations"]:
        assert exact(vault, place).strip()
        lines = (vault / place["key"]).read_text(encoding="utf-8").splitlines()
        first = exact(vault, place).strip().splitlines()[0]
        assert first in lines[place["start_line"] - 1]


def test_answer_cites_path_and_line(vault: Path) -> None:
    done = call("ask", FACT, cwd=vault)
    assert "[1] " in done.out
    assert "instruments/Tide Gauge No. 3.md:" in done.out
    assert "Mode " in done.out


def test_explain_shows_seeds_and_paths(vault: Path) -> None:
    done = call("ask", FACT, "--explain", cwd=vault)
    assert "Seeds" in done.out
    assert "Passages and the way to them" in done.out


@pytest.mark.parametrize("mode", ["auto", "basic", "local", "global", "drift"])
def test_every_mode_answers(vault: Path, mode: str) -> None:
    found = call("ask", "--mode", mode, "What did the storm destroy?", "--json", cwd=vault).json
    assert found["answer"]
    assert found["citations"]
    assert mode in ("auto", found["mode"])
    assert found["reason"]


def test_themes(vault: Path) -> None:
    found = call("ask", "--mode", "global", THEMES, "--json", cwd=vault).json
    assert found["mode"] == "global"
    assert len(found["citations"]) >= 3


@pytest.mark.parametrize("question", ["How is quantum chromodynamics renormalised?", "zzzyqx wvvkj", "???"])
def test_nothing_found_is_said_with_exit_code_0(vault: Path, question: str) -> None:
    done = call("ask", "--", question, cwd=vault)
    assert done.code == 0, done.err
    assert "hold nothing on this question" in done.out
    found = call("ask", "--json", "--", question, cwd=vault).json
    assert found["answer"] == ""
    assert found["citations"] == []


@pytest.mark.parametrize(
    "question", ["C++", "node:", '"', "(x)", "C:\\a|b", "~", "*", "[bold]", "a AND NOT b"]
)
def test_punctuation_is_text(vault: Path, question: str) -> None:
    for command in ("ask", "search"):
        done = call(command, "--json", "--", question, cwd=vault)
        assert done.code == 0, done.err
        assert done.json["question"] == question


def test_question_without_quotes(vault: Path) -> None:
    assert call("search", "dark", "night", "rule", "--json", cwd=vault).json["question"] == "dark night rule"


def test_search_k_and_offsets(vault: Path) -> None:
    found = call("search", "eelgrass seeds", "-k", "3", "--json", cwd=vault).json["hits"]
    assert [hit["rank"] for hit in found] == [1, 2, 3]
    for hit in found:
        data = (vault / hit["document"]["key"]).read_bytes()
        assert data[hit["chunk"]["start"] : hit["chunk"]["end"]].decode() == hit["chunk"]["text"]
        assert hit["parts"]
        assert hit["why"]


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("насіння з ботанічного саду", "visitors/Насіння з Одеси.md"),
        ("Wie viele tote Drosseln unter dem Leuchtturm?", "visitors/Lichtfang und Leuchtturm.md"),
        ("アマモの種を集める", "visitors/アマモの種まき.md"),
    ],
)
def test_other_languages(vault: Path, question: str, key: str) -> None:
    found = call("search", question, "-k", "3", "--json", cwd=vault).json["hits"]
    assert key in [hit["document"]["key"] for hit in found]


def test_show_by_alias_and_by_path(vault: Path) -> None:
    by_alias = call("show", "sturmschwalbe", "--json", cwd=vault).json
    assert "Storm Petrel" in by_alias["names"]
    by_path = call("show", "people/佐藤葵.md", "--json", cwd=vault).json
    assert by_path["node"]["name"] == "佐藤葵"
    assert by_alias["edges"]


def test_path_is_connected(vault: Path) -> None:
    steps = call("path", *CONNECTION, "--json", cwd=vault).json["steps"]
    assert steps
    for one, other in pairwise(steps):
        ends = {one["source"]["id"], one["target"]["id"]}
        assert ends & {other["source"]["id"], other["target"]["id"]}
    assert all(step["evidence"] for step in steps)


def test_path_that_is_none_says_why(vault: Path) -> None:
    same = ("path", "Storm Petrel", "sturmschwalbe")
    assert "are the same" in call(*same, cwd=vault).out
    assert call(*same, "--json", cwd=vault).json["same"] is True
    a, b = CONNECTION
    far = call("path", a, b, "--max-steps", "1", cwd=vault)
    assert far.code == 0
    assert "No path of at most 1 step joins" in far.out
    assert call("path", a, b, "--json", cwd=vault).json["same"] is False


def test_numbers_agree_with_their_nouns(vault: Path) -> None:
    for name in ("Storm Petrel", "sea", "Tomasz", "Eelgrass Bay"):
        shown = call("show", name, cwd=vault).out + call("related", name, "-k", "40", cwd=vault).out
        assert not re.search(r"(?<![\d,.])1 (passage|member|step|note)s\b", shown), shown


def test_the_demo_and_stats_count_the_same(vault: Path) -> None:
    with_kinds = call("stats", "--json", cwd=vault).json["stats"]
    given = ("--embedder", "none", "--index", vault.parent / "again.duckdb", "--exclude", "demo.txt")
    built = call("index", ".", *given, "--json", cwd=vault)
    for name in ("documents", "chunks", "nodes", "edges", "communities"):
        assert built.json["counts"][name] == with_kinds[name]
    assert sum(with_kinds["nodes_by_kind"].values()) == with_kinds["nodes"]
    assert with_kinds["nodes_by_kind"]["entity"] == built.json["counts"]["entities"]


def test_doctor_tells_damage_by_its_exit_code(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Alpha\n\nAlpha links to [[Beta]].\n", encoding="utf-8")
    call("index", ".", "--embedder", "none", "--quiet", cwd=tmp_path)
    done = call("doctor", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "The index is whole." in done.out
    with duckdb.connect(str(tmp_path / ".clew" / "index.duckdb")) as connection:
        connection.execute("UPDATE chunks SET text = 'forged'")
    done = call("doctor", cwd=tmp_path)
    assert done.code == 4
    assert "clew index FOLDER" in done.out
    done = call("doctor", "--json", cwd=tmp_path)
    assert done.code == 4
    assert done.json["whole"] is False
    assert next(check for check in done.json["checks"] if check["name"] == "checksum")["faults"]


def test_cache_is_shown_and_pruned(tmp_path: Path) -> None:
    note = tmp_path / "a.md"
    for text in ("old", "new"):
        note.write_text(f"# Alpha\n\nAlpha is {text}.\n", encoding="utf-8")
        call("index", ".", "--embedder", "none", "--quiet", cwd=tmp_path)
    before = call("cache", "--json", cwd=tmp_path).json
    assert (before["entries"]["analyses"], before["unused"], before["dropped"]) == (2, 2, 0)
    assert "clew cache --prune" in call("cache", cwd=tmp_path).out
    assert "Dropped" in call("cache", "--prune", cwd=tmp_path).out
    after = call("cache", "--prune", "--json", cwd=tmp_path).json
    assert (after["entries"]["analyses"], after["unused"], after["dropped"]) == (1, 0, 0)
    assert Path(after["file"]).name == "cache.sqlite"
    (tmp_path / ".clew" / "cache.sqlite").unlink()
    gone = call("cache", "--json", cwd=tmp_path).json
    assert (gone["entries"], gone["bytes"]) == ({}, 0)
    assert not (tmp_path / ".clew" / "cache.sqlite").exists()
    assert "none yet" in call("cache", cwd=tmp_path).out


def test_communities_of_a_level(vault: Path) -> None:
    found = call("communities", "--level", "0", "--json", cwd=vault).json["communities"]
    assert found
    assert {one["level"] for one in found} == {0}
    assert all(one["title"] and one["members"] for one in found)


def test_index_is_found_from_a_folder_below(vault: Path) -> None:
    done = call("stats", "--json", cwd=vault / "people")
    assert done.code == 0
    assert done.json["stats"]["documents"] == 29


def test_index_summary_and_second_run(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "a.md").write_text("# Alpha\n\nAlpha links to [[Beta]].\n", encoding="utf-8")
    (notes / "b.md").write_text("# Beta\n\nBeta is quiet.\n", encoding="utf-8")
    done = call("index", "notes", "--embedder", "none", cwd=tmp_path)
    assert done.code == 0, done.err
    for word in ("documents", "chunks", "nodes", "edges", "communities", "kB", "clew ask --index"):
        assert word in done.out
    rows = [line.split() for line in done.out.splitlines()]
    assert not [row for row in rows if row[1:2] in (["0"], ["0.0"])]  # what there isn't takes no line
    for word in ("entities", "tags", "people", "vectors", "MB/s", "embedding"):
        assert word not in done.out
    assert "Reading notes" in done.err
    quiet = call("index", "notes", "--embedder", "none", "--quiet", cwd=tmp_path)
    assert (quiet.code, quiet.out, quiet.err) == (0, "", "")
    found = call("index", ".", "--embedder", "none", "--json", cwd=notes)
    assert found.err == ""
    assert found.json["counts"]["documents"] == 2
    assert found.json["problems"] == []


def test_include_and_exclude(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", "c.txt"):
        (tmp_path / name).write_text(f"Text of {name} here.\n", encoding="utf-8")
    arguments = ("index", ".", "--embedder", "none", "--json", "--exclude", "b.md", "--exclude", "*.txt")
    assert call(*arguments, cwd=tmp_path).json["counts"]["documents"] == 1


def test_no_color_and_colours(vault: Path) -> None:
    coloured = run("ask", FACT, cwd=vault, FORCE_COLOR="1", TERM="xterm-256color")
    assert "\x1b[" in coloured.out
    plain = run("ask", FACT, cwd=vault, FORCE_COLOR="1", NO_COLOR="1", TERM="xterm-256color")
    assert "\x1b" not in plain.out


def test_a_reader_that_goes_away_is_quiet(vault: Path) -> None:
    with subprocess.Popen(
        [COMMAND, "search", "storm"],
        cwd=vault,
        env=clean_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_export_writes_what_it_says(vault: Path, tmp_path: Path) -> None:
    for form, names in (("sqlite", ["graph.db"]), ("csv", ["nodes.csv", "edges.csv"])):
        goal = tmp_path / ("graph.db" if form == "sqlite" else "tables")
        found = call("export", form, goal, "--json", cwd=vault).json
        assert [Path(one["file"]).name for one in found["files"]] == names
        for one in found["files"]:
            assert Path(one["file"]).stat().st_size == one["bytes"]
    assert call("export", "sqlite", vault / "people", cwd=vault).code == 5
