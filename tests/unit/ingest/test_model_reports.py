"""Types and reports by a language model: checked, kept by content, bounded by a budget."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import patch

import duckdb
import pytest
from talker import STATED, Bench, kind_of, options, report, shown, talk
from whole_index import differences, read_whole

from clew import Index, registry
from clew.demo import copy_vault
from clew.errors import ProviderError
from clew.options import CommunityOptions, IndexOptions, LlmOptions
from clew.testing.chat import Reply, ScriptedChatModel
from clew.types import BuildResult, ChatRequest

BOTH = options("llm", "llm")


def demo(tmp_path: Path) -> Bench:
    copy_vault(tmp_path / "notes")
    return Bench(tmp_path)


def rows(tmp_path: Path, query: str) -> list[tuple[Any, ...]]:
    with duckdb.connect(str(tmp_path / "i.duckdb"), read_only=True) as index:
        return index.execute(query).fetchall()


def asked(vault: Bench, kind: str) -> list[ChatRequest]:
    return [request for request in vault.requests if kind_of(request) == kind]


# --- reports -------------------------------------------------------------------------------------


def test_findings_stand_where_the_statements_do_that_they_cite(tmp_path: Path) -> None:
    vault = demo(tmp_path)
    result = vault.build(options("none", "llm"))
    count = rows(tmp_path, "SELECT count(*) FROM communities")[0][0]
    assert result.work["reports_written"] == len(vault.requests) == count
    assert result.work["findings_dropped"] == count  # each report's finding without evidence
    found = rows(
        tmp_path,
        "SELECT key, f.start_byte, f.end_byte, f.text FROM report_findings f "
        "JOIN chunks USING (chunk) JOIN documents USING (doc)",
    )
    assert len(found) >= count
    for key, start, end, text in found:
        place = (vault.notes / key).read_bytes()[start:end].decode()
        assert set(text.split()) & set(place.split()), (text, place)
    assert all(0 <= rating <= 10 for (rating,) in rows(tmp_path, "SELECT rating FROM reports"))


def test_an_update_writes_only_the_reports_whose_statements_have_changed(tmp_path: Path) -> None:
    vault = demo(tmp_path)
    shutil.copytree(vault.notes, vault.notes / "copy")
    for path in (vault.notes / "copy").rglob("*.md"):  # the same notes of another island
        text = path.read_text(encoding="utf-8")
        path.write_text(text.translate(str.maketrans("aeiou", "eioua")), encoding="utf-8")
    chosen = IndexOptions(**{**_fields(options("none", "llm")), "community": CommunityOptions(max_size=12)})
    vault.build(chosen)
    first = len(vault.requests)
    path = next((vault.notes / "instruments").glob("Tide*"))
    path.write_text(path.read_text(encoding="utf-8") + "\nThe Tide Gauge has a brass bell now.\n")
    result = vault.build(chosen)
    (cost,) = [one for one in result.costs if one.stage == "report"]
    assert 0 < cost.calls == len(vault.requests) < first / 2
    assert result.work["reports_written"] > cost.calls
    vault.build(chosen, "fresh.duckdb")
    assert not differences(read_whole(tmp_path / "i.duckdb"), read_whole(tmp_path / "fresh.duckdb"))


def _fields(chosen: IndexOptions) -> dict[str, Any]:
    return {name: getattr(chosen, name) for name in IndexOptions.__slots__}


def test_a_report_that_fails_or_cites_nothing_stays_extractive_and_is_told(tmp_path: Path) -> None:
    def script(request: ChatRequest) -> Reply:
        made = report(request)
        if len(broken) < 2:
            broken.append(made["title"])
            return ProviderError("m", "it was too much")
        if len(broken) < 3:
            broken.append(made["title"])
            made["findings"] = [{"text": "All is well.", "evidence": [99, -1, 0]}]
        return json.dumps(made)

    broken: list[str] = []
    vault = demo(tmp_path)
    vault.script = script
    result = vault.build(options("none", "llm"))
    count = rows(tmp_path, "SELECT count(*) FROM communities")[0][0]
    assert result.work["reports_written"] == count - 3
    (note,) = [note for note in result.notes if " reports by " in note]
    assert note.startswith("3 reports by scripted failed (")
    assert "it was too much" in note
    assert len(rows(tmp_path, "SELECT * FROM reports WHERE title <> '' AND summary <> ''")) == count
    vault.build(options("none", "llm"))
    assert len(vault.requests) == 2  # the one that cites nothing is kept, and fails again


def test_a_parent_uses_its_childrens_reports_where_its_members_do_not_fit(tmp_path: Path) -> None:
    def script(request: ChatRequest) -> str:
        made = report(request)
        made["findings"] = [
            {"text": f"{text} QED", "evidence": [int(number)]}
            for number, text in STATED.findall(shown(request))
        ][:2]
        return json.dumps(made)

    vault = demo(tmp_path)
    vault.script = script
    small = options("none", "llm")
    chosen = IndexOptions(
        embed=small.embed,
        report=type(small.report)("llm", tokens=150),
        community=CommunityOptions(max_size=10),
    )
    vault.build(chosen)
    levels = rows(tmp_path, "SELECT max(level) FROM communities")[0][0]
    assert levels > 0
    used = [request for request in vault.requests if "QED" in shown(request)]
    assert used
    assert all(vault.requests.index(one) > 0 for one in used)


# --- types ---------------------------------------------------------------------------------------


def test_types_are_asked_for_many_names_at_once(tmp_path: Path) -> None:
    vault = demo(tmp_path)
    result = vault.build(options("types"))
    named = result.work["names_typed"]
    assert named > 30
    assert len(vault.requests) < named / 4
    typed = rows(tmp_path, "SELECT name, type, description FROM nodes WHERE type <> ''")
    assert len(typed) == named
    assert all(len(description) <= 300 and kind.isprintable() for _, kind, description in typed)
    vault.build(options("types", types_most=10))
    assert len(rows(tmp_path, "SELECT * FROM nodes WHERE type <> ''")) <= 10


def test_an_edit_changes_few_batches(tmp_path: Path) -> None:
    vault = demo(tmp_path)
    vault.build(options("types"))
    first = len(vault.requests)
    path = next((vault.notes / "instruments").glob("Tide*"))
    path.write_text(path.read_text(encoding="utf-8") + "\nIt is dusted on Sundays.\n")
    vault.build(options("types"))
    assert len(vault.requests) <= max(2, first / 2)


# --- a budget ------------------------------------------------------------------------------------


def with_budget(vault: Bench, chosen: IndexOptions, budget: str) -> BuildResult:
    model = ScriptedChatModel(talk)
    vault.requests = model.requests
    with patch.object(registry, "make_llm", lambda spec, options: model):
        llm = LlmOptions("scripted", budget=budget, concurrency=1)
        with Index.build([vault.notes], vault.folder / "i.duckdb", options=chosen, llm=llm) as index:
            assert index.result is not None
            return index.result


def test_a_spent_budget_publishes_what_there_is_and_the_next_run_goes_on(tmp_path: Path) -> None:
    vault = demo(tmp_path)
    part = with_budget(vault, BOTH, "9k tokens")
    asked_first = len(vault.requests)
    assert 0 < asked_first < part.counts["documents"]
    assert sum(one.prompt_tokens + one.reply_tokens for one in part.costs) <= 9000
    assert part.left["extract"]["items"] == part.counts["documents"] - asked_first
    assert part.left["extract"]["prompt_tokens"] > 0
    assert part.left["report"]["items"] > 0
    (note,) = [note for note in part.notes if note.startswith("The budget is spent.")]
    assert f"{part.left['extract']['items']} documents" in note
    assert not part.problems
    assert rows(tmp_path, "SELECT * FROM edges WHERE kind = 'related'")
    whole = with_budget(vault, BOTH, "")
    assert len(asked(vault, "llm")) == whole.counts["documents"] - asked_first
    assert whole.left == {}
    vault.build(BOTH, "fresh.duckdb")
    assert not differences(read_whole(tmp_path / "i.duckdb"), read_whole(tmp_path / "fresh.duckdb"))
    assert with_budget(vault, BOTH, "1 tokens").unchanged


def test_an_update_publishes_what_was_said_before_the_rest_is_asked(tmp_path: Path) -> None:
    vault = demo(tmp_path)
    vault.build(BOTH)
    seen: list[tuple[int, int]] = []

    def script(request: ChatRequest) -> str:
        related = rows(tmp_path, "SELECT count(*) FROM edges WHERE kind = 'related'")[0][0]
        new = rows(tmp_path, "SELECT count(*) FROM documents WHERE key = 'new.md'")[0][0]
        seen.append((related, new))
        return talk(request)

    vault.script = script
    vault.write(new="# New\n\nThe new boathouse of Tomasz Okoye stands on stilts.")
    vault.build(BOTH)
    assert seen
    assert all(related > 0 and new == 1 for related, new in seen)


@pytest.mark.parametrize("method", ["llm", "types"])
def test_names_and_words_are_in_any_language(tmp_path: Path, method: str) -> None:
    vault = Bench(tmp_path).write(
        uk="# Маяк\n\nАнна Берг полагодила Маяк. Маяк стоїть на мисі, який зветься Чорний Мис.",
        zh="# 验潮仪\n\n验潮仪由李文修复。验潮仪的纸筒每天转一圈。李文住在港口。",
        ar="# المنارة\n\nأصلحت ليلى حداد المنارة القديمة. المنارة تقع في الميناء الكبير.",
        de="# Pegel\n\nJonas Müller baute den Pegel auf. Der Pegel steht in der Straße am Hafen.",
    )
    result = vault.build(options(method, "llm"))
    assert not result.problems
    typed = {name for (name,) in rows(tmp_path, "SELECT name FROM nodes WHERE type <> ''")}
    chinese = {"验潮仪"} if method == "types" else set()  # the scripted model parts words by spaces
    assert {"Маяк", "المنارة", "Pegel", *chinese} <= typed
    for request in asked(vault, "report"):
        assert "ISO 639-1" in request.messages[0].text
