"""Everything that a published index holds, read by DuckDB alone, and how two indexes differ."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from numpy.typing import NDArray

from clew.stores.schema import META, TABLES
from clew.text.terms import expand, term_hash
from clew.text.tokens import normal_name, normal_words

Rows = list[tuple[Any, ...]]
WHERE = "sources"  # the one entry of meta that says where the sources were

HASHED = ("lex.terms", "names.hash")  # arrays of hashes of terms and names
SHOWN = 3  # differing rows of a table


def read_whole(path: Path) -> dict[str, Rows]:
    """Return the rows of every table in their order, those of meta without the place of the sources."""
    with duckdb.connect(str(path), read_only=True) as index:
        listed = index.execute("SELECT table_name FROM information_schema.tables").fetchall()
        assert {name for (name,) in listed} == set(TABLES)
        found = {name: index.execute(f"SELECT * FROM {name} ORDER BY rowid").fetchall() for name in TABLES}
    found[META.name] = [row for row in found[META.name] if row[0] != WHERE]
    return found


def differences(updated: dict[str, Rows], fresh: dict[str, Rows]) -> str:
    """Return what is in only one of two indexes, a line a table, or an empty string."""
    return "\n".join(f"{name}: {told}" for name in fresh for told in _differ(updated[name], fresh[name]))


def _differ(updated: Rows, fresh: Rows) -> Iterator[str]:
    if repr(updated) == repr(fresh):  # repr: NaN equals itself, 0.0 isn't -0.0, 1 isn't 1.0
        return
    yield f"{len(updated)} rows updated, {len(fresh)} fresh"
    pairs = [(a, b) for a, b in zip(updated, fresh, strict=False) if repr(a) != repr(b)]
    for a, b in pairs[:SHOWN]:
        yield f"updated {_short(a)}\n    fresh {_short(b)}"


def _short(row: tuple[Any, ...]) -> str:
    text = repr(row)
    return text if len(text) < 600 else text[:600] + " …"


def holds(whole: dict[str, Rows], word: str, language: str = "") -> list[str]:
    """Return where an index holds a word in any letter case: columns of text, bytes of arrays, and the hashes
    of the terms that the word makes in a language."""
    low = word.casefold()
    found = []
    for name, rows in whole.items():
        for row in rows:
            for value in row:
                text = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
                if isinstance(text, str) and low in text.casefold():
                    found.append(f"{name}: {_short(row)}")
    hashes = {term_hash(term) for terms in expand(normal_words(word), language) for term in terms}
    hashes.add(term_hash(normal_name(word)))
    for name in HASHED:
        if hashes & set(array(whole, name).tolist()):
            found.append(f"arrays: {name}")
    return found


def array(whole: dict[str, Rows], name: str) -> NDArray[Any]:
    """Return an array of an index."""
    parts = [row for row in whole["arrays"] if row[0] == name]
    data = b"".join(row[4] for row in parts)
    found: NDArray[Any] = np.frombuffer(data, dtype=parts[0][1]).reshape(json.loads(parts[0][2]))
    return found
