"""Settings and weights chosen on all sets but one, and judged on that one.

    python benchmarks/crossval.py BENCH [BENCH …] [--embedder minilm] [--sets …] [--limit N]

For every set left out, the settings of the walk, of the seeds and of the decision are chosen on the other
sets: by forward selection from the default, that is, each setting's best value is tried in the order of what
it gains alone, and kept if it still gains a tenth of a point (mean over the other sets of Recall@2 and @5,
each set counting alike). The weights of the choice are fitted on those of the others that the default walks
on (``learn.py``). The default's Recall on the set left out is then compared with that of what was chosen:
where the default is clearly better, it owes that to having seen the set.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from unittest.mock import patch

import numpy as np

from ablation import ranked
from clew.algo import select as selecting
from clew.algo.select import Weights
from clew.algo.walk import DAMPING, GATE
from clew.options import EmbedOptions
from clew.query import choose as choosing
from clew.query import rank as ranking
from clew.query import space as spaces
from clew.query.engine import IndexEngine
from common import existing, save
from ingredients import Change, all_weights, linked, setting, several
from learn import Example, example, fit
from measure import Asked, ask, markdown, open_index, work_folder
from sets import Question, RetrievalSet, load_sets, paired

GAIN = 0.1  # points that a moved setting must gain on the other sets
WALKS = 0.5  # the weights are fitted on sets where the default walks for this share of the questions


def walk_with(name: str, value: float) -> Change:
    """Return a change of one of the walk's arguments; others that are changed stay so."""
    return lambda engine: patch.object(ranking, "walk", partial(ranking.walk, **{name: value}))


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting, its values to choose from (the default among them), and how to set one."""

    name: str
    default: float
    values: tuple[float, ...]
    vectors: bool = False

    def change(self, value: float) -> Change:
        """Return the change to a value."""
        if self.name in ("GATE", "DAMPING"):
            return walk_with(self.name.lower(), value)
        if self.name == "DEFINES":
            return linked(spaces, "DEFINES", value)
        module = next(one for one in (selecting, choosing, ranking) if hasattr(one, self.name))
        return setting(module, self.name, value)


def _settings() -> tuple[Setting, ...]:
    """Return the settings with the product's values as defaults."""

    def one(module: object, name: str, *values: float, vectors: bool = False) -> Setting:
        default = float(getattr(module, name))
        return Setting(name, default, tuple(sorted({default, *values})), vectors)

    return (
        one(ranking, "DENSE_WEIGHT", 0.2, 0.3, 0.5, 0.6, vectors=True),
        one(ranking, "MEANT", 0.0, 0.05, 0.2, 0.4),
        one(ranking, "UNDEFINED", 0.1, 0.6, 1.0),
        one(ranking, "CHUNK_MASS", 0.02, 0.1, 0.3),
        one(ranking, "LINKED", 0.25, 0.75, 1.1),
        one(ranking, "LONG_NOTES", 1.5, 6.0, 1e9),
        Setting("GATE", GATE, tuple(sorted({GATE, 2.0, 6.0, 8.0}))),
        Setting("DAMPING", DAMPING, tuple(sorted({DAMPING, 0.5, 0.6, 0.8}))),
        one(spaces, "DEFINES", 2.0, 10.0),
        one(choosing, "NEAR", 3.0, 12.0),
        one(selecting, "ENOUGH", 0.6, 1.0),
    )


@dataclass
class Measured:
    """What one set gave: its index, the questions asked, the default's answers, what each value of a setting
    is worth alone, examples for the weights, and the share of questions that the default walks for."""

    engine: IndexEngine
    questions: Sequence[Question]
    default: Asked
    worth: dict[tuple[str, float], float]
    examples: list[Example]
    walked: float

    def with_values(self, values: Mapping[Setting, float]) -> float:
        """Return what several values are worth together, in points."""
        with several(*(each.change(value) for each, value in values.items()))(self.engine):
            return worth(ask(self.engine, ranked(self.engine), self.questions))


def worth(asked: Asked) -> float:
    """Return the mean of Recall@2 and @5, in points."""
    return 100 * float(asked.recall[:, :2].mean())


def measure(one: RetrievalSet, engine: IndexEngine, limit: int) -> Measured:
    """Ask a set's questions at each value of each setting, all others at their defaults."""
    questions = one.questions[: limit or None]
    method = ranked(engine)
    default = ask(engine, method, questions)
    found: dict[tuple[str, float], float] = {}
    for each in settings_for(engine):
        for value in each.values:
            if value == each.default:
                found[each.name, value] = worth(default)
                continue
            with each.change(value)(engine):
                found[each.name, value] = worth(ask(engine, method, questions))
    keys = [document.key for document in engine.reader.documents()]
    examples = [example(engine, question.text, question.gold, keys) for question in questions]
    walked = walked_share(engine, [question.text for question in questions])
    return Measured(engine, questions, default, found, examples, walked)


def settings_for(engine: IndexEngine) -> list[Setting]:
    """Return the settings that matter to an index: some only with vectors."""
    return [each for each in _settings() if engine.embedder is not None or not each.vectors]


