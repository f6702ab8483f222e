"""A server that does what real ones do at bad moments: for tests of whatever calls a language model.

It speaks the chat protocol of OpenAI on a loopback port, with and without streaming, and plays what it is
told, one act a request::

    with FaultServer([Busy(after=1), "Hello", Fault("reset")]) as server:
        model = make_llm(f"{server.url}#any", LlmOptions())

An act is a text, the reply; or a :class:`Fault`. When the acts are used up, the last one is played on.
"""

from __future__ import annotations

import json
import socket
import struct
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Literal, Self

Kind = Literal[
    "status",  # an answer with ``status``, and ``after`` as Retry-After
    "silence",  # no answer until the server is closed
    "reset",  # the connection is reset before there is an answer
    "closed",  # the connection is closed before there is an answer, as an idle one that was kept is
    "leaves",  # a reply, after which the kept connection is closed without a word
    "truncated",  # the answer ends in the middle of its body
    "garbage",  # an answer that is no JSON
    "breaks",  # a stream that breaks off after a few pieces (without streaming: truncated)
    "unfinished",  # a stream that ends properly, but without saying that the reply is over
    "endless",  # text without an end, whatever max_tokens says
    "drip",  # an answer whose bytes come so slowly that it never ends
]
PIECE = 4  # characters of a streamed piece
BROKEN_AFTER = 3  # pieces
ENDLESS_TEXT = "and so on "
DRIP_SECONDS = 0.05
NOT_FOUND = {"error": {"message": "not found"}}


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that goes wrong. An answer with an error has ``status``, ``after`` (its Retry-After),
    ``message`` and ``code``."""

    kind: Kind
    status: int = 500
    after: str | None = None
    message: str = "something is wrong"
    code: str | None = None


def busy(after: float | str | None = None) -> Fault:
    """Return a 429; ``after`` is its Retry-After, in seconds or as a date; None: it says none."""
    return Fault("status", 429, str(after) if after is not None else None, "Rate limit reached")


def error(status: int = 500, message: str = "something is wrong", code: str | None = None) -> Fault:
    """Return an answer with an error."""
    return Fault("status", status, None, message, code)


Act = str | Fault | Mapping[str, Any]
Play = Sequence[Act] | Callable[[dict[str, Any]], Act]


@dataclass(slots=True)
class Seen:
    """What a server has been sent: bodies of chat requests in order, and their headers by lower-case name."""

    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    connections: int = 0


class FaultServer:
    """The server. ``url`` ends in ``/v1``; ``seen`` holds what it was sent. Use it as a context manager.

    ``acts`` may be a function of the request's body. An act that is a mapping is the answer's whole body.
    ``models`` is what ``/v1/models`` and Ollama's ``/api/tags`` list; ``refuses`` names what of a request it
    answers with 400 to (``response_format``, ``json_schema``, a schema's word as ``maxLength``,
    ``temperature``, ``stream_options``, ``max_tokens``); ``facts`` are further answers by path.
    """

    def __init__(
        self,
        acts: Play = ("Hello.",),
        *,
        models: Sequence[str] = ("any",),
        refuses: Sequence[str] = (),
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.seen = Seen()
        self.models = tuple(models)
        self.refuses = tuple(refuses)
        self.facts = dict(facts or {})
        self.closing = threading.Event()
        self.open: list[socket.socket] = []
        self._acts = acts
        self._lock = threading.Lock()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def root(self) -> str:
        """The address without ``/v1``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The base URL."""
        return f"{self.root}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop, and end the answers that are under way."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        for connection in self.open:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)

    def act(self, body: dict[str, Any], headers: dict[str, str]) -> Act:
        """Note a request and return what to play."""
        with self._lock:
            number = len(self.seen.requests)
            self.seen.requests.append(body)
            self.seen.headers.append(headers)
        refused = self._refused(body)
        if refused:
            return error(400, f"Unsupported parameter: '{refused}' isn't supported with this model")
        if callable(self._acts):
            return self._acts(body)
        return self._acts[min(number, len(self._acts) - 1)]

    def _refused(self, body: dict[str, Any]) -> str:
        form = body.get("response_format", {})
        kind, words = form.get("type", ""), json.dumps(form)
        return next((one for one in self.refuses if one in body or one == kind or f'"{one}":' in words), "")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: FaultServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that go away are part of the play."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept
    server: _Server

    def setup(self) -> None:
        super().setup()
        self.server.owner.seen.connections += 1
        self.server.owner.open.append(self.connection)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        owner = self.server.owner
        told = {
            "/v1/models": {
                "object": "list",
                "data": [{"id": name, "object": "model"} for name in owner.models],
            },
            "/api/tags": {"models": [{"name": name} for name in owner.models]},
        } | owner.facts
        self._json(
            told.get(self.path, {"error": {"message": "not found"}}), 200 if self.path in told else 404
        )

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        owner = self.server.owner
        if not self.path.endswith("/chat/completions"):
            found = owner.facts.get(self.path)
            found = found(body) if callable(found) else found
            self._json(found or NOT_FOUND, 200 if found else 404)
            return
        act = owner.act(body, {name.lower(): value for name, value in self.headers.items()})
        if isinstance(act, Fault):
            self._fault(act, body)
        elif isinstance(act, str):
            self._reply(act, body)
        else:
            self._json(dict(act))

    # --- what goes well ---

    def _reply(self, text: str, body: dict[str, Any]) -> None:
        most = PIECE * int(body.get("max_tokens") or body.get("max_completion_tokens") or 1 << 20)
        finish = "stop" if len(text) <= most else "length"
        if body.get("stream"):
            self._start_stream()
            for start in range(0, min(len(text), most), PIECE):
                self._piece(text[start : min(start + PIECE, most)])
            self._end_stream(text[:most], finish, body)
        else:
            self._json(_whole(text[:most], finish, body))

    def _json(self, found: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> None:
        data = json.dumps(found).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _start_stream(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()

    def _event(self, found: Any) -> None:
        data = f"data: {found if isinstance(found, str) else json.dumps(found)}\n\n".encode()
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _piece(self, text: str) -> None:
        choice = {"index": 0, "delta": {"content": text}, "finish_reason": None}
        self._event({"id": "1", "object": "chat.completion.chunk", "model": "any", "choices": [choice]})

    def _end_stream(self, text: str, finish: str, body: dict[str, Any]) -> None:
        choice = {"index": 0, "delta": {}, "finish_reason": finish}
        base = {"id": "1", "object": "chat.completion.chunk", "model": "any"}
        self._event({**base, "choices": [choice]})
        if (body.get("stream_options") or {}).get("include_usage"):
            self._event({**base, "choices": [], "usage": _usage(text, body)})
        self._event("[DONE]")
        self.wfile.write(b"0\r\n\r\n")

    # --- what doesn't ---

    def _fault(self, fault: Fault, body: dict[str, Any]) -> None:
        {
            "status": self._status,
            "silence": self._silence,
            "reset": self._reset,
            "closed": self._close,
            "leaves": self._leave,
            "truncated": self._truncated,
            "garbage": self._garbage,
            "breaks": self._breaks,
            "unfinished": self._unfinished,
            "endless": self._endless,
            "drip": self._drip,
        }[fault.kind](fault, body)

    def _status(self, fault: Fault, body: dict[str, Any]) -> None:
        told = {"message": fault.message, "type": "error", "code": fault.code}
        headers = {"Retry-After": fault.after} if fault.after is not None else {}
        self._json({"error": told}, fault.status, headers)

    def _silence(self, fault: Fault, body: dict[str, Any]) -> None:
        self.server.owner.closing.wait()
        self.close_connection = True

    def _reset(self, fault: Fault, body: dict[str, Any]) -> None:
        # With no time to linger, closing sends RST instead of FIN.
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._close(fault, body)

    def _close(self, fault: Fault, body: dict[str, Any]) -> None:
        self.close_connection = True
        self.connection.close()

    def _leave(self, fault: Fault, body: dict[str, Any]) -> None:
        self._reply("Well then.", body)
        self.close_connection = True

    def _truncated(self, fault: Fault, body: dict[str, Any]) -> None:
        data = json.dumps(_whole("This reply never arrives whole.", "stop", body)).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[: len(data) // 2])
        self.close_connection = True

    def _garbage(self, fault: Fault, body: dict[str, Any]) -> None:
        data = b"<html>Bad gateway</html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _breaks(self, fault: Fault, body: dict[str, Any]) -> None:
        if not body.get("stream"):
            self._truncated(fault, body)
            return
        self._start_stream()
        for _ in range(BROKEN_AFTER):
            self._piece("and ")
        self._close(fault, body)

    def _unfinished(self, fault: Fault, body: dict[str, Any]) -> None:
        if not body.get("stream"):
            self._truncated(fault, body)
            return
        self._start_stream()
        for _ in range(BROKEN_AFTER):
            self._piece("and ")
        self.wfile.write(b"0\r\n\r\n")

    def _endless(self, fault: Fault, body: dict[str, Any]) -> None:
        if body.get("stream"):
            self._start_stream()
            while not self.server.owner.closing.is_set():
                self._piece(ENDLESS_TEXT)
            return
        self._start_stream()
        self._chunk(b'{"choices": [{"message": {"content": "')
        while not self.server.owner.closing.is_set():
            self._chunk(ENDLESS_TEXT.encode() * 1000)

    def _drip(self, fault: Fault, body: dict[str, Any]) -> None:
        self._start_stream()
        while not self.server.owner.closing.wait(DRIP_SECONDS):
            if body.get("stream"):
                self._piece("a ")
            else:
                self._chunk(b" ")

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()


def _usage(text: str, body: dict[str, Any]) -> dict[str, int]:
    asked = sum(len(str(one.get("content"))) for one in body.get("messages", ())) // PIECE + 1
    told = len(text) // PIECE + 1
    return {"prompt_tokens": asked, "completion_tokens": told, "total_tokens": asked + told}


def _whole(text: str, finish: str, body: dict[str, Any]) -> dict[str, Any]:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish}
    base = {"id": "1", "object": "chat.completion", "model": body.get("model")}
    return {**base, "choices": [choice], "usage": _usage(text, body)}
