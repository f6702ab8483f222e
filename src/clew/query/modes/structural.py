"""Structural: what is joined by typed edges. The question's form gives a pattern, its names fill it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

import numpy as np

from clew.options import AnswerOptions
from clew.query.bridge import mine
from clew.query.kinds import Judged, Name, judge_kind
from clew.query.limits import Limits
from clew.query.match import candidates, find_me, node_words, rows_of
from clew.query.model import Engine, Mode, Retrieval
from clew.query.paths import tell
from clew.query.pattern import parse
from clew.query.sayings import Sayings, tell_rows
from clew.query.space import Space
from clew.text.display import ended
from clew.types import Answer

# A form's pattern: ``$T`` is a tag and ``$X`` another name that the question has, ``me`` whoever asks.
PATTERNS = {
    "refs_tagged": "document -references-> * -tagged_with-> $T",
    "refs_name": "document -references-> $X",
    "name_refs": "$X -references-> *",
    "tagged": "document -tagged_with-> $T",
    "by_person": "document -authored_by-> $X",
    "replies": "$X <-replied_to- document",
    "same_tags": "$X -tagged_with-> tag <-tagged_with- document",
    "who_wrote": "person <-authored_by- document -mentions|references|tagged_with-> $X",
    "follow_about": "me -follows-> person <-authored_by- document -mentions|references|tagged_with-> $X",
    "my_saved": "document -saved_by-> me",
    "my_notes": "document -authored_by-> me",
    "i_follow": "me -follows-> person",
    "my_followers": "person -follows-> me",
    "follow_topics": "me -follows-> person <-authored_by- document -mentions|tagged_with-> *",
}
GROUPED = ("follow_topics",)  # answered by what the rows end at, that of most documents first
MOST_ROWS = 20_000  # that are counted for a grouped answer
SHOWN = 3  # documents and authors of a topic
TOPIC_SHARE = 0.5  # of the documents; what more of them speak of says nothing
WHO = 'Whose notes these are isn\'t known. Set it: --me NAME, CLEW_ME=NAME, or me = "NAME" in clew.toml.'


class Structural:
    """The rows of the pattern that the question asks for."""

    name = "structural"
    summary = "What is joined by typed edges, as it asks"

    def answer(self, question: str, engine: Engine, options: AnswerOptions) -> Answer:
        begin = time.perf_counter()
        judged = judge_kind(question, engine, self.name)
        said = Sayings()
        form = choose_form(judged, engine.space)
        if not form:
            reason = "No pattern of edges fits what the question names."
            return said.answer(question, self.name, reason, Retrieval((), (), False, reason))
        pattern = PATTERNS[form]
        if "me" in pattern.split() and not engine.me.strip():
            said.say(WHO)
            return said.answer(question, self.name, WHO, Retrieval((), (), False, WHO))
        rows = find_rows(engine, pattern, judged.names)
        if form in GROUPED:
            count = _say_topics(said, engine, list(islice(rows, MOST_ROWS)), options.sentences)
        else:
            some = list(islice(rows, options.sentences + 1))
            found = tell(engine.reader, [(0.0, *row) for row in some[: options.sentences]])
            tell_rows(said, found)
            count = len(some)
        shown = _shown(pattern, judged.names, engine.space)
        reason = f"The graph was asked: {shown}."
        if count > options.sentences:
            reason += f" There are more; `clew match '{shown}'` lists them."
        took = {"match": 1000 * (time.perf_counter() - begin)}
        return said.answer(
            question, self.name, reason, Retrieval((), (), True, reason, {"rows": count}, took)
        )


def choose_form(judged: Judged, space: Space) -> str:
    """Return the nearest form whose places the question's names can fill; "" if there is none. Names that
    are surely meant as such must all have a place."""
    tags = _tags(judged.names, space)
    others = [name for name in judged.names if name not in tags]
    sure = {name for name in judged.names if name.sure}
    for form in judged.forms:
        pattern = PATTERNS.get(form, "")
        takes_tag, takes_name = "$T" in pattern, "$X" in pattern
        if not pattern or (takes_tag and not tags) or (takes_name and not (others or tags)):
            continue
        if (sure.intersection(tags) and not (takes_tag or takes_name)) or (
            sure.intersection(others) and not takes_name
        ):
            continue
        return form
    return ""


def _tags(names: Sequence[Name], space: Space) -> list[Name]:
    """Return the names that are tags: written so, or borne by a tag alone."""
    tag = space.of_kind("tag")
    return [name for name in names if name.tag or bool(tag[list(name.nodes)].all())]


def _slot(names: Sequence[Name], space: Space, wanted: str) -> tuple[int, ...]:
    """Return the nodes that fill a place: of a tag the tags of that name alone."""
    tags = _tags(names, space)
    if wanted == "$T":
        kind = space.of_kind("tag")
        return tuple(node for node in tags[0].nodes if kind[node])
    others = [name for name in names if name not in tags] or tags
    return others[0].nodes


def find_rows(
    engine: Engine, pattern: str, names: Sequence[Name]
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Yield the rows of a form's pattern, nodes and edges, in the order of their nodes."""
    space = engine.space
    words = pattern.split()
    slots = [_nodes(engine, names, word) for word in words[::2]]
    plain = " ".join("*" if word in ("$T", "$X", "me") else word for word in words)
    read = parse(plain, node_words(space), space.graph.kinds)
    limits = Limits() if engine.scope is None else engine.scope.of_documents
    masks = candidates(space, read, slots, limits)
    for row in rows_of(space.graph, read, masks, limits):
        yield row.nodes, row.edges


