"""``clew.toml``, the environment and flags become options, and every value remembers where it came from.

Precedence, highest first: a flag, a ``CLEW_*`` variable, the nearest ``clew.toml``, the default in
:mod:`clew.options`. Keys, variables and flags are made from the dataclass fields there, so a new
option needs no line here: field ``size`` of section ``chunk`` is ``size`` under ``[chunk]`` in the
file, ``CLEW_CHUNK_SIZE`` in the environment, and ``--chunk-size`` on the command line.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_type_hints

from clew.errors import OptionError
from clew.options import (
    PREFIX,
    AnswerOptions,
    ContextOptions,
    IndexOptions,
    LlmOptions,
    SearchOptions,
    WhoOptions,
    flag_of,
    one_of,
    variable_of,
)

CONFIG_NAME = "clew.toml"
# Variables that name no option: the index file, tracebacks, and what may stand in no file and no list.
OTHER_VARIABLES = {
    "CLEW_INDEX": "the index to read",
    "CLEW_DEBUG": "show tracebacks",
    "CLEW_NOW": "the moment that --since 7d counts from",
    "CLEW_LLM_KEY": "the key of a language model's server",
    "CLEW_LLM_HEADERS": "further headers for a language model's server",
}

Kind = Literal["int", "float", "bool", "str", "list"]
_KINDS: dict[Any, Kind] = {int: "int", float: "float", bool: "bool", str: "str", tuple[str, ...]: "list"}
_KIND_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "str": "a text",
    "list": "a list of texts",
}


@dataclass(frozen=True, slots=True)
class Setting:
    """One option: its key (``section.field``), kind, default, help, range (inclusive; None: open), what
    stands for a value in help (empty: that of its kind), and the values that it may have (empty: any)."""

    key: str
    kind: Kind
    default: Any
    help: str
    low: float | None
    high: float | None
    metavar: str = ""
    choices: tuple[str, ...] = ()

    @property
    def variable(self) -> str:
        """The environment variable, for example ``CLEW_CHUNK_SIZE``."""
        return variable_of(self.key)

    @property
    def flag(self) -> str:
        """The flag, for example ``--chunk-size``; one-letter options have one dash."""
        return flag_of(self.key)


@dataclass(frozen=True, slots=True)
class Value:
    """A value and where it came from: ``default``, a file's path, a variable or a flag."""

    value: Any
    origin: str


@dataclass(frozen=True, slots=True)
class Settings:
    """Every known key with its value. ``config`` is the file that was read; ``warnings`` is for stderr."""

    values: Mapping[str, Value]
    config: Path | None
    warnings: tuple[str, ...] = ()

    def __getitem__(self, key: str) -> Any:
        return self.values[key].value

    def index_options(self) -> IndexOptions:
        """Return what decides an index's content."""
        options: IndexOptions = _build(IndexOptions, "", self.values)
        return options

    def search_options(self) -> SearchOptions:
        options: SearchOptions = _build(SearchOptions, "search.", self.values)
        return options

    def who_options(self) -> WhoOptions:
        options: WhoOptions = _build(WhoOptions, "", self.values)
        return options

    def answer_options(self) -> AnswerOptions:
        options: AnswerOptions = _build(AnswerOptions, "answer.", self.values)
        return options

    def context_options(self) -> ContextOptions:
        options: ContextOptions = _build(ContextOptions, "context.", self.values)
        return options

    def llm_options(self) -> LlmOptions:
        options: LlmOptions = _build(LlmOptions, "llm.", self.values)
        return options


@cache
def known() -> Mapping[str, Setting]:
    """Return every setting by key, in the order of :mod:`clew.options`."""
    found: dict[str, Setting] = {}
    sections: tuple[tuple[str, type[Any]], ...] = (
        ("", IndexOptions),
        ("search.", SearchOptions),
        ("answer.", AnswerOptions),
        ("context.", ContextOptions),
        ("llm.", LlmOptions),
        ("", WhoOptions),
    )
    for prefix, options in sections:
        _collect(prefix, options, found)
    return found


def _collect(prefix: str, options: type[Any], found: dict[str, Setting]) -> None:
    hints = get_type_hints(options)
    for item in fields(options):
        default = item.default if item.default is not MISSING else None
        if is_dataclass(default):
            _collect(f"{prefix}{item.name}.", type(default), found)
            continue
        found[prefix + item.name] = Setting(
            prefix + item.name,
            _KINDS[hints[item.name]],
            default,
            str(item.metadata.get("help", "")),
            item.metadata.get("low"),
            item.metadata.get("high"),
            str(item.metadata.get("metavar", "")),
            tuple(item.metadata.get("choices", ())),
        )


def _build(options: type[Any], prefix: str, values: Mapping[str, Value]) -> Any:
    made: dict[str, Any] = {}
    for item in fields(options):
        if is_dataclass(item.default):
            made[item.name] = _build(type(item.default), f"{prefix}{item.name}.", values)
        else:
            made[item.name] = values[prefix + item.name].value
    return options(**made)


def find_config(starts: Iterable[Path]) -> Path | None:
    """Return the first ``clew.toml`` in one of the folders or, going up, in their parents."""
    for start in starts:
        folder = start.absolute()
        for place in (folder, *folder.parents):
            candidate = place / CONFIG_NAME
            if candidate.is_file():
                return candidate
    return None


