"""Readers that ask in a loop while another process publishes again and again.

Every note and its folder tell the number of its generation, and each generation has one note more, so that
every position in the index moves. Each answer must be of one generation, and of one that was published at
some time between the question and the answer; no reader may see an older one than it saw before, an error, or
a word of a lock.
Two thirds of the readers keep the index open, as a program does; one third are the command line, which opens
it each time.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from clew import Index, IndexOptions
from clew.cli.main import run as command
from clew.options import EmbedOptions
from clew.stores.duckdb import DuckStore
from forked import Child, Outcome, Tell, start

NOTES = 8  # at first
QUESTION = "Which moths has the keeper counted at the lantern?"
COUNTED = re.compile(r"counted\s+generation(\d+)")
PAUSE = 0.02  # seconds between publications, so that some questions fall between them


def write_generation(folder: Path, number: int) -> None:
    """Write the notes of a generation in place of the one before: all of them are new."""
    new = folder / f"counted generation{number}"
    new.mkdir(parents=True)
    for at in range(NOTES + number):
        others = f"the [[Moth {at // 2}]]s near the Ninth Lantern"
        text = f"# Moth {at}\n\nThe keeper counted generation{number} moths, and then {others}.\n"
        (new / f"moth {at:03}.md").write_text(text, "utf-8")
    shutil.rmtree(folder / f"counted generation{number - 1}", ignore_errors=True)


@dataclass
class Seen:
    """What a reader has seen: how many answers of each generation, its earliest end and latest beginning."""

    faults: list[str] = field(default_factory=list)
    answers: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    earliest_end: dict[int, float] = field(default_factory=dict)
    latest_begin: dict[int, float] = field(default_factory=dict)
    last: int = -1

    def add(self, text: str, what: str, begin: float, end: float) -> None:
        """Take note of an answer that was given between two moments."""
        found = sorted(map(int, set(COUNTED.findall(text))))
        if len(found) != 1:
            self.faults.append(f"{what} is of the generations {found}: {text[:300]!r}")
            return
        number = found[0]
        if number < self.last:
            self.faults.append(f"{what} is of generation {number}, after one of {self.last}")
        self.last = number
        self.answers[number] += 1
        self.earliest_end[number] = min(end, self.earliest_end.get(number, end))
        self.latest_begin[number] = max(begin, self.latest_begin.get(number, begin))


# --- readers ---------------------------------------------------------------------------------------------


def in_program(file: Path, done: Path) -> Callable[[Tell], None]:
    """Return the work of a reader that keeps the index open and asks it in many ways."""

    def work(tell: Tell) -> None:
        seen = Seen()
        with Index.open(file) as index:
            ways: dict[str, Callable[[], Any]] = {
                "search": lambda: index.search(QUESTION, k=20),
                "ask": lambda: index.ask(QUESTION),
                "ask global": lambda: index.ask(QUESTION, "global"),
                "show": lambda: index.show("Moth 1"),
                "path": lambda: index.path("Moth 0", "Moth 3"),
                "communities": lambda: index.communities(),
            }
            _ask(ways, seen, done)
        _report(seen, tell)

    return work


def by_command(file: Path, done: Path) -> Callable[[Tell], None]:
    """Return the work of a reader that runs the command line each time."""

    def run(*words: str) -> str:
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = command([*words, "--index", str(file)])
        if code or err.getvalue():
            raise RuntimeError(f"{words[0]} ended with {code}: {out.getvalue()} {err.getvalue()}")
        return out.getvalue()

    def work(tell: Tell) -> None:
        seen = Seen()
        ways: dict[str, Callable[[], Any]] = {
            "clew search": lambda: run("search", QUESTION, "-k", "20", "--json"),
            "clew ask": lambda: run("ask", QUESTION, "--explain"),
            "clew show": lambda: run("show", "Moth 2", "--json"),
            "clew path": lambda: run("path", "Moth 0", "Moth 3"),
        }
        _ask(ways, seen, done)
        _report(seen, tell)

    return work


def _ask(ways: Mapping[str, Callable[[], Any]], seen: Seen, done: Path) -> None:
    for what, way in _around(ways, done):
        begin = time.monotonic()
        try:
            text = str(way())
        except Exception as error:
            seen.faults.append(f"{what}: {type(error).__name__}: {error}")
            continue
        seen.add(text, what, begin, time.monotonic())


def _around(ways: Mapping[str, Callable[[], Any]], done: Path) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield one way after the other, again and again until ``done`` is there, then each once more."""
    while True:
        last = done.exists()
        yield from ways.items()
        if last:
            return


