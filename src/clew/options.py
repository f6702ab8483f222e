"""Every option and its default value; nowhere else holds one. Field docs are the documentation's tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from clew.errors import OptionError

if TYPE_CHECKING:
    from clew.types import OptionChange

# Where an index is unless told otherwise: in this folder within that of the notes, under this name.
FOLDER = ".clew"
FILE = "index.duckdb"

PREFIX = "CLEW_"  # of environment variables

# Flags are short where that is clear: `--include`, not `--source-include`. These keep their section.
_SECTION_IN_FLAG = {
    "chunk.size",
    "community",
    "extract.tokens",
    "report.tokens",
    "llm.concurrency",
    "llm.timeout",
    "llm.retries",
    "llm.window",
}
# These have a name of their own on the command line and in the environment.
_NAMES = {
    "extract.method": "extract",
    "report.method": "reports",
    "llm.model": "llm",
    "llm.rating_model": "rating_llm",
}


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """Which files of a folder are read, and which events."""

    include: tuple[str, ...] = field(
        default=(), metadata={"help": "Only files that match one of these gitignore-style patterns."}
    )
    exclude: tuple[str, ...] = field(
        default=(), metadata={"help": "No files that match one of these gitignore-style patterns."}
    )
    max_bytes: int = field(
        default=64 * 1024 * 1024,
        metadata={"help": "Skip files larger than this many bytes, and say so.", "low": 1024},
    )
    kinds: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Of Nostr events, only these kinds: numbers, ranges 30000-39999, or names.",
            "metavar": "KIND",
        },
    )
    unknown_kinds: str = field(
        default="keep",
        metadata={
            "help": "Nostr events of kinds that Clew knows nothing of: keep, as nodes, or ignore.",
            "choices": ("keep", "ignore"),
        },
    )
    author: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "Of Nostr events, only those by this public key (npub or hex).",
            "metavar": "NPUB",
        },
    )
    follows: bool = field(
        default=False,
        metadata={"help": "With --author: Nostr events by those whom the authors follow, too."},
    )
    since: str = field(
        default="",
        metadata={"help": "Of Nostr events, only those since a day, or so long ago: 7d.", "metavar": "TIME"},
    )
    until: str = field(
        default="", metadata={"help": "Of Nostr events, only those until a day.", "metavar": "TIME"}
    )
    git_times: bool = field(
        default=False,
        metadata={"help": "Notes that tell no date have that of their first commit (one call of `git log`)."},
    )


@dataclass(frozen=True, slots=True)
class ChunkOptions:
    """How documents are cut into passages. Sizes are in tokens of the embedder's tokenizer."""

    size: int = field(
        default=0,
        metadata={"help": "Most tokens of a chunk; 0 fits the embedder's window.", "low": 0, "high": 8192},
    )
    overlap: int = field(
        default=0,
        metadata={"help": "Tokens that a chunk repeats of the one before it.", "low": 0, "high": 4096},
    )
    record_size: int = field(
        default=4096,
        metadata={
            "help": "A JSONL record is a passage already: it stays whole up to this many tokens.",
            "low": 16,
            "high": 65536,
        },
    )


@dataclass(frozen=True, slots=True)
class EmbedOptions:
    """Which model embeds, and how."""

    embedder: str = field(
        default="minilm",
        metadata={"help": "Embedder: a name from `clew embedders`, NAME:ARGUMENT, or none."},
    )
    batch_tokens: int = field(
        default=256,
        metadata={
            "help": "Tokens of a batch; the fewer, the more of the calculation stays in cache.",
            "low": 64,
            "high": 65536,
        },
    )
    threads: int = field(
        default=0, metadata={"help": "Threads of the embedder; 0 takes all cores.", "low": 0, "high": 256}
    )


