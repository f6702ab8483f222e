"""Every exception that Clew raises on purpose.

::

    ClewError                     base of all; carries ``thing``, ``reason``, ``remedy``; exit code 1
    ├── UsageError                what was asked can't be meant (exit code 2)
    │   ├── OptionError           a value out of range, or an unknown name or key
    │   ├── PatternError          a pattern of `clew match` that can't be read
    │   └── NotFound              a note, entity or folder that isn't there
    ├── SourceError               a source that can't be read at all (exit code 3)
    ├── IndexFileError            (exit code 4)
    │   ├── NoIndex               there is no index where one was looked for
    │   ├── BadIndex              the file isn't an index, or is damaged
    │   ├── IndexTooNew           written by a newer version
    │   ├── IndexTooOld           written with a schema that is no longer read
    │   └── IndexMismatch         made with another embedder than the one asked for
    ├── PublishError              the new index can't be written; the old one is whole (exit code 5)
    └── ProviderError             a model or its endpoint fails (exit code 6)
        ├── ProviderDown          no call can go well: no server, no key, no such model, no credit
        ├── ProviderBusy          the same call may go well a little later
        │   └── ProviderSlow      there was no answer in time
        └── BudgetSpent           the next call would go over the budget

A problem with one document is never an exception that leaves a stage: it is a
:class:`clew.types.Problem`, collected and shown at the end of the run.
"""

from __future__ import annotations

import re

# Within a URL: who logs in and by what password, and values of parameters that are called like keys.
_LOGIN = re.compile(r"(?<=://)[^/?#\s@'\"]+@")
_KEY = re.compile(
    r"([?&][\w.-]*(?:key|token|secret|passw(?:or)?d|sig(?:nature)?)=)[^&#\s'\"]+", re.IGNORECASE
)


def masked(text: str) -> str:
    """Return a text without the passwords and keys that URLs in it hold."""
    if "://" not in text:
        return text
    return _KEY.sub(r"\1…", _LOGIN.sub("…@", text))


class ClewError(Exception):
    """An error that names the thing, the reason and the remedy, none of them with a password."""

    exit_code = 1

    def __init__(self, thing: str, reason: str, remedy: str = "") -> None:
        thing, reason, remedy = masked(thing), masked(reason), masked(remedy)
        self.thing = thing
        self.reason = reason
        self.remedy = remedy
        super().__init__(thing, reason, remedy)

    def __str__(self) -> str:
        text = f"{self.thing}: {self.reason}" if self.thing else self.reason
        return f"{text}. {self.remedy}" if self.remedy else text


class UsageError(ClewError):
    """What was asked can't be meant."""

    exit_code = 2


class OptionError(UsageError):
    """An option's value is out of range, or a name or key is unknown."""


class PatternError(UsageError):
    """A pattern of ``clew match`` can't be read; ``picture`` is the pattern with carets below the wrong
    word."""

    def __init__(self, reason: str, remedy: str, picture: str) -> None:
        super().__init__("pattern", reason, remedy)
        self.picture = picture

    def __str__(self) -> str:
        return f"{super().__str__()}\n{self.picture}"


class NotFound(UsageError):
    """A note, an entity or a folder that was named isn't there."""


class SourceError(ClewError):
    """A whole source can't be read."""

    exit_code = 3


class IndexFileError(ClewError):
    """Something is wrong with an index file."""

    exit_code = 4


class NoIndex(IndexFileError):
    """There is no index where one was looked for."""


class BadIndex(IndexFileError):
    """The file isn't a Clew index, or it is damaged."""


class IndexTooNew(IndexFileError):
    """The index was written by a newer version of Clew."""


class IndexTooOld(IndexFileError):
    """The index was written with a schema that is no longer read; the remedy is the command that makes it
    anew."""


class IndexMismatch(IndexFileError):
    """The index was made with another embedder than the one asked for."""


class PublishError(ClewError):
    """The new index can't be written; the published one is still whole."""

    exit_code = 5


class ProviderError(ClewError):
    """A model, or the endpoint that serves it, fails."""

    exit_code = 6


class ProviderDown(ProviderError):
    """No call can go well for now: there is no server, the key is refused, it has no such model or no
    credit."""


class ProviderBusy(ProviderError):
    """A call failed in a way that passes: too many requests, an overloaded or restarting server, a lost
    connection, no answer in time. ``after`` is how many seconds the server asks to wait, None if it doesn't
    say; ``sent`` tells that the model may have worked on the call, so that it may have to be paid."""

    def __init__(
        self, thing: str, reason: str, remedy: str = "", *, after: float | None = None, sent: bool = False
    ) -> None:
        super().__init__(thing, reason, remedy)
        self.after = after
        self.sent = sent


class ProviderSlow(ProviderBusy):
    """There was no answer in time: the call may go well later, but it has taken long already."""


class BudgetSpent(ProviderError):
    """The next call to a model would go over the budget that was given."""
