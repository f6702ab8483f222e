"""Whether a model answers in the language of the question, and once more where it doesn't.

A small model that reads notes in English answers a Ukrainian question in English, whatever it was told.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from clew.errors import ProviderError
from clew.text.language import UNKNOWN, detect, language_name
from clew.types import ChatReply

LETTERS = 60  # that a text has before it is judged: fewer may be names alone
# Languages so near to each other that statistics on a few words take one for another.
NEAR = tuple(
    frozenset(group.split())
    for group in (
        "uk ru be bg mk sr kk ky mn",
        "cs sk",
        "da nb nn no sv",
        "bs hr sl sr",
        "es gl pt ca an oc it",
        "id ms jv",
        "af nl lb de",
        "fa ar ur ps ug ku",
        "hi mr ne",
        "zh ja",
    )
)
Stream = Generator[str, None, ChatReply]


def other_language(wanted: str, text: str) -> str:
    """Return the code of the language that a text is in, if that isn't ``wanted`` for certain; else ""."""
    if not language_name(wanted) or sum(map(str.isalpha, text)) < LETTERS:
        return ""
    found = detect(text)
    near = any(wanted in group and found in group for group in NEAR)
    return "" if near or found in (wanted, UNKNOWN) or not language_name(found) else found


def in_language(wanted: str, stream: Stream, again: Callable[[str], Stream], notes: list[str]) -> Stream:
    """Yield an answer as it comes, once its beginning is in the language ``wanted``. One in another language
    is read to its end, so that it is kept, and asked for ``again`` with what to heed; what comes then is
    given, and noted if it is in another language too."""
    held, reply = yield from _begin(wanted, stream)
    if not held:
        return reply
    found = other_language(wanted, held)
    if found:
        name = language_name(wanted)
        held, reply = yield from _begin(
            wanted, again(f"Write the answer in {name}, not in {language_name(found)}.")
        )
        if other_language(wanted, held):
            notes.append(f"The model answered in {language_name(found)}, also when asked again for {name}.")
    if held:
        yield held
    return reply


def _begin(wanted: str, stream: Stream) -> Generator[str, None, tuple[str, ChatReply]]:
    """Yield an answer once its beginning is judged to be in the language wanted. Return the whole reply, with
    its text as far as that was held back: where it is in another language, or too short to be judged."""
    held, judged = "", False
    while True:
        try:
            piece = next(stream)
        except StopIteration as stop:
            return held, stop.value
        except ProviderError:
            if held:  # what came stays
                yield held
            raise
        if judged:
            yield piece
            continue
        held += piece
        if sum(map(str.isalpha, held)) >= LETTERS and not other_language(wanted, held):
            judged = True
            yield held
            held = ""
