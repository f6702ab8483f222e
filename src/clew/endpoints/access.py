"""Where a server is, and how to be let in. Keys and headers come from the environment alone: they are in no
file, no index, no name and no message."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from clew.errors import OptionError

KEY = "CLEW_LLM_KEY"
HEADERS = "CLEW_LLM_HEADERS"
OPENAI_KEY = "OPENAI_API_KEY"
OPENAI_URL = "OPENAI_BASE_URL"
OPENAI_HEADERS = "OPENAI_CUSTOM_HEADERS"
OPENAI_ACCOUNT = ("OpenAI-Organization", "OpenAI-Project")  # from OPENAI_ORG_ID, OPENAI_PROJECT_ID
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Access:
    """A server's base URL (None: the client's own), and what lets in; ``variable`` is where a key is looked
    for."""

    url: str | None
    key: str = field(repr=False)
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    variable: str = KEY

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must never be shown."""
        return tuple(part for part in (self.key, *(value for _, value in self.headers)) if len(part) > 3)

    @property
    def unwanted(self) -> tuple[str, ...]:
        """Headers that the client would take from the environment and that are another server's business."""
        if self.variable == OPENAI_KEY:
            return ()
        own = {name.lower() for name, _ in self.headers}
        lines = os.environ.get(OPENAI_HEADERS, "").split("\n")
        names = [line.partition(":")[0].strip() for line in lines if ":" in line]
        return tuple(name for name in (*OPENAI_ACCOUNT, *names) if name.lower() not in own)

    @property
    def is_loopback(self) -> bool:
        """Whether the server is on this machine."""
        return self.url is not None and urlsplit(self.url).hostname in LOOPBACK


def access_to(url: str | None, thing: str) -> Access:
    """Return the access to a server; ``None`` is OpenAI's. Raises OptionError.

    ``CLEW_LLM_KEY`` goes to whichever server was named; ``OPENAI_API_KEY`` only to OpenAI's, or to that of
    ``OPENAI_BASE_URL``, so that it isn't given to somebody else by a URL.
    """
    if url is not None:
        parts = urlsplit(url)
        if parts.username or parts.password:
            raise OptionError(thing, "its URL holds a password", f"Leave it out, and set {KEY}")
        if not parts.hostname:
            raise OptionError(thing, "its URL names no host", "Write http://HOST/v1#MODEL")
    key, headers = os.environ.get(KEY, ""), parse_headers(os.environ.get(HEADERS, ""))
    its_own = url is None or url.rstrip("/") == os.environ.get(OPENAI_URL, "").rstrip("/")
    if not key and its_own:
        key = os.environ.get(OPENAI_KEY, "")
    if url is None and not key:
        raise OptionError(
            thing, f"{OPENAI_KEY} isn't set", f"Set {OPENAI_KEY}, or name a server: http://HOST/v1#MODEL"
        )
    return Access(url, key, headers, OPENAI_KEY if its_own else KEY)


def parse_headers(text: str) -> tuple[tuple[str, str], ...]:
    """Return headers from ``Name: value`` lines or, in one line, parts between semicolons.

    Raises OptionError, which doesn't show them.
    """
    found = []
    for part in text.replace(";", "\n").splitlines():
        name, colon, value = part.partition(":")
        if not part.strip():
            continue
        if not colon or not name.strip() or not name.strip().isascii() or not value.strip().isascii():
            raise OptionError(HEADERS, "it can't be read", "Write 'Name: value; Other: value'")
        found.append((name.strip(), value.strip()))
    return tuple(found)