def _report(seen: Seen, tell: Tell) -> None:
    tell("faults", seen.faults[:3])
    rows = [(n, seen.answers[n], seen.earliest_end[n], seen.latest_begin[n]) for n in sorted(seen.answers)]
    for row in rows:
        tell("seen", row)


# --- the one that publishes ------------------------------------------------------------------------------


def publisher(folder: Path, times: int, embedder: str, done: Path) -> Callable[[Tell], None]:
    """Return the work of publishing generations 1 to ``times``, telling when each one's file came."""

    def work(tell: Tell) -> None:
        options = IndexOptions(embed=EmbedOptions(embedder=embedder))
        number = 0
        real = DuckStore.publish

        def publish(self: DuckStore, path: Path, artifact: Any) -> None:
            begin = time.monotonic()
            real(self, path, artifact)
            tell("published", (number, begin, time.monotonic()))

        DuckStore.publish = publish  # type: ignore[method-assign]
        try:
            for number in range(1, times + 1):
                write_generation(folder, number)
                Index.build([folder], options=options).close()
                time.sleep(PAUSE)
        finally:
            done.touch()

    return work


def crowd(readers: int, times: int, embedder: str, work: Path) -> tuple[dict[str, Any], list[str]]:
    """Let so many readers ask while so many generations are published; return counts by kind, and faults."""
    folder, done = work / "notes", work / "done"
    write_generation(folder, 0)
    first = start(lambda _: Index.build([folder], options=_options(embedder)).close()).wait()
    if first.code:
        return {}, [f"the first run failed: {first.said}"]
    file = folder / ".clew" / "index.duckdb"
    few = max(1, readers // 3)
    kinds = {"in a program": (in_program, readers - few), "by command": (by_command, few)}
    children: dict[str, list[Child]] = {
        kind: [start(make(file, done)) for _ in range(number)] for kind, (make, number) in kinds.items()
    }
    published = start(publisher(folder, times, embedder, done)).wait()
    done.touch()
    outcomes = {kind: [child.wait() for child in some] for kind, some in children.items()}
    faults = [f"publishing failed: {published.said}"] if published.code else []
    times_of = published.told.get("published", [])
    rows = {}
    for kind, some in outcomes.items():
        found = [fault for one in some for fault in _faults(one, times_of)]
        faults += [f"{kind}: {fault}" for fault in found]
        seen = [{n: count for n, count, _, _ in one.told.get("seen", [])} for one in some]
        rows[kind] = {
            "readers": len(some),
            "publications": len(times_of),
            "answers": sum(sum(one.values()) for one in seen),
            "generations seen by each": f"{min(map(len, seen))} to {max(map(len, seen))}",
            "faulty": len(found),
        }
    return rows, faults


def _options(embedder: str) -> IndexOptions:
    return IndexOptions(embed=EmbedOptions(embedder=embedder))


def _faults(reader: Outcome, published: Sequence[tuple[int, float, float]]) -> list[str]:
    """Return what is wrong with what a reader has seen, given when each generation's file came."""
    faults: list[str] = list(reader.last("faults") or [])
    if reader.code or reader.said:
        faults.append(f"the reader ended with {reader.code} and said {reader.said[-600:]!r}")
    came = {number: begin for number, begin, _ in reversed(published)}
    gone = {number - 1: end for number, _, end in published}
    rows = reader.told.get("seen", [])
    for number, _, earliest_end, latest_begin in rows:
        if earliest_end < came.get(number, 0.0):
            faults.append(f"an answer of generation {number} came before it was published")
        if latest_begin > gone.get(number, float("inf")):
            faults.append(f"an answer of generation {number} began after the next one was published")
    if published and (not rows or rows[-1][0] != published[-1][0]):
        faults.append("it hasn't seen the last generation")
    return faults
