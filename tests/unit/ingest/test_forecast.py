"""A dry run tells what a build then does, and does nothing itself."""

from __future__ import annotations

from pathlib import Path

import pytest
from talker import Bench, options, talk

from clew import Index
from clew.demo import copy_vault
from clew.options import IndexOptions
from clew.testing.chat import ScriptedChatModel
from clew.types import Forecast

NEAR = 0.2


def demo(tmp_path: Path) -> Bench:
    copy_vault(tmp_path / "notes")
    return Bench(tmp_path)


def state(folder: Path) -> dict[str, tuple[int, bytes]]:
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in sorted(folder.rglob("*"))
    }


def foresee(vault: Bench, chosen: IndexOptions) -> Forecast:
    model = ScriptedChatModel(talk, vault.name)
    before = state(vault.folder)
    found = Index.foresee([vault.notes], vault.folder / "i.duckdb", options=chosen, llm=model)
    assert not model.requests
    assert state(vault.folder) == before
    return found


@pytest.mark.parametrize(
    ("chosen", "stages"),
    [
        (options("llm"), ["extract"]),
        (options("llm", "llm"), ["extract", "report"]),
        (options("types", "llm"), ["types", "report"]),
        (options("llm", gleaning=1), ["extract"]),
    ],
    ids=["llm", "llm and reports", "types and reports", "gleaning"],
)
def test_what_is_foreseen_is_near_what_happens(
    tmp_path: Path, chosen: IndexOptions, stages: list[str]
) -> None:
    vault = demo(tmp_path)
    found = foresee(vault, chosen)
    assert [one.stage for one in found.stages] == stages
    result = vault.build(chosen)
    assert found.work["documents_parsed"] == result.work["documents_parsed"]
    calls = sum(one.calls for one in found.stages)
    assert calls == pytest.approx(len(vault.requests), rel=NEAR)
    told = sum(one.prompt_tokens + one.reply_tokens for one in found.stages)
    took = sum(one.prompt_tokens + one.reply_tokens for one in result.costs)
    assert told == pytest.approx(took, rel=NEAR)
    assert foresee(vault, chosen).unchanged


def test_after_an_edit_only_what_is_new_is_foreseen(tmp_path: Path) -> None:
    vault = demo(tmp_path)
    vault.build(options("llm", "llm"))
    vault.write(new="# New\n\nThe new boathouse of Tomasz Okoye stands on stilts.")
    found = foresee(vault, options("llm", "llm"))
    extract = found.stages[0]
    assert (extract.stage, extract.calls, extract.items) == ("extract", 1, 1)
    assert extract.kept == found.counts["documents"] - 1
    assert found.work["documents_new"] == 1
    result = vault.build(options("llm", "llm"))
    (cost,) = [one for one in result.costs if one.stage == "extract"]
    assert (cost.calls, cost.prompt_tokens) == (1, pytest.approx(extract.prompt_tokens, rel=NEAR))


def test_without_a_model_documents_and_vectors_are_told(tmp_path: Path) -> None:
    vault = demo(tmp_path)
    found = Index.foresee([vault.notes])
    assert found.stages == ()
    assert found.work["vectors_embedded"] >= found.counts["documents"]
    assert not (vault.notes / ".clew").exists()
