"""What a client's exceptions mean: whether to try again, and what a person can do."""

from __future__ import annotations

from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from clew.errors import ProviderBusy, ProviderDown, ProviderError, ProviderSlow

if TYPE_CHECKING:
    import openai

REASON_CHARS = 300  # of a server's own words
PASSING = frozenset({408, 409, 425, 429})  # besides 500 and more
NOT_PASSING = frozenset({501, 505})
NO_CREDIT = ("insufficient_quota", "billing_hard_limit_reached", "insufficient credit", "payment required")
TOO_LONG = (
    "context_length_exceeded",
    "exceed_context_size",
    "context length",
    "context size",
    "context window",
)
TRANSPORT = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "h11", "anyio", "ssl"})


def explain(
    error: Exception, thing: str, key_variable: str, seconds: float, secrets: tuple[str, ...] = ()
) -> ProviderError:
    """Return the error that a client's exception means, without ``secrets``, which servers may echo.

    ``seconds`` is how long an answer was waited for; ``key_variable`` where the key comes from.
    """
    import openai

    if isinstance(error, ProviderError):
        return error
    if isinstance(error, openai.APIStatusError):
        return _status(error, thing, key_variable, secrets)
    if isinstance(error, openai.APITimeoutError) or "Timeout" in type(error).__name__:
        remedy = "Try again later, allow more with --llm-timeout, or use a smaller model"
        return ProviderSlow(thing, f"no answer within {seconds:g} seconds", remedy, sent=True)
    if is_transport(error):
        return _lost(error, thing)
    if isinstance(error, ValueError):  # of a body that is no JSON
        remedy = "Check that the URL is that of an OpenAI-compatible server (it usually ends in /v1)"
        return ProviderBusy(thing, "its answer can't be read as JSON", remedy, sent=True)
    return ProviderError(thing, reason_of(error, secrets), "See the server's log for the cause")


def is_transport(error: BaseException) -> bool:
    """Tell whether an exception is one of the network, whichever library raised it."""
    import openai

    module = type(error).__module__.partition(".")[0]
    return isinstance(error, openai.APIConnectionError | OSError) or module in TRANSPORT


def _lost(error: BaseException, thing: str) -> ProviderError:
    chain: BaseException | None = error
    names: list[str] = []
    while chain is not None and len(names) < 10:
        names.append(type(chain).__name__)
        chain = chain.__cause__ or chain.__context__
    remedy = "Check that the server runs and that the URL is right"
    if any(
        name in ("ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror") for name in names
    ):
        return NotReached(thing, "nothing answers there", remedy)
    return ProviderBusy(thing, "the connection was lost", remedy, sent=True)


class NotReached(ProviderBusy):
    """No connection came about."""


def _status(
    error: openai.APIStatusError, thing: str, key_variable: str, secrets: tuple[str, ...]
) -> ProviderError:
    status, reason = error.status_code, reason_of(error, secrets)
    said = f"{error.code or ''} {reason}".lower()
    if status in (401, 403):
        return ProviderDown(thing, f"the key was refused ({reason})", f"Set {key_variable} to a valid key")
    if status == 402 or (status == 429 and any(word in said for word in NO_CREDIT)):
        return ProviderDown(
            thing, f"the account has no credit left ({reason})", "Top it up, or use another model"
        )
    if any(word in said for word in TOO_LONG) or status == 413:
        return TooLong(
            thing, f"the request is too long for the model ({reason})", "Use a model with a larger window"
        )
    if status in PASSING or (status >= 500 and status not in NOT_PASSING):
        words = "it takes no more calls for now" if status == 429 else f"it failed with status {status}"
        remedy = "Try again later" if status != 429 else "Try again later, or use --requests-per-minute"
        return ProviderBusy(thing, f"{words} ({reason})", remedy, after=retry_after(error.response.headers))
    if status == 404:
        return ProviderDown(thing, reason, "Check the model's name and the URL (it usually ends in /v1)")
    return Refused(thing, reason, "See the server's documentation", status)


class TooLong(ProviderError):
    """The prompt and the reply don't fit the model's window."""


class Refused(ProviderError):
    """The server doesn't take a request as it is."""

    def __init__(self, thing: str, reason: str, remedy: str, status: int) -> None:
        super().__init__(thing, reason, remedy)
        self.status = status


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds a server asks to wait, in milliseconds, seconds or as a date; a date counts
    from the server's own."""
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) * unit)
        except ValueError:
            pass
        try:
            until, now = parsedate_to_datetime(value), parsedate_to_datetime(headers.get("date", ""))
            return max(0.0, (until - now).total_seconds())
        except (TypeError, ValueError):
            continue
    return None


def reason_of(error: Any, secrets: tuple[str, ...] = ()) -> str:
    """Return what a server said, on one line and without secrets."""
    body = getattr(error, "body", None)
    text = str(error)
    if isinstance(body, Mapping):
        inner = body.get("error", body)
        said = inner.get("message") if isinstance(inner, Mapping) else inner
        text = said if isinstance(said, str) and said else text
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    return " ".join(text.split())[:REASON_CHARS].rstrip(".") or type(error).__name__
