"""What `clew costs` and `clew llms` print."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clew.cli import spending
from clew.cli.main import run
from clew.index import Index, cache_path, look_at_costs
from clew.stores.cache import open_cache
from clew.types import Cost, Saving


@pytest.fixture
def index(tmp_path: Path) -> Path:
    (tmp_path / "note.md").write_text("# Tide Gauge\n\nIt records the tide.\n", encoding="utf-8")
    from clew.options import EmbedOptions, IndexOptions

    with Index.build([tmp_path], options=IndexOptions(embed=EmbedOptions(embedder="none"))) as built:
        return built.file


def fill(index: Path, *costs: Cost, savings: tuple[Saving, ...] = ()) -> None:
    cache = open_cache(cache_path(index), new_run=False)
    cache.add_costs(costs)
    for saving in savings:
        cache.add_saving(saving)
    cache.close()


def page(index: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["costs", "--index", str(index)]) == 0
    return capsys.readouterr().out


def test_an_index_without_a_model_has_cost_nothing(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert page(index, capsys) == "No language model has been asked for this index.\n"
    cache_path(index).unlink()
    assert page(index, capsys) == "No language model has been asked for this index.\n"
    assert look_at_costs(index).total.calls == 0


def test_stages_are_listed_with_totals_and_what_was_saved(
    index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fill(
        index,
        Cost(
            "extract",
            "openai:a",
            10,
            5,
            12_000,
            3_000,
            61.0,
            1.25,
            saved_prompt_tokens=6_000,
            saved_money=0.5,
        ),
        Cost("answer", "openai:a", 2, 0, 2_000, 300, 4.0, 0.0123, failed=1, cut=2),
        savings=(Saving("reports of the roots instead of all text", 3, 3_000, 100_000),),
    )
    out = page(index, capsys)
    rows = [line.split() for line in out.splitlines()]
    assert ["answer", "openai:a", "2", "0", "2,000", "300", "4.0", "0.012"] in rows
    assert ["extract", "openai:a", "10", "5", "12,000", "3,000", "61.0", "1.25"] in rows
    assert ["total", "12", "5", "14,000", "3,300", "65.0", "1.26"] in rows
    assert "Of the calls 2 ended at their greatest length." in out
    assert "1 further call came to nothing" in out
    assert "Kept replies saved 5 calls, 6,000 tokens and 0.50 in money." in out
    assert "3,000 tokens instead of 100,000 (97% fewer), 3 times" in out
    assert "isn't known" not in out
    assert run(["costs", "--index", str(index), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["total"]["prompt_tokens"] == 14_000
    assert told["stages"][1]["saved"] == {"prompt_tokens": 6_000, "reply_tokens": 0, "money": 0.5}
    assert told["savings"][0]["instead"] == 100_000


def test_money_that_is_not_known_is_said_to_be(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(index, Cost("answer", "ollama:b", 3, 0, 10, 10, 1.0, 0.0, unpriced=3))
    out = page(index, capsys)
    assert "What 3 of them cost in money isn't known" in out
    assert "?" in out.splitlines()[1]


def test_a_models_name_cannot_move_the_cursor(index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fill(index, Cost("a\x1b[2J", "b\x1b]0;c\x07", 1, 0, 1, 1))
    assert "\x1b" not in page(index, capsys)


@pytest.mark.parametrize(
    ("money", "shown"), [(0, "0.00"), (0.1, "0.10"), (0.00001234, "0.000012"), (1234.5, "1,234.50")]
)
def test_money_shows_that_it_is_not_nothing(money: float, shown: str) -> None:
    assert spending.amount(money) == shown


def test_providers_are_listed_and_the_one_in_force_is_marked(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CLEW_LLM", "ollama:gemma3:4b")
    assert run(["llms"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["ollama", "openai", "gguf", "none"]
    assert [("in force" in line) for line in lines] == [True, False, False, False]
    monkeypatch.setenv("CLEW_LLM", "none")
    assert run(["llms", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)["llms"]
    assert [one["name"] for one in told if one["default"]] == ["none"]
