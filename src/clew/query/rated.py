"""Which reports a model finds relevant: from the coarsest level down, below the relevant ones only.

Edge et al., "From Local to Global" (2024), map over all reports of a level; rating them first with a small
model, and descending only where that helps, is Microsoft's "dynamic community selection".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from clew.errors import BudgetSpent, ProviderError
from clew.prompts import fence
from clew.query.context import OVERHEAD, Offer, reports
from clew.query.model import Engine
from clew.query.points import rated, rating
from clew.query.writer import Writer
from clew.types import ChatRequest, Community, Report

KEEP = 4  # a report rated this or higher is relevant; one whose rating can't be had counts as such
BATCH = 8  # reports that one call rates: with more, small models lose count
FOR_RATING = 18  # tokens of a reply for each
COUNTED = 200  # reports, and passages, whose tokens are counted; more are estimated from these


@dataclass(frozen=True, slots=True)
class Rated:
    """The relevant reports with their ratings (0 to 10), best first, how many were rated of how many there
    are, and the tokens of the prompts that rated them."""

    kept: tuple[tuple[Report, float], ...]
    considered: int
    total: int
    tokens: int


def select_rated(question: str, engine: Engine, writer: Writer) -> Rated:
    """Rate the roots' reports, then the children of the relevant ones, level by level. A relevant child takes
    its parent's place. Where no root is relevant, the level below is tried."""
    reader, most = engine.reader, writer.options.reports
    kept: dict[int, tuple[Report, float]] = {}
    considered = tokens = level = 0
    rows = reader.communities(0)
    while rows and considered < most:
        found = reader.reports([row.community for row in rows])
        found = sorted(found, key=lambda report: (-report.rating, report.community))[: most - considered]
        values, used = _rate(question, found, writer)
        considered += len(found)
        tokens += used
        relevant = {report.community: (report, value) for report, value in values if value >= KEEP}
        for row in rows:
            if row.community in relevant:
                kept.pop(row.parent, None)
        kept.update(relevant)
        above = set(relevant) if relevant or level else {report.community for report in found}
        level += 1
        rows = [row for row in reader.communities(level) if row.parent in above]
    order = sorted(kept.values(), key=lambda pair: (-pair[1], -pair[0].rating, pair[0].community))
    return Rated(tuple(order), considered, reader.count("reports"), tokens)


def _rate(question: str, found: Sequence[Report], writer: Writer) -> tuple[list[tuple[Report, float]], int]:
    """Return reports with their ratings, in their order, and the prompts' tokens. Raises BudgetSpent, and
    ProviderError if no call succeeds."""
    batches = list(_batches(question, found, writer))
    requests = [_request(question, texts, writer) for texts in batches]
    starts = list(accumulate(map(len, batches), initial=0))
    values: dict[int, float] = {}
    failed: list[ProviderError] = []
    unrated = 0
    for place, value in writer.rating.structured_all(requests, stage="rate"):
        if isinstance(value, BudgetSpent):
            raise value
        if isinstance(value, ProviderError):
            failed.append(value)
            unrated += len(batches[place])
            continue
        for one in value["ratings"]:
            if 1 <= one["number"] <= len(batches[place]):
                values.setdefault(starts[place] + one["number"] - 1, rating(one["rating"]))
    if failed and len(failed) == len(requests):
        raise failed[0]
    if failed:
        writer.notes.append(
            f"{unrated} of {len(found)} reports couldn't be rated, and were read: {failed[0]}"
        )
    count = writer.rating.model.count
    tokens = sum(count(message.text) for request in requests for message in request.messages)
    return [(report, values.get(place, KEEP)) for place, report in enumerate(found)], tokens


def _batches(question: str, found: Sequence[Report], writer: Writer) -> Iterator[list[str]]:
    """Yield the texts of reports as calls show them: a title and as much of a summary as fits, a few
    together, since each call has a prompt around them."""
    count = writer.rating.model.count
    room = writer.room(writer.prompt("rate"), {"question": question}, writer.rating)
    most = max(min(BATCH, writer.reply_tokens(writer.rating) // FOR_RATING), 1)
    part: list[str] = []
    for report in found:
        text = f"{report.title}\n{' '.join(report.summary.split())}"
        while count(_shown([text])) > room and len(text) > 40:
            text = text[: len(text) * 3 // 4]
        if part and (len(part) == most or count(_shown([*part, text])) > room):
            yield part
            part = []
        part.append(text)
    if part:
        yield part


def _shown(texts: Sequence[str]) -> str:
    return fence("\n\n".join(f"[{number}] {text}" for number, text in enumerate(texts, 1)))


def _request(question: str, texts: Sequence[str], writer: Writer) -> ChatRequest:
    messages = writer.prompt("rate").fill(reports=_shown(texts), question=question)
    return writer.request(messages, writer.rating, rated(len(texts)))


@dataclass(frozen=True, slots=True)
class Static:
    """What map-reduce without ratings would read, in tokens of prompts: over the reports of all deepest
    communities (``leaves`` of them), over those of the roots, and over all text of the notes."""

    leaves: int
    deepest: int
    roots: int
    text: int


def static_tokens(engine: Engine, writer: Writer, room: int, around: int) -> Static:
    """Return what static searches take on the terms of the one that was made: ``room`` tokens of context in a
    prompt, and ``around`` tokens of each prompt around them."""
    reader = engine.reader
    rows = reader.communities()
    parents = {row.parent for row in rows}
    leaves = [row for row in rows if row.community not in parents]
    roots = [row for row in rows if row.level == 0]

    def prompts(tokens: int) -> int:
        return tokens + around * -(-tokens // max(room, 1))

    def read(some: Sequence[Community]) -> int:
        found = reader.reports([row.community for row in _sample(some)])
        tokens = sum(writer.count(offer.text) + OVERHEAD for offer in full(found, engine))
        return prompts(round(tokens * len(some) / max(len(_sample(some)), 1)))

    chunks = range(reader.count("chunks"))
    texts = [writer.count(chunk.text) + OVERHEAD for chunk in reader.chunks(_sample(chunks))]
    whole = round(sum(texts) * len(chunks) / max(len(texts), 1))
    return Static(len(leaves), read(leaves), read(roots), prompts(whole))


def _sample(some: Sequence[Any]) -> Sequence[Any]:
    return some[:: max(len(some) // COUNTED, 1)]


def full(found: Sequence[Report], engine: Engine) -> list[Offer]:
    """Offer reports with all their findings, as a map call reads them."""
    return reports(found, engine, findings=1000)
