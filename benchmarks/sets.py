"""Retrieval sets: a folder with corpus.jsonl and questions.jsonl each, and the metrics over them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Question:
    id: str
    text: str
    gold: frozenset[str]


@dataclass(frozen=True)
class RetrievalSet:
    name: str
    corpus: Path
    questions: tuple[Question, ...]


def load_sets(benches: Sequence[Path], names: Sequence[str] = ()) -> list[RetrievalSet]:
    """Return the sets below the folders, or those named, by name. Raises FileNotFoundError without any."""
    found = []
    for folder in sorted(path.parent for bench in benches for path in bench.glob("*/questions.jsonl")):
        if names and folder.name not in names:
            continue
        lines = (folder / "questions.jsonl").read_text("utf-8").splitlines()
        rows = [json.loads(line) for line in lines if line.strip()]
        questions = tuple(
            Question(str(row["id"]), row["question"], frozenset(map(str, row["gold"]))) for row in rows
        )
        found.append(RetrievalSet(folder.name, folder / "corpus.jsonl", questions))
    if not found:
        raise FileNotFoundError(f"{', '.join(map(str, benches))}: no folder with questions.jsonl")
    return found


def recalls(
    ranked: Sequence[Sequence[str]], questions: Sequence[Question], ks: Sequence[int]
) -> NDArray[np.float64]:
    """Return each question's recall@k: gold among the first k distinct documents / gold, shape (n, ks)."""
    out = np.zeros((len(questions), len(ks)))
    for row, (keys, question) in enumerate(zip(ranked, questions, strict=True)):
        distinct = list(dict.fromkeys(keys))
        for column, k in enumerate(ks):
            out[row, column] = len(question.gold & set(distinct[:k])) / len(question.gold)
    return out


def interval(values: NDArray[np.float64], seed: int = 7, draws: int = 2000) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a mean over questions (Efron & Tibshirani, 1993)."""
    rng = np.random.default_rng(seed)
    means = values[rng.integers(0, len(values), (draws, len(values)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def paired(
    values: NDArray[np.float64], others: NDArray[np.float64], seed: int = 7
) -> tuple[float, tuple[float, float]]:
    """Return the mean of values − others over the same questions, and its 95 % bootstrap interval."""
    difference = values - others
    return float(difference.mean()), interval(difference, seed)
