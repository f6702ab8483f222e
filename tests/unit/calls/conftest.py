from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from clew.stores.cache import SqliteCache, open_cache


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[SqliteCache]:
    opened = open_cache(tmp_path / "cache.sqlite")
    yield opened
    opened.close()
