"""What Clew says to language models: a file for each prompt, here, which a folder of the user's replaces.

A file is Markdown. A line ``=== system ===`` (or ``user``, ``assistant``) begins a message; what stands
above the first of them is a remark for whoever reads the file. ``{{name}}`` is a placeholder. All are filled
in one pass, so that braces, dollars and placeholders in what is filled in stay as they are, as do all other
braces of the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import cast, get_args

from clew.errors import OptionError
from clew.types import ChatMessage, ChatRole

SUFFIX = ".md"
SPARED = "README"  # a folder's own notes on its prompts
ROLE = re.compile(rf"^===[ \t]*({'|'.join(get_args(ChatRole))})[ \t]*===[ \t]*$", re.MULTILINE)
PLACEHOLDER = re.compile(r"\{\{([a-z][a-z0-9_]*)\}\}")
LONE = re.compile(rf"^{PLACEHOLDER.pattern}\n+", re.MULTILINE)  # one on a line of its own
# What the chat templates of common models begin and end a turn with: in a note it would end ours.
TURN = re.compile(r"<(?=\||｜|/?(?:s|bos|eos|start_of_turn|end_of_turn|think)>)|\[(?=/?INST\])")
FENCE = 3  # brackets of a fence, at least
BRACKETS = re.compile(r"<{3,}|>{3,}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt's messages, with the names of their placeholders in order, each once.

    ``remark`` says what it is for; ``origin`` is the file, or "" for one of Clew's own.
    """

    name: str
    remark: str
    messages: tuple[ChatMessage, ...]
    placeholders: tuple[str, ...]
    origin: str = ""

    def fill(self, **values: str) -> tuple[ChatMessage, ...]:
        """Return the messages with each placeholder replaced by its value. Raises TypeError unless there is
        a value for each placeholder and no other. Messages that are empty then are left out."""
        if values.keys() != set(self.placeholders):
            raise TypeError(f"prompt {self.name} takes {self.placeholders}, not {tuple(values)}")
        texts = [(message.role, _filled(message.text, values)) for message in self.messages]
        return tuple(ChatMessage(role, text) for role, text in texts if text)


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Fill in one pass. An empty value takes the blank lines behind it along."""
    text = LONE.sub(lambda match: "" if values.get(match[1]) == "" else match[0], text)
    return PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), text).strip()


def names() -> list[str]:
    """Return the names of all prompts, sorted."""
    return sorted(
        item.name.removesuffix(SUFFIX) for item in files(__name__).iterdir() if item.name.endswith(SUFFIX)
    )


def source(name: str) -> str:
    """Return the text of Clew's own file. Raises OptionError if there is no such prompt."""
    if name not in names():
        raise _unknown(f"prompt {name!r}", name)
    return files(__name__).joinpath(name + SUFFIX).read_text(encoding="utf-8")


def load(name: str, folder: str | Path | None = None) -> Prompt:
    """Return a prompt: that of ``folder`` if it has one of this name, else Clew's own.

    Raises OptionError if the folder isn't there or has a file of no prompt's name, or if its prompt leaves
    out a placeholder of ours or has no message of the user's: a model that isn't told the question answers
    something all the same.
    """
    own = _parse(name, source(name))
    if folder is None or str(folder) == "":
        return own
    place = Path(folder).expanduser()
    _check_folder(place)
    file = place / (name + SUFFIX)
    if not file.is_file():
        return own
    try:
        found = _parse(name, file.read_text(encoding="utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        raise OptionError(
            str(file), f"it can't be read ({error})", "Make it UTF-8 text, or remove it"
        ) from error
    for placeholder in own.placeholders:
        if placeholder not in found.placeholders:
            raise OptionError(
                str(file),
                f"the placeholder {{{{{placeholder}}}}} is missing",
                f"Put it where its text shall stand; `clew prompts show {name}` shows ours",
            )
    if not any(message.role == "user" for message in found.messages):
        raise OptionError(
            str(file), "it has no message of the user", "Add a line === user === and the message"
        )
    # Other braces of this form are text.
    return replace(found, placeholders=own.placeholders)


def _parse(name: str, text: str, origin: str = "") -> Prompt:
    parts = ROLE.split(text.replace("\r\n", "\n"))
    if len(parts) == 1:
        parts = ["", "user", text]
    messages = []
    for role, body in zip(parts[1::2], parts[2::2], strict=True):
        if body.strip():
            messages.append(ChatMessage(cast(ChatRole, role), body.strip()))
    found = (name for message in messages for name in PLACEHOLDER.findall(message.text))
    remark = " ".join(parts[0].split())
    return Prompt(name, remark, tuple(messages), tuple(dict.fromkeys(found)), origin)


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise OptionError(
            str(folder), "there is no such folder of prompts", f"`clew prompts export {folder}` makes it"
        )
    known = {*names(), SPARED}
    for item in sorted(folder.glob("*" + SUFFIX)):
        if item.stem not in known:
            raise _unknown(str(item), item.stem)


def _unknown(thing: str, name: str) -> OptionError:
    near = get_close_matches(name, names(), n=1, cutoff=0.5)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    return OptionError(thing, "there is no prompt of that name", f"{hint}`clew prompts` lists them")


# --- data in prompts ---------------------------------------------------------------------------------


def fence(text: str) -> str:
    """Return a text between two lines of angle brackets: data, which a model is told to read, not to obey."""
    return fence_all([text])[0]


def fence_all(texts: Sequence[str]) -> list[str]:
    """Return texts, each between ``<<<`` and ``>>>`` on lines of their own.

    As many brackets are used as no text has in a row, so that none can end its fence. Marks by which chat
    templates end a turn are broken by a space.
    """
    safe = [TURN.sub(lambda match: match[0] + " ", text) for text in texts]
    longest = max((len(run) for text in safe for run in BRACKETS.findall(text)), default=FENCE - 1)
    size = longest + 1
    return [f"{'<' * size}\n{text}\n{'>' * size}" for text in safe]
