"""JSON out of a model's reply: found, repaired, and compared with its schema.

Models put it into fences, write prose around it, leave a comma at the end, or are cut in the middle of it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from clew.calls.thoughts import without_thoughts
from clew.prompts.shape import halved, within
from clew.registry import require
from clew.types import ChatMessage, ChatReply, ChatRequest

if TYPE_CHECKING:
    from jsonschema.protocols import Validator

FAULTS_TOLD = 5  # to the model: more would be a second prompt
FAULT_CHARS = 200
SHOWN_CHARS = 2000  # of the reply that is shown to the model again
_FENCED = re.compile(r"```[\w-]*[ \t]*\r?\n(.*?)(?:```|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reply held: its JSON, what is wrong with it (empty: nothing), and whether it had to be
    mended."""

    value: Any
    faults: tuple[str, ...] = ()
    repaired: bool = False


def need_packages() -> None:
    """Raise OptionError, naming the extra, if what reads replies isn't installed."""
    for module in ("json_repair", "jsonschema"):
        require(module, "a language model's replies", "llm")


def read_json(text: str, schema: Mapping[str, Any]) -> Reading:
    """Return the JSON in a reply that follows the schema best: as it is, else found within it, else mended.

    A reading with faults has what came nearest as its value.
    """
    try:
        return _judge(_parse(text), schema, repaired=False)
    except (ValueError, RecursionError):
        pass
    nearest = Reading(None, ("the reply holds no JSON",))
    for value in _candidates(without_thoughts(text), schema):
        reading = _judge(value, schema, repaired=True)
        if not reading.faults:
            return reading
        if nearest.value is None:
            nearest = reading
    return nearest


def ask_again(
    request: ChatRequest, reply: ChatReply, faults: tuple[str, ...], *, shown: bool = True
) -> ChatRequest:
    """Return the request that tells the model what is wrong with its reply, and shows it that. Of a reply
    that was cut half as much is asked."""
    told = "\n".join(f"- {fault}" for fault in faults[:FAULTS_TOLD])
    cut = " It was cut at its greatest length: be shorter." if reply.finish == "length" else ""
    text = (
        f"That reply can't be used.{cut} What is wrong:\n{told}\n"
        "Answer again with the corrected JSON alone, no other text."
    )
    # Chat formats of some models take no two messages of the user in a row.
    said = reply.text[:SHOWN_CHARS] if shown and reply.text else "…"
    messages = (*request.messages, ChatMessage("assistant", said), ChatMessage("user", text))
    schema = halved(request.schema) if reply.finish == "length" else request.schema
    return ChatRequest(messages, request.max_tokens, request.temperature, schema)


def _judge(value: Any, schema: Mapping[str, Any], *, repaired: bool) -> Reading:
    """Compare with the schema, cut to its bounds; a list of one is taken for what is in it where that alone
    follows it."""
    cut = within(value, schema)
    faults = _faults(cut, schema)
    if faults and isinstance(value, list) and len(value) == 1:
        only = within(value[0], schema)
        if not _faults(only, schema):
            return Reading(_tidy(only), (), True)
    return Reading(_tidy(cut), faults, repaired)


def _faults(value: Any, schema: Mapping[str, Any]) -> tuple[str, ...]:
    try:
        found = sorted(_validator(json.dumps(schema, sort_keys=True)).iter_errors(value), key=_depth)
    except RecursionError:
        return ("it is nested too deep",)
    return tuple(f"{error.json_path}: {error.message}"[:FAULT_CHARS] for error in found[:FAULTS_TOLD])


def _depth(error: Any) -> tuple[int, str, str]:
    return len(error.absolute_path), error.json_path, error.message


@lru_cache(maxsize=64)
def _validator(schema: str) -> Validator:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(schema))


def _candidates(text: str, schema: Mapping[str, Any]) -> Iterator[Any]:
    """Yield values that the text may mean, the likeliest first: what parses, then what can be mended, then
    that of what was cut which is certain."""
    parts = [match[1] for match in _FENCED.finditer(text)] + [text]
    for part in parts:
        yield from _parsed(part)
    for part in parts:
        start = _first_bracket(part)
        if start >= 0:
            mended = _mend(part[start:])
            if isinstance(mended, dict | list):
                yield mended
                for certain in (_filled(mended, schema), _filled(_without_last(mended), schema)):
                    if not isinstance(certain, dict) or any(certain.values()):  # an empty one says nothing
                        yield certain


def _filled(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return a reply that was cut with the lists that it hadn't come to left empty."""
    if isinstance(value, dict):
        known = schema.get("properties", {})
        lists = [name for name in schema.get("required", ()) if known.get(name, {}).get("type") == "array"]
        value = {name: one for name, one in value.items() if name in known}  # a name may be half, too
        value |= {name: [] for name in lists if not isinstance(value.get(name), list)}
    return value


def _without_last(value: Any) -> Any:
    """Return a value without the last item of the outermost list that it ends in: it may be half."""
    if isinstance(value, list):
        return value[:-1]
    if isinstance(value, dict) and value:
        last = next(reversed(value))
        return {**value, last: _without_last(value[last])}
    return value


def _parsed(text: str) -> Iterator[Any]:
    """Yield the objects and lists that stand in the text as they should."""
    at = _first_bracket(text)
    while at >= 0:
        try:
            value, end = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            return  # the rest of a broken one isn't what was meant
        yield value
        at = _first_bracket(text, end)


def _mend(text: str) -> Any:
    import json_repair

    try:
        return json_repair.loads(text, skip_json_loads=True)
    except (ValueError, RecursionError, IndexError):  # text that is anything at all
        return None


def _first_bracket(text: str, start: int = 0) -> int:
    found = [at for at in (text.find("{", start), text.find("[", start)) if at >= 0]
    return min(found, default=-1)


def _parse(text: str) -> Any:
    return json.loads(text, parse_constant=_no_constant)


def _no_constant(name: str) -> None:
    """``NaN`` and ``Infinity`` are no JSON: nothing that a schema means."""


_DECODER = json.JSONDecoder(parse_constant=_no_constant)


def _tidy(value: Any) -> Any:
    """Return the value with lone surrogates, which an escape can make, replaced."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, list):
        return [_tidy(one) for one in value]
    if isinstance(value, dict):
        return {_tidy(key): _tidy(one) for key, one in value.items()}
    return value