@dataclass(frozen=True, slots=True)
class CommunityOptions:
    """How the graph is partitioned: over which edges, and by which method."""

    max_size: int = field(
        default=40,
        metadata={"help": "Communities larger than this are divided again.", "low": 3, "high": 100000},
    )
    resolution: float = field(
        default=1.0, metadata={"help": "Higher values make smaller communities.", "low": 0.01, "high": 100}
    )
    levels: int = field(default=4, metadata={"help": "Most levels of the hierarchy.", "low": 1, "high": 10})
    seed: int = field(default=7, metadata={"help": "Seed of the partition's random numbers.", "low": 0})
    over: str = field(
        default="all",
        metadata={
            "help": "What binds: explicit (links, replies, authors, follows, saves), tags, entities, or all.",
            "choices": ("all", "explicit", "tags", "entities"),
        },
    )
    explicit_weight: float = field(
        default=1.0, metadata={"help": "With over all: how much explicit edges bind.", "low": 0, "high": 100}
    )
    tags_weight: float = field(
        default=1.0, metadata={"help": "With over all: how much tags bind.", "low": 0, "high": 100}
    )
    entities_weight: float = field(
        default=1.0, metadata={"help": "With over all: how much names bind.", "low": 0, "high": 100}
    )
    method: str = field(
        default="leiden",
        metadata={
            "help": "leiden; for small devices shared-tags (notes with two tags in common) or hubs.",
            "choices": ("leiden", "shared-tags", "hubs"),
        },
    )


