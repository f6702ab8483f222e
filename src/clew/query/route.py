"""Which mode answers a question, by signals that hold in any language."""

from __future__ import annotations

from clew.query.model import Engine
from clew.query.question import Closeness, read_question
from clew.query.whole import asks_for_whole

SHOWN = 3


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
