"""What a language model is given to read: numbered items under a budget of tokens, most valuable first.

Each kind (reports, edges in words, passages) has a share of the budget. What a kind leaves goes to the
passages, and what these leave to the others again. A passage that doesn't fit is cut to the lines around
the one that holds most of the question.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from clew.options import AnswerOptions
from clew.prompts import fence
from clew.query.model import Engine
from clew.query.question import Question
from clew.query.sources import SEPARATOR, Item, ItemKind, Place, about, lines_of, places_at, whole
from clew.query.verbal import Spoken
from clew.text.display import plain
from clew.types import Hit, Report

LEAST = 24  # tokens of a passage that is cut; less says nothing
OVERHEAD = 4  # tokens of an item's number and line end, which join up otherwise than counted
FINDINGS = 4  # of a report, in a context where reports aren't all
ORDER: tuple[ItemKind, ...] = ("report", "edge", "text")
BESIDE: tuple[ItemKind, ...] = ("report", "edge")
Count = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Packed:
    """A context: its items in the order in which they stand, and the text that shows them."""

    items: tuple[Item, ...]
    text: str
    tokens: int

    def tokens_of(self, kind: ItemKind) -> int:
        return sum(item.tokens for item in self.items if item.kind == kind)


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that could be packed. ``shorten`` gives it in fewer tokens, or None."""

    kind: ItemKind
    text: str
    places: tuple[Place, ...]
    about: str = ""
    shorten: Callable[[int], Offer | None] | None = None


def pack(
    offers: Sequence[Offer],
    budget: int,
    count: Count,
    options: AnswerOptions,
    *,
    first: int = 1,
) -> Packed:
    """Pack offers, each kind's best first, numbered from ``first``. The text takes at most ``budget``
    tokens, whatever ``count`` says of texts put together."""
    shares: dict[ItemKind, float] = {
        "report": options.report_share,
        "edge": options.edge_share,
        "text": options.text_share,
    }
    by_kind = {kind: [offer for offer in offers if offer.kind == kind] for kind in ORDER}
    total = sum(shares[kind] for kind in ORDER if by_kind[kind]) or 1.0
    taken: dict[ItemKind, list[tuple[Offer, int]]] = {}
    left = budget - count(_shown([]))
    room = left
    for kind in BESIDE:
        mine = int(room * shares[kind] / total)
        taken[kind] = list(_take(by_kind[kind], min(mine, left), count))
        left -= sum(size for _, size in taken[kind])
    taken["text"] = list(_take(by_kind["text"], left, count))
    left -= sum(size for _, size in taken["text"])
    for kind in BESIDE:  # what the passages leave
        if shares[kind] > 0:
            more = list(_take(by_kind[kind][len(taken[kind]) :], left, count))
            taken[kind] += more
            left -= sum(size for _, size in more)
    chosen = [(offer, size) for kind in ORDER for offer, size in taken[kind]]
    return _numbered(chosen, budget, count, first)


def _take(offers: Iterable[Offer], budget: int, count: Count) -> Iterator[tuple[Offer, int]]:
    """Yield offers with their tokens until the budget is used; the last one may be shortened."""
    for offer in offers:
        size = count(offer.text) + OVERHEAD
        if size > budget:
            if offer.shorten is None or budget < LEAST + OVERHEAD:
                return
            short = offer.shorten(budget - OVERHEAD)
            if short is None:
                return
            offer, size = short, count(short.text) + OVERHEAD
            if size > budget:
                return
        budget -= size
        yield offer, size


def _numbered(chosen: list[tuple[Offer, int]], budget: int, count: Count, first: int) -> Packed:
    """Number what was chosen; drop the last of it while the whole is over the budget."""
    while True:
        items = tuple(
            Item(first + at, offer.kind, offer.text, size, offer.places, offer.about)
            for at, (offer, size) in enumerate(chosen)
        )
        text = _shown(items)
        tokens = count(text) if chosen else 0
        if tokens <= budget or not chosen:
            return Packed(items, text if chosen else "", tokens)
        chosen = chosen[:-1]


def _shown(items: Sequence[Item]) -> str:
    return fence("\n\n".join(f"[{item.number}] {item.text}" for item in items))