def load(
    starts: Iterable[Path] = (),
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Return the settings in force.

    ``starts`` are the folders from which ``clew.toml`` is looked for upwards, the first find counts;
    ``flags`` maps keys to the values given on the command line (None: not given).
    Raises OptionError for an unreadable file, an unknown key, a wrong kind, or a value out of range.
    """
    environ = os.environ if environ is None else environ
    values = {key: Value(setting.default, "default") for key, setting in known().items()}
    config = find_config(starts)
    if config is not None:
        for key, raw in _read(config).items():
            values[key] = Value(_check(known()[key], raw, f"{config}: {key}"), str(config))
    for setting in known().values():
        text = environ.get(setting.variable)
        if text is not None:
            values[setting.key] = Value(_parse(setting, text), setting.variable)
    for key, given in (flags or {}).items():
        if given is not None:
            values[key] = Value(_check(known()[key], given, known()[key].flag), known()[key].flag)
    return Settings(values, config, tuple(_strangers(environ)))


def _read(config: Path) -> dict[str, Any]:
    """Return a file's values by dotted key. Raises OptionError."""
    try:
        table = tomllib.loads(config.read_bytes().decode("utf-8"))
    except OSError as error:
        reason = error.strerror or str(error)
        raise OptionError(str(config), reason, "Make it readable, or move it away.") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise OptionError(str(config), f"not valid TOML ({error})", "Correct it, or move it away.") from error
    found: dict[str, Any] = {}
    _flatten(table, "", found)
    for key in found:
        if key not in known():
            raise OptionError(f"{config}: {key}", "no such option", _nearest(key, known()))
    return found


def _flatten(table: Mapping[str, Any], prefix: str, found: dict[str, Any]) -> None:
    for name, value in table.items():
        if isinstance(value, dict) and prefix + name not in known():
            _flatten(value, f"{prefix}{name}.", found)
            if not value and not any(key.startswith(f"{prefix}{name}.") for key in known()):
                found[prefix + name] = value
        else:
            found[prefix + name] = value


def _nearest(key: str, candidates: Iterable[str]) -> str:
    names = list(candidates)
    near = get_close_matches(key, names, n=1, cutoff=0.5)
    if not near:  # the right field in the wrong section, or in none
        last = key.rpartition(".")[2]
        near = [name for name in names if name.rpartition(".")[2] == last][:1]
    if near:
        return f"Did you mean {near[0]}?"
    return "`clew settings` lists the options."


def _parse(setting: Setting, text: str) -> Any:
    """Turn a variable's text into the setting's kind."""
    value: Any = text
    try:
        if setting.kind == "int":
            value = int(text)
        elif setting.kind == "float":
            value = float(text)
    except ValueError:
        pass  # _check names the kind that was expected
    if setting.kind == "bool":
        value = {"1": True, "true": True, "0": False, "false": False}.get(text.strip().lower(), text)
    elif setting.kind == "list":
        value = [part.strip() for part in text.split(",") if part.strip()]
    return _check(setting, value, setting.variable)


def _check(setting: Setting, value: Any, thing: str) -> Any:
    """Return the value in its final form. Raises OptionError, which begins with ``thing``."""
    fits = {
        "int": isinstance(value, int) and not isinstance(value, bool),
        "float": isinstance(value, int | float) and not isinstance(value, bool) and value == value,
        "bool": isinstance(value, bool),
        "str": isinstance(value, str),
        "list": isinstance(value, list | tuple) and all(isinstance(part, str) for part in value),
    }[setting.kind]
    if not fits:
        word = _KIND_WORDS[setting.kind]
        raise OptionError(thing, f"{value!r} isn't {word}", _range(setting))
    if setting.kind in ("int", "float"):
        if (setting.low is not None and value < setting.low) or (
            setting.high is not None and value > setting.high
        ):
            raise OptionError(thing, f"{value} is out of range", _range(setting))
        return float(value) if setting.kind == "float" else value
    if setting.choices and value not in setting.choices:
        raise OptionError(thing, f"{value!r} is none of its values", f"Give {one_of(setting.choices)}.")
    return tuple(value) if setting.kind == "list" else value


def _range(setting: Setting) -> str:
    if setting.kind not in ("int", "float"):
        return f"Give {_KIND_WORDS[setting.kind]}."
    word = _KIND_WORDS[setting.kind]
    if setting.low is not None and setting.high is not None:
        return f"Give {word} from {setting.low:g} to {setting.high:g}."
    if setting.low is not None:
        return f"Give {word} of {setting.low:g} or more."
    if setting.high is not None:
        return f"Give {word} of {setting.high:g} or less."
    return f"Give {word}."


def _strangers(environ: Mapping[str, str]) -> Iterable[str]:
    """Yield a warning for each variable that looks like a misspelt one of ours.

    Refusing every unknown ``CLEW_*`` would let another program's variable stop this one.
    """
    names = [setting.variable for setting in known().values()] + list(OTHER_VARIABLES)
    for name in sorted(environ):
        if name.startswith(PREFIX) and name not in names:
            near = get_close_matches(name, names, n=1, cutoff=0.8)
            if near:
                yield f"{name}: no such variable. Did you mean {near[0]}?"
