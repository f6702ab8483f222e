"""What Clew adds to each call to a language model: calls a second if the model answers at once, and memory.

    python benchmarks/calls.py [--calls 10000] [--concurrency 16]

Each call has a prompt of a chunk's size and a reply in JSON that is checked against a schema; it passes
limits and budget, is kept, and is entered in the ledger, as in indexing. "repeated" asks the same again, so
that all replies are kept ones; "no cache" remembers nothing; "mended" has replies that must be repaired; "by
HTTP" asks a server on loopback through the real client: its own work, and the server's, are in it. Memory is
that of the process after each tenth of the calls.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from clew import registry
from clew.calls.budget import Budget, Price, parse_budget
from clew.calls.caller import ModelCaller
from clew.errors import ProviderError
from clew.options import LlmOptions
from clew.ports import Cache, ChatModel
from clew.stores.cache import open_cache
from clew.testing.faults import FaultServer
from clew.types import ChatMessage, ChatReply, ChatRequest, Usage
from common import save, table

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "entities": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {name: {"type": "string"} for name in ("name", "kind", "quote")},
                "required": ["name", "kind", "quote"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["entities"],
    "additionalProperties": False,
}
ENTITIES = 8  # of a reply
PASSAGE = "The gauge in the bay recorded the storm before the pier went under. " * 20
ENTITY = {"kind": "thing", "quote": "The gauge in the bay"}
REPLY = json.dumps({"entities": [{"name": f"Gauge {n}", **ENTITY} for n in range(ENTITIES)]})
MENDED = f"Here it is:\n```json\n{REPLY[:-2]},]}}\n```"
HTTP_CALLS = 1000  # a loopback server in the same process takes most of the time


class Instant:
    """A ChatModel that answers at once, and remembers nothing."""

    name = "instant"
    window = 8192

    def __init__(self, reply: str) -> None:
        self._reply = ChatReply(reply, Usage(500, 200))

    def count(self, text: str) -> int:
        return len(text) // 4

    def complete(self, request: ChatRequest) -> ChatReply:
        return self._reply

    def stream(self, request: ChatRequest) -> Any:
        yield self._reply.text
        return self._reply


class Requests:
    """As many different requests as are wanted, made when they are asked for."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int) -> ChatRequest:
        return ChatRequest((ChatMessage("user", f"{at}: {PASSAGE}"),), 512, 0.0, SCHEMA)


def memory() -> float:
    """Return the process's memory in megabytes: what is resident now, or, where that isn't told, the peak."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return pages * resource.getpagesize() / 1e6


def processor() -> float:
    """Return the seconds of processor time that the process has used."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def run(model: ChatModel, cache: Cache | None, calls: int, concurrency: int) -> dict[str, Any]:
    """Make the calls and tell what they took."""
    budget = Budget(parse_budget("1000000"))
    options = LlmOptions(concurrency=concurrency)
    caller = ModelCaller(model, options, cache=cache, budget=budget, price=Price(1, 1))
    marks = [memory()]
    began, used = time.perf_counter(), processor()
    for done, (_, value) in enumerate(results(caller, calls), 1):
        if isinstance(value, ProviderError):
            raise value
        if done % max(1, calls // 10) == 0:
            marks.append(memory())
    took, used = time.perf_counter() - began, processor() - used
    row = caller.ledger.rows[0]
    assert row.calls + row.kept == calls
    return {
        "calls": calls,
        "calls/s": round(calls / took),
        "CPU ms/call": round(1000 * used / calls, 3),
        "MB after a tenth": round(marks[1], 1),
        "MB at the end": round(marks[-1], 1),
        "memory": [round(mark, 1) for mark in marks],
    }


def results(caller: ModelCaller, calls: int) -> Iterable[tuple[int, Any]]:
    requests: Any = Requests(calls)
    return caller.structured_all(requests, stage="extract")


def measure(calls: int, concurrency: int) -> dict[str, dict[str, Any]]:
    """Run each case, and return what it took by its name."""
    rows: dict[str, dict[str, Any]] = {}

    def case(name: str, model: ChatModel, cache: Cache | None, count: int) -> None:
        rows[name] = run(model, cache, count, concurrency)
        print(f"{name} done", file=sys.stderr)

    with tempfile.TemporaryDirectory() as folder:
        opened: Callable[[str], Cache] = lambda name: open_cache(Path(folder) / name)  # noqa: E731
        cache = opened("cache.sqlite")
        case("first", Instant(REPLY), cache, calls)
        case("repeated", Instant(REPLY), cache, calls)
        case("no cache", Instant(REPLY), None, calls)
        case("mended", Instant(MENDED), opened("mended.sqlite"), calls)
        with FaultServer([REPLY]) as server:
            model = registry.make_llm(f"{server.url}#any", LlmOptions(concurrency=concurrency))
            assert model is not None
            case("by HTTP", model, opened("http.sqlite"), min(calls, HTTP_CALLS))
    return rows


def main() -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--calls", type=int, default=10_000)
    parser.add_argument("--concurrency", type=int, default=16)
    chosen = parser.parse_args()
    rows = measure(chosen.calls, chosen.concurrency)
    head = ["", *(name for name in next(iter(rows.values())) if name != "memory")]
    print(table(head, [[name, *(row[column] for column in head[1:])] for name, row in rows.items()]))
    path = save("calls", {"concurrency": chosen.concurrency, "rows": rows})
    print(f"saved {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
