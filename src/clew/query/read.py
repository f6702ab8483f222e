"""An answer that a language model writes from passages, and from what stands around them."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from clew.query.around import nodes_around
from clew.query.context import Offer, edges, pack, passages, reports
from clew.query.model import Engine, Retrieval
from clew.query.points import Point, pack_points
from clew.query.question import Closeness, Question, Relevance, judge, read_question
from clew.query.sources import Item
from clew.query.themes import select
from clew.query.verbal import around
from clew.query.writer import Writer, language_for, nothing
from clew.types import Answer, Node

EDGES = 40  # that are offered; as many are packed as their share holds
REPORTS = 6
PROMPT = "answer"


def read(
    question: str, mode: str, retrieval: Retrieval, engine: Engine, writer: Writer, *, graph: bool = False
) -> Generator[str, None, Answer]:
    """Let the model answer from the hits; with ``graph`` also from the edges and the reports around them.

    Where the notes hold nothing on the question the model isn't asked: it would make something up.
    """
    asked = read_question(question, engine)
    closeness = Closeness(engine, asked.vector)
    relevance = judge(asked, retrieval.hits, engine, closeness)
    if not readable(asked, relevance, retrieval, engine):
        return nothing(question, mode, relevance, retrieval)
    offers = passages(retrieval.hits, asked, engine, writer.count)
    named = [seed.position for seed in retrieval.seeds if seed.kind == "node"]
    if graph:
        offers += surroundings(asked, named, retrieval, closeness, engine, writer)
    prompt = writer.prompt(PROMPT)
    values = {"question": question, "language": language_for(asked.language)}
    room = writer.room(prompt, values)
    values["history"] = writer.told(int(room * writer.options.history_share))
    packed = pack(offers, room - writer.count(values["history"]), writer.count, writer.options)
    messages = prompt.fill(context=packed.text, **values)
    related = nodes_around(retrieval.hits, engine, named, writer.options.related)
    return (
        yield from writer.write(
            question, mode, messages, packed, engine, retrieval, related, language=asked.language
        )
    )


def readable(asked: Question, relevance: Relevance, retrieval: Retrieval, engine: Engine) -> bool:
    """Tell whether there is anything for a model to read: passages that are about the question, or any, if
    it is asked in a language in which there are no notes, so that its words tell nothing."""
    if not retrieval.hits:
        return False
    return relevance.found or asked.language not in engine.reader.meta.get("languages", {})


def surroundings(
    asked: Question,
    named: Sequence[int],
    retrieval: Retrieval,
    closeness: Closeness,
    engine: Engine,
    writer: Writer,
) -> list[Offer]:
    """Offer the edges of what the question names, and the reports that the hits belong to."""
    offers = []
    if writer.options.edge_share > 0:
        offers += edges(around([*named, *asked.named], retrieval.hits, engine, EDGES))
    if writer.options.report_share > 0:
        chosen = select(asked, retrieval.hits, closeness, engine, writer.options.reports)
        offers += reports([one.report for one in chosen.kept[:REPORTS]], engine)
    return offers


def reduce(
    question: str,
    mode: str,
    points: Sequence[Point],
    items: Sequence[Item],
    asked: Question,
    engine: Engine,
    retrieval: Retrieval,
    related: Sequence[Node],
    writer: Writer,
) -> Generator[str, None, Answer]:
    """Let the model answer from points that were found before, best first."""
    prompt = writer.prompt("reduce")
    values = {"question": question, "language": language_for(asked.language)}
    room = writer.room(prompt, values)
    values["history"] = writer.told(int(room * writer.options.history_share))
    packed = pack_points(points, items, room - writer.count(values["history"]), writer.count)
    messages = prompt.fill(context=packed.text, **values)
    return (
        yield from writer.write(
            question, mode, messages, packed, engine, retrieval, related, language=asked.language
        )
    )