@dataclass(frozen=True, slots=True)
class ExtractOptions:
    """What a language model (`--llm`) adds to the graph."""

    method: str = field(
        default="none",
        metadata={
            "help": "What a language model is asked: none; types: the types and descriptions of what was "
            "found without it, dozens a call; llm: what each passage names and relates.",
            "choices": ("none", "types", "llm"),
        },
    )
    entity_types: tuple[str, ...] = field(
        default=(
            "person",
            "organisation",
            "place",
            "event",
            "work",
            "object",
            "concept",
        ),
        metadata={
            "help": "Types of entities to look for; a model may use others.",
            "metavar": "TYPE",
        },
    )
    gleaning: int = field(
        default=0,
        metadata={
            "help": "How often the model is asked what it has missed in a passage. Each time costs more "
            "than the first question.",
            "low": 0,
            "high": 5,
        },
    )
    tokens: int = field(
        default=800,
        metadata={
            "help": "Most tokens of a note that one question shows; the fewer, the more is found and the "
            "more it costs.",
            "low": 50,
            "high": 32768,
        },
    )
    types_most: int = field(
        default=1000,
        metadata={
            "help": "How many names `--extract types` asks about, most important first; 0: all.",
            "low": 0,
        },
    )


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Who writes the reports on communities."""

    method: str = field(
        default="extractive",
        metadata={
            "help": "extractive: sentences of the notes; llm: a language model writes, and cites a statement "
            "of the notes for each finding.",
            "choices": ("extractive", "llm"),
        },
    )
    tokens: int = field(
        default=2000,
        metadata={
            "help": "Most tokens of statements that a report is written from.",
            "low": 100,
            "high": 100000,
        },
    )


@dataclass(frozen=True, slots=True)
class IndexOptions:
    """All that decides what an index holds."""

    source: SourceOptions = SourceOptions()
    chunk: ChunkOptions = ChunkOptions()
    embed: EmbedOptions = EmbedOptions()
    community: CommunityOptions = CommunityOptions()
    extract: ExtractOptions = ExtractOptions()
    report: ReportOptions = ReportOptions()
    language: str = field(
        default="auto",
        metadata={"help": "Language of the notes (ISO 639-1), or auto to detect it per document."},
    )
    workers: int = field(
        default=0,
        metadata={
            "help": "Processes that parse much text at once; 0 takes all cores. The index is the same.",
            "low": 0,
            "high": 60,
        },
    )


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """How passages are found and ranked."""

    k: int = field(default=10, metadata={"help": "How many passages.", "low": 1, "high": 1000})


@dataclass(frozen=True, slots=True)
class AnswerOptions:
    """How answers are put together."""

    sentences: int = field(
        default=6, metadata={"help": "Most sentences of an extractive answer.", "low": 1, "high": 50}
    )
    reports: int = field(
        default=64,
        metadata={"help": "Most community reports that `global` looks at.", "low": 1, "high": 10000},
    )
    related: int = field(default=8, metadata={"help": "Most related entities shown.", "low": 0, "high": 100})
    strict: bool = field(
        default=False,
        metadata={"help": "Leave out what a language model says and the notes that it cites don't."},
    )
    context_tokens: int = field(
        default=6000,
        metadata={
            "help": "Most tokens that a language model reads at once; less if its window is small.",
            "low": 100,
            "high": 1_000_000,
        },
    )
    reply_tokens: int = field(
        default=800,
        metadata={
            "help": "Most tokens of a language model's answer; at most a quarter of its window.",
            "low": 16,
            "high": 100_000,
        },
    )
    report_share: float = field(
        default=0.15,
        metadata={"help": "Share of the context for reports on communities.", "low": 0, "high": 1},
    )
    edge_share: float = field(
        default=0.1, metadata={"help": "Share of the context for edges in words.", "low": 0, "high": 1}
    )
    text_share: float = field(
        default=0.65,
        metadata={
            "help": "Share of the context for passages; they also get what the others leave.",
            "low": 0,
            "high": 1,
        },
    )
    history_share: float = field(
        default=0.1,
        metadata={"help": "Share of the context for the conversation so far.", "low": 0, "high": 1},
    )
    follow_ups: int = field(
        default=4,
        metadata={"help": "Most follow-up questions of `drift` with a language model.", "low": 0, "high": 50},
    )


@dataclass(frozen=True, slots=True)
class ContextOptions:
    """What `clew context` puts into a prompt, for a small budget."""

    budget: int = field(
        default=800, metadata={"help": "Most tokens of the whole prompt.", "low": 64, "high": 1_000_000}
    )
    reports: int = field(default=3, metadata={"help": "Most summaries of reports.", "low": 0, "high": 100})
    edges: int = field(default=10, metadata={"help": "Most edges in words.", "low": 0, "high": 1000})
    notes: int = field(
        default=5, metadata={"help": "Most notes, most central first.", "low": 0, "high": 1000}
    )
    snippet: int = field(
        default=200, metadata={"help": "Most characters of a note.", "low": 20, "high": 100_000}
    )


@dataclass(frozen=True, slots=True)
class LlmOptions:
    """Which language model is asked, and within which limits. None of this changes what an index holds
    that is made without a model."""

    model: str = field(
        default="none",
        metadata={
            "help": "Language model: PROVIDER:MODEL (`clew llms`), a server (http://HOST/v1#MODEL), or none.",
            "metavar": "MODEL",
        },
    )
    rating_model: str = field(
        default="",
        metadata={
            "help": "Model that rates what is relevant, a smaller one say; empty: the same as --llm.",
            "metavar": "MODEL",
        },
    )
    concurrency: int = field(
        default=4, metadata={"help": "Most calls to a model at once.", "low": 1, "high": 256}
    )
    requests_per_minute: int = field(
        default=0, metadata={"help": "Most calls to a model in a minute; 0: no limit.", "low": 0}
    )
    tokens_per_minute: int = field(
        default=0,
        metadata={"help": "Most tokens of prompts and replies in a minute; 0: no limit.", "low": 0},
    )
    timeout: float = field(
        default=300.0,
        metadata={"help": "Seconds until a call is given up.", "low": 0.1, "high": 86400},
    )
    retries: int = field(
        default=5,
        metadata={"help": "How often a call that failed for a while is made again.", "low": 0, "high": 100},
    )
    budget: str = field(
        default="",
        metadata={
            "help": "Stop before a run costs more: money (2.00) or tokens (200k tokens); empty: no limit.",
            "metavar": "AMOUNT",
        },
    )
    price: tuple[str, ...] = field(
        default=(),
        metadata={
            "help": "What a model costs for a million tokens of prompt and of reply: MODEL=0.25/2.00.",
            "metavar": "PRICE",
        },
    )
    window: int = field(
        default=0,
        metadata={"help": "Tokens of prompt and reply that a model takes; 0: as the model says.", "low": 0},
    )
    prompts: str = field(
        default="",
        metadata={
            "help": "Folder of prompts that replace Clew's own; `clew prompts export DIR` makes one.",
            "metavar": "DIR",
        },
    )


@dataclass(frozen=True, slots=True)
class WhoOptions:
    """Who asks. It decides nothing of an index."""

    me: str = field(
        default="",
        metadata={"help": "Who `me` and “I” are: a person's name, or what else names them (an npub)."},
    )


# --- names, and what of them an index records --------------------------------------------------------

# These make no difference to an index, so it doesn't record them.
WITHOUT_EFFECT = ("workers", "embed.batch_tokens", "embed.threads")


def flag_of(key: str) -> str:
    """Return the flag of an option (``section.field``): ``--chunk-size``; one letter has one dash."""
    section, _, name = key.rpartition(".")
    if key in _NAMES:
        return "--" + _NAMES[key].replace("_", "-")
    if key in _SECTION_IN_FLAG or section in _SECTION_IN_FLAG:
        name = f"{section}-{name}"
    return ("-" if len(name) == 1 else "--") + name.replace("_", "-")


def one_of(choices: Sequence[str]) -> str:
    """Return choices as a sentence has them: "a, b or c"."""
    return " or ".join(filter(None, [", ".join(choices[:-1]), choices[-1]]))


def check_choices(options: Any, prefix: str = "") -> None:
    """Raise OptionError for a value that isn't one of its option's choices."""

    for item in fields(options):
        value = getattr(options, item.name)
        choices = item.metadata.get("choices")
        if is_dataclass(value):
            check_choices(value, f"{prefix}{item.name}.")
        elif choices and value not in choices:
            flag = flag_of(prefix + item.name)
            raise OptionError(flag, f"{value!r} is none of its values", f"Give {one_of(choices)}.")


def variable_of(key: str) -> str:
    """Return the environment variable of an option (``section.field``): ``CLEW_CHUNK_SIZE``."""
    return PREFIX + _NAMES.get(key, key).replace(".", "_").upper()


def recorded(options: IndexOptions) -> dict[str, Any]:
    """Return what an index records of the options: those that decide what it holds, by section."""
    made: dict[str, Any] = {}
    for key, value in flat(options):
        if key not in WITHOUT_EFFECT:
            section, _, name = key.rpartition(".")
            (made.setdefault(section, {}) if section else made)[name] = value
    return made


def flat(options: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield (``section.field``, value) for each option, in the order of this module."""
    for item in fields(options):
        value = getattr(options, item.name)
        if is_dataclass(value):
            yield from flat(value, f"{prefix}{item.name}.")
        else:
            yield prefix + item.name, value


def changed_options(record: Any, options: IndexOptions) -> tuple[OptionChange, ...]:
    """Return how ``options`` differ from a record of :func:`recorded` that has been JSON. What the version
    that made the record didn't know hasn't changed."""
    from clew.types import OptionChange  # it brings numpy, which `clew --help` does without

    found = []
    for key, now in flat(options):
        section, _, name = key.rpartition(".")
        inner = record.get(section) if section and isinstance(record, Mapping) else record
        if key in WITHOUT_EFFECT or not isinstance(inner, Mapping) or name not in inner:
            continue
        before = tuple(inner[name]) if isinstance(inner[name], list) else inner[name]
        if before != now:
            found.append(OptionChange(key, flag_of(key), before, now))
    return tuple(found)
