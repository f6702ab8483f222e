"""The seams: what an adapter of each kind must do. One adapter is one file."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from clew.errors import ProviderError
from clew.types import (
    Analysis,
    Artifact,
    ChatReply,
    ChatRequest,
    Check,
    Chunk,
    Community,
    Cost,
    Document,
    Edge,
    Evidence,
    Floats,
    Imprint,
    Mark,
    Mention,
    Node,
    Origin,
    ParsedDocument,
    Problem,
    RawDocument,
    Report,
    Saving,
)


class Source(Protocol):
    """Where documents come from.

    For :mod:`clew.watching` it may also have ``stamp()``: a text that differs once ``read`` may give
    something else (of names, sizes and times, say); it raises what ``read`` raises. A source without it is
    read whole to see whether it has changed. One that reads only parts of its folder says which in ``parts``
    (see :class:`clew.types.Origin`). ``notes`` may say, after ``read``, what was left out that is no problem.
    ``sync(progress)`` fetches what is new from elsewhere, before ``read``, and raises SourceError.
    """

    name: str
    path: Path | None  # the folder or file that it reads; None if locations aren't paths

    def read(self) -> Iterator[RawDocument | Problem]:
        """Yield every document once, in key order; a document that can't be read is a Problem.

        Raises SourceError if the source as a whole can't be read.
        """
        ...


class Extractor(Protocol):
    """Finds marks in one document: a function of that document alone."""

    name: str

    def extract(self, parsed: ParsedDocument) -> Sequence[Mark]:
        """Return further marks, with text offsets."""
        ...


class Tokenizer(Protocol):
    """Counts and places a model's tokens."""

    name: str

    def offsets(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        """Return, for each text, the character offsets at which its tokens begin, ascending, shape (n,).

        Special tokens aren't counted.
        """
        ...


class Embedder(Protocol):
    """Turns texts into unit vectors.

    It may also have ``parallel``, how many calls of ``embed`` may run at once with gain (else 1),
    ``batch_tokens``, the tokens of a batch that suit it (else ``EmbedOptions.batch_tokens``), and
    ``load()``, which reads the model, so that the first text needn't wait for it.
    """

    name: str  # names the model and its precision; recorded in the index
    dimension: int
    window: int  # tokens of a text that the model reads at once, special tokens not counted
    languages: frozenset[str]  # ISO 639-1 codes it knows; empty: any

    @property
    def tokenizer(self) -> Tokenizer: ...

    def embed(self, texts: Sequence[str]) -> Floats:
        """Return unit vectors for passages, shape (len(texts), dimension); longer texts are cut at the
        window."""
        ...

    def embed_question(self, text: str) -> Floats:
        """Return the unit vector of a question, shape (dimension,)."""
        ...


@runtime_checkable
class ChatModel(Protocol):
    """A language model: one call at a time goes out and comes back. Calls may come from several threads.

    What makes calls safe and cheap (retries, limits, memory, budgets) is the same for all models and isn't
    theirs: see :class:`Caller`. It may also have ``parallel``, how many calls may run at once with gain (else
    as many as the options allow), and ``free``, that calls cost no money.
    """

    name: str  # provider and model, such as ``openai:gpt-5-mini``; part of the key of kept replies
    window: int  # tokens of prompt and reply together; 0 if unknown

    def count(self, text: str) -> int:
        """Return the number of the model's tokens in a text; where its tokenizer can't be had, an estimate
        that is rather too high."""
        ...

    def complete(self, request: ChatRequest) -> ChatReply:
        """Return the reply. It comes within the time that the model was made with, however much there is
        of it. Raises ProviderError; ProviderBusy where the same call may go well a little later."""
        ...

    def stream(self, request: ChatRequest) -> Generator[str, None, ChatReply]:
        """Yield the pieces of the reply as they come; the generator's return value is the whole. Raises
        ProviderError, also in the middle."""
        ...


class Caller(Protocol):
    """A ChatModel with what every call needs around it: kept replies, retries, limits, a budget, a ledger.

    ``stage`` names what a call is for (``extract``, ``report``, ``map``, ``answer``, …) in the ledger. A
    reply that has been kept is given without a call. Raises BudgetSpent before a call that the budget
    doesn't allow, ProviderError where a call fails for good. Calls may come from several threads.
    """

    model: ChatModel

    def complete(self, request: ChatRequest, *, stage: str) -> ChatReply: ...

    def stream(self, request: ChatRequest, *, stage: str) -> Generator[str, None, ChatReply]:
        """Like ``ChatModel.stream``; a kept reply comes as one piece."""
        ...

    def structured(self, request: ChatRequest, *, stage: str) -> Any:
        """Return the reply's JSON, which follows ``request.schema``; repaired, and asked for again with what
        is wrong about it, where it isn't. Raises ProviderError if it stays wrong."""
        ...

    def saved(self, name: str, *, used: int, instead: int) -> None:
        """Record that ``used`` tokens did what the plain way (``name`` says what is compared) would have
        taken ``instead`` tokens for; ``clew costs`` shows it."""
        ...

    def structured_all(
        self, requests: Sequence[ChatRequest], *, stage: str
    ) -> Iterator[tuple[int, Any | ProviderError]]:
        """Yield each request's number with its JSON, or with why there is none, as they come: several calls
        run at once. An exhausted budget is the answer to every request that is left."""
        ...


class Progress(Protocol):
    """What a build tells while it runs."""

    def stage(self, name: str, total: int | None = None) -> None:
        """A stage begins."""
        ...

    def advance(self, n: int = 1) -> None:
        """n more of the current stage's items are done."""
        ...

    def note(self, text: str) -> None:
        """A line for the person at the keyboard."""
        ...


@dataclass(frozen=True, slots=True)
class AnalysisCodec:
    """How a cache keeps analyses: functions of modules, so that other processes can do the work.

    ``encode`` returns None for an analysis that wouldn't come back exactly as it is. ``decode`` raises
    ValueError.
    """

    encode: Callable[[Analysis], bytes | None]
    decode: Callable[[bytes], Analysis]


class Cache(Protocol):
    """Content-addressed memory of what was expensive. Losing it loses time, nothing else.

    ``problem`` says why nothing is remembered (a read-only folder, a damaged file), or is empty.
    """

    problem: str

    @property
    def codec(self) -> AnalysisCodec | None:
        """How other processes encode analyses for it; None: they can't."""
        ...

    def analyses(self, keys: Sequence[str]) -> dict[str, Analysis]:
        """Return the stored analyses among ``keys`` (hashes of content and options)."""
        ...

    def put_analyses(
        self, items: Mapping[str, Analysis], encoded: Mapping[str, bytes] = MappingProxyType({})
    ) -> None:
        """Store analyses; ``encoded`` holds what the codec has made of some of them already."""
        ...

    def vectors(self, embedder: str, keys: Sequence[str]) -> dict[str, NDArray[np.float16]]:
        """Return the stored vectors among ``keys`` (hashes of the embedded text), each of shape
        (dimension,)."""
        ...

    def put_vectors(self, embedder: str, items: Mapping[str, NDArray[np.float16]]) -> None: ...

    def parts(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return what stages have kept of documents among ``keys`` (hashes of all that it depends on)."""
        ...

    def put_parts(self, items: Mapping[str, bytes]) -> None: ...

    def replies(self, keys: Sequence[str]) -> dict[str, bytes]:
        """Return the kept replies of language models among ``keys`` (hashes of model and request)."""
        ...

    def put_replies(self, items: Mapping[str, bytes]) -> None:
        """Keep replies, at once: they were paid for, so that they are never dropped."""
        ...

    def costs(self) -> list[Cost]:
        """Return what calls to language models have cost, by stage and model."""
        ...

    def add_costs(self, costs: Sequence[Cost]) -> None:
        """Add to what is recorded for the same stage and model."""
        ...

    def savings(self) -> list[Saving]:
        """Return what was done with fewer tokens than the plain way takes, by name."""
        ...

    def add_saving(self, saving: Saving) -> None: ...

    def stats(self) -> dict[str, int]:
        """Return the number of entries by kind, and the size in ``bytes``."""
        ...

    def unused(self) -> int:
        """Return how many entries ``drop_unused`` would drop."""
        ...

    def drop_unused(self) -> int:
        """Drop what the last whole run didn't use, but for what was paid for; return how many."""
        ...

    def prune(self) -> int:
        """After a whole run, drop what no run has used for a while; return how many."""
        ...

    def close(self) -> None: ...


class Reader(Protocol):
    """A published index, opened read-only. Every method returns rows in the order of the positions asked for,
    or, where none are asked for, in position order."""

    path: Path
    generation: str
    meta: Mapping[str, Any]

    @property
    def sources(self) -> tuple[Origin, ...]:
        """Where the documents were."""
        ...

    def array(self, name: str) -> NDArray[Any]:
        """Return a published array (read-only, kept after the first call). Raises BadIndex if it isn't
        there."""
        ...

    def has_array(self, name: str) -> bool: ...

    def count(self, table: str) -> int: ...

    def documents(self, docs: Sequence[int] | None = None) -> list[Document]: ...

    def contents(self) -> dict[str, str]:
        """Return the hash of each document's content by its key."""
        ...

    def chunks(self, chunks: Sequence[int]) -> list[Chunk]: ...

    def chunks_of(self, doc: int) -> list[Chunk]: ...

    def nodes(self, nodes: Sequence[int]) -> list[Node]: ...

    def find_nodes(self, normal: str) -> list[Node]:
        """Return the nodes that have this normal name (see ``clew.text.tokens.normal_name``)."""
        ...

    def find_documents(self, name: str) -> list[Document]:
        """Return the documents whose key or location is ``name``, or whose file it leads to from the
        current folder; else those whose file name or title it is."""
        ...

    def names_of(self, node: int) -> list[str]: ...

    def mentions(
        self, *, node: int | None = None, chunk: int | None = None, limit: int = 1000
    ) -> list[Mention]: ...

    def mentions_within(self, chunks: range) -> list[Mention]:
        """Return the mentions in some consecutive chunks, in order."""
        ...

    def edges(self, *, node: int, kinds: Sequence[str] = (), limit: int = 1000) -> list[Edge]:
        """Return the edges that begin or end at ``node``, heaviest first."""
        ...

    def edge_rows(self, edges: Sequence[int]) -> list[Edge]: ...

    def evidence(self, edges: Sequence[int], limit: int = 20) -> dict[int, list[Evidence]]:
        """Return the places that state each of the edges, at most ``limit`` each."""
        ...

    def evidence_outside(self) -> list[Evidence]:
        """Return the places that state edges and that no chunk holds."""
        ...

    def communities(self, level: int | None = None) -> list[Community]: ...

    def members(self, community: int) -> list[int]: ...

    def belonging(self, nodes: Sequence[int], communities: Sequence[int]) -> list[tuple[int, int]]:
        """Return which of the communities hold which of the nodes, as (community, node), ascending."""
        ...

    def reports(self, communities: Sequence[int]) -> list[Report]: ...

    def check(self) -> list[Check]:
        """Compare everything with everything: checksum, references, spans, counts, arrays."""
        ...

    def stale(self) -> bool:
        """Tell whether another index has been published at this path since it was opened."""
        ...

    def close(self) -> None: ...


class Store(Protocol):
    """Writes and opens published indexes."""

    def publish(self, path: Path, artifact: Artifact) -> None:
        """Write beside ``path``, sync, and rename over it. Raises PublishError; the old index is whole
        then."""
        ...

    def open(self, path: Path) -> Reader:
        """Raises NoIndex, BadIndex, IndexTooNew, IndexTooOld."""
        ...

    def imprint(self, path: Path) -> Imprint | None:
        """Return what the index at ``path`` says of its making, also if its schema is no longer read; None
        if there is none."""
        ...

    def writing(self, path: Path) -> AbstractContextManager[None]:
        """Hold the lock of whoever indexes to ``path``. Raises PublishError naming the holder."""
        ...

    def cache(self, path: Path, *, new_run: bool = True) -> Cache:
        """Open (or make) the cache at ``path``; without ``new_run`` only to look after it."""
        ...
