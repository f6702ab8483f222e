"""What reading Nostr events costs: 100,000 of them read, verified and mapped, and indexed.

    python benchmarks/nostr.py [--events 100000] [--index-events 20000]

Events are made and signed here: notes of 5 to 60 words with tags, replies and references, reactions, reposts,
profiles, follows and articles of 300 authors. Each row is a process of its own; printed are its seconds, its
processor seconds (of both cores), and events a second. `import` is everything before the text is parsed:
reading, ids, signatures, what is replaced or deleted, and the mapping to documents and relations.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from coincurve import PrivateKey

from clew import Index, IndexOptions
from clew.nostr.documents import Wanted
from clew.nostr.known import Known
from clew.nostr.reading import Reading
from clew.options import EmbedOptions
from common import save, table
from speed import apart_from, cpu_seconds

AUTHORS, WORDS, FOLLOWED = 300, 5000, 100
ADDED = 1000  # events of the update
SAMPLE = 2000  # events that the reference library verifies, for comparison
SYLLABLES = [consonant + vowel for consonant in "bdklmnrst" for vowel in "aeio"]


class Writer:
    """Makes events, the same ones at each run but for their signatures' randomness."""

    def __init__(self) -> None:
        self._random = random.Random(7)
        self._keys = [PrivateKey(hashlib.sha256(f"author {n}".encode()).digest()) for n in range(AUTHORS)]
        self._pubs = [key.public_key.format()[1:].hex() for key in self._keys]
        pick = self._random
        self._words = ["".join(pick.choices(SYLLABLES, k=pick.randrange(1, 5))) for _ in range(WORDS)]
        self._ids: list[str] = []
        self._time = 1_600_000_000

    def events(self, count: int) -> Iterator[dict[str, Any]]:
        """Yield events: profiles and follows of all authors first."""
        for at in range(min(AUTHORS, count // 4)):
            if not self._ids or len(self._ids) < 2 * AUTHORS:
                yield self._sign(at, 0, [], json.dumps({"name": f"Author {at}", "about": self._text(12)}))
                followed = self._random.sample(self._pubs, FOLLOWED)
                yield self._sign(at, 3, [["p", pub] for pub in followed], "")
                count -= 2
        for _ in range(count):
            yield self._one()

    def _one(self) -> dict[str, Any]:
        author, draw = self._random.randrange(AUTHORS), self._random.random()
        recent = self._ids[-3000:]
        other = [["e", self._random.choice(recent), "", "reply"], ["p", self._random.choice(self._pubs)]]
        if draw < 0.30:
            return self._sign(author, 7, [["e", other[0][1]], other[1]], "+")
        if draw < 0.35:
            return self._sign(author, 6, [["e", other[0][1]], other[1]], "")
        if draw < 0.36:
            tags = [
                ["d", str(len(self._ids))],
                ["title", self._text(5)],
                ["t", self._random.choice(self._words)],
            ]
            return self._sign(author, 30023, tags, "\n\n".join(self._text(80) for _ in range(5)))
        tags = [["t", self._random.choice(self._words)]] if self._random.random() < 0.3 else []
        return self._sign(
            author, 1, tags + (other if draw < 0.6 else []), self._text(self._random.randrange(5, 60))
        )

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(self._words, k=words)).capitalize() + "."

    def _sign(self, author: int, kind: int, tags: list[list[str]], content: str) -> dict[str, Any]:
        self._time += 7
        body = [0, self._pubs[author], self._time, kind, tags, content]
        digest = hashlib.sha256(json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()).digest()
        self._ids.append(digest.hex())
        head = {"id": digest.hex(), "pubkey": self._pubs[author], "created_at": self._time, "kind": kind}
        return {
            **head,
            "tags": tags,
            "content": content,
            "sig": self._keys[author].sign_schnorr(digest).hex(),
        }


def import_events(dump: str, known: str) -> dict[str, Any]:
    """Read, verify and map; ``known`` is the file of verified signatures, or empty."""
    reading = Reading(Known(Path(known)) if known else None)
    reading.file(Path(dump), "dump")
    documents = sum(1 for _ in reading.documents(Wanted()))
    assert not reading.problems
    return {"documents": documents}


def reference(dump: str) -> dict[str, Any]:
    """Verify some events by nostr-sdk, for comparison."""
    import nostr_sdk

    lines = Path(dump).read_text("utf-8").splitlines()[:SAMPLE]
    assert all(nostr_sdk.Event.from_json(line).verify() for line in lines)
    return {"documents": len(lines)}


def index(dump: str, to: str) -> dict[str, Any]:
    options = IndexOptions(embed=EmbedOptions(embedder="none"))
    with Index.build([dump], to, options=options) as made:
        assert made.result is not None
        stages = {name: round(value, 2) for name, value in made.result.seconds.items()}
        return {"documents": made.result.counts["documents"], "stages": stages}


JOBS = {"import": import_events, "reference": reference, "index": index}


def job(name: str, *given: str) -> dict[str, Any]:
    """Run one measurement and tell what it took."""
    began, cpu = time.perf_counter(), cpu_seconds()
    found: dict[str, Any] = JOBS[name](*given)
    return {**found, "seconds": round(time.perf_counter() - began, 2), "CPU s": round(cpu_seconds() - cpu, 2)}


def write(dump: Path, writer: Writer, count: int, mode: str = "w") -> None:
    """Write events to a file, or add them with ``mode`` "a"."""
    with dump.open(mode, encoding="utf-8") as file:
        file.writelines(f"{json.dumps(event, ensure_ascii=False)}\n" for event in writer.events(count))


def measure(events: int, indexed: int, work: Path) -> dict[str, Any]:
    """Return the rows."""
    dump = work / "events.jsonl"
    write(dump, Writer(), events)
    rows: dict[str, Any] = {}

    def add(name: str, count: int, *given: str) -> None:
        row = apart_from(__file__, *given)
        speeds = {f"events/{unit}": round(count / row[unit]) for unit in ("seconds", "CPU s")}
        rows[name] = {"events": count, **row, **speeds}
        print(name, rows[name], file=sys.stderr, flush=True)

    for turn in range(3):
        add(f"import {turn + 1}", events, "import", str(dump), "")
    add("nostr-sdk alone verifies", SAMPLE, "reference", str(dump))
    size = round(dump.stat().st_size / 1e6, 1)
    if indexed:
        writer, to = Writer(), str(work / "i.duckdb")
        write(dump, writer, indexed)
        add("index, without vectors", indexed, "index", str(dump), to)
        add("index again, nothing new", indexed, "index", str(dump), to)
        write(dump, writer, ADDED, "a")
        add(f"index again, {ADDED:,} more", indexed + ADDED, "index", str(dump), to)
    return {"events": events, "megabytes": size, "rows": rows}


def main() -> int:
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(job(*sys.argv[2:])))
        return 0
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--events", type=int, default=100_000)
    options.add_argument("--index-events", type=int, default=20_000, help="events that are indexed; 0: none")
    chosen = options.parse_args()
    with tempfile.TemporaryDirectory() as work:
        found = measure(chosen.events, chosen.index_events, Path(work))
    head = ["events", "documents", "seconds", "CPU s", "events/seconds", "events/CPU s"]
    rows = [[name, *(row[one] for one in head)] for name, row in found["rows"].items()]
    print(table(["what", *head], rows))
    print(f"saved {save('nostr', found)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
