"""The values that pass between stages: frozen, slotted dataclasses.

Offsets. Inside the document stages every ``start``/``end`` is a *text offset*: a position in
``text.encode("utf-8")``, where ``text`` is the decoded document. The last document stage turns
them into *source offsets*, positions in the document's own bytes; for UTF-8, with or without a
byte order mark, the two are the same numbers. Tables, hits and citations hold source offsets:
``source_bytes[start:end]`` is exactly the passage.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntFlag
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]
Hashes = NDArray[np.uint64]

UNDATED = -(2**63)  # stands in columns and arrays of times for one that isn't known

# ``record``, ``post``, ``article`` and ``event`` are values within one line of their file: a corpus' text, an
# event's plain text, its Markdown, or, of an event without text, its JSON, which only serves as evidence.
MediaType = Literal["markdown", "text", "record", "post", "article", "event"]
MARKDOWN_TYPES: frozenset[str] = frozenset(("markdown", "article"))
FILE_TYPES: frozenset[str] = frozenset(("markdown", "text"))  # the others have no lines and no name of a file
NodeKind = Literal["document", "entity", "tag", "person"]
EdgeKind = Literal[
    "references",
    "replied_to",
    "tagged_with",
    "authored_by",
    "follows",
    "saved_by",
    "mentions",
    "co_occurs_with",
    "same_as",
    "defined_by",
    "related",
    "unlinked_mention",
]
# How an edge reads from its source to its target, and from its target to its source.
EDGE_WORDS: Mapping[str, tuple[str, str]] = {
    "references": ("links to", "linked from"),
    "replied_to": ("replies to", "answered by"),
    "tagged_with": ("tagged", "tags"),
    "authored_by": ("written by", "wrote"),
    "follows": ("follows", "followed by"),
    "saved_by": ("saved by", "saved"),
    "mentions": ("mentions", "mentioned in"),
    "co_occurs_with": ("occurs with", "occurs with"),
    "same_as": ("same as", "same as"),
    "defined_by": ("defined in", "defines"),
    "related": ("related to", "related to"),
    "unlinked_mention": ("names without linking", "named without a link in"),
}
_PARTICIPLES = (  # with which such words begin that need an "is" in a sentence
    "linked", "answered", "tagged", "written", "followed", "mentioned", "defined", "same", "related", "named"
)  # fmt: skip
BlockKind = Literal[
    "frontmatter", "heading", "paragraph", "list", "quote", "code", "table", "html", "footnote", "rule"
]
ChatRole = Literal["system", "user", "assistant"]
LinkKind = Literal["wikilink", "link", "embed", "image"]
MarkKind = Literal[
    "title", "alias", "heading", "tag", "person", "link", "code", "strong", "emphasis", "quoted"
]


# --- what a run says -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about one document that the summary lists. ``skipped`` says whether it was left out."""

    key: str
    reason: str
    remedy: str = ""
    skipped: bool = True


# --- document stages -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ref:
    """What a source's statement is about. ``id`` is one of a document's ``ids`` or its key, a person's stable
    id, or a tag's name; ``label`` is how to call a person of whom no document tells a name."""

    kind: Literal["document", "person", "tag"]
    id: str
    label: str = ""


@dataclass(frozen=True, slots=True)
class Relation:
    """An edge that a document states by its structure. ``source`` None is the document itself.

    ``start``..``end`` is the place in its ``data`` that states it, and names ``target``; without one
    (``end`` 0) it is the document as a whole. ``created_at`` None is the time of the document.
    What isn't there (a document of another corpus, say) is passed over.
    """

    kind: EdgeKind
    target: Ref
    source: Ref | None = None
    start: int = 0
    end: int = 0
    created_at: int | None = None


