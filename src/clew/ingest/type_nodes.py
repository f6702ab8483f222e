"""Types and descriptions for what was found without a model: dozens of names a call, most important first.

Batches are made so that an update asks again about few of them. Names are put into tiers by importance,
within a tier into the order of their ids, which is a hash's and so says nothing, and cut where an id falls
into one of BATCH parts: a new name changes its own batch and no other, however many come after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clew.errors import BudgetSpent, ProviderError
from clew.ingest.asking import DONE, TYPE, Left, count_messages, fit, reply_room
from clew.ingest.model import Corpus, Graph
from clew.ingest.replies import clean_type, sentence
from clew.ingest.telling import Telling
from clew.options import ExtractOptions
from clew.ports import Caller, ChatModel, Progress
from clew.prompts import Prompt, fence
from clew.prompts.shape import WHOLE, Schema, listed, string, structure
from clew.text.display import plain
from clew.text.tokens import normal_words
from clew.types import ChatMessage, ChatRequest, Longs

BATCH = 24  # names a call on average, …
MOST_BATCH = 40  # … and at most: more, and small models lose count
# Tokens that a name's type and description take in a reply: as a rule, and at their longest.
REPLY_NAME, LONGEST_NAME = 40, 80
DEFINED = 3  # a definition counts as much as so many mentions
LOOKED_AT = 6  # passages in which a telling sentence is looked for
SHOWN = 240  # characters of a sentence
DESCRIPTION = 200
# Words of a description that the sentence or the name has, at least: less, and it is about something else.
SHARED = 0.25


def types(names: int) -> Schema:
    """Return the form of a reply on so many names."""
    one = structure(number=WHOLE, type=string(TYPE), description=string(DESCRIPTION))
    return structure(entities=listed(one, names))


@dataclass(frozen=True, slots=True)
class Batch:
    """Names for one call: nodes, with what is shown of each."""

    nodes: tuple[int, ...]
    names: tuple[str, ...]
    sentences: tuple[str, ...]


@dataclass(slots=True)
class Typed:
    """Types and descriptions by node, and what couldn't be had: why calls failed, and what is left."""

    types: dict[int, str]
    descriptions: dict[int, str]
    failures: list[tuple[int, ProviderError]]
    left: Left = DONE
    dropped: int = 0


class Typer:
    """Makes the batches and requests for one model, prompt and options."""

    def __init__(
        self, corpus: Corpus, graph: Graph, model: ChatModel, options: ExtractOptions, prompt: Prompt
    ) -> None:
        self.corpus = corpus
        self.graph = graph
        self.model = model
        self.types = options.entity_types
        self._most = options.types_most
        self._prompt = prompt
        fixed = count_messages(model, self._messages([]))
        self._room = fit(model.window, fixed, MOST_BATCH * SHOWN)
        # What the window leaves for a name's sentence and what is said of it.
        self._both = model.window - fixed if model.window else MOST_BATCH * (SHOWN + LONGEST_NAME)

    def plan(self) -> list[Batch]:
        """Return the batches, most important names first."""
        telling = Telling(self.corpus, self.graph)
        batches: list[Batch] = []
        for nodes in _batches(self.graph, self._most):
            rows = sorted(
                (self.graph.name[node], node, told) for node in nodes if (told := _telling(telling, node))
            )
            batches += self._fitting(rows)
        return batches

    def _fitting(self, rows: Sequence[tuple[str, int, str]]) -> Iterator[Batch]:
        """Cut a batch that the window doesn't hold with its reply."""
        part: list[tuple[str, int, str]] = []
        size = 0
        for row in rows:
            tokens = self.model.count(f"{row[0]}: {row[2]}") + 4
            both = size + tokens + (len(part) + 1) * LONGEST_NAME
            if part and (size + tokens > self._room or both > self._both):
                yield _batch(part)
                part, size = [], 0
            part.append(row)
            size += tokens
        if part:
            yield _batch(part)

    def request(self, batch: Batch) -> ChatRequest:
        rows = zip(batch.names, batch.sentences, strict=True)
        messages = self._messages([f"{i}. {name}: {told}" for i, (name, told) in enumerate(rows, 1)])
        most = LONGEST_NAME * len(batch.nodes) + 200
        return ChatRequest(messages, reply_room(self.model, messages, most), schema=types(len(batch.nodes)))

    def _messages(self, lines: Sequence[str]) -> tuple[ChatMessage, ...]:
        return self._prompt.fill(types=", ".join(self.types), entities=fence("\n".join(lines)))


