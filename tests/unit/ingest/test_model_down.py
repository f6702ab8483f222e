"""Where no call to a model can go well, indexing says why once, and the index is there without it."""

from __future__ import annotations

from pathlib import Path

import pytest

from clew.errors import ProviderDown
from clew.index import Index
from clew.options import EmbedOptions, ExtractOptions, IndexOptions, ReportOptions
from clew.testing.chat import ScriptedChatModel

NOTES = {
    "Tide Gauge.md": "# Tide Gauge\n\nAda Brekke repaired the Tide Gauge in Eelgrass Bay.\n",
    "Ada Brekke.md": "# Ada Brekke\n\nShe looks after the [[Tide Gauge]] and the Boathouse.\n",
    "Boathouse.md": "# Boathouse\n\nThe Boathouse in Eelgrass Bay belongs to [[Ada Brekke]].\n",
}


@pytest.mark.parametrize(
    ("extract", "report"), [("llm", "extractive"), ("types", "extractive"), ("none", "llm")]
)
def test_the_reason_is_raised_and_the_index_answers_without_the_model(
    tmp_path: Path, extract: str, report: str
) -> None:
    for name, text in NOTES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    given = {} if extract == "none" else {"extract": ExtractOptions(method=extract)}
    embed = EmbedOptions(embedder="none")
    options = IndexOptions(embed=embed, report=ReportOptions(method=report), **given)
    down = ProviderDown("Ollama", "it isn't running", "Start it")
    model = ScriptedChatModel(lambda request: down)
    with pytest.raises(ProviderDown, match="isn't running"):
        Index.build([tmp_path], options=options, llm=model)
    assert 1 <= len(model.requests) <= 4
    with Index.open(tmp_path / ".clew" / "index.duckdb") as index:
        assert index.search("Who repaired the Tide Gauge?")