@dataclass(frozen=True, slots=True)
class Person:
    """Names by which a document says that a person is known, the one to show first."""

    id: str
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RawDocument:
    """One document as its source gives it. ``data`` is what offsets count in.

    ``key`` is unique within the source and stable: a POSIX path relative to the folder, or a
    record's id. ``location`` is the path of its file relative to the source's root, or how else the
    source names the place; ``line`` is the 1-based line of ``location`` at which ``data`` begins.
    ``kind`` says what it is to its author (``comment``, ``profile``, …; by itself a ``record`` or ``note``),
    ``created_at`` when it was written, in seconds since 1970 (UTC). ``ids`` are further names by which
    relations of any document know it. ``titled`` False: the title is only what to show in a list, and no
    name for it in text. ``people`` are names that it states: what people say of themselves counts before
    what others say of them. ``committed_at`` is when version control first had it, in case nothing else tells
    its time.
    """

    key: str
    location: str
    data: bytes
    media_type: MediaType
    title: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    line: int = 1
    kind: str = ""
    created_at: int | None = None
    author: Ref | None = None
    ids: tuple[str, ...] = ()
    titled: bool = True
    relations: tuple[Relation, ...] = ()
    people: tuple[Person, ...] = ()
    committed_at: int | None = None


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a document, in source order. ``level`` is a heading's level (1 to 6), else 0."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0


@dataclass(frozen=True, slots=True)
class Section:
    """A heading with what it heads, up to the next heading of any level.

    ``path`` holds the titles from the outermost heading to this one; the text before the first
    heading is the section with an empty path and level 0. ``start``..``end`` includes the heading.
    """

    level: int
    title: str
    path: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written. ``target`` is percent-decoded, without its anchor; ``text`` is what a reader
    sees."""

    kind: LinkKind
    target: str
    anchor: str
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A span that structure sets apart. ``name`` is the plain text; ``value`` what it stands for
    (a tag without ``#``; a link's target), where that differs. Marks from frontmatter have the
    offsets of their place there."""

    kind: MarkKind
    name: str
    start: int
    end: int
    value: str = ""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document's structure. Offsets are text offsets.

    ``prose`` lists the spans of natural-language text, ascending and disjoint: without
    frontmatter, code fences, HTML tags and comments, URLs and link targets. ``code`` lists the
    spans of code blocks, which are searched but not mined for names.
    """

    text: str
    title: str
    metadata: Mapping[str, Any]
    blocks: tuple[Block, ...]
    sections: tuple[Section, ...]
    links: tuple[Link, ...]
    marks: tuple[Mark, ...]
    prose: tuple[tuple[int, int], ...]
    code: tuple[tuple[int, int], ...]
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ChunkSpan:
    """A passage within one section. ``n_tokens`` counts the embedder's tokens."""

    section: int
    start: int
    end: int
    n_tokens: int


class TokenFlag(IntFlag):
    """What the surface of a token, and what stands before it, tell. Stored in a uint16."""

    CAPITAL = 1  # first letter is upper or title case
    UPPER = 2  # two or more letters, all upper case
    DIGIT = 4  # has a decimal digit
    SINGLE = 8  # one character of a script that doesn't put spaces between words
    CODE = 16  # inside a code block or inline code
    SENTENCE = 32  # first token of a sentence or of a block
    GAP_SPACE = 64  # white space (and nothing else) before it
    GAP_JOIN = 128  # one of - ' ’ . & / _ (and nothing else) before it
    GAP_BREAK = 256  # anything else before it: other punctuation, a block's edge
    # none of the three GAP flags: the token follows the one before it immediately
    CAMEL = 512  # a lower-case letter or digit followed by a capital inside it
    HEADING = 1024  # inside a heading


@dataclass(frozen=True, slots=True)
class Tokens:
    """The words of a document, in order; columns of equal length n.

    ``words`` is the document's sorted vocabulary of *normalised* forms (NFKC, case-folded,
    accents stripped); ``form`` indexes it, shape (n,). ``start``/``end`` are text offsets of the
    surface. ``flags`` holds :class:`TokenFlag` bits.
    """

    words: tuple[str, ...]
    form: Ints
    start: Ints
    end: Ints
    flags: NDArray[np.uint16]


@dataclass(frozen=True, slots=True)
class Analysis:
    """All that the document stages find in one document; cached under its content hash.

    Unlike in :class:`ParsedDocument`, all offsets here are source offsets. ``texts`` holds the
    decoded text of each chunk, ``lines`` each chunk's first and last 1-based line in ``location``
    relative to the document's start (line 1). ``front`` is the frontmatter as written, with its fences,
    which begins at ``front_at``: chunks hold none of it, and yet tags and authors have their places there.
    """

    content_hash: str
    encoding: str
    language: str
    title: str
    metadata: Mapping[str, Any]
    size: int
    sections: tuple[Section, ...]
    chunks: tuple[ChunkSpan, ...]
    texts: tuple[str, ...]
    lines: tuple[tuple[int, int], ...]
    links: tuple[Link, ...]
    marks: tuple[Mark, ...]
    tokens: Tokens
    warnings: tuple[str, ...] = ()
    front: str = ""
    front_at: int = 0


