"""Models of Ollama (https://ollama.com), on this machine or where ``OLLAMA_HOST`` says: ``ollama:MODEL``.

Chat goes through its OpenAI-compatible endpoint (extra ``llm``); what it has, and how much a model reads at
once, is asked in its own way.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from threading import Lock
from typing import Any
from urllib.parse import urlsplit

from clew.endpoints.access import KEY, Access, access_to
from clew.endpoints.chat import ChatEndpoint
from clew.errors import OptionError, ProviderDown, ProviderError
from clew.options import LlmOptions
from clew.registry import require

HOST = "OLLAMA_HOST"
CONTEXT = "OLLAMA_CONTEXT_LENGTH"
PORT = 11434
# What Ollama gives a model unless told otherwise; more where it finds much graphics memory. Prompts that are
# longer are cut without a word, so less is better than more here.
DEFAULT_WINDOW = 4096
LISTED = 12  # models in an error
_SET_CONTEXT = re.compile(r"^\s*num_ctx\s+(\d+)", re.MULTILINE)


class Ollama(ChatEndpoint):
    """A model of Ollama."""

    def __init__(self, model: str, root: str, access: Access, options: LlmOptions) -> None:
        super().__init__(f"ollama:{model}", model, access, options)
        self._root = root
        self._checking = Lock()
        self._checked = False

    def check(self) -> None:
        """Raise ProviderError if Ollama isn't running or hasn't the model; it is asked once."""
        with self._checking:
            if self._checked:
                return
            with self._explained():
                found: Any = self._client.get(f"{self._root}/api/tags", cast_to=object)
            have = _names(found)
            if have is not None and not _has(have, self._model):
                listed = ", ".join(sorted(have)[:LISTED]) + (", …" if len(have) > LISTED else "")
                raise ProviderDown(
                    f"Ollama at {self._root}",
                    f"no model {self._model!r}; you have {listed or 'none'}",
                    f"`ollama pull {self._model}`",
                )
            self._checked = True

    def not_there(self) -> ProviderError:
        """Return the error for an Ollama that doesn't answer."""
        return ProviderDown(
            "Ollama", f"it isn't running at {self._root}", f"Start it with `ollama serve`, or set {HOST}"
        )

    def learn_window(self) -> int:
        """Return what the model reads at once as Ollama runs it: as it is loaded, else as its file or the
        environment says, else Ollama's default."""
        running = self.get(f"{self._root}/api/ps")
        for one in _models(running) or []:
            value = one.get("context_length")
            if (
                one.get("name") in (self._model, f"{self._model}:latest")
                and isinstance(value, int)
                and value > 0
            ):
                return value
        shown = self._show()
        told = _SET_CONTEXT.search(str(shown.get("parameters", "")))
        said = os.environ.get(CONTEXT, "") if self._access.is_loopback else ""
        window = int(told[1]) if told else int(said) if said.isdecimal() and int(said) else DEFAULT_WINDOW
        facts = shown.get("model_info")
        facts = facts if isinstance(facts, Mapping) else {}
        trained = [value for key, value in facts.items() if str(key).endswith(".context_length")]
        return min([window, *(value for value in trained if isinstance(value, int) and value > 0)])

    def _show(self) -> Mapping[str, Any]:
        try:
            found: Any = self._client.post(
                f"{self._root}/api/show", cast_to=object, body={"model": self._model}
            )
        except Exception:  # an old Ollama, or none: the first call will tell
            return {}
        return found if isinstance(found, Mapping) else {}


def _models(found: Any) -> list[Mapping[str, Any]] | None:
    listed = found.get("models") if isinstance(found, Mapping) else None
    return [one for one in listed if isinstance(one, Mapping)] if isinstance(listed, list) else None


def _names(found: Any) -> set[str] | None:
    """Return the names of the models that Ollama has; None if it doesn't tell."""
    listed = _models(found)
    return {str(one.get("name") or one.get("model")) for one in listed} if listed is not None else None


def _has(have: set[str], model: str) -> bool:
    wanted = model.lower()
    names = {name.lower() for name in have}
    return wanted in names or f"{wanted}:latest" in names


def root_of(host: str) -> str:
    """Return Ollama's address from ``OLLAMA_HOST``, which may lack scheme and port. Raises OptionError.

    An address to listen at (0.0.0.0) is one to ask at this machine.
    """
    given = host.strip().rstrip("/")
    if not given:
        return f"http://127.0.0.1:{PORT}"
    try:
        parts = urlsplit(given if "://" in given else f"http://{given}")
        port = parts.port
    except ValueError as error:
        raise OptionError(HOST, f"{host!r} is no address ({error})", f"Write 127.0.0.1:{PORT}") from error
    name = {"0.0.0.0": "127.0.0.1", "::": "::1", None: "127.0.0.1"}.get(parts.hostname, parts.hostname)
    name = f"[{name}]" if name and ":" in name else name
    if port is None:
        port = PORT if "://" not in given else {"http": 80, "https": 443}.get(parts.scheme, PORT)
    return f"{parts.scheme}://{name}:{port}{parts.path.rstrip('/')}"


def make(argument: str, options: LlmOptions) -> Ollama:
    """Return the model. Raises OptionError: none is named, the package is missing, a wrong address."""
    thing = f"language model 'ollama:{argument}'"
    if not argument:
        raise OptionError(thing, "it names no model", "Write ollama:MODEL; `ollama list` shows them")
    require("openai", thing, "llm")
    root = root_of(os.environ.get(HOST, ""))
    access = access_to(f"{root}/v1", thing)
    return Ollama(argument, root, access, options)


__all__ = ["KEY", "Ollama", "make", "root_of"]