def _batch(rows: Sequence[tuple[str, int, str]]) -> Batch:
    return Batch(tuple(row[1] for row in rows), tuple(row[0] for row in rows), tuple(row[2] for row in rows))


def _batches(graph: Graph, most: int) -> Iterator[list[int]]:
    """Yield the nodes of each batch."""
    tier = _tiers(graph)
    chosen = [i for i, kind in enumerate(graph.kind) if kind != "tag"]
    chosen.sort(key=lambda i: (-int(tier[i]), graph.node_id[i]))
    part: list[int] = []
    for at, node in enumerate(chosen[: most or None]):
        cut = int(graph.node_id[node], 16) % BATCH == 0 or len(part) >= MOST_BATCH
        if part and (cut or tier[node] != tier[chosen[at - 1]]):
            yield part
            part = []
        part.append(node)
    if part:
        yield part


def _tiers(graph: Graph) -> Longs:
    """Return each node's importance as a power of two of the passages that name it."""
    df = np.bincount(graph.mention_node, minlength=graph.n_nodes).astype(np.float64)
    np.maximum.at(df, graph.def_node, df[graph.def_node] + DEFINED * graph.def_weight)
    return np.floor(np.log2(df + 1)).astype(np.int64)


def _telling(telling: Telling, node: int) -> str:
    """Return the sentence that tells most about a node; empty if there is none."""
    found = telling.about(node, telling.chunks_of(node, LOOKED_AT))
    told = plain(found[0].text) if found else ""
    return told if len(told) <= SHOWN else told[: SHOWN - 1] + "…"


def type_nodes(typer: Typer, caller: Caller, progress: Progress) -> Typed:
    """Ask for the types and descriptions of the most important nodes."""
    batches = typer.plan()
    progress.stage("types", len(batches))
    typed = Typed({}, {}, [])
    requests = [typer.request(batch) for batch in batches]
    for at, answer in caller.structured_all(requests, stage="types"):
        progress.advance()
        batch = batches[at]
        if isinstance(answer, BudgetSpent):
            prompt = count_messages(typer.model, requests[at].messages)
            typed.left += Left(len(batch.nodes), 1, prompt, REPLY_NAME * len(batch.nodes))
        elif isinstance(answer, ProviderError):
            typed.failures.append((at, answer))
        else:
            _read(answer, batch, typer.types, typed)
    typed.failures.sort(key=lambda failure: failure[0])
    return typed


def _read(reply: Any, batch: Batch, known: Sequence[str], typed: Typed) -> None:
    """Take what a reply says of the names that it was asked about; drop and count the rest."""
    items = reply.get("entities") if isinstance(reply, Mapping) else None
    for item in items[: 2 * MOST_BATCH] if isinstance(items, list) else ():
        number = item.get("number") if isinstance(item, Mapping) else None
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= len(batch.nodes):
            typed.dropped += 1
            continue
        at = number - 1
        if batch.nodes[at] in typed.types:
            typed.dropped += 1
            continue
        typed.types[batch.nodes[at]] = clean_type(item.get("type"), known)
        told = sentence(item.get("description"), DESCRIPTION)
        if told and shares_words(told, f"{batch.names[at]} {batch.sentences[at]}", SHARED):
            typed.descriptions[batch.nodes[at]] = told
        elif told:
            typed.dropped += 1


def shares_words(told: str, source: str, share: float) -> bool:
    """Tell whether at least this share of a text's words are words of another."""
    words = set(normal_words(told))
    return bool(words) and len(words & set(normal_words(source))) >= share * len(words)