# --- the corpus ----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Document:
    """A row of ``documents``. ``doc`` is its position in key order.

    ``language`` is an ISO 639-1 code, or ``"und"``. ``location`` is, in what a Reader returns, a path that
    opens from the current folder: relative if the file is below it, else absolute, or the path within the
    source where that isn't there; ``file`` is the absolute path, or "" then. ``line`` is the line of
    ``location`` where it begins. ``kind`` is ``note``, ``record`` or what else its source says;
    ``created_at`` when it was written, in seconds since 1970 (UTC; earlier times are negative), None if
    that isn't known.
    """

    doc: int
    id: str
    key: str
    location: str
    title: str
    language: str
    encoding: str
    content_hash: str
    size: int
    line: int
    media_type: str
    metadata: Mapping[str, Any]
    file: str = ""
    kind: str = "note"
    created_at: int | None = None


@dataclass(frozen=True, slots=True)
class Chunk:
    """A row of ``chunks``. ``chunk`` is its position in (document, start) order.

    ``start``/``end`` are byte offsets into the source document; ``start_line``/``end_line`` are
    1-based lines of the document's ``location``.
    """

    chunk: int
    id: str
    doc: int
    section: int
    start: int
    end: int
    start_line: int
    end_line: int
    n_tokens: int
    heading_path: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Node:
    """A row of ``nodes``. ``node`` is its position in (kind, normal name) order.

    ``df`` counts the chunks that mention it; ``degree`` its edges; ``doc`` is the document that a
    ``document`` node stands for, else -1; ``confidence`` (0 to 1) how sure extraction is that it
    names something. ``type`` (such as ``place``) and ``description`` are a language model's, else empty.
    ``created_at`` is when its document was written, or the first document that names it, in seconds since
    1970 (UTC), None if unknown; ``pagerank`` its share of a random walk along the edges, all nodes' sum 1.
    """

    node: int
    id: str
    kind: NodeKind
    name: str
    df: int
    degree: int
    doc: int
    confidence: float
    type: str = ""
    description: str = ""
    created_at: int | None = None
    pagerank: float = 0.0


@dataclass(frozen=True, slots=True)
class Mention:
    """An occurrence of a node in a chunk, with source offsets and the surface form."""

    node: int
    chunk: int
    start: int
    end: int
    surface: str


@dataclass(frozen=True, slots=True)
class Edge:
    """A typed, directed, weighted link between nodes. ``phrase`` is what a model called it, or empty.

    ``created_at`` is when it was first stated: the time of the earliest document that does, in seconds since
    1970 (UTC), None if none of them has a time.
    """

    edge: int
    id: str
    kind: EdgeKind
    source: int
    target: int
    weight: float
    phrase: str = ""
    created_at: int | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """A place that states an edge, with source offsets in document ``doc``.

    ``chunk`` is -1 where no chunk holds the place: in frontmatter, or among the other fields of a record,
    where ``start`` = ``end`` = 0. ``line`` is that place's 1-based line in the document's ``location`` and
    ``quote`` the text there; where there is a chunk they are 0 and empty.
    """

    edge: int
    doc: int
    chunk: int
    start: int
    end: int
    line: int = 0
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Community:
    """A cluster of nodes at one ``level`` (0 is the coarsest); ``parent`` is -1 at level 0."""

    community: int
    id: str
    level: int
    parent: int
    size: int


@dataclass(frozen=True, slots=True)
class Finding:
    """One statement of a report, with the place that it is taken from (source offsets)."""

    text: str
    chunk: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Report:
    """A community's title, summary and findings. ``rating`` (0 to 10) is its weight among its peers."""

    community: int
    title: str
    summary: str
    rating: float
    members: tuple[int, ...]
    findings: tuple[Finding, ...]