def walked_share(engine: IndexEngine, texts: Sequence[str]) -> float:
    """Return for which share of the questions the default walks."""
    return float(np.mean([engine.search(text, 1).walked for text in texts]))


def best_value(others: Sequence[Measured], each: Setting) -> tuple[float, float]:
    """Return what a setting's best value gains over the default on the mean of sets, in points, and it."""
    means = {value: float(np.mean([one.worth[each.name, value] for one in others])) for value in each.values}
    value = max(each.values, key=lambda value: (means[value], value == each.default, -value))
    return means[value] - means[each.default], value


def choose(others: Sequence[Measured], settings: Sequence[Setting]) -> dict[Setting, float]:
    """Return the settings that forward selection on some sets moves from their defaults, and whereto."""
    gains = {each: best_value(others, each) for each in settings}
    moved: dict[Setting, float] = {}
    points = float(np.mean([worth(one.default) for one in others]))
    for each in sorted(settings, key=lambda each: -gains[each][0]):
        gain, value = gains[each]
        if gain < GAIN:
            break
        more = {**moved, each: value}
        now = float(np.mean([one.with_values(more) for one in others]))
        if now >= points + GAIN:
            moved, points = more, now
    return moved


def fitted(others: Sequence[Measured]) -> Weights | None:
    """Return the weights fitted on those of the sets that the default walks on; None without any."""
    walking = [one.examples for one in others if one.walked >= WALKS]
    return Weights(*map(float, fit(walking))) if walking else None


def judge(name: str, measured: Mapping[str, Measured]) -> list[dict[str, object]]:
    """Return a row for the default on a set, and for what the other sets choose: settings, weights, both."""
    mine = measured[name]
    others = [one for other, one in measured.items() if other != name]
    moved, weights = choose(others, settings_for(mine.engine)), fitted(others)
    changes = [each.change(value) for each, value in moved.items()]
    kinds = {"settings of the others": changes}
    if weights is not None:
        kinds["weights of the others"] = [all_weights(weights)]
        kinds["both"] = [*changes, all_weights(weights)]
    rows = [_row(name, "default", mine.default, mine.default)]
    for kind, parts in kinds.items():
        with several(*parts)(mine.engine):
            rows.append(_row(name, kind, ask(mine.engine, ranked(mine.engine), mine.questions), mine.default))
    return [{**row, "chosen": {each.name: value for each, value in moved.items()}} for row in rows]


def _row(name: str, kind: str, asked: Asked, default: Asked) -> dict[str, object]:
    change, edges = paired(asked.recall[:, 1], default.recall[:, 1])
    return {
        "set": name,
        "from": kind,
        **asked.figures(),
        "change@5": round(100 * change, 1),
        "change@5_interval": [round(100 * edge, 1) for edge in edges],
    }


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """Return the rows as Markdown."""
    lines = []
    for row in rows:
        low, high = row["change@5_interval"]  # type: ignore[misc]
        chosen = ", ".join(f"{name} {value:g}" for name, value in row["chosen"].items())  # type: ignore[attr-defined]
        moved = chosen if "settings" in str(row["from"]) or row["from"] == "both" else ""
        change = f"{row['change@5']:+} ({low:+} to {high:+})" if row["from"] != "default" else ""
        lines.append(
            [row["set"], row["from"], f"{row['recall@2']} / {row['recall@5']}", row["all@5"], change, moved]
        )
    return markdown(["left out", "from", "recall@2 / @5", "all@5", "change of @5", "settings moved"], lines)


def main(arguments: Sequence[str] | None = None) -> int:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=plain)
    parser.add_argument("bench", type=Path, nargs="+", help="folders of retrieval sets")
    parser.add_argument("--sets", default="", help="names, separated by commas; all without")
    parser.add_argument("--embedder", default=EmbedOptions().embedder)
    parser.add_argument("--limit", type=int, default=0, help="only so many questions of each set")
    parser.add_argument("--work", type=Path, default=Path(".clew/benchmarks"), help="where indexes are kept")
    chosen = parser.parse_args(arguments)
    names = [name for name in chosen.sets.split(",") if name]
    sets = load_sets([existing(bench) for bench in chosen.bench], names)
    work = work_folder(chosen.work, chosen.embedder)
    measured: dict[str, Measured] = {}
    rows: list[dict[str, object]] = []
    with ExitStack() as stack:
        for one in sets:
            index = stack.enter_context(open_index(one, chosen.embedder, work))
            measured[one.name] = measure(one, index.engine, chosen.limit)
            print(f"{one.name} is measured", file=sys.stderr, flush=True)
        for one in sets:
            rows += judge(one.name, measured)
    print(table(rows))
    grid = {
        name: [[setting, value, round(points, 2)] for (setting, value), points in one.worth.items()]
        for name, one in measured.items()
    }
    path = save("crossval", {"embedder": chosen.embedder, "rows": rows, "grid": grid}, chosen.embedder)
    print(f"saved {path}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
