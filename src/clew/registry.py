"""What can be plugged in, by kind and name. Listing imports no plug-in; loading imports exactly one.

Built-ins stand in a literal table, so that the command line's choices and the documentation's tables
cost nothing to make. A package outside adds its own by an entry point in the group ``clew.<kind>``::

    [project.entry-points."clew.embedders"]
    mymodel = "my_package.clew_embedder:make"

What a target must be, by kind:

- ``sources``: ``open_source(path, options, name) -> Source``
- ``extractors``: ``make() -> Extractor``
- ``embedders``: ``make(argument, options) -> Embedder``, the argument being what follows ``NAME:``
- ``llms``: ``make(argument, options) -> ChatModel``, the options being :class:`clew.options.LlmOptions`
- ``stores``: ``make() -> Store``
- ``modes``: ``make() -> Mode``
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Literal, get_args

from clew.errors import OptionError
from clew.options import EmbedOptions, LlmOptions
from clew.ports import ChatModel, Embedder

Kind = Literal["sources", "extractors", "embedders", "llms", "stores", "modes"]
KINDS: tuple[Kind, ...] = get_args(Kind)

NO_EMBEDDER = "none"  # the value of --embedder that asks for an index without vectors
NO_LLM = "none"  # the value of --llm that asks for no language model
ENDPOINT_SCHEMES = ("http://", "https://")  # a model given as a URL is an OpenAI-compatible endpoint

# Chidambaram et al. 2019 (arXiv:1810.12836), the model card's 16 languages (Chinese in two scripts).
USE_LANGUAGES = frozenset(
    ["ar", "zh", "en", "fr", "de", "it", "ja", "ko", "nl", "pl", "pt", "es", "th", "tr", "ru"]
)
ANY_LANGUAGE = "e5"  # the built-in embedder for languages that no other names

_SINGULAR: dict[str, str] = {
    "sources": "source",
    "extractors": "extractor",
    "embedders": "embedder",
    "llms": "language model",
    "stores": "store",
    "modes": "mode",
}


@dataclass(frozen=True, slots=True)
class Plugin:
    """One thing that can be loaded. ``target`` is ``"module:attribute"``; ``package`` the distribution
    that brings it, empty for a built-in. ``languages`` (ISO 639-1) are those that an embedder is
    known to be good at, empty where that can't be said or where it takes any; ``extra`` is the extra of
    Clew that installs what it needs."""

    name: str
    target: str
    summary: str
    package: str = ""
    languages: frozenset[str] = frozenset()
    extra: str = ""


BUILT_IN: dict[str, tuple[Plugin, ...]] = {
    "sources": (
        Plugin(
            "folder", "clew.sources.folder:open_source", "Markdown and text files of a folder, or one file"
        ),
        Plugin("jsonl", "clew.sources.jsonl:open_source", "A JSONL corpus: one document a line"),
        Plugin("nostr", "clew.sources.nostr:open_source", "Nostr relays; extra `nostr`", extra="nostr"),
    ),
    "extractors": (),
    "embedders": (
        Plugin(
            "minilm",
            "clew.embedders.minilm:make",
            "all-MiniLM-L6-v2: English, 384 dimensions; installed with Clew",
            languages=frozenset({"en"}),
        ),
        Plugin(
            "use",
            "clew.embedders.use:make",
            "Universal Sentence Encoder: 16 languages, 512 dimensions; extra `multilingual`",
            languages=USE_LANGUAGES,
            extra="multilingual",
        ),
        Plugin(
            "e5",
            "clew.embedders.e5:make",
            "multilingual-e5-small: about 100 languages, 384 dimensions, slower; extra `multilingual`",
            extra="multilingual",
        ),
        Plugin(
            "openai",
            "clew.embedders.openai:make",
            "An OpenAI-compatible endpoint: openai:MODEL or https://HOST/v1#MODEL; extra `openai`",
            extra="openai",
        ),
        Plugin(
            "onnx",
            "clew.embedders.onnx:make",
            "A sentence-embedding model in a folder with model.onnx and tokenizer.json: onnx:FOLDER",
        ),
    ),
    "llms": (
        Plugin(
            "ollama",
            "clew.llms.ollama:make",
            "A model of Ollama, on this machine or at OLLAMA_HOST: ollama:MODEL; extra `llm`",
            extra="llm",
        ),
        Plugin(
            "openai",
            "clew.llms.openai:make",
            "An OpenAI-compatible endpoint: openai:MODEL or http://HOST/v1#MODEL; extra `llm`",
            extra="llm",
        ),
        Plugin(
            "gguf",
            "clew.llms.gguf:make",
            "A model in a GGUF file, run by Clew itself: gguf:FILE or gguf:PACKAGE; extra `gguf`",
            extra="gguf",
        ),
    ),
    "stores": (Plugin("duckdb", "clew.stores.duckdb:make", "One DuckDB file, and a SQLite cache beside it"),),
    "modes": (
        Plugin("basic", "clew.query.modes.basic:make", "Hybrid search alone: words and vectors"),
        Plugin("local", "clew.query.modes.local:make", "A walk over the graph from what the question names"),
        Plugin("global", "clew.query.modes.global_:make", "The themes, from reports on communities"),
        Plugin("drift", "clew.query.modes.drift:make", "A look at the reports, then local follow-ups"),
        Plugin(
            "relational", "clew.query.modes.relational:make", "The paths between two things that it names"
        ),
        Plugin("structural", "clew.query.modes.structural:make", "What is joined by typed edges, as it asks"),
        Plugin("temporal", "clew.query.modes.temporal:make", "What was written when, and how themes went"),
    ),
}


def plugins(kind: str) -> list[Plugin]:
    """Return the plug-ins of a kind: built-ins in the table's order, then outsiders by name.

    An outsider can't take a built-in's name. Raises OptionError if there is no such kind.
    """
    built_in = _built_in(kind)
    taken = {plugin.name for plugin in built_in}
    outside = {plugin.name: plugin for plugin in _outsiders(kind) if plugin.name not in taken}
    return [*built_in, *(outside[name] for name in sorted(outside))]


def names(kind: str) -> list[str]:
    """Return the names that ``load`` takes, without importing a plug-in."""
    return [plugin.name for plugin in plugins(kind)]


def load(kind: str, name: str) -> Any:
    """Import the plug-in's module and return its factory.

    Raises OptionError if the name is unknown, or if an outsider's module can't be imported.
    """
    found = next((plugin for plugin in _built_in(kind) if plugin.name == name), None)
    # Built-ins are looked up first: reading the entry points of all installed packages takes some
    # 20 ms that a command with built-ins alone shouldn't pay.
    if found is None:
        found = next((plugin for plugin in plugins(kind) if plugin.name == name), None)
    if found is None:
        raise unknown(_SINGULAR[kind], name, names(kind))
    module, _, attribute = found.target.partition(":")
    try:
        target: Any = import_module(module)
        for part in attribute.split("."):
            target = getattr(target, part)
    except (ImportError, AttributeError) as error:
        if not found.package:
            raise
        raise OptionError(
            f"{_SINGULAR[kind]} {name!r}",
            f"the package {found.package} offers it, but it can't be imported ({error})",
            f"Upgrade or uninstall {found.package}",
        ) from error
    return target


def make_embedder(options: EmbedOptions) -> Embedder | None:
    """Return the embedder that the options name, or None for ``none``.

    The value is NAME, NAME:ARGUMENT, or the URL of an OpenAI-compatible endpoint.
    Raises OptionError if the name is unknown, the argument wrong or a package missing.
    """
    value = options.embedder.strip()
    if value == NO_EMBEDDER:
        return None
    if value.startswith(ENDPOINT_SCHEMES):
        name, argument = "openai", value
    else:
        name, _, argument = value.partition(":")
    if name not in {plugin.name for plugin in _built_in("embedders")}:
        known = [*names("embedders"), NO_EMBEDDER]
        if name not in known:
            raise unknown("embedder", name, known)
    embedder: Embedder = load("embedders", name)(argument, options)
    return embedder


def make_llm(spec: str, options: LlmOptions) -> ChatModel | None:
    """Return the language model that ``spec`` names, or None for ``none``.

    The value is PROVIDER:MODEL, or the URL of an OpenAI-compatible endpoint. Nothing is connected to or
    loaded yet. Raises OptionError if the name is unknown, the argument wrong or a package missing.
    """
    value = spec.strip()
    if value == NO_LLM:
        return None
    if value.startswith(ENDPOINT_SCHEMES):
        name, argument = "openai", value
    else:
        name, _, argument = value.partition(":")
    if name not in {plugin.name for plugin in _built_in("llms")}:
        known = [*names("llms"), NO_LLM]
        if name not in known:
            raise unknown("language model", name, known)
    model: ChatModel = load("llms", name)(argument, options)
    return model


def require(module: str, thing: str, extra: str) -> None:
    """Raise OptionError, naming the extra to install, if an optional module isn't there."""
    if find_spec(module) is None:
        raise OptionError(
            thing, f"the package that it needs ({module}) isn't installed", f"pip install 'clew[{extra}]'"
        )


