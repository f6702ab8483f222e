"""Indexing with a language model that a server on this machine plays."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from command import call, run

from clew.testing.faults import Act, FaultServer, busy, error

NOTES = {
    "Gauge.md": "# Gauge\n\nTomasz Okoye repaired the gauge in Eelgrass Bay.\n",
    "Boat.md": "# Boat\n\nThe boat of Mara Lindqvist lies in Eelgrass Bay.\n",
    "Маяк.md": "# Маяк\n\nАнна Берг полагодила маяк у 1931 році.\n",
}
NAMES = ("Tomasz Okoye", "Eelgrass Bay", "Mara Lindqvist", "Анна Берг")


def play(body: dict[str, Any]) -> Act:
    """Reply as a model would that names what it knows."""
    text = next(m["content"] for m in reversed(body["messages"]) if "<<<" in m["content"])
    if "1. " not in text and "[1] " not in text:
        held = [name for name in NAMES if name in text]
        line = next(line for line in text.splitlines() if held[0] in line)
        entities = [{"name": n, "type": "thing", "description": f"{n}.", "quote": n} for n in held]
        links = [
            {"source": held[0], "target": n, "phrase": "belongs to", "strength": 0.8, "quote": line}
            for n in held[1:]
        ]
        return json.dumps({"entities": entities, "relationships": links})
    rows = re.findall(r"^\[(\d+)\] (.*)$", text, re.MULTILINE)
    finding = {"text": rows[0][1], "evidence": [int(rows[0][0])]}
    return json.dumps({"title": "All of it", "summary": "A bay.", "rating": 8, "findings": [finding]})


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


FLAGS = ("--embedder", "none", "--extract", "llm", "--reports", "llm", "--llm")


def test_a_dry_run_an_index_and_an_update(notes: Path) -> None:
    with FaultServer(play) as server:
        model = f"{server.url}#m"
        plan = run("index", ".", *FLAGS, model, "--dry-run", "--json", cwd=notes)
        assert plan.code == 0, plan.err
        assert not server.seen.requests
        assert not (notes / ".clew").exists()
        foreseen = {one["stage"]: one for one in plan.json["model"]}
        assert foreseen["extract"]["calls"] == foreseen["extract"]["items"] == len(NOTES)
        assert foreseen["extract"]["prompt_tokens"] > 100
        done = run("index", ".", *FLAGS, model, "--json", cwd=notes)
        assert done.code == 0, done.err
        assert done.json["work"]["entities_told"] == 5
        assert done.json["work"]["relations_told"] == 2
        spent = {one["stage"]: one["calls"] for one in done.json["model"]}
        assert spent["extract"] == len(NOTES)
        assert sum(spent.values()) == len(server.seen.requests)
        shown = run("show", "Eelgrass Bay", "--json", cwd=notes)
        assert shown.json["node"]["type"] == "thing"
        related = [edge for edge in shown.json["edges"] if edge["kind"] == "related"]
        assert {edge["phrase"] for edge in related} == {"belongs to"}
        place = related[0]["evidence"][0]
        data = (notes / place["location"]).read_bytes()[place["start"] : place["end"]]
        assert NOTES[place["location"]].split("\n\n")[1].startswith(data.decode())
        before = len(server.seen.requests)
        again = call("index", ".", *FLAGS, model, cwd=notes)
        assert "Nothing has changed" in again.out
        assert len(server.seen.requests) == before
        (notes / "Boat.md").write_text(NOTES["Boat.md"] + "\nTomasz Okoye rows it.\n", encoding="utf-8")
        update = call("index", ".", *FLAGS, model, cwd=notes)
        assert update.code == 0, update.err
        assert 1 <= len(server.seen.requests) - before <= 3
        assert "by the model" in update.out
        whole = call("doctor", cwd=notes)
        assert whole.code == 0, whole.out


def test_what_servers_do_at_bad_moments(notes: Path) -> None:
    acts = iter([busy(0.01), error(500), "```json\n{", error(503)])

    def bad(body: dict[str, Any]) -> Act:
        return next(acts, None) or play(body)

    with FaultServer(bad) as server:
        done = call("index", ".", *FLAGS[:4], "--llm", f"{server.url}#m", "--json", cwd=notes)
    assert done.code == 0, done.err
    assert done.json["problems"] == []
    assert done.json["work"]["entities_told"] == 5


def test_a_model_that_is_not_there_leaves_the_index_without_it(notes: Path) -> None:
    with FaultServer([error(404, "no such model", "model_not_found")]) as server:
        done = call("index", ".", *FLAGS[:4], "--llm", f"{server.url}#m", "--json", cwd=notes)
    assert done.code == 6
    assert "no such model" in done.err
    assert call("search", "gauge", cwd=notes).code == 0


def test_a_budget_says_what_is_left(notes: Path) -> None:
    with FaultServer(play) as server:
        flags = (*FLAGS, f"{server.url}#m", "--budget", "2600 tokens", "--llm-concurrency", "1")
        done = call("index", ".", *flags, cwd=notes)
        assert done.code == 0, done.err
        assert "The budget is spent. Left to do:" in done.out.replace("\n", " ")
        assert len(server.seen.requests) < len(NOTES)


def test_options_that_need_a_model_say_so(notes: Path) -> None:
    for flags in (("--extract", "llm"), ("--extract", "types"), ("--reports", "llm")):
        done = call("index", ".", *flags, cwd=notes)
        assert done.code == 2
        assert f"{' '.join(flags)}: no language model is given. Add --llm" in done.err
    done = call("index", ".", "--extract", "everything", cwd=notes)
    assert done.code == 2
    assert "none, types or llm" in done.err