# --- language models -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """One message of a conversation with a language model."""

    role: ChatRole
    text: str


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """What a language model is asked: all that its reply depends on, besides the model.

    ``max_tokens`` bounds the reply; ``temperature`` 0 asks for the likeliest one. ``schema`` is the JSON
    Schema that the reply shall follow, None for free text; a model that can't be bound to it gets it
    described in the prompt by whoever makes the request, so a reply has to be checked all the same.
    """

    messages: tuple[ChatMessage, ...]
    max_tokens: int = 1024
    temperature: float = 0.0
    schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a call took; ``exact`` says that the model counted them, else they are an estimate."""

    prompt_tokens: int
    reply_tokens: int
    exact: bool = True


@dataclass(frozen=True, slots=True)
class ChatReply:
    """A model's reply. ``finish`` is ``length`` where it was cut at ``max_tokens`` or the window."""

    text: str
    usage: Usage
    finish: Literal["stop", "length", "refused"] = "stop"


@dataclass(frozen=True, slots=True)
class Cost:
    """What calls of one stage to one model took. ``kept`` counts replies that were given without a call, with
    the tokens and the money that they saved; ``failed`` calls that came to nothing, ``repaired`` replies
    whose JSON was mended, ``asked_again`` those that were asked for once more, ``cut`` those that ended at
    their longest. ``estimated`` counts the calls whose tokens the model didn't tell. ``money`` is in the
    currency of the prices that were given; ``unpriced`` counts the calls for which there was none."""

    stage: str
    model: str
    calls: int = 0
    kept: int = 0
    prompt_tokens: int = 0
    reply_tokens: int = 0
    seconds: float = 0.0
    money: float = 0.0
    unpriced: int = 0
    estimated: int = 0
    failed: int = 0
    repaired: int = 0
    asked_again: int = 0
    cut: int = 0
    saved_prompt_tokens: int = 0
    saved_reply_tokens: int = 0
    saved_money: float = 0.0


@dataclass(frozen=True, slots=True)
class Saving:
    """Tokens that were used for something, and what the plain way would have taken ``instead``, summed
    over ``times``."""

    name: str
    times: int
    used: int
    instead: int


@dataclass(frozen=True, slots=True)
class Costs:
    """What is recorded beside an index of the calls to language models, over all runs: by stage and model,
    their ``total``, and what was done with fewer tokens than the plain way takes."""

    file: str
    rows: tuple[Cost, ...]
    total: Cost
    savings: tuple[Saving, ...] = ()
    problem: str = ""


# --- filters -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Filter:
    """What questions and commands look at. Every condition given must hold; an empty filter lets all pass.

    ``kinds``: of documents (``note``, ``record``, …) or of nodes (``document``, ``entity``, ``tag``,
    ``person``); one of them must fit. ``tags``: each of them, where one with commas is any of its parts;
    a tag stands for those below it too. ``authors``: one of them. ``since`` and ``until``: a day, month or
    year (all of it), a time (without a zone: UTC), seconds since 1970, or how long before ``now`` (``12h``,
    ``7d``, ``2w``, ``3mo``, ``1y``); what has no time doesn't pass. ``edges``: kinds of edges; of documents,
    those at an end of such an edge. ``now`` is a time like the others; None is the present moment.
    """

    kinds: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    authors: tuple[str, ...] = ()
    since: str | int | None = None
    until: str | int | None = None
    edges: tuple[str, ...] = ()
    now: str | int | None = None

    def __bool__(self) -> bool:
        timed = self.since is not None or self.until is not None
        return bool(self.kinds or self.tags or self.authors or self.edges or timed)


@dataclass(frozen=True, slots=True)
class Passing:
    """How many documents pass a filter, how many lack a time only, and how many there are."""

    documents: int
    undated: int
    every: int


