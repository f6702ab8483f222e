"""Whether answers come where the notes hold one, are refused where they don't, and hold the fact asked for.

    python benchmarks/answers.py [--vaults ../shared/vaults] [--embedder minilm] [--each]

``data/answers`` has a small collection a language (``corpus.jsonl``) with its questions
(``questions.jsonl``); ``vaults.jsonl`` asks public folders, which aren't part of the project and are left
out where they are missing. A question is ``{"id", "kind", "question", "facts"}``: ``fact`` is answered by
the notes, and one of ``facts`` has to stand in a cited sentence; ``none`` isn't; ``whole`` asks for
the themes.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from clew import Index
from clew.options import EmbedOptions, IndexOptions
from common import save, shared_dir, table

DATA = Path(__file__).resolve().parent / "data" / "answers"


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, its kind, and what an answer must hold one of."""

    id: str
    kind: str
    question: str
    facts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a question. ``right``: refused, themes given, or the fact cited, as its kind wants."""

    asked: Asked
    answered: bool
    right: bool
    mode: str
    text: str


def read_questions(path: Path) -> list[Asked]:
    """Return the questions of a file."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return [Asked(row["id"], row["kind"], row["question"], tuple(row.get("facts", ()))) for row in rows]


def sets(vaults: Path) -> Iterator[tuple[str, Path, list[Asked]]]:
    """Yield (name, what to index, questions); folders that are missing are left out."""
    of_vault: dict[str, list[Asked]] = defaultdict(list)
    for asked in read_questions(DATA / "vaults.jsonl"):
        of_vault[asked.id.rpartition("-")[0]].append(asked)
    for name, questions in of_vault.items():
        if (vaults / name).is_dir():
            yield name, vaults / name, questions
    for folder in sorted(path for path in DATA.iterdir() if path.is_dir()):
        yield folder.name, folder / "corpus.jsonl", read_questions(folder / "questions.jsonl")


def ask(index: Index, asked: Asked) -> Outcome:
    """Ask one question in ``auto``."""
    answer = index.ask(asked.question)
    quotes = "\n".join(citation.quote for citation in answer.citations)
    whole = answer.mode == "global" and "about the whole" in answer.reason
    if asked.kind == "none":
        right = not answer.sentences
    elif asked.kind == "whole":
        right = bool(answer.sentences) and whole
    else:
        right = not whole and any(fact in quotes for fact in asked.facts)
    return Outcome(asked, bool(answer.sentences), right, answer.mode, answer.text)


def rates(outcomes: Sequence[Outcome]) -> dict[str, float]:
    """Return shares in percent: answered and right of what has an answer, refused of what has none,
    themes of what asks for the whole."""

    def share(kind: str, what: str) -> float:
        mine = [outcome for outcome in outcomes if outcome.asked.kind == kind]
        good = sum(outcome.answered if what == "answered" else outcome.right for outcome in mine)
        return 100 * good / max(len(mine), 1)

    return {
        "answered": share("fact", "answered"),
        "fact cited": share("fact", "right"),
        "refused": share("none", "right"),
        "themes": share("whole", "right"),
    }


def row(name: str, outcomes: Sequence[Outcome]) -> list[object]:
    return [name, len(outcomes), *(f"{value:.0f}" for value in rates(outcomes).values())]


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("--vaults", type=Path, default=shared_dir() / "vaults", help="folder of the vaults")
    parser.add_argument("--embedder", default=EmbedOptions().embedder)
    parser.add_argument("--work", type=Path, default=Path(".clew/benchmarks"), help="where indexes are kept")
    parser.add_argument("--only", default="", help="names of sets, with commas between")
    parser.add_argument("--each", action="store_true", help="print what became of each question that failed")
    chosen = parser.parse_args(arguments)
    options = IndexOptions(embed=EmbedOptions(embedder=chosen.embedder))
    folder = chosen.work / f"answers-{chosen.embedder.replace(':', '-')}"
    folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, list[Outcome]] = {}
    for name, source, questions in sets(chosen.vaults):
        if chosen.only and name not in chosen.only.split(","):
            continue
        with Index.build([source], folder / f"{name}.duckdb", options=options) as index:
            found[name] = [ask(index, asked) for asked in questions]
    lines = [row(name, outcomes) for name, outcomes in found.items()]
    lines.append(row("all", [outcome for outcomes in found.values() for outcome in outcomes]))
    print(table(["set", "questions", "answered", "fact cited", "refused", "themes"], lines))
    if chosen.each:
        for outcome in (o for outcomes in found.values() for o in outcomes if not o.right):
            print(f"{outcome.asked.id} [{outcome.mode}] {outcome.asked.question} → {outcome.text[:200]!r}")
    path = save("answers", {n: rates(o) for n, o in found.items()}, chosen.embedder)
    print(f"saved {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
