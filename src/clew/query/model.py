"""What the query stages pass on."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from clew.options import AnswerOptions
from clew.ports import Embedder, Reader
from clew.query.lexicon import Named
from clew.query.scope import Scope
from clew.query.space import Space
from clew.types import Answer, Hit, Seed

if TYPE_CHECKING:
    from clew.query.writer import Writer


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Ranked hits with how they were found. ``walked`` tells whether the graph was used, ``reason`` why."""

    hits: tuple[Hit, ...]
    seeds: tuple[Seed, ...]
    walked: bool
    reason: str
    counts: Mapping[str, int] = field(default_factory=dict)
    milliseconds: Mapping[str, float] = field(default_factory=dict)


class Lexicon(Protocol):
    """The words of the index: how text becomes terms and what each term weighs."""

    def weights(self, question: str) -> dict[str, float]:
        """Return the question's terms with their inverse document frequency (0 for unknown terms)."""
        ...

    def terms(self, text: str, language: str) -> list[str]:
        """Return the index terms of a text, in order, with repeats."""
        ...

    def names(self, question: str) -> Sequence[Named]:
        """Return the names of nodes in the question, longest match first from the left."""
        ...


class Engine(Protocol):
    """An open index that can be searched; the modes stand on it."""

    @property
    def reader(self) -> Reader: ...

    @property
    def embedder(self) -> Embedder | None:
        """The embedder of the index; None if it holds no vectors."""
        ...

    @property
    def lexicon(self) -> Lexicon: ...

    @property
    def space(self) -> Space:
        """The index as arrays."""
        ...

    @property
    def me(self) -> str:
        """Who asks: a name, or empty."""
        ...

    @property
    def now(self) -> int:
        """When, in seconds since 1970."""
        ...

    @property
    def scope(self) -> Scope | None:
        """What the question looks at; None: all. ``search`` finds nothing else, and whatever is told of the
        notes by other ways has to look here."""
        ...

    def search(self, question: str, k: int, mode: str = "auto") -> Retrieval:
        """Rank passages. ``basic`` is hybrid search alone, ``local`` walks the graph, ``auto`` decides."""
        ...


class Mode(Protocol):
    """A way to answer. One file in ``query/modes``; ``name`` and ``summary`` make the help and the docs.

    ``answer`` puts an answer together from the notes' sentences. A mode that also has ``write``
    (:class:`Writing`) can have a language model write it.
    """

    name: str
    summary: str

    def answer(self, question: str, engine: Engine, options: AnswerOptions) -> Answer: ...


@runtime_checkable
class Writing(Protocol):
    """A mode that can have a language model write the answer."""

    def write(
        self, question: str, engine: Engine, options: AnswerOptions, writer: Writer
    ) -> Generator[str, None, Answer]:
        """Yield the answer's text as it comes, and return the checked answer, of the same text. Raises
        ProviderError, also in the middle."""
        ...
