"""The forms of replies: JSON schemas whose lists and texts have bounds.

A server that holds a model to a schema then makes it end: a small model that has begun to repeat itself comes
to the end of its text or list, and its reply is whole, instead of running until its tokens are used up. Where
nothing holds a model, what is longer is cut when it is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]
BOUNDS = ("maxItems", "maxLength")  # what not every server takes
SHORTEST = 40  # characters of a text that says something
WHOLE: Schema = {"type": "integer"}
NUMBER: Schema = {"type": "number"}


def string(most: int) -> Schema:
    """Return the form of a text of at most ``most`` characters.

    One more is let through, so that whoever reads it sees that it was cut, and cuts it between words.
    """
    return {"type": "string", "maxLength": most + 1}


def listed(items: Schema, most: int) -> Schema:
    return {"type": "array", "items": items, "maxItems": max(most, 1)}


def structure(**properties: Schema) -> Schema:
    """Return the form of an object that has all of these and nothing else."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


def unbounded(schema: Any) -> Any:
    """Return a schema without bounds, for a server that doesn't take them."""
    if isinstance(schema, list):
        return [unbounded(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    out = {key: unbounded(value) for key, value in schema.items() if key not in (*BOUNDS, "properties")}
    if "properties" in schema:  # one may be called as a bound is
        out["properties"] = {name: unbounded(one) for name, one in schema["properties"].items()}
    return out


def halved(schema: Any) -> Any:
    """Return a schema with half as many items and half as long texts, for a reply that its tokens didn't
    hold."""
    if isinstance(schema, list):
        return [halved(one) for one in schema]
    if not isinstance(schema, Mapping):
        return schema
    out = {key: halved(value) for key, value in schema.items() if key != "properties"}
    if "maxItems" in schema:
        out["maxItems"] = max(schema["maxItems"] // 2, 1)
    if "maxLength" in schema:
        out["maxLength"] = max(schema["maxLength"] // 2, min(schema["maxLength"], SHORTEST))
    if "properties" in schema:
        out["properties"] = {name: halved(one) for name, one in schema["properties"].items()}
    return out


def within(value: Any, schema: Any) -> Any:
    """Return a reply with lists and texts cut to their bounds."""
    if not isinstance(schema, Mapping):
        return value
    if isinstance(value, str):
        return value[: schema.get("maxLength")]
    if isinstance(value, list):
        return [within(one, schema.get("items")) for one in value[: schema.get("maxItems")]]
    if isinstance(value, dict):
        known = schema.get("properties", {})
        return {name: within(one, known.get(name)) for name, one in value.items()}
    return value
