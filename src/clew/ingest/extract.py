"""Document stage with a model: what each passage names and relates, asked of it call by call.

Replies are kept by the Caller as they come, so that a run that was stopped goes on where it was, and a
passage that hasn't changed costs nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from clew.errors import BudgetSpent, ProviderDown, ProviderError
from clew.ingest.asking import DONE, Asker, Call, Left
from clew.ingest.replies import Heard, Passages, read_extraction
from clew.ingest.told import NOTHING, Told, ToldEntity, ToldRelation
from clew.ports import Caller, Progress
from clew.types import ChatRequest, Problem

AT_ONCE = 512  # requests that are handed to the caller together: their texts are in memory
# If the first so many calls all fail, the fault isn't the notes', and the run stops with the last error.
HOPELESS = 10
AGAIN = "The next clew index asks again"


@dataclass(frozen=True, slots=True)
class Asked:
    """What a stage with a model brought. ``complete`` says that no call failed and none is left."""

    told: Told = NOTHING
    problems: tuple[Problem, ...] = ()
    left: Left = DONE
    work: dict[str, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        return not self.problems and not self.left.items


@dataclass(slots=True)
class _Outcomes:
    """Replies by call, in the order of rounds; failures and what is left, by call."""

    replies: dict[int, list[Any]] = field(default_factory=lambda: defaultdict(list))
    failed: dict[int, ProviderError] = field(default_factory=dict)
    left: dict[int, Left] = field(default_factory=dict)


def extract_told(asker: Asker, caller: Caller, gleaning: int, progress: Progress) -> Asked:
    """Ask about all passages, and ``gleaning`` times what was missed.

    A call that fails is a Problem of its document, which keeps what the other calls brought. Raises
    ProviderError where nothing but failures comes back.
    """
    calls = asker.plan()
    progress.stage("extract", len(calls) * (1 + gleaning))
    outcomes = _Outcomes()
    for more in range(gleaning, -1, -1):
        rest = [i for i in range(len(calls)) if i not in outcomes.failed and i not in outcomes.left]
        _ask_round(asker, caller, calls, rest, outcomes, progress, more)
    heard = _read(asker, calls, outcomes)
    return _asked(asker, calls, outcomes, heard)


def _ask_round(
    asker: Asker,
    caller: Caller,
    calls: Sequence[Call],
    which: Sequence[int],
    outcomes: _Outcomes,
    progress: Progress,
    more: int,
) -> None:
    """Ask about the calls ``which``; ``more`` rounds come after this one."""
    first = not outcomes.replies
    failures = 0
    for at, request, answer in _ask(asker, caller, calls, which, outcomes):
        progress.advance()
        if isinstance(answer, BudgetSpent):
            outcomes.left[at] = asker.estimate(calls[at], request, more)
        elif isinstance(answer, ProviderError):
            outcomes.failed[at] = answer
            failures += 1
            hopeless = failures >= HOPELESS or isinstance(answer, ProviderDown)
            if first and not outcomes.replies and hopeless:
                raise answer
        else:
            outcomes.replies[at].append(answer)


def _ask(
    asker: Asker, caller: Caller, calls: Sequence[Call], which: Sequence[int], outcomes: _Outcomes
) -> Iterator[tuple[int, ChatRequest, Any]]:
    for begin in range(0, len(which), AT_ONCE):
        asked: list[tuple[int, ChatRequest]] = []
        for at in which[begin : begin + AT_ONCE]:
            before = outcomes.replies.get(at)
            request = asker.again(calls[at], before) if before else asker.request(calls[at])
            if request is not None:
                asked.append((at, request))
        for i, answer in caller.structured_all([request for _, request in asked], stage="extract"):
            yield *asked[i], answer


def _read(asker: Asker, calls: Sequence[Call], outcomes: _Outcomes) -> list[Heard]:
    heard = []
    for at in sorted(outcomes.replies):
        passages = Passages(asker.corpus, calls[at].chunks)
        heard += [read_extraction(reply, passages, asker.types) for reply in outcomes.replies[at]]
    return heard


def _asked(asker: Asker, calls: Sequence[Call], outcomes: _Outcomes, heard: Sequence[Heard]) -> Asked:
    entities: list[ToldEntity] = [entity for one in heard for entity in one.entities]
    relations: list[ToldRelation] = [relation for one in heard for relation in one.relations]
    documents = len({calls[at].doc for at in outcomes.left})
    left = sum(outcomes.left.values(), Left(documents))
    work = {
        "entities_told": len(set(entities)),
        "relations_told": len(set(relations)),
        "told_dropped": sum(one.dropped for one in heard),
    }
    return Asked(Told.of(entities, relations), tuple(_problems(asker, calls, outcomes)), left, work)


def _problems(asker: Asker, calls: Sequence[Call], outcomes: _Outcomes) -> Iterator[Problem]:
    total: dict[int, int] = defaultdict(int)
    for call in calls:
        total[call.doc] += 1
    failed: dict[int, list[ProviderError]] = defaultdict(list)
    for at in sorted(outcomes.failed):
        failed[calls[at].doc].append(outcomes.failed[at])
    for doc, errors in failed.items():
        of = f" ({len(errors)} of {total[doc]} calls)" if total[doc] > 1 else ""
        reason = f"asking {asker.model.name} about it failed{of}: {errors[0].reason}"
        yield Problem(asker.corpus.documents[doc].key, reason, AGAIN, skipped=False)
