"""With a model that is a function of the request, in any vault: offsets lead to what was quoted, whatever the
encoding, and an update gives the index that is made from nothing."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import duckdb
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from talker import Bench, kind_of, options, shown
from vault_notes import KEYS, contents
from whole_index import differences, read_whole

from clew.text.quotes import NEAR, fold

VAULTS = st.dictionaries(st.sampled_from(KEYS), contents(), min_size=2, max_size=4)
CHOSEN = {method: options(method, "llm") for method in ("llm", "types")}


def put(vault: Bench, files: dict[str, bytes]) -> None:
    for key, data in files.items():
        path = vault.notes / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(VAULTS, VAULTS, st.sampled_from(sorted(CHOSEN)), st.data())
def test_offsets_and_updates_hold_in_any_vault(
    before: dict[str, bytes], after: dict[str, bytes], method: str, data: st.DataObject
) -> None:
    home = Path(tempfile.mkdtemp())
    try:
        vault = Bench(home)
        put(vault, before)
        vault.build(CHOSEN[method])
        assert_quoted(vault)
        put(vault, after)
        for key in sorted(data.draw(st.sets(st.sampled_from(sorted(before)), max_size=1))):
            (vault.notes / key).unlink()
        vault.build(CHOSEN[method])
        vault.build(CHOSEN[method], "fresh.duckdb")
        assert not differences(read_whole(home / "i.duckdb"), read_whole(home / "fresh.duckdb"))
        assert vault.build(CHOSEN[method]).unchanged
    finally:
        shutil.rmtree(home)


def assert_quoted(vault: Bench) -> None:
    """Every place that states what the model related holds one of its quotes; mentions are checked by
    `doctor`, which each build of the bench passes, against their files' bytes."""
    from rapidfuzz import fuzz

    asked = [request for request in vault.requests if kind_of(request) == "llm"]
    lines = [fold(line)[0] for request in asked for line in shown(request).split("\n")]
    with duckdb.connect(str(vault.folder / "i.duckdb"), read_only=True) as index:
        places = index.execute(
            "SELECT key, encoding, e.start_byte, e.end_byte FROM edge_evidence e JOIN edges USING (edge) "
            "JOIN documents d ON d.doc = e.doc WHERE edges.kind = 'related'"
        ).fetchall()
    for key, encoding, start, end in places:
        there = fold((vault.notes / key).read_bytes()[start:end].decode(encoding, "replace"))[0]
        assert there
        assert any(there in line or fuzz.ratio(there, line) >= NEAR for line in lines), there