def shown(items: Sequence[Item]) -> str:
    """Return items as a prompt shows them, fenced."""
    return _shown(items) if items else ""


def batches(offers: Sequence[Offer], budget: int, count: Count, options: AnswerOptions) -> list[Packed]:
    """Pack all offers of one kind, in as many contexts as that takes; numbers go on from one to the next. One
    that doesn't fit even by itself is left out."""
    options = replace(options, report_share=1.0, edge_share=1.0)
    out: list[Packed] = []
    rest, number = list(offers), 1
    while rest:
        packed = pack(rest, budget, count, options, first=number)
        rest = rest[max(len(packed.items), 1) :]
        number += len(packed.items)
        if packed.items:
            out.append(packed)
    return out


# --- offers ------------------------------------------------------------------------------------------


def passages(hits: Sequence[Hit], asked: Question, engine: Engine, count: Count) -> list[Offer]:
    """Offer hits, in their order."""
    return [_passage(whole(hit.chunk, hit.document), asked, engine, count) for hit in hits]


def _passage(place: Place, asked: Question, engine: Engine, count: Count) -> Offer:
    head = about(place.document, place.chunk)
    text = _headed(head, place)

    def shorten(budget: int) -> Offer | None:
        cut = _cut(place, head, asked, engine, count, budget)
        return replace(_passage(cut, asked, engine, count), shorten=None) if cut else None

    return Offer("text", text, (place,), head, shorten)


def _cut(place: Place, head: str, asked: Question, engine: Engine, count: Count, budget: int) -> Place | None:
    """Return the lines around the one that holds most of the question, as many as fit, or None."""
    lines = lines_of(place)
    language = place.document.language
    value = [asked.share(asked.covered(engine.lexicon.terms(line.text, language))) for line in lines]
    low = high = max(range(len(lines)), key=lambda at: (value[at], -at))

    def fits(a: int, b: int) -> bool:
        return count(_headed(head, replace(place, start=lines[a].start, end=lines[b].end))) <= budget

    if not fits(low, high):
        return None
    while True:  # what follows a line says more on it than what stands before it
        if high + 1 < len(lines) and fits(low, high + 1):
            high += 1
        elif low > 0 and fits(low - 1, high):
            low -= 1
        else:
            return replace(place, start=lines[low].start, end=lines[high].end)


def _headed(head: str, place: Place) -> str:
    """Return a passage below its title and headings, without the heading that it begins with."""
    text = place.chunk.text[place.start : place.end].strip()
    first, _, rest = text.partition("\n")
    if first.startswith("#") and plain(first.lstrip("# ")) in head.split(SEPARATOR):
        text = rest.strip()
    return f"{head}\n{text}" if head else text


def edges(spoken: Sequence[Spoken]) -> list[Offer]:
    """Offer edges in words, each with the places that state it."""
    return [Offer("edge", one.text, one.places, one.text) for one in spoken if one.places]


def reports(found: Sequence[Report], engine: Engine, *, findings: int = FINDINGS) -> list[Offer]:
    """Offer reports with their findings; each has the places that these were taken from."""
    out = []
    found = [_within(report, engine) for report in found]
    spots = [[(f.chunk, f.start, f.end) for f in report.findings] for report in found]
    placed = iter(places_at([spot for group in spots for spot in group], engine))
    for report, group in zip(found, spots, strict=True):
        places = tuple(next(placed) for _ in group)
        if places:
            out.append(_report(report, places, findings))
    return out


def _within(report: Report, engine: Engine) -> Report:
    """Return a report of what passes the engine's filter: its findings there; its summary tells of all."""
    if engine.scope is None:
        return report
    passing = engine.scope.chunks
    kept = tuple(finding for finding in report.findings if passing[finding.chunk])
    return replace(report, summary="", findings=kept)


def _report(report: Report, places: tuple[Place, ...], findings: int) -> Offer:
    told = dict.fromkeys(plain(finding.text) for finding in report.findings[:findings])
    summary = " ".join(report.summary.split())
    lines = [" ".join(report.title.split()), summary, *(text for text in told if text not in summary)]
    text = "\n".join(line for line in lines if line)

    def shorten(budget: int) -> Offer | None:
        return _report(report, places, findings // 2) if findings > 0 else None

    return Offer("report", text, places, report.title, shorten)
