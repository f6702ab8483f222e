"""Chat requests and replies as OpenAI-compatible servers write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from clew.errors import ProviderBusy
from clew.prompts.shape import unbounded
from clew.text.subword import encodable
from clew.types import ChatReply, ChatRequest, Usage

# How JSON is asked for: by a schema, by one without bounds on lengths, as any object, or not at all.
Form = Literal["bounded", "schema", "object", "free"]
FORMS: tuple[Form, ...] = ("bounded", "schema", "object", "free")
_FINISH: dict[str, Literal["length", "refused"]] = {"length": "length", "content_filter": "refused"}


def body_of(
    request: ChatRequest, form: Form, limit: str = "max_tokens", *, warm: bool = True
) -> dict[str, Any]:
    """Return the request's body. ``limit`` is what the server calls the reply's greatest length; not
    ``warm``: it takes no temperature."""
    body: dict[str, Any] = {
        "messages": [{"role": one.role, "content": encodable(one.text)} for one in request.messages],
        limit: request.max_tokens,
    }
    if warm:
        body["temperature"] = request.temperature
    if request.schema is not None and form in ("bounded", "schema"):
        schema = request.schema if form == "bounded" else unbounded(request.schema)
        given = {"name": "reply", "schema": dict(schema), "strict": is_strict(schema)}
        body["response_format"] = {"type": "json_schema", "json_schema": given}
    elif request.schema is not None and form == "object":
        body["response_format"] = {"type": "json_object"}
    return body


def is_strict(schema: Any) -> bool:
    """Tell whether a schema is of the kind that OpenAI's strict mode takes: every object is closed, and all
    of its properties are required."""
    if isinstance(schema, list):
        return all(map(is_strict, schema))
    if not isinstance(schema, Mapping):
        return True
    if schema.get("type") == "object" or "properties" in schema:
        properties = schema.get("properties", {})
        if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(
            properties
        ):
            return False
    return all(map(is_strict, schema.values()))


def reply_of(found: Any, thing: str, estimate: Callable[[str], Usage]) -> ChatReply:
    """Return the reply in a server's answer. Raises ProviderBusy if there is none in it; ``estimate`` gives
    the usage of a reply where it isn't told."""
    choice = _first(found)
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        remedy = "Check that the URL is that of an OpenAI-compatible server"
        raise ProviderBusy(thing, "its answer holds no reply", remedy, sent=True)
    text, finish = text_of(message.get("content")), finish_of(choice.get("finish_reason"))
    refusal = message.get("refusal")
    if not text and isinstance(refusal, str) and refusal:
        text, finish = refusal, "refused"
    return ChatReply(text, usage_of(found) or estimate(text), finish)


def text_of(content: Any) -> str:
    """Return a message's text: a text, or parts some of which are texts."""
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(part for part in parts if isinstance(part, str))
    return ""


def finish_of(reason: Any) -> Literal["stop", "length", "refused"]:
    """Return why a reply ended."""
    return _FINISH.get(reason, "stop") if isinstance(reason, str) else "stop"


def usage_of(found: Any) -> Usage | None:
    """Return the tokens that an answer tells, None if it doesn't."""
    told = found.get("usage") if isinstance(found, Mapping) else None
    if isinstance(told, Mapping):
        prompt, reply = told.get("prompt_tokens"), told.get("completion_tokens")
        if isinstance(prompt, int) and isinstance(reply, int) and prompt >= 0 and reply >= 0:
            return Usage(prompt, reply)
    return None


def _first(found: Any) -> Any:
    choices = found.get("choices") if isinstance(found, Mapping) else None
    return choices[0] if isinstance(choices, list) and choices else None
