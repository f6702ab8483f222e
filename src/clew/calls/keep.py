"""Replies under the hash of what was asked, and how they are written."""

from __future__ import annotations

import json

import msgspec

from clew.ids import content_hash
from clew.types import ChatReply, ChatRequest

# Part of the key: raise it when a kept reply must not be given any more for the same request.
VERSION = 1


def key_of(model: str, request: ChatRequest, kind: str = "text") -> str:
    """Return the key of the reply to a request. ``kind`` keeps JSON that has been checked apart from text as
    it came."""
    asked = [
        VERSION,
        kind,
        model,
        [[message.role, message.text] for message in request.messages],
        request.max_tokens,
        request.temperature,
        request.schema,
    ]
    # Lone surrogates, which notes may hold, are escaped.
    return content_hash(json.dumps(asked, ensure_ascii=True, sort_keys=True).encode("ascii"))


def encode_reply(reply: ChatReply) -> bytes:
    """Return a reply as bytes; a lone surrogate, which has none, is replaced."""
    text = reply.text.encode("utf-8", "replace").decode("utf-8")
    return msgspec.json.encode(ChatReply(text, reply.usage, reply.finish))


def decode_reply(data: bytes) -> ChatReply:
    """Return the reply. Raises ValueError."""
    return msgspec.json.decode(data, type=ChatReply)
