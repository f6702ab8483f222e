"""`clew chat` and `clew context`, as they are typed."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

from command import COMMAND, call, clean_environment


def chat(vault: Path, typed: str, *arguments: str) -> tuple[int, str, str]:
    done = subprocess.run(
        [COMMAND, "chat", *arguments],
        cwd=vault,
        env=clean_environment(),
        input=typed.encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def test_a_conversation_goes_through_a_pipe(vault: Path) -> None:
    typed = "Who repaired Tide Gauge No. 3?\n\nand what drives its drum?\n/sources\n/quit\nnever asked\n"
    code, out, err = chat(vault, typed)
    assert code == 0, err
    assert "sewing machine" in out
    assert "Read as: and what drives its drum? (Tide Gauge No. 3)" in out
    code, out, _ = chat(vault, typed, "--json")
    answers = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    assert [one["question"] for one in answers] == [
        "Who repaired Tide Gauge No. 3?",
        "and what drives its drum?",
    ]
    assert all(one["command"] == "chat" for one in answers)


def test_what_goes_wrong_in_a_conversation_ends_no_conversation(vault: Path) -> None:
    code, _, err = chat(vault, "/what\nWho repaired Tide Gauge No. 3?\n", "--mode", "globl")
    assert code == 2
    assert "/what" in err
    assert "global" in err


def test_a_prompt_fits_its_budget(vault: Path) -> None:
    done = call("context", "who", "repaired", "the", "tide", "gauge?", "--budget", "300", "--json", cwd=vault)
    assert done.code == 0, done.err
    assert done.json["tokens"] <= 300
    assert done.json["items"]
    text = call("context", "who repaired the tide gauge?", "--budget", "300", cwd=vault)
    assert text.out.rstrip("\n") == done.json["text"]
    assert call("context", " ", cwd=vault).code == 2
