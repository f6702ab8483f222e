"""What the weight of meaning against words is worth: hybrid search alone, at several weights, on every set.

    python benchmarks/fusion.py [BENCH …] [--vaults VAULTS] [--embedder minilm] [--weights 0.3,0.4,0.5]

A cell is Recall@5. The sets are those of ``safe.py``; the product's weight is chosen by their mean.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ablation import ranked
from clew.options import EmbedOptions
from clew.query import rank as ranking
from clew.query.engine import IndexEngine
from common import save, shared_dir
from ingredients import setting
from measure import ask, markdown, open_index, remembered, work_folder
from safe import every_set
from sets import Question


def sweep(engine: IndexEngine, questions: Sequence[Question], weights: Sequence[float]) -> list[float]:
    """Return hybrid search's Recall@5 in % at each weight."""
    method = ranked(engine, "basic", remembered(engine))
    found = []
    for weight in weights:
        with setting(ranking, "DENSE_WEIGHT", weight)(engine):
            found.append(round(100 * float(ask(engine, method, questions).recall[:, 1].mean()), 1))
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("bench", type=Path, nargs="*", help="folders of retrieval sets")
    parser.add_argument("--vaults", type=Path, default=shared_dir() / "vaults", help="folder of the vaults")
    parser.add_argument("--embedder", default=EmbedOptions().embedder)
    parser.add_argument("--weights", default="0.3,0.4,0.5,0.6,0.7")
    parser.add_argument("--work", type=Path, default=Path(".clew/benchmarks"), help="where indexes are kept")
    chosen = parser.parse_args(arguments)
    weights = [float(weight) for weight in chosen.weights.split(",")]
    found: dict[str, list[float]] = {}
    for one in every_set(chosen.bench, chosen.vaults):
        with open_index(one, chosen.embedder, work_folder(chosen.work, chosen.embedder)) as index:
            found[one.name] = sweep(index.engine, one.questions, weights)
        print(f"{one.name}: {found[one.name]}", file=sys.stderr, flush=True)
    found["mean"] = np.mean(list(found.values()), axis=0).round(1).tolist()
    rows = [[weight, *(found[name][at] for name in found)] for at, weight in enumerate(weights)]
    print(markdown(["dense weight", *found], rows))
    results = {"embedder": chosen.embedder, "weights": weights, "recall@5": found}
    print(f"saved {save('fusion', results, chosen.embedder)}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