# --- retrieval and answers -----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Seed:
    """Where retrieval starts: a node or a chunk, its weight (restart mass), and the reason."""

    kind: Literal["node", "chunk"]
    position: int
    label: str
    weight: float
    reason: str


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the path that led to a hit: ``source`` —``edge``→ ``target``, with the chunk that states
    it (-1: none)."""

    source: str
    edge: str
    target: str
    chunk: int = -1


@dataclass(frozen=True, slots=True)
class Hit:
    """A ranked chunk. ``parts`` holds the score's parts by name, ``why`` a sentence for a person."""

    chunk: Chunk
    document: Document
    score: float
    parts: Mapping[str, float]
    why: str
    path: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Citation:
    """Where a statement comes from. ``start``/``end`` are source offsets, lines 1-based; ``location`` and
    ``file`` are those of its :class:`Document`. ``chunk_id`` is empty for a place in frontmatter, or in a
    record's fields, which no chunk holds."""

    number: int
    key: str
    location: str
    title: str
    start: int
    end: int
    start_line: int
    end_line: int
    quote: str
    chunk_id: str
    file: str = ""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of an answer and the numbers of the citations that support it.

    ``support`` (0 to 1) is how much of it these say; ``supported`` tells whether that is enough, and each of
    its numbers and names stands there. The notes' own sentences support themselves.
    """

    text: str
    citations: tuple[int, ...]
    supported: bool = True
    support: float = 1.0


@dataclass(frozen=True, slots=True)
class Trace:
    """How an answer was made: seeds, hits in rank order, counts, and timings in milliseconds."""

    seeds: tuple[Seed, ...] = ()
    hits: tuple[Hit, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    milliseconds: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Answer:
    """Text with citations. ``reason`` says why ``mode`` was chosen. ``text`` is empty if nothing was
    found.

    ``model`` is the language model that wrote it, or "" where it is made of the notes' sentences. Of what a
    model wrote, ``removed_citations`` counts the citations of passages that it wasn't given, and ``left_out``
    the sentences that weren't supported (in strict mode). ``read_as`` is the question as it was completed
    from the conversation, or "" where it stood by itself.
    """

    question: str
    text: str
    sentences: tuple[Sentence, ...]
    citations: tuple[Citation, ...]
    related: tuple[Node, ...]
    mode: str
    reason: str
    trace: Trace
    model: str = ""
    removed_citations: int = 0
    left_out: int = 0
    read_as: str = ""


@dataclass(frozen=True, slots=True)
class BriefItem:
    """Something that a prompt holds under ``[number]``: a ``report``, an ``edge`` in words or ``text`` of a
    note, with the places that it is from."""

    number: int
    kind: Literal["report", "edge", "text"]
    text: str
    tokens: int
    citations: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """A prompt for a question within a budget. ``tokenizer`` names what counted its ``tokens``."""

    question: str
    text: str
    tokens: int
    budget: int
    tokenizer: str
    items: tuple[BriefItem, ...]


@dataclass(frozen=True, slots=True)
class OptionChange:
    """An option (``section.field``) that an index was made with otherwise, and its ``flag``."""

    option: str
    flag: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build did: counts, seconds by stage, and the problems to list. ``unchanged``: nothing was to
    be done, since the index had been made from just this. ``changes`` are the options that the index there
    was made with otherwise, ``reach`` the stages that do something anew for that: ``files``, ``parse``,
    ``embed``, ``communities``, ``extract``, ``reports``. ``work`` counts the documents that are new, edited,
    moved, removed and unchanged since the index there was made, those parsed and the vectors embedded now,
    and the vectors reused; with a language model also what it named and related, and what was dropped
    because the notes don't say it. ``left`` tells by stage (``extract``, ``types``, ``report``) what a spent
    budget has left to do: ``items``, ``calls``, ``prompt_tokens``, ``reply_tokens``; ``costs`` what calls to
    a model took."""

    index: str
    counts: Mapping[str, int]
    seconds: Mapping[str, float]
    problems: tuple[Problem, ...]
    languages: Mapping[str, int]
    notes: tuple[str, ...] = ()
    unchanged: bool = False
    changes: tuple[OptionChange, ...] = ()
    reach: tuple[str, ...] = ()
    work: Mapping[str, int] = field(default_factory=dict)
    left: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    costs: tuple[Cost, ...] = ()


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What one stage would ask of a language model: about so many things (documents, names, reports) in so
    many calls, beside ``kept`` replies that are there already. ``money`` is None where no price is known."""

    stage: str
    items: int
    calls: int
    kept: int
    prompt_tokens: int
    reply_tokens: int
    money: float | None


@dataclass(frozen=True, slots=True)
class Forecast:
    """What a build would do: counts of what there is, ``work`` as in a :class:`BuildResult`, and what each
    stage would ask of a language model."""

    index: str
    counts: Mapping[str, int]
    work: Mapping[str, int]
    stages: tuple[Foreseen, ...]
    problems: tuple[Problem, ...]
    unchanged: bool = False


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a source was. Its ``name`` and a slash begin its documents' keys where there are several.

    ``root`` is the absolute path of the folder that locations are relative to, or "" if they aren't
    paths or it isn't known any more; ``file`` is the one file in it that was read, or "" for all, or for
    the ``parts`` of it that were named together: paths within it, a folder's with a slash at its end.
    ``also`` are the relays that the file was fetched from, and files that are read with it.
    """

    name: str
    root: str
    file: str = ""
    parts: tuple[str, ...] = ()
    also: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imprint:
    """What an index, also one of an older schema, says of its making: its schema's version, its ``meta``
    (with the ``options``), where its documents were, and what it was ``made`` from (see
    :class:`Artifact`). ``readable``: this version can open it."""

    schema_version: int
    readable: bool
    meta: Mapping[str, Any]
    sources: tuple[Origin, ...]
    made: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Artifact:
    """All that is published, as columns. See ``docs/schema.md``.

    ``tables`` maps a table's name to its columns (sequences of equal length, in schema order);
    ``arrays`` holds what search reads whole; ``meta`` the options that made it. ``sources`` says where
    the documents were, ``made`` what made it, of what, and what there was to tell (JSON's types); they are
    no part of the content, so the generation doesn't depend on them.
    """

    tables: Mapping[str, Mapping[str, Sequence[Any] | NDArray[Any]]]
    arrays: Mapping[str, NDArray[Any]]
    meta: Mapping[str, Any]
    sources: tuple[Origin, ...] = ()
    made: Mapping[str, Any] | None = None


