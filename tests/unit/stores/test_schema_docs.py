"""docs/schema.md describes the tables as they are, and its queries work."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import duckdb
import numpy as np
import pytest

from clew.stores.duckdb import make
from clew.stores.schema import SQL_TYPES, TABLES
from clew.testing.factories import make_artifact
from clew.testing.store_contract import with_column

DOCS = Path(__file__).parents[3] / "docs"
PAGE = (DOCS / "schema.md").read_text("utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("docs") / "notes" / ".clew" / "index.duckdb"
    artifact = make_artifact(20, n_nodes=2)
    names = ["Ownership", "Borrowing"]
    artifact = with_column(artifact, "nodes", name=names)
    artifact = with_column(artifact, "names", node=[0, 1], surface=names, key=["ownership", "borrowing"])
    n = len(artifact.tables["edges"]["edge"])
    artifact = with_column(artifact, "edges", source=np.zeros(n, int), target=np.ones(n, int))
    artifact = with_column(artifact, "documents", metadata=['{"tags":["book"]}', '{"tags":[]}'])
    make().publish(path, artifact)
    return path


def test_the_tables_are_up_to_date() -> None:
    command = [sys.executable, str(DOCS / "schema_tables.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr


def test_the_file_has_the_tables_described(index: Path) -> None:
    with duckdb.connect(str(index), read_only=True) as connection:
        columns = "table_name, column_name, data_type"
        rows = connection.execute(
            f"SELECT {columns} FROM duckdb_columns() WHERE NOT internal ORDER BY table_name, column_index"
        ).fetchall()
    described = [
        (table.name, column.name, SQL_TYPES[column.kind])
        for table in sorted(TABLES.values(), key=lambda table: table.name)
        for column in table.columns
    ]
    assert rows == described
    assert all(column.doc and table.doc for table in TABLES.values() for column in table.columns)


@pytest.mark.parametrize("query", QUERIES, ids=range(len(QUERIES)))
def test_a_query_finds_something(index: Path, query: str) -> None:
    with duckdb.connect(str(index), read_only=True) as connection:
        assert connection.execute(query).fetchall()


def test_an_array_is_read_as_described(index: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    monkeypatch.chdir(index.parents[2])
    names: dict[str, object] = {}
    exec(code, names)
    reader = make().open(index)
    assert np.array_equal(np.asarray(names["vectors"]), reader.array("dense.vectors"))
    reader.close()