def _nodes(engine: Engine, names: Sequence[Name], word: str) -> tuple[int, ...] | None:
    if word == "me":
        return find_me(engine.space, engine.me)
    return _slot(names, engine.space, word) if word in ("$T", "$X") else None


def _shown(pattern: str, names: Sequence[Name], space: Space) -> str:
    """Return the pattern as `clew match` takes it."""
    tags = _tags(names, space)
    others = [name for name in names if name not in tags] or tags
    tag = f"#{tags[0].text}" if tags else ""
    name = f'"{others[0].text}"' if others else ""
    return pattern.replace("$T", tag).replace("$X", name)


def _say_topics(
    said: Sayings, engine: Engine, rows: Sequence[tuple[tuple[int, ...], tuple[int, ...]]], most: int
) -> int:
    """Say what the rows end at, that which most of the documents before it speak of first, by documents ×
    idf; each with its latest documents. People whom documents speak to are no topics, where there are
    others."""
    documents: dict[int, dict[int, tuple[tuple[int, ...], tuple[int, ...]]]] = {}
    for nodes, edges in rows:
        documents.setdefault(nodes[-1], {}).setdefault(nodes[-2], (nodes[-3:], edges[-2:]))
    space = engine.space
    every = {row[0][-2] for row in rows}
    person = space.of_kind("person")
    documents = {node: found for node, found in documents.items() if not person[node]} or documents
    idf = np.log1p(space.n_chunks / np.maximum(space.node_df, 1))
    usual = max(TOPIC_SHARE * len(every), 1)
    sure = engine.reader.array("graph.node_confidence")
    topics = [node for node in documents if len(documents[node]) <= usual] or list(documents)
    topics.sort(key=lambda node: (-round(len(documents[node]) * float(idf[node] * sure[node]), 6), node))
    _, times = mine(space, ())
    for node in topics[:most]:
        count = len(documents[node])
        latest = sorted(documents[node], key=lambda at: (-int(times[at]), at))[:SHOWN]
        paths = tell(engine.reader, [(0.0, *documents[node][at]) for at in latest])
        notes = "1 note" if count == 1 else f"{count:,} notes"
        listed = "; ".join(path.nodes[1].name for path in paths)
        who = _by(documents[node].values(), space)
        text = ended(f"{paths[0].nodes[-1].name} — {notes} by {who}: {listed}")
        places = [step.view.evidence[0] for path in paths for step in path.steps[-1:] if step.view.evidence]
        said.say(text, places)
    return len(topics)


def _by(rows: Iterable[tuple[tuple[int, ...], tuple[int, ...]]], space: Space) -> str:
    """Return who wrote the documents of rows, whoever wrote most of them first."""
    count = Counter(nodes[0] for nodes, _ in rows)
    order = sorted(count, key=lambda node: (-count[node], node))
    name = space.node_names(order[:SHOWN])
    rest = len(order) - SHOWN
    return ", ".join(name[node] for node in order[:SHOWN]) + (f" and {rest} more" if rest > 0 else "")


def make() -> Mode:
    return Structural()
