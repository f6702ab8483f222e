"""What a language model adds to an index, from top to bottom.

extract → link → types → communities → reports

Without a budget to spend it brings what replies have been kept of, and says what the rest would take: so a
dry run is a run that mustn't call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from clew.calls.caller import ModelCaller, kept_only
from clew.calls.make import Callers
from clew.errors import ProviderDown, ProviderError, UsageError
from clew.ids import make_id
from clew.ingest.asking import Asker, Left
from clew.ingest.communities import partition
from clew.ingest.extract import AGAIN, Asked, extract_told
from clew.ingest.graph import extract_graph
from clew.ingest.model import Corpus, Graph, Partition
from clew.ingest.reports import summarise
from clew.ingest.type_nodes import Typed, Typer, type_nodes
from clew.ingest.written import Writer, Written, write_reports
from clew.options import IndexOptions
from clew.ports import Caller, ChatModel, Progress
from clew.prompts import Prompt, load
from clew.registry import require
from clew.text.display import plural
from clew.types import Cost, Problem, Report

VERSION = "1"  # raise it whenever the same replies would be read otherwise, or other requests made
PROMPTS = {"llm": ("extract", "glean"), "types": ("types",), "none": ()}
STAGES = {"extract": "document", "types": "name", "report": "report"}  # with what is counted as left
FAILURES_NAMED = 3


@dataclass(frozen=True, slots=True)
class Model:
    """A caller with the prompts that it is given. ``kept`` gives kept replies alone and calls nobody;
    ``costs`` returns what the calls so far have cost."""

    caller: ModelCaller
    kept: ModelCaller
    prompts: Mapping[str, Prompt]
    costs: Callable[[], Sequence[Cost]]

    def record(self, options: IndexOptions) -> dict[str, Any]:
        """Return what an index records of the model, and what its fingerprint takes in."""
        model = self.caller.model
        prompts = {
            name: make_id(*(part for m in prompt.messages for part in (m.role, m.text)))
            for name, prompt in sorted(self.prompts.items())
        }
        asked = {"extract": options.extract.method, "reports": options.report.method}
        return {"model": model.name, "window": model.window, "version": VERSION, **asked, "prompts": prompts}


@dataclass(frozen=True, slots=True)
class Consulted:
    """The graph, its communities and their reports with what a model has added.

    ``left`` says by stage what a spent budget has left; ``complete``, that nothing failed and nothing is
    left.
    """

    graph: Graph
    communities: Partition
    reports: list[Report]
    problems: tuple[Problem, ...]
    notes: tuple[str, ...]
    work: dict[str, int]
    left: dict[str, Left]
    complete: bool


def needs_model(options: IndexOptions) -> bool:
    """Tell whether the options ask a language model for anything."""
    return options.extract.method != "none" or options.report.method == "llm"


def make_model(options: IndexOptions, callers: Callers | None, folder: str) -> Model | None:
    """Return what is asked, or None if the options ask nothing. ``folder`` may hold prompts that take the
    place of Clew's. Raises UsageError if no model is given, OptionError for a bad folder."""
    if not needs_model(options):
        return None
    if callers is None:
        flag = "--reports llm"
        if options.extract.method != "none":
            flag = f"--extract {options.extract.method}"
        raise UsageError(flag, "no language model is given", "Add --llm PROVIDER:MODEL (`clew llms`)")
    if options.extract.method == "llm":
        require("rapidfuzz", "--extract llm", "llm")
    wanted = [*PROMPTS[options.extract.method], *(["report"] if options.report.method == "llm" else [])]
    prompts = {name: load(name, folder) for name in wanted}
    return Model(callers.main, kept_only(callers.main), prompts, lambda: callers.ledger.rows)


