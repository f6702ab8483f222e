"""Which mode answers a question, by signals that hold in any language."""

from __future__ import annotations

from dataclasses import dataclass

from clew.query.kinds import Judged, judge_kind, worded_for
from clew.query.model import Engine
from clew.query.question import Closeness, read_question
from clew.query.whole import asks_for_whole

SHOWN = 3
STRUCTURAL = ("relational", "structural", "temporal")
ASKS = {
    "relational": "on how {names} are connected",
    "structural": "on who or what a kind of edge joins",
    "temporal": "about a time",
    "global": "on the whole",
}
TOLD = {"vectors": "It reads like a question", "words": "It is worded like a question"}


@dataclass(frozen=True, slots=True)
class Route:
    """The mode for a question, and why, as a sentence. ``judged`` is what kind of question it is."""

    mode: str
    why: str
    judged: Judged | None = None


def choose(question: str, engine: Engine) -> Route:
    """Return the mode for a question.

    One that is clearly relational, structural or temporal has a mode of its own. For all others the graph
    decides, as :func:`route` tells; where it finds nothing to start from, one that clearly asks for the
    whole is global.
    """
    mode, why = route(question, engine)
    judged = judge_kind(question, engine)
    if judged.kind in STRUCTURAL and judged.clear:
        return Route(judged.kind, _why(judged), judged)
    whole = judged.kind == "global" and judged.clear and mode == "basic"
    whole = whole and not (judged.by == "words" and _picks(question, engine))
    if whole and engine.reader.count("reports"):
        return Route("global", _why(judged), judged)
    return Route(mode, why, judged)


def _picks(question: str, engine: Engine) -> bool:
    """Tell whether a word of the question picks some of the passages, and is none with which one asks for
    the whole."""
    asking = worded_for("global")
    words = read_question(question, engine).words
    return any(word.telling and word.known and word.name not in asking for word in words)


def _why(judged: Judged) -> str:
    names = " and ".join(f"“{name.text}”" for name in judged.names[:2])
    return f"{TOLD[judged.by]} {ASKS[judged.kind].format(names=names or 'things')}."


def route(question: str, engine: Engine) -> tuple[str, str]:
    """Return the mode for a question, and why, as a sentence.

    A question of which nothing picks a part of the notes asks for the whole; one that names what the
    notes define goes to the graph; any other is a matter of passages.
    """
    asked = read_question(question, engine)
    if not asked.words:
        return "basic", "The question has no words to look for."
    whole = asks_for_whole(asked, engine, Closeness(engine, asked.vector))
    if whole and engine.reader.count("reports"):
        return "global", "Nothing in the question picks a part of the notes, so it is about the whole."
    if asked.named:
        nodes = engine.reader.nodes(list(asked.named[:SHOWN]))
        listed = ", ".join(dict.fromkeys(f"“{node.name}”" for node in nodes))
        return (
            "local",
            f"The question names {listed}, which the notes define, so the graph is walked from there.",
        )
    return "basic", "The question names nothing that the notes define, so its passages are searched for."
