"""Ways to group the nodes of a graph: modularity and time.

    python benchmarks/communities.py FOLDER [FOLDER …]

For each folder of notes (or JSONL corpus) the graph is made once, without vectors, and grouped by each
method over all edges, and by Leiden over each kind of edge. "themes" are the communities of the coarsest
level, "fine" those that no other divides. Modularity is Newman's, of the fine communities and of the
themes, on the same graph for all methods: that of all edges with their default weights. "ms" is computing
time, the least of three runs, of the grouping, "prepared" that of what it groups, the same for all.
Results go to benchmarks/results/communities-COMMIT.json.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from clew.algo.grouping import modularity
from clew.algo.leiden import canonical
from clew.index import SilentProgress
from clew.ingest.analyse import analyse
from clew.ingest.communities import partition, projection
from clew.ingest.gather import gather
from clew.ingest.graph import extract_graph
from clew.ingest.model import Corpus, Graph, Partition
from clew.ingest.scan import scan
from clew.inputs import open_sources
from clew.options import CommunityOptions, EmbedOptions, IndexOptions
from clew.registry import load, make_embedder, names
from clew.types import Ints
from common import save, table

RUNS = 3
LEIDEN = CommunityOptions()
METHODS = {
    "leiden": LEIDEN,
    "shared-tags": replace(LEIDEN, method="shared-tags"),
    "hubs": replace(LEIDEN, method="hubs"),
    "leiden over explicit": replace(LEIDEN, over="explicit"),
    "leiden over tags": replace(LEIDEN, over="tags"),
    "leiden over entities": replace(LEIDEN, over="entities"),
}


def graph_of(folder: Path) -> tuple[Corpus, Graph]:
    """Return the corpus and the graph of a folder of notes."""
    options = IndexOptions(embed=EmbedOptions("none"))
    sizing = make_embedder(EmbedOptions())
    assert sizing is not None
    raws, _ = scan(open_sources([folder], options))
    extractors = [load("extractors", name)() for name in names("extractors")]
    kept, analyses, _ = analyse(
        raws, options, sizing.tokenizer, sizing.window, extractors, None, SilentProgress()
    )
    corpus = gather(kept, analyses)
    return corpus, extract_graph(corpus)


def finest(found: Partition, n_nodes: int) -> Ints:
    """Return the deepest community of each node."""
    group = np.full(n_nodes, -1, dtype=np.int32)
    group[found.member_node] = found.member_community  # coarsest first, so that the deepest is left
    return group


def themes(found: Partition, n_nodes: int) -> Ints:
    """Return the community of the coarsest level of each node."""
    group = np.full(n_nodes, -1, dtype=np.int32)
    top = found.level[found.member_community] == 0
    group[found.member_node[top]] = found.member_community[top]
    return group


def least(work: Callable[[], object]) -> float:
    """Return the computing time of some work in milliseconds, the least of RUNS."""
    times = []
    for _ in range(RUNS):
        begin = time.process_time()
        work()
        times.append(time.process_time() - begin)
    return 1000 * min(times)


def measure(name: str, corpus: Corpus, graph: Graph) -> list[dict[str, object]]:
    """Return a row for each method."""
    whole = canonical(*projection(corpus, graph), graph.n_nodes)
    prepared = least(lambda: projection(corpus, graph))
    rows: list[dict[str, object]] = []
    for method, options in METHODS.items():
        found = partition(corpus, graph, options)
        took = least(lambda options=options: partition(corpus, graph, options))  # type: ignore[misc]
        fine, top = finest(found, graph.n_nodes), themes(found, graph.n_nodes)
        rows.append(
            {
                "notes": name,
                "nodes": graph.n_nodes,
                "edges": whole.nnz // 2,
                "method": method,
                "themes": int((found.level == 0).sum()),
                "fine": len(np.unique(fine)),
                "modularity": round(modularity(whole, fine), 3),
                "of_themes": round(modularity(whole, top), 3),
                "ms": round(max(took - prepared, 0.0), 1),
                "prepared": round(prepared, 1),
            }
        )
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("notes", type=Path, nargs="+", help="folders of notes, or JSONL corpora")
    rows: list[dict[str, object]] = []
    for path in parser.parse_args(arguments).notes:
        found = measure(path.name if path.is_dir() else path.parent.name, *graph_of(path))
        rows += found
        print(table(list(found[0]), [[str(value) for value in row.values()] for row in found]), flush=True)
    print(f"\nsaved {save('communities', rows)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