def consult(
    corpus: Corpus,
    graph: Graph,
    communities: Partition,
    reports: list[Report],
    options: IndexOptions,
    model: Model,
    caller: Caller,
    progress: Progress,
) -> Consulted:
    """Ask the model for all that the options want, by ``caller``. ``graph``, ``communities`` and ``reports``
    are those that were made without it. Raises ProviderError where nothing but failures comes back."""
    prompts = model.prompts
    asked, typed, written = Asked(), Typed({}, {}, []), Written(reports)
    if options.extract.method == "llm":
        asker = Asker(corpus, caller.model, options.extract, prompts["extract"], prompts["glean"])
        asked = extract_told(asker, caller, options.extract.gleaning, progress)
    elif options.extract.method == "types":
        typer = Typer(corpus, graph, caller.model, options.extract, prompts["types"])
        typed = type_nodes(typer, caller, progress)
        graph = _typed(graph, typed)
    if asked.told.entities:
        progress.stage("link")
        graph = extract_graph(corpus, progress, asked.told)
        progress.stage("communities")
        communities = partition(corpus, graph, options.community)
        written = Written(summarise(corpus, graph, communities))
    if options.report.method == "llm":
        writer = Writer(corpus, graph, communities, caller.model, options.report, prompts["report"])
        written = write_reports(writer, communities, written.reports, caller, progress)
    if not (asked.told.entities or typed.types or written.by_model):
        _raise_if_down([*typed.failures, *written.failures])
    left = {"extract": asked.left, "types": typed.left, "report": written.left}
    left = {stage: one for stage, one in left.items() if one.calls}
    notes = [*_failures(caller.model, typed, written), *_left(left)]
    failed = bool(asked.problems or typed.failures or written.failures)
    work = {**asked.work, **_work(options, typed, written)}
    return Consulted(
        graph,
        communities,
        written.reports,
        asked.problems,
        tuple(notes),
        work,
        left,
        not failed and not left,
    )


def _raise_if_down(failures: Sequence[tuple[int, ProviderError]]) -> None:
    """Raise the reason where no call could go well: to tell it call by call would hide it."""
    down = next((error for _, error in failures if isinstance(error, ProviderDown)), None)
    if down is not None:
        raise down


def _typed(graph: Graph, typed: Typed) -> Graph:
    nodes = range(graph.n_nodes)
    types = tuple(typed.types.get(node, "") for node in nodes)
    return replace(graph, type=types, description=tuple(typed.descriptions.get(node, "") for node in nodes))


def _work(options: IndexOptions, typed: Typed, written: Written) -> dict[str, int]:
    work: dict[str, int] = {}
    if options.extract.method == "types":
        work |= {"names_typed": len(typed.types), "types_dropped": typed.dropped}
    if options.report.method == "llm":
        work |= {"reports_written": written.by_model, "findings_dropped": written.dropped}
    return work


def _failures(model: ChatModel, typed: Typed, written: Written) -> list[str]:
    """Return what to tell of calls that failed and are no document's."""
    notes = []
    if typed.failures:
        notes.append(
            f"{plural(len(typed.failures), 'call')} for types failed ({_reasons(typed.failures)}): those "
            f"names have none. {AGAIN}."
        )
    if written.failures:
        notes.append(
            f"{plural(len(written.failures), 'report')} by {model.name} failed "
            f"({_reasons(written.failures)}): sentences of the notes stand for them. {AGAIN}."
        )
    return notes


def _reasons(failures: list[tuple[int, ProviderError]]) -> str:
    reasons = list(dict.fromkeys(error.reason for _, error in failures))
    return "; ".join(reasons[:FAILURES_NAMED]) + ("; …" if len(reasons) > FAILURES_NAMED else "")


def _left(left: Mapping[str, Left]) -> list[str]:
    """Return a line on what a spent budget has left to do."""
    if not left:
        return []
    parts = [plural(one.items, STAGES[stage]) for stage, one in left.items()]
    calls, tokens = sum(one.calls for one in left.values()), sum(one.tokens for one in left.values())
    return [
        f"The budget is spent. Left to do: {', '.join(parts)}, in {plural(calls, 'call')} of about "
        f"{tokens:,} tokens. The same command with a larger budget goes on from there."
    ]