# --- checks --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Check:
    """One check of an index: its name, how many rows it looked at, and what is wrong (the first few)."""

    name: str
    checked: int
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceState:
    """How many documents are as they were when they were indexed, edited since, gone, or not indexed."""

    unchanged: int
    changed: int
    missing: int
    new: int


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """What ``Index.doctor`` found. ``sources`` is None, and ``reason`` says why, where they can't be read."""

    checks: tuple[Check, ...]
    sources: SourceState | None
    reason: str = ""

    @property
    def whole(self) -> bool:
        return not any(check.faults for check in self.checks)


@dataclass(frozen=True, slots=True)
class CacheState:
    """What the cache beside an index holds: entries by kind, those that the last whole run didn't use, and
    how many were dropped just now. ``problem`` says why it can't be read, or is empty."""

    file: str
    bytes: int
    entries: Mapping[str, int]
    unused: int
    dropped: int = 0
    problem: str = ""


# --- views for the fronts ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class EdgeView:
    """An edge with its ends and the places that state it."""

    edge: Edge
    source: Node
    target: Node
    evidence: tuple[Citation, ...]

    def words(self, forward: bool = True) -> str:
        """Return how the edge reads from its source to its target, or the other way: a model's phrase goes
        one way only, in any language, so that its reverse is an arrow."""
        if self.edge.phrase:
            return self.edge.phrase if forward else f"← {self.edge.phrase}"
        plain = self.edge.kind.replace("_", " ")
        return EDGE_WORDS.get(self.edge.kind, (plain, plain))[0 if forward else 1]


@dataclass(frozen=True, slots=True)
class PathStep:
    """An edge on a way through the graph, walked from its source (``forward``) or from its target."""

    view: EdgeView
    forward: bool

    @property
    def start(self) -> Node:
        return self.view.source if self.forward else self.view.target

    @property
    def end(self) -> Node:
        return self.view.target if self.forward else self.view.source

    @property
    def words(self) -> str:
        return self.view.words(self.forward)

    @property
    def text(self) -> str:
        """The step as a sentence without its full stop: "Compost links to Soil", "Soil is linked from
        Mulch"."""
        verb = "is " if not self.view.edge.phrase and self.words.split()[0] in _PARTICIPLES else ""
        return f"{self.start.name} {verb}{self.words} {self.end.name}"


@dataclass(frozen=True, slots=True)
class GraphPath:
    """A way from one node to another without a node twice; ``cost`` is what it was ranked by."""

    nodes: tuple[Node, ...]
    steps: tuple[PathStep, ...]
    cost: float


