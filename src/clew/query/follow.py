"""Follow-up questions: what a conversation leaves unsaid is put back, so that they can be looked up."""

from __future__ import annotations

from collections.abc import Sequence

from clew.errors import BudgetSpent, ProviderError
from clew.query.model import Engine
from clew.query.question import Closeness, Question, read_question
from clew.query.whole import asks_for_whole
from clew.query.writer import Writer
from clew.streams import Turn
from clew.text.tokens import normal_words
from clew.text.wording import is_everyday
from clew.types import ChatRequest

REPLY = 120  # tokens of a question
LONGEST = 500  # characters; a longer one is no question
CARRIED = 2  # names that are carried over
MENTIONS = 200  # of a name, that are looked at


def complete(question: str, turns: Sequence[Turn], engine: Engine, writer: Writer | None) -> str:
    """Return a question as it can be understood by itself; as it is, where there is nothing to add.

    A model rewrites it; without one, or where that fails, the names that the conversation is about are
    carried over. Raises BudgetSpent.
    """
    if not turns:
        return question
    if writer is not None:
        try:
            said = _rewritten(question, writer)
        except BudgetSpent:
            raise
        except ProviderError as error:
            writer.notes.append(f"The question couldn't be completed by the model: {error}")
        else:
            if said:
                return said
    return _carried(question, turns, engine)


def _rewritten(question: str, writer: Writer) -> str:
    prompt = writer.prompt("rewrite")
    room = writer.room(prompt, {"question": question})
    messages = prompt.fill(history=writer.told(room), question=question)
    reply = writer.caller.complete(ChatRequest(messages, REPLY), stage="rewrite")
    if reply.finish != "stop":
        return ""
    lines = [line.strip(" \t\"'“”«»") for line in reply.text.splitlines()]
    said = next((line for line in lines if line), "")
    return said if len(said) <= LONGEST and any(char.isalnum() for char in said) else ""


def _carried(question: str, turns: Sequence[Turn], engine: Engine) -> str:
    """Add the names of the last question, else of its answer, to one that names nothing by itself, or only
    something that stands in a passage with them ("and what about its lifetimes?")."""
    asked = read_question(question, engine)
    if not asked.words and not question.strip():
        return question
    if asks_for_whole(asked, engine, Closeness(engine, asked.vector)):
        return question
    before = _about(turns, engine)
    if not before or set(before) & set(asked.named):
        return question
    if asked.named and not (_short(asked) and _together(asked.named, before, engine)):
        return question
    names = dict.fromkeys(" ".join(node.name.split()) for node in engine.reader.nodes(before[:CARRIED]))
    return f"{question} ({', '.join(names)})"


def _about(turns: Sequence[Turn], engine: Engine) -> list[int]:
    """Return the nodes that the last question names, else those of its answer, else of the turn before."""
    for turn in reversed(turns):
        for text in (turn.question, turn.answer):
            named = read_question(text, engine).named if text.strip() else ()
            if named:
                return list(named)
    return []


def _short(asked: Question) -> bool:
    """Tell whether a question says nothing besides one name: its other words are everyday ones."""
    words = normal_words(asked.text)
    return len(asked.named) == 1 and len(words) - sum(is_everyday(words, [asked.language])) <= 1


def _together(some: Sequence[int], others: Sequence[int], engine: Engine) -> bool:
    def chunks(nodes: Sequence[int]) -> set[int]:
        found = (m for node in nodes for m in engine.reader.mentions(node=node, limit=MENTIONS))
        return {mention.chunk for mention in found}

    return bool(chunks(some) & chunks(others))
