"""Crashes, full disks, lack of memory, and several processes at once, with real processes.

    python benchmarks/crash.py [NOTES] [--parts kills,shortage,crowd] [--kills 200]

``kills`` kills the process group of a build or an update of the notes with SIGKILL at random moments (fixed
seed, drawn over the whole duration) while other processes keep the cores busy. After each, the published
index must pass ``clew doctor`` and be of a generation that the run could have left: none or the old one, the
one without vectors, the new one. The next run must end with the new generation, must not analyse or embed
again what the killed one had stored, and must leave no other file than the index, the cache and the lock.
``shortage`` is told in ``shortage.py``, ``crowd`` in ``crowd.py``. The exit status is 1 if anything went
wrong.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clew import Index, IndexOptions
from clew.index import SilentProgress
from clew.ingest import analyse, workers
from clew.options import EmbedOptions
from clew.stores import cache, duckdb
from clew.text import language
from common import ROOT, save, table
from crowd import crowd
from forked import Outcome, Tell, busy, import_what, run, start
from shortage import LEFT, shortage

SEED = 11
BATCH = 4  # documents stored at once here, so that kills fall between them even with few notes
LATE = 1.05  # moments are drawn up to a little after the end


@dataclass(frozen=True)
class Scenario:
    """What is killed: a first build or an update, with or without vectors and worker processes."""

    update: bool
    embedder: str
    workers: int = 1

    @property
    def name(self) -> str:
        kind = "update" if self.update else "build"
        return f"{kind}, {self.embedder}" + (f", {self.workers} processes" if self.workers > 1 else "")


class Told(SilentProgress):
    """Tells the parent which stage begins."""

    def __init__(self, tell: Tell) -> None:
        self._tell = tell

    def stage(self, name: str, total: int | None = None) -> None:
        self._tell("stage", name)


def build(notes: Path, scenario: Scenario) -> Callable[[Tell], None]:
    """Return the work of indexing, which tells stages, the generations that it published, and the keys
    of what it stored in the cache, that is, of what it did."""

    def work(tell: Tell) -> None:
        analyse.BATCH_DOCS = BATCH
        if scenario.workers > 1:
            workers.LEAST_BYTES = 1
        _tell_of(cache.SqliteCache, "put_analyses", lambda given: tell("done", [*given[0]]))
        _tell_of(cache.SqliteCache, "put_vectors", lambda given: tell("done", [*given[1]]))
        _tell_of(duckdb.DuckStore, "publish", lambda given: tell("published", generation(given[0])))
        options = IndexOptions(embed=EmbedOptions(embedder=scenario.embedder), workers=scenario.workers)
        with Index.build([notes], options=options, progress=Told(tell)) as index:
            tell("generation", index.engine.reader.generation)
            tell("problems", [str(problem) for problem in index.result.problems] if index.result else [])
        tell("ended", time.monotonic())

    return work


def _tell_of(kind: type, name: str, tell: Callable[[Sequence[Any]], None]) -> None:
    real = getattr(kind, name)

    def method(self: Any, *given: Any, **named: Any) -> Any:
        result = real(self, *given, **named)
        tell(given)
        return result

    setattr(kind, name, method)


def generation(index: Path) -> str:
    """Return the generation of an index. Only for children: it starts threads."""
    reader = duckdb.make().open(index)
    try:
        return reader.generation
    finally:
        reader.close()


def examine(notes: Path) -> Outcome:
    """Check the index of a folder in a child: its ``generation`` (None: there is none), its ``faults``."""
    index = notes / ".clew" / "index.duckdb"

    def work(tell: Tell) -> None:
        if not index.exists():
            return
        with Index.open(index) as opened:
            found = opened.doctor()
            tell("generation", opened.engine.reader.generation)
            faults = [f"{one.name}: {fault}" for one in found.checks for fault in one.faults]
            tell("faults", faults if found.sources else [*faults, found.reason])

    return run(work)


def stored(notes: Path) -> set[str]:
    """Return the keys of the analyses and vectors in the cache of a folder."""
    path = notes / ".clew" / "cache.sqlite"
    if not path.exists():
        return set()
    db = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)
    try:
        keys = [key for name in ("analyses", "vectors") for (key,) in db.execute(f"SELECT key FROM {name}")]
    except sqlite3.OperationalError:  # killed before its tables were there
        keys = []
    finally:
        db.close()
    return {key.rpartition("\0")[2] for key in keys}


def edit(notes: Path) -> None:
    """Change a sixth of the notes, delete one, rename one, add one."""
    every = sorted(path for path in notes.rglob("*.md") if ".clew" not in path.parts)
    for path in every[::6]:
        path.write_text(path.read_text("utf-8") + "\nEdited: the lantern of Orlath is blue.\n", "utf-8")
    every[1].unlink()
    every[2].rename(every[2].with_name("Renamed note.md"))
    (notes / "Added note.md").write_text("# Added note\n\nIt mentions the lantern of Orlath.\n", "utf-8")


class Kills:
    """One scenario: its notes ready to be copied, what may be found after a kill, and the next kill."""

    def __init__(self, notes: Path, work: Path, scenario: Scenario) -> None:
        self.scenario, self.ready, self.notes = scenario, work / "ready", work / "notes"
        shutil.rmtree(self.ready, ignore_errors=True)
        shutil.copytree(notes, self.ready, ignore=shutil.ignore_patterns(".*"))
        self.allowed: set[str | None] = {None}
        if scenario.update:
            old = _whole(run(build(self.ready, scenario)))
            self.allowed = {old.last("generation")}
            edit(self.ready)
        self._renew()
        began = time.monotonic()
        pilot = _whole(run(build(self.notes, scenario)))
        self.seconds = time.monotonic() - began
        self.allowed |= set(pilot.told["published"])
        self.new: str = pilot.last("generation")

    def _renew(self) -> None:
        shutil.rmtree(self.notes, ignore_errors=True)
        shutil.copytree(self.ready, self.notes)

    def kill(self, moment: float) -> dict[str, Any]:
        """Kill a run after a share of its usual time. Return what was found, faults among it."""
        self._renew()
        child = start(build(self.notes, self.scenario))
        time.sleep(moment * self.seconds)
        child.kill()
        killed = child.wait()
        if killed.last("ended"):  # sooner than the first run: the next moments are drawn from this time
            self.seconds = min(self.seconds, killed.last("ended") - child.began)
        faults: list[str] = []
        found = examine(self.notes)
        faults += [f"the killed run left: {fault}" for fault in found.last("faults") or []]
        if found.code:
            faults.append(f"the index can't be checked: {found.said}")
        elif found.last("generation") not in self.allowed:
            faults.append(f"generation {found.last('generation')} is neither the old nor the new one")
        kept = stored(self.notes)
        again = run(build(self.notes, self.scenario))
        faults += self._after(again, kept)
        return {
            "moment": round(moment, 3),
            "stage": killed.last("stage") or "start",
            "ended": killed.code == 0,
            "left": "new" if found.last("generation") == self.new else "before",
            "kept": len(kept),
            "faults": faults,
        }

    def _after(self, again: Outcome, kept: set[str]) -> list[str]:
        """Return what is wrong with the run after the kill."""
        if again.code:
            return [f"the next run failed: {again.said}"]
        faults = [f"the next run had a problem: {one}" for one in again.last("problems")]
        if again.last("generation") != self.new:
            faults.append(f"the next run gave {again.last('generation')}, not {self.new}")
        twice = kept & {key for keys in again.told.get("done", []) for key in keys}
        if twice:
            faults.append(f"{len(twice)} of {len(kept)} finished results were made again")
        names = {path.name for path in (self.notes / ".clew").iterdir()}
        if names != LEFT:
            faults.append(f"files are left over or missing: {sorted(names ^ LEFT)}")
        return faults


def warm(notes: Path, embedder: str, work: Path) -> None:
    """Import what a child imports, and load the model of languages, so that children start at once."""
    copy = work / "warm"
    shutil.copytree(notes, copy, ignore=shutil.ignore_patterns(".*"))

    def whole(tell: Tell) -> None:
        build(copy, Scenario(False, embedder))(tell)
        with Index.open(copy / ".clew" / "index.duckdb") as index:
            index.doctor()
            index.ask("Who mentions the lantern?")

    import_what(whole)
    language._load()


def _whole(outcome: Outcome) -> Outcome:
    if outcome.code:
        sys.exit(f"a run that nobody disturbed failed: {outcome.said}")
    return outcome


def kills(notes: Path, number: int, embedder: str, work: Path) -> tuple[dict[str, Any], list[str]]:
    """Kill so many runs; return counts by scenario and stage, and the faults."""
    rng = random.Random(SEED)
    plan = {
        Scenario(True, "none"): 0.3,
        Scenario(True, embedder): 0.2,
        Scenario(False, embedder): 0.1,
        Scenario(False, "none", workers=2): 0.1,
    }
    times_of = {scenario: max(1, round(share * number)) for scenario, share in plan.items()}
    times_of = {Scenario(False, "none"): max(1, number - sum(times_of.values()))} | times_of
    rows: dict[str, Any] = {}
    faults: list[str] = []
    with busy():
        for scenario, times in times_of.items():
            one = Kills(notes, work, scenario)
            found = [one.kill(rng.random() * LATE) for _ in range(times)]
            stages = Counter(kill["stage"] for kill in found if not kill["ended"])
            faults += [f"{scenario.name}, at {k['moment']}: {fault}" for k in found for fault in k["faults"]]
            rows[scenario.name] = {
                "kills": times,
                "seconds": round(one.seconds, 2),
                "ended_before": sum(kill["ended"] for kill in found),
                "left_new": sum(kill["left"] == "new" for kill in found),
                "faulty": sum(bool(kill["faults"]) for kill in found),
                "stages": dict(sorted(stages.items())),
            }
            print(f"{scenario.name}: {rows[scenario.name]}", file=sys.stderr, flush=True)
    return rows, faults


def show(part: str, rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a part's counts as a table."""
    head = list(dict.fromkeys(name for row in rows.values() for name in row))
    return table([part, *head], [[name, *(row.get(key, "") for key in head)] for name, row in rows.items()])


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    vault = ROOT / "src" / "clew" / "demo" / "vault"
    parser.add_argument("notes", nargs="?", type=Path, default=vault, help="folder of Markdown notes")
    parser.add_argument("--parts", default="kills", help="which, separated by commas")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--steps", type=int, default=25, help="of each limit of space and memory")
    parser.add_argument("--embedder", default="minilm", help="of the runs with vectors")
    parser.add_argument("--readers", type=int, default=10, help="that ask at once")
    parser.add_argument("--times", type=int, default=50, help="that it is published while they ask")
    parser.add_argument("--dry", action="store_true", help="save nothing")
    chosen = parser.parse_args(arguments)
    notes = chosen.notes

    def make(folder: Path) -> None:
        shutil.copytree(notes, folder, ignore=shutil.ignore_patterns(".*"))
        _whole(run(build(folder, Scenario(False, "none"))))

    parts = {
        "kills": lambda work: kills(notes, chosen.kills, chosen.embedder, work),
        "shortage": lambda work: shortage(notes, work, chosen.steps, make, edit),
        "crowd": lambda work: crowd(chosen.readers, chosen.times, chosen.embedder, work),
    }
    results: dict[str, Any] = {}
    faults: list[str] = []
    with tempfile.TemporaryDirectory(prefix="clew-crash-") as work:
        warm(chosen.notes, chosen.embedder, Path(work))
    for part in chosen.parts.split(","):
        with tempfile.TemporaryDirectory(prefix="clew-crash-") as work:
            results[part], found = parts[part](Path(work))
        print(show(part, results[part]) + "\n", flush=True)
        faults += [f"{part}: {fault}" for fault in found]
    print("\n".join(faults) or "no fault", flush=True)
    if not chosen.dry:
        print(f"saved {save('crash', {**results, 'faults': faults})}", file=sys.stderr)
    return int(bool(faults))


if __name__ == "__main__":
    raise SystemExit(main())
