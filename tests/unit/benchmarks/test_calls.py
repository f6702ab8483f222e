from __future__ import annotations

import pytest

import calls as benchmark

pytest.importorskip("openai")


def test_every_case_makes_its_calls_and_tells_what_they_took() -> None:
    rows = benchmark.measure(30, 4)
    assert set(rows) == {"first", "repeated", "no cache", "mended", "by HTTP"}
    for row in rows.values():
        assert row["calls"] == 30
        assert row["calls/s"] > 0
        assert len(row["memory"]) == 11
