"""Temporal: what was written in a time, what of late connects to long ago, how a theme came and went."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.options import AnswerOptions
from clew.query.bridge import find_bridges, mine
from clew.query.cite import cite_all
from clew.query.kinds import Name, judge_kind
from clew.query.limits import Mask
from clew.query.match import find_me
from clew.query.model import Engine, Mode, Retrieval
from clew.query.question import language_of
from clew.query.sayings import Sayings, chain
from clew.query.when import Span, spans_in
from clew.text.display import plain
from clew.text.units import units
from clew.types import UNDATED, Answer, Citation, Longs

DAY = 86_400
RECENT, OLDER = 7 * DAY, 180 * DAY  # what is late and long ago, where the question doesn't say
CHARS = 160  # of a document's beginning that is told


class Temporal:
    """Documents by their times, and by those at which they were saved."""

    name = "temporal"
    summary = "What was written when, and how themes went"

    def answer(self, question: str, engine: Engine, options: AnswerOptions) -> Answer:
        begin = time.perf_counter()
        judged = judge_kind(question, engine, self.name)
        spans = spans_in(question, engine.now, language_of(question, engine))
        me = find_me(engine.space, engine.me) if engine.me.strip() else ()
        owned, times = mine(engine.space, me)
        if engine.scope is not None:
            owned &= engine.scope.nodes
        form = judged.forms[0] if judged.forms else "bridge" if len(spans) > 1 else "window"
        if form == "window" and not spans:
            form = "trend"
        said = Sayings()
        if form == "bridge":
            reason = _say_bridges(said, engine, owned, times, me, spans, options.sentences)
        elif form == "window":
            reason = _say_window(said, engine, owned, times, judged.names, spans[0], options.sentences)
        elif form == "trend" and judged.names:
            reason = _say_trend(said, engine, owned, times, judged.names)
        else:
            reason = "The question names no time that could be told, and nothing whose times could be."
        took = {"times": 1000 * (time.perf_counter() - begin)}
        return said.answer(
            question, self.name, reason, Retrieval((), (), bool(said.sentences), reason, {}, took)
        )


def _say_bridges(
    said: Sayings,
    engine: Engine,
    owned: Mask,
    times: Longs,
    me: Sequence[int],
    spans: Sequence[Span],
    most: int,
) -> str:
    """Say what joins documents of the latest time that the question names with those of the earliest."""
    ordered = sorted(spans, key=lambda span: span[1])
    late = (
        ordered[-1] if ordered and ordered[-1][1] >= engine.now - OLDER else (engine.now - RECENT, engine.now)
    )
    early = ordered[0] if ordered and ordered[0] != late else (UNDATED + 1, engine.now - OLDER)
    dated = owned & (times != UNDATED)
    recent = dated & (times >= late[0]) & (times <= late[1])
    older = dated & (times >= early[0]) & (times <= early[1]) & ~recent
    for row in find_bridges(engine.space, times, recent, older, most, me):
        places = [step.view.evidence[0] for step in row.path.steps if step.view.evidence]
        dates = f"{row.recent.name} ({_day(row.recent_at)}) and {row.older.name} ({_day(row.older_at)})"
        said.say(f"{dates}: {chain(row.path.steps)}", places)
    since = "the beginning" if early[0] < -(10**12) else _day(early[0])
    spoken = f"{_day(late[0])} to {_day(late[1])} with those from {since} to {_day(early[1])}"
    return f"Documents from {spoken} were compared: {int(recent.sum()):,} with {int(older.sum()):,}."


def _say_window(
    said: Sayings, engine: Engine, owned: Mask, times: Longs, names: Sequence[Name], span: Span, most: int
) -> str:
    """Say the documents of a time, the latest first."""
    inside = owned & (times != UNDATED) & (times >= span[0]) & (times <= span[1])
    about = inside & _about(engine, names) if names else inside
    # A word that is a tag's name too may be meant as a word.
    inside = about if about.any() or any(name.sure for name in names) else inside
    found = np.flatnonzero(inside)
    order = found[np.lexsort((found, -times[found]))]
    shown = order[:most].tolist()
    for node, place in zip(engine.reader.nodes(shown), _beginnings(engine, shown), strict=True):
        told = _told(node.name, place) if place is not None else node.name
        said.say(f"{_day(int(times[node.node]))} {told}", [place.citation] if place is not None else [])
    return f"{len(order):,} documents are from {_day(span[0])} to {_day(span[1])}."


def _say_trend(said: Sayings, engine: Engine, owned: Mask, times: Longs, names: Sequence[Name]) -> str:
    """Say when the first and the last document speaks of a name, and when most do."""
    about = owned & (times != UNDATED) & _about(engine, names)
    found = np.flatnonzero(about)
    if not len(found):
        return f"No document with a date speaks of “{names[0].text}”."
    order = found[np.lexsort((found, times[found]))]
    ends = [int(order[0]), int(order[-1])]
    first, last = engine.reader.nodes(ends)
    cited = [[place.citation] if place is not None else [] for place in _beginnings(engine, ends)]
    theme = names[0].text
    said.say(f"{theme} comes first in {first.name}, {_day(int(times[ends[0]]))}.", cited[0])
    if len(order) > 1:
        said.say(f"It comes last in {last.name}, {_day(int(times[ends[1]]))}.", cited[1])
        years = [_day(int(time))[:4] for time in times[order].tolist()]
        counted = ", ".join(f"{years.count(year):,} in {year}" for year in dict.fromkeys(years))
        said.say(f"{len(order):,} documents speak of it: {counted}.")
    return f"The documents that speak of “{theme}” were ordered by their times; `clew activity` shows more."


def _about(engine: Engine, names: Sequence[Name]) -> Mask:
    """Tell which document nodes (N,) speak of the first name, or are joined to it."""
    space = engine.space
    which = np.array(names[0].nodes, dtype=np.int64)
    docs = np.zeros(len(space.reader.array("documents.created_at")), dtype=bool)
    for node in which.tolist():
        docs[space.chunk_doc[space.chunks_of(node)]] = True
    doc = space.reader.array("graph.node_doc")
    mask = (doc >= 0) & docs[np.maximum(doc, 0)] if len(docs) else doc >= 0
    entry, _ = space.graph.side(space.graph.kinds.index("tagged_with"), False).entries(which)
    mask[space.graph.side(space.graph.kinds.index("tagged_with"), False).other[entry]] = True
    return np.asarray(mask)


@dataclass(frozen=True, slots=True)
class _Beginning:
    """The first passage of a document, cited, and its sentences."""

    citation: Citation
    text: str


def _beginnings(engine: Engine, nodes: Sequence[int]) -> list[_Beginning | None]:
    """Return the first passage of each document node."""
    doc = engine.reader.array("graph.node_doc")
    first = np.searchsorted(engine.space.chunk_doc, doc[list(nodes)])
    known = [int(at) for at in first if at < engine.space.n_chunks]
    chunks = {chunk.doc: chunk for chunk in engine.space.chunks(sorted(set(known)))}
    documents = engine.space.documents(chunks)
    at = [chunks.get(int(doc[node])) for node in nodes]
    cited = cite_all(engine.reader, [[(one.chunk, one.start, one.end)] for one in at if one is not None])
    places = iter(cited)
    found: list[_Beginning | None] = []
    for chunk in at:
        if chunk is None:
            found.append(None)
            continue
        markdown = documents[chunk.doc].media_type == "markdown"
        said = [plain(chunk.text[one.start : one.end]) for one in units(chunk.text, markdown=markdown)]
        found.append(_Beginning(next(places)[0], " ".join(said)))
    return found


def _told(name: str, beginning: _Beginning) -> str:
    """Return a document's name and how it begins; of one that is called by its beginning, that alone."""
    text = beginning.text
    if len(text) > CHARS:
        cut = text.rfind(" ", 0, CHARS)
        text = f"{text[: cut if cut > 0 else CHARS]} …"
    if not text or text.startswith(name.rstrip("… ")):
        return text or name
    return f"{name} — {text}"


def _day(seconds: int) -> str:
    """Return a time as its day (UTC)."""
    if abs(seconds) > 10**11:
        return "?"
    return str(np.datetime64(seconds, "s").astype("datetime64[D]"))


def make() -> Mode:
    return Temporal()
