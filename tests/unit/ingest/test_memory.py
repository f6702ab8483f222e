"""Too little memory is no fault of a note: nothing is published without what couldn't be read."""

from pathlib import Path
from typing import Any

import pytest

from clew import Index, IndexOptions
from clew.errors import PublishError
from clew.ingest import build as recipe
from clew.ingest.documents import Work
from clew.options import EmbedOptions

NONE = IndexOptions(embed=EmbedOptions(embedder="none"))


def no_memory(*_given: Any, **_named: Any) -> Any:
    raise MemoryError


@pytest.mark.parametrize(
    ("owner", "name"),
    [(Work, "_parse"), (Work, "_finish"), (recipe, "extract_graph"), (recipe, "assemble")],
)
def test_the_index_stays_and_the_reason_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, owner: Any, name: str
) -> None:
    note = tmp_path / "tea.md"
    note.write_text("# Tea\n\nTea from Assam is malty.\n", "utf-8")
    Index.build([tmp_path], options=NONE).close()
    before = (tmp_path / ".clew" / "index.duckdb").read_bytes()
    note.write_text("# Tea\n\nTea from Darjeeling is light.\n", "utf-8")
    monkeypatch.setattr(owner, name, no_memory)
    with pytest.raises(PublishError, match="memory") as told:
        Index.build([tmp_path], options=NONE)
    assert told.value.exit_code == 5
    assert (tmp_path / ".clew" / "index.duckdb").read_bytes() == before
    monkeypatch.undo()
    with Index.build([tmp_path], options=NONE) as index:
        assert index.search("Darjeeling")