def embedder_for(language: str) -> Plugin:
    """Return the first built-in embedder that names the language, else the one that takes any."""
    built_in = _built_in("embedders")
    anyone = next(plugin for plugin in built_in if plugin.name == ANY_LANGUAGE)
    return next((plugin for plugin in built_in if language in plugin.languages), anyone)


def unknown(thing: str, name: str, known: Iterable[str]) -> OptionError:
    """Return the error for a name that isn't among the known ones: it gives the nearest, and all."""
    choices = list(known)
    near = get_close_matches(name, choices, n=1, cutoff=0.5)
    remedy = f"Did you mean {near[0]!r}? " if near else ""
    listed = ", ".join(choices) if choices else "none"
    return OptionError(f"{thing} {name!r}", "there is none of that name", f"{remedy}Known: {listed}")


def _built_in(kind: str) -> tuple[Plugin, ...]:
    try:
        return BUILT_IN[kind]
    except KeyError:
        raise unknown("kind of plug-in", kind, KINDS) from None


def _outsiders(kind: str) -> list[Plugin]:
    from importlib.metadata import entry_points

    found = []
    for point in entry_points(group=f"clew.{kind}"):
        package = point.dist.name if point.dist is not None else "an unnamed package"
        found.append(Plugin(point.name, point.value, f"From the package {package}", package))
    return sorted(found, key=lambda plugin: (plugin.name, plugin.package, plugin.target))
