"""A prompt for a small budget, made without any model: summaries, edges in words, and central notes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from clew.options import AnswerOptions, ContextOptions
from clew.prompts import load
from clew.query.cite import Citer
from clew.query.context import Count, Offer, edges, pack, reports
from clew.query.model import Engine, Retrieval
from clew.query.question import Closeness, Question, read_question
from clew.query.sources import Item, Place, about, lines_of, whole
from clew.query.themes import select
from clew.query.verbal import around
from clew.text.display import plain
from clew.types import Brief, BriefItem, Citation, Hit, Report

PASSAGES = 24  # hits whose notes are compared by how central they are
CANDIDATES = 3  # times as many notes are compared as are shown
SHARES = AnswerOptions(report_share=0.35, edge_share=0.2, text_share=0.45)
BYTES_PER_TOKEN = 3  # where there is no tokenizer: rather too many tokens than too few


def brief(question: str, engine: Engine, options: ContextOptions, folder: str = "") -> Brief:
    """Return a prompt for a question in at most ``options.budget`` tokens, with where each item is from."""
    count, tokenizer = counter(engine)
    asked = read_question(question, engine)
    found = engine.search(question, PASSAGES)
    prompt = load("context", folder)

    def shown(context: str) -> str:
        messages = prompt.fill(context=context, question=question)
        return "\n\n".join(message.text for message in messages)

    offers = offer(asked, found, engine, options)
    packed = pack(offers, max(options.budget - count(shown("")), 0), count, SHARES)
    text = shown(packed.text)
    while packed.items and count(text) > options.budget:  # counted together, it may take a little more
        packed = pack(offers, packed.tokens - (count(text) - options.budget), count, SHARES)
        text = shown(packed.text)
    items = tuple(BriefItem(i.number, i.kind, i.text, i.tokens, _cited(i)) for i in packed.items)
    return Brief(question, text, count(text), options.budget, tokenizer, items)


def offer(asked: Question, found: Retrieval, engine: Engine, options: ContextOptions) -> list[Offer]:
    """Return what may be packed for a question: summaries, edges in words, and snippets of central notes."""
    offers = _themes(asked, found.hits, engine, options.reports)
    named = [seed.position for seed in found.seeds if seed.kind == "node"]
    offers += edges(around([*named, *asked.named], found.hits, engine, options.edges))
    return offers + _notes(asked, found.hits, engine, options)


def counter(engine: Engine) -> tuple[Count, str]:
    """Return what counts tokens, and its name: the embedder's tokenizer, or an estimate by bytes."""
    if engine.embedder is None:
        return lambda text: -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_PER_TOKEN), "estimate"
    tokenizer = engine.embedder.tokenizer
    return lambda text: len(tokenizer.offsets([text])[0]), tokenizer.name


def _themes(asked: Question, hits: Sequence[Hit], engine: Engine, most: int) -> list[Offer]:
    if most < 1:
        return []
    chosen = select(asked, hits, Closeness(engine, asked.vector), engine, AnswerOptions().reports)
    found: list[Report] = [one.report for one in chosen.kept]
    return reports(found[:most], engine, findings=0)


def _notes(asked: Question, hits: Sequence[Hit], engine: Engine, options: ContextOptions) -> list[Offer]:
    """Offer the notes that are found first and are most central, each by its best passage's best lines."""
    best: dict[int, Hit] = {}
    for hit in hits:
        best.setdefault(hit.document.doc, hit)
    first = list(best.values())[: CANDIDATES * options.notes]
    rank = [float(engine.space.chunk_rank[hit.chunk.chunk]) for hit in first]  # its note's PageRank
    top, most = max((hit.score for hit in first), default=0.0) or 1.0, max(rank, default=0.0) or 1.0
    # A central note that is off the point is of no use: what it is found with counts as much.
    value = [hit.score / top * (1 + central / most) for hit, central in zip(first, rank, strict=True)]
    order = sorted(range(len(first)), key=lambda at: (-value[at], at))[: options.notes]
    out = []
    for hit in (first[at] for at in order):
        place, text = _snippet(whole(hit.chunk, hit.document), asked, engine, options.snippet)
        head = about(hit.document, hit.chunk)
        out.append(Offer("text", f"{head}\n{text}" if head else text, (place,), head))
    return out


def _snippet(place: Place, asked: Question, engine: Engine, most: int) -> tuple[Place, str]:
    """Return the lines around the one that holds most of the question, in at most ``most`` characters."""
    lines = lines_of(place)
    language = place.document.language
    value = [asked.share(asked.covered(engine.lexicon.terms(line.text, language))) for line in lines]
    low = high = max(range(len(lines)), key=lambda at: (value[at], -at))

    def text(a: int, b: int) -> str:
        return " ".join(line.text for line in lines[a : b + 1])

    while high + 1 < len(lines) and len(text(low, high + 1)) <= most:
        high += 1
    while low > 0 and len(text(low - 1, high)) <= most:
        low -= 1
    chosen = replace(place, start=lines[low].start, end=lines[high].end)
    shown = plain(text(low, high))
    if len(shown) > most:
        cut = shown.rfind(" ", most // 2, most - 1)
        shown = shown[: cut if cut > 0 else most - 1].rstrip() + "…"
    return chosen, shown


def _cited(item: Item) -> tuple[Citation, ...]:
    citer = Citer()
    for place in item.places:
        citer.at(place.chunk, place.document, place.start, place.end)
    return citer.citations