@dataclass(frozen=True, slots=True)
class Named:
    """What a name was taken for. ``exactly`` picks this node and no other; ``others`` bear the name too, each
    with what picks it."""

    name: str
    node: Node
    exactly: str
    others: tuple[tuple[Node, str], ...] = ()


@dataclass(frozen=True, slots=True)
class MatchRow:
    """Nodes that fit a pattern, in its order, and the edges between them."""

    nodes: tuple[Node, ...]
    steps: tuple[PathStep, ...]


@dataclass(frozen=True, slots=True)
class Matches:
    """The rows of a pattern. ``variables`` are the names that its nodes were given, "" for those without;
    ``more``: there are further rows than were asked for; ``notes`` say why there may be none."""

    pattern: str
    variables: tuple[str, ...]
    rows: tuple[MatchRow, ...]
    more: bool
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A node some hops away, with the cheapest way to it of so many steps."""

    node: Node
    hops: int
    steps: tuple[PathStep, ...]


@dataclass(frozen=True, slots=True)
class Sharing:
    """A node that has tags in common with another: the rarest first. ``weight`` is the sum of their idf."""

    node: Node
    tags: tuple[Node, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Reply:
    """A document of a thread of replies; ``depth`` counts from the thread's first one, which is 0 and has no
    ``step``; the others' step is the reply to the one above."""

    node: Node
    depth: int
    step: PathStep | None


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What is around a node. ``neighbours`` are by hops, nearest first; ``found`` counts all, also those
    beyond the limit."""

    start: Named
    hops: int
    neighbours: tuple[Neighbour, ...]
    found: tuple[int, ...]
    sharing: tuple[Sharing, ...]
    thread: tuple[Reply, ...]


@dataclass(frozen=True, slots=True)
class Bridge:
    """A document of late, one of long ago, and the best way from the one to the other; ``also`` are further
    nodes that they share. Times are seconds since 1970. ``weight`` is higher the more, and the rarer, what
    joins them."""

    recent: Node
    older: Node
    recent_at: int
    older_at: int
    path: GraphPath
    also: tuple[Node, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Bridges:
    """What connects documents since ``recent_since`` with those until ``older_until``, heaviest first; how
    many of each there are, and how many have no time."""

    recent_since: int
    older_until: int
    recent: int
    older: int
    undated: int
    rows: tuple[Bridge, ...]


@dataclass(frozen=True, slots=True)
class Period:
    """A day, week, month or year: how many of a theme's documents it has, of how many in all, the first few
    of them, and what came up in it for the first time or was last spoken of."""

    label: str
    start: int
    documents: int
    every: int
    examples: tuple[Node, ...]
    came: tuple[Node, ...]
    went: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Activity:
    """A theme over time. ``named`` are the nodes that it was taken for, empty where passages were searched
    for its words."""

    theme: str
    by: str
    named: tuple[Node, ...]
    documents: int
    undated: int
    periods: tuple[Period, ...]


@dataclass(frozen=True, slots=True)
class Exported:
    """What an export wrote: its files with their sizes in bytes, and how many nodes and edges the graph
    has."""

    format: str
    files: Mapping[str, int]
    nodes: int
    edges: int
    generation: str


@dataclass(frozen=True, slots=True)
class Connection:
    """The best paths between two names, best first. ``same``: both name the same node, so none is needed."""

    start: Named
    end: Named
    paths: tuple[GraphPath, ...]
    same: bool = False


@dataclass(frozen=True, slots=True)
class NodeCard:
    """What the graph knows of one node."""

    node: Node
    names: tuple[str, ...]
    definitions: tuple[Citation, ...]
    mentions: tuple[Citation, ...]
    edges: tuple[EdgeView, ...]


@dataclass(frozen=True, slots=True)
class Related:
    """A node near another, its walk score (1 for the nearest), the edge kinds that join them, and places
    that state them."""

    node: Node
    score: float
    why: str
    evidence: tuple[Citation, ...]


@dataclass(frozen=True, slots=True)
class CommunityView:
    """A community with its report, the ids of its children, and a citation for each finding."""

    community: Community
    report: Report
    members: tuple[Node, ...]
    children: tuple[int, ...]
    citations: tuple[Citation, ...]
