"""A language model's answer on the screen, as it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.cli.screen import clean, write
from clew.errors import BudgetSpent, ProviderError

if TYPE_CHECKING:
    from clew.streams import AnswerStream
    from clew.types import Answer

WITHOUT = "`--llm none` answers without a model"


def show(stream: AnswerStream) -> Answer:
    """Write an answer's text as it comes, and return the answer.

    Where it breaks off, the line is ended, and what has come stays. Raises ProviderError, which says then how
    to ask without a model.
    """
    try:
        for piece in stream:
            write(clean(piece))
        found = stream.answer
    except ProviderError as error:
        _end(stream)
        reason = f"{error.reason}; the answer breaks off" if stream.text else error.reason
        remedy = f"{error.remedy}. {WITHOUT}" if error.remedy else WITHOUT
        kind = BudgetSpent if isinstance(error, BudgetSpent) else ProviderError
        raise kind(error.thing, reason, remedy) from error
    except BaseException:  # Ctrl-C, a reader that has gone: the terminal's line is ended all the same
        stream.close()
        _end(stream)
        raise
    if not found.text:
        unsupported = "The notes support nothing of what the model said."
        write(unsupported if found.left_out else "The notes hold nothing on this question.")
    write("\n")
    return found


def _end(stream: AnswerStream) -> None:
    if stream.text and not stream.text.endswith("\n"):
        write("\n")
