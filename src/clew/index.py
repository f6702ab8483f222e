"""The façade: an index to build, open and ask. All wiring of adapters is here."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, Self, cast, overload

from clew import registry
from clew.beside import DEFAULT_STORE, cache_path, look_at_cache, look_at_costs, make_callers_from
from clew.calls.ledger import spent
from clew.calls.make import Callers
from clew.errors import (
    ClewError,
    IndexMismatch,
    NoIndex,
    OptionError,
    PublishError,
    SourceError,
    UsageError,
)
from clew.ingest.origins import describe, lost, origins
from clew.inputs import default_path, open_sources, sources_of
from clew.options import AnswerOptions, ContextOptions, EmbedOptions, IndexOptions, LlmOptions, check_choices
from clew.ports import Cache, ChatModel, Embedder, Progress, Reader, Source, Store
from clew.query.engine import IndexEngine
from clew.query.limits import Limits
from clew.query.scope import limits_of, scope_of, window
from clew.room import INDEXING, lacks_memory, need
from clew.types import (
    UNDATED,
    Activity,
    Answer,
    Bridges,
    Brief,
    BuildResult,
    CommunityView,
    Connection,
    Diagnosis,
    EdgeView,
    Exported,
    Filter,
    Forecast,
    Hit,
    Matches,
    Named,
    Neighbourhood,
    NodeCard,
    Passing,
    Related,
)

if TYPE_CHECKING:
    from clew.query.model import Mode
    from clew.query.writer import Writer
    from clew.streams import AnswerStream, AsyncAnswerStream, Chat, Turn

DEFAULT_EMBEDDER = EmbedOptions().embedder
ACTIVITY_BY = ("day", "week", "month", "year")
THEME_PASSAGES = 200  # that are found for a theme which no node bears the name of
EXPORTS = ("sqlite", "graphml", "json", "csv")
HUBS = 10  # nodes that stats lists
SEARCH_MODES = ("auto", "basic", "local")


class SilentProgress:
    """A Progress that says nothing."""

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, n: int = 1) -> None: ...

    def note(self, text: str) -> None: ...


class Index:
    """A published index, open for reading.

    It follows its file: when another process publishes a newer index at the same path, the next
    call reads that one, all of it. Where the file is removed, what is open answers on; where something
    else is put in its place, the next call raises what :meth:`open` would. Threads may share it.
    Use it as a context manager, or call :meth:`close`. ``file`` is its path.
    """

    def __init__(
        self,
        path: Path,
        store: Store,
        embed: EmbedOptions | None = None,
        follow: bool = True,
        llm: LlmOptions | ChatModel | None = None,
    ) -> None:
        self.file = path
        self._follow = follow
        self.result: BuildResult | None = None
        self._store = store
        self._embed = embed
        self._llm = llm
        self._cache: Cache | None = None
        self._callers: Callers | None = None
        self._loading = Lock()
        self._opening = Lock()
        self._engine = self._open()

    # --- making and opening ---

    @classmethod
    def build(
        cls,
        paths: Sequence[str | Path],
        path: str | Path | None = None,
        *,
        options: IndexOptions | None = None,
        llm: LlmOptions | ChatModel | None = None,
        progress: Progress | None = None,
        rebuild: bool = False,
    ) -> Self:
        """Index folders, files and JSONL corpora, publish at ``path``, and open it.

        Without ``path`` the index goes to ``.clew/index.duckdb`` in the first folder; one that is there
        and has other sources, which would be lost, is a UsageError then. What the build did, with the
        documents that it skipped and why, is in ``result``. Where nothing has changed, nothing is done,
        unless it shall ``rebuild``: that mends an index that was damaged. ``llm`` is the language model to
        use, here and for questions to the index, with its limits; none unless it is given.
        Raises NotFound for a path that isn't there, OptionError, SourceError, PublishError, IndexTooNew.
        """
        options = options if options is not None else IndexOptions()
        progress = progress if progress is not None else SilentProgress()
        goal = Path(path) if path is not None else default_path(paths)
        with _enough_memory(goal):
            return cls._build(paths, goal, options, llm, progress, named=path is not None, rebuild=rebuild)

    @classmethod
    def foresee(
        cls,
        paths: Sequence[str | Path],
        path: str | Path | None = None,
        *,
        options: IndexOptions | None = None,
        llm: LlmOptions | ChatModel | None = None,
        progress: Progress | None = None,
        rebuild: bool = False,
    ) -> Forecast:
        """Return what :meth:`build` with the same arguments would do and what a language model would cost.

        Notes are read and linked, no model is called, nothing is written. Raises what ``build`` raises before
        it begins.
        """
        from clew.ingest.consult import make_model
        from clew.ingest.forecast import Unwritten, foresee

        options = options if options is not None else IndexOptions()
        progress = progress if progress is not None else SilentProgress()
        goal = Path(path) if path is not None else default_path(paths)
        parts = _parts(paths, goal, options, progress, named=path is not None)
        place = cache_path(goal)
        cache = Unwritten(parts["store"].cache(place, new_run=False)) if place.is_file() else None
        try:
            model = make_model(options, make_callers_from(llm, cache), _prompts(llm))
            return foresee(
                path=goal,
                options=options,
                cache=cache,
                model=model,
                progress=progress,
                rebuild=rebuild,
                **parts,
            )
        finally:
            if cache is not None:
                cache.close()

    @classmethod
    def _build(
        cls,
        paths: Sequence[str | Path],
        goal: Path,
        options: IndexOptions,
        llm: LlmOptions | ChatModel | None,
        progress: Progress,
        *,
        named: bool,
        rebuild: bool,
    ) -> Self:
        from clew.ingest.build import build  # 0.4 s of imports that asking doesn't need
        from clew.ingest.consult import make_model

        parts = _parts(paths, goal, options, progress, named=named)
        store, embedder = parts["store"], parts["embedder"]
        with store.writing(goal):
            for source in parts["sources"]:
                fetch: Callable[[Progress], None] | None = getattr(source, "sync", None)
                if fetch is not None:
                    fetch(progress)
            cache = store.cache(cache_path(goal))
            callers: Callers | None = None
            try:
                callers = make_callers_from(llm, cache)
                model = make_model(options, callers, _prompts(llm))
                result = build(
                    path=goal,
                    options=options,
                    cache=cache,
                    model=model,
                    progress=progress,
                    rebuild=rebuild,
                    **parts,
                )
                if not result.unchanged:
                    cache.prune()
                told = spent(callers.ledger.rows) if callers is not None else ""
                notes = [note for note in (cache.problem, told) if note]
                if notes:
                    result = replace(result, notes=(*result.notes, *notes))
            finally:
                if callers is not None:
                    callers.close()
                cache.close()
        index = cls(goal, store, llm=llm)
        index.result = result
        if embedder is not None:
            index._embedder_made = embedder
        return index

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        embedder: str | None = None,
        follow: bool = True,
        llm: LlmOptions | ChatModel | None = None,
    ) -> Self:
        """Open a published index.

        ``embedder`` says which one is expected; without it, the one that made the index is used. Unless it
        shall ``follow`` its file, all calls answer from the generation that is there now, which what is put
        together from several calls needs. ``llm`` is the language model that answers, with its limits;
        without it none is asked.
        Raises NoIndex, BadIndex, IndexTooNew, IndexTooOld, and IndexMismatch if the index has another
        embedder's vectors.
        """
        store: Store = registry.load("stores", DEFAULT_STORE)()
        embed = EmbedOptions(embedder=embedder) if embedder is not None else None
        return cls(Path(path), store, embed, follow, llm)

    def _open(self) -> IndexEngine:
        reader = self._store.open(self.file)
        if self._embed is not None:
            _check(reader, registry.make_embedder(self._embed), self.file)
        return IndexEngine(reader, partial(self._load_embedder, reader))

    _embedder_made: Embedder | None = None

    def _load_embedder(self, reader: Reader) -> Embedder:
        with self._loading:
            made = self._embedder_made
            if made is None or made.name != reader.meta["embedder"]:  # a newer generation may have another
                stored = reader.meta["options"]["embed"]
                made = registry.make_embedder(self._embed or EmbedOptions(embedder=stored["embedder"]))
                if made is None:
                    raise UsageError("embedder none", "the index has vectors", "Leave --embedder out")
                _check(reader, made, self.file)
                self._embedder_made = made
            return made

    def prepare(self, question: str = "") -> None:
        """Read what a question needs: the embedder in the background, the arrays before this returns.

        The first question is then as fast as the next ones; ``question``, if it is known, tells what else
        it will need. Whatever is wrong with the embedder is told by the first question that needs it.
        """
        engine = self.engine
        if engine.space.has_vectors:
            # Not a daemon: leaving while a library is being loaded in another thread can crash.
            Thread(target=_prepare_embedder, args=(engine,), name="clew-prepare").start()
        engine.load(question)

    @property
    def callers(self) -> Callers | None:
        """The language models to ask, or None for no model. Replies are kept in the cache beside the index.
        Raises OptionError: an unknown name, a missing package, a wrong price or budget."""
        with self._loading:
            if self._callers is None and self._llm is not None:
                if self._cache is None:
                    self._cache = self._store.cache(cache_path(self.file), new_run=False)
                self._callers = make_callers_from(self._llm, self._cache)
            return self._callers

    @property
    def spent(self) -> str:
        """A line that tells what questions to this index have cost so far; empty where no model was asked."""
        return spent(self._callers.ledger.rows) if self._callers is not None else ""

    @property
    def forgetful(self) -> str:
        """Why replies to this index's questions aren't kept, or empty."""
        return self._cache.problem if self._cache is not None else ""

    @property
    def engine(self) -> IndexEngine:
        """The engine of the newest published generation. To look costs one ``stat`` of the file."""
        if self._follow and self._engine.reader.stale():
            # One thread opens it, the others want the same. Where it is gone by now, the old one reads on.
            with self._opening, suppress(NoIndex):
                if self._engine.reader.stale():
                    # The old reader isn't closed: another thread may be reading it. It goes with its last
                    # user.
                    self._engine = self._open()
        return self._engine

    # --- asking ---

    def search(
        self, question: str, k: int = 10, mode: str = "auto", *, where: Filter | None = None
    ) -> list[Hit]:
        """Return the k best passages for a question. ``mode``: auto, basic (no graph), local (walk).

        ``where`` says which documents are looked at, before anything is ranked. Raises OptionError, and
        NotFound for a tag or an author that there isn't.
        """
        if k < 1:
            raise OptionError("k", f"{k} isn't a number of passages", "Use 1 or more")
        if mode not in SEARCH_MODES:
            raise registry.unknown("search mode", mode, SEARCH_MODES)
        engine = self.engine
        return list(engine.search(question, k, mode, scope_of(engine.space, where)).hits)

    @overload
    def ask(
        self,
        question: str,
        mode: str = "auto",
        *,
        options: AnswerOptions | None = None,
        where: Filter | None = None,
        me: str = "",
        now: int | str | None = None,
        stream: Literal[False] = False,
    ) -> Answer: ...

    @overload
    def ask(
        self,
        question: str,
        mode: str = "auto",
        *,
        options: AnswerOptions | None = None,
        where: Filter | None = None,
        me: str = "",
        now: int | str | None = None,
        stream: Literal[True],
    ) -> AnswerStream: ...

    def ask(
        self,
        question: str,
        mode: str = "auto",
        *,
        options: AnswerOptions | None = None,
        where: Filter | None = None,
        me: str = "",
        now: int | str | None = None,
        stream: bool = False,
    ) -> Answer | AnswerStream:
        """Answer a question with citations, from the documents that pass ``where`` alone. ``mode``: auto,
        basic, local, global, drift, relational, structural or temporal. ``me`` is who asks, ``now`` the
        moment from which times count (None: the present).

        With a language model (``llm``) it writes the answer; each citation is resolved and each sentence
        compared with what it cites. With ``stream`` the text's pieces can be iterated as they come, and
        ``.answer`` is the whole. Raises ProviderError where the model fails, BudgetSpent.
        """
        pieces = self._stream(question, mode, options, where, me, now)
        return pieces if stream else pieces.answer

    def aask(
        self,
        question: str,
        mode: str = "auto",
        *,
        options: AnswerOptions | None = None,
        where: Filter | None = None,
        me: str = "",
        now: int | str | None = None,
    ) -> AsyncAnswerStream:
        """Like :meth:`ask`, for servers: ``await index.aask(…)`` gives the answer, ``async for piece in
        index.aask(…)`` its pieces as they come. Waiting happens in threads."""
        from clew.streams import AsyncAnswerStream

        return AsyncAnswerStream(lambda: self._stream(question, mode, options, where, me, now))

    def chat(
        self,
        mode: str = "auto",
        *,
        options: AnswerOptions | None = None,
        where: Filter | None = None,
        me: str = "",
        now: int | str | None = None,
    ) -> Chat:
        """Begin a conversation: ``chat.ask(question)`` gives a stream, of which ``.answer`` is the whole.
        Follow-up questions are completed from what was said."""
        from clew.streams import Chat

        return Chat(
            lambda question, turns: self._pieces(question, mode, options, where, turns, me=me, now=now)
        )

    def context(
        self, question: str, options: ContextOptions | None = None, *, where: Filter | None = None
    ) -> Brief:
        """Return a prompt for a question within a small budget of tokens, from what passes ``where``, with
        the places that it is from. No language model is needed."""
        from clew.query.brief import brief

        within = self.engine.within(scope_of(self.engine.space, where))
        return brief(question, within, options or ContextOptions(), _prompts(self._llm))

    def _stream(
        self,
        question: str,
        mode: str,
        options: AnswerOptions | None,
        where: Filter | None,
        me: str,
        now: int | str | None,
    ) -> AnswerStream:
        from clew.streams import AnswerStream

        return AnswerStream(self._pieces(question, mode, options, where, me=me, now=now))

    def _pieces(
        self,
        question: str,
        mode: str,
        options: AnswerOptions | None,
        where: Filter | None,
        turns: tuple[Turn, ...] = (),
        *,
        me: str = "",
        now: int | str | None = None,
    ) -> Generator[str, None, Answer]:
        """Return the pieces of an answer to come. Raises at once what is wrong with mode or filter."""
        from clew.query.ask import stream  # imported while the embedder loads

        if mode != "auto":
            names = registry.names("modes")  # 10 ms: it reads what all installed packages offer
            if mode not in names:
                raise registry.unknown("mode", mode, ["auto", *names])
        options = options or AnswerOptions()
        engine = self.engine
        within = engine.within(scope_of(engine.space, where))
        writer = self._writer(options, turns)
        moment = None if now is None else window(Filter(since=now))[0]

        def pieces() -> Generator[str, None, Answer]:
            full = question
            if turns:
                from clew.query.follow import complete

                full = complete(question, turns, within, writer)
            answer = yield from stream(full, within, mode, options, _make_mode, writer, me=me, now=moment)
            return answer if full == question else replace(answer, question=question, read_as=full)

        return pieces()

    def _writer(self, options: AnswerOptions, turns: tuple[Turn, ...]) -> Writer | None:
        callers = self.callers
        if callers is None:
            return None
        from clew.query.writer import Writer

        return Writer(callers.main, callers.rating, options, _prompts(self._llm), turns)

    def passing(self, where: Filter) -> Passing:
        """Return how many documents pass a filter, and how many lack a time only."""
        space = self.engine.space
        every = len(space.reader.array("documents.kind"))
        scope = scope_of(space, where)
        return Passing(every, 0, every) if scope is None else Passing(*scope.counts, every)

    # --- the graph ---

    def show(self, name: str, *, where: Filter | None = None) -> NodeCard:
        """Return what the graph knows of a note, entity, tag or person; ``where`` says with which mentions
        and edges.

        Raises NotFound with the nearest names.
        """
        from clew.query import views

        space = self.engine.space
        return views.card(space, name, scope_of(space, where))

    def related(self, name: str, k: int = 10, *, where: Filter | None = None) -> list[Related]:
        """Return the nodes nearest to a name's that pass ``where``, best first."""
        from clew.query import views

        space = self.engine.space
        return views.related(space, name, k, scope_of(space, where))

    def neighbourhood(
        self, name: str, hops: int = 1, limit: int = 50, *, where: Filter | None = None
    ) -> Neighbourhood:
        """Return what is within some hops of a node and passes ``where``, at most ``limit`` a hop, with the
        edges that lead there; what shares its tags, and its thread of replies. Raises NotFound."""
        from clew.query.neighbourhood import look_around

        space = self.engine.space
        return look_around(space, name, hops, limit, limits_of(scope_of(space, where)))

    def path(self, a: str, b: str, max_steps: int = 6) -> list[EdgeView]:
        """Return the edges of the best path between two names, or nothing if there is none."""
        found = self.paths(a, b, 1, max_steps).paths
        return [step.view for step in found[0].steps] if found else []

    def paths(
        self, a: str, b: str, k: int = 3, max_steps: int = 6, *, where: Filter | None = None
    ) -> Connection:
        """Return the ``k`` best paths between two names, each edge with the places that state it.

        What is asserted is a shorter way than what text suggests, and passing through a hub costs by its
        degree: see :mod:`clew.query.paths`. Edges, and the nodes between the two, pass ``where``. Raises
        NotFound.
        """
        from clew.query.paths import connect

        space = self.engine.space
        return connect(space, a, b, k, max_steps, scope_of(space, where))

    def match(self, pattern: str, limit: int = 20, *, me: str = "", where: Filter | None = None) -> Matches:
        """Return the rows of a pattern over typed edges, such as ``me -follows-> person <-authored_by-
        note``. Documents in it pass ``where``, and edges its kinds.

        Raises UsageError that points at the wrong word of a pattern, and where ``me`` is needed and empty.
        """
        from clew.query.match import match

        if limit < 1:
            raise OptionError("limit", f"{limit} isn't a number of rows", "Use 1 or more")
        space = self.engine.space
        scope = scope_of(space, where)
        return match(space, pattern, me, limit, Limits() if scope is None else scope.of_documents)

    def named(self, name: str) -> Named:
        """Return which node a name is taken for, and the others that bear it. Raises NotFound."""
        from clew.query import naming

        return naming.named(self.engine.space, name)

    def same(self, a: str, b: str) -> bool:
        """Tell whether two names stand for the same, so that no path is needed. Raises NotFound."""
        from clew.query import naming

        space = self.engine.space
        one, other = ({node.node for node in naming.find(space, name)} for name in (a, b))
        return other <= one

    def readable(self, text: str) -> str:
        """Return a text in which what it refers to (``nostr:npub1…``, NIP-21) is called by its name, as
        ``@name``. Offsets count in texts as they are."""
        from clew.query.naming import readable

        return readable(self.engine.space, text)

    def communities(self, level: int | None = None, *, where: Filter | None = None) -> list[CommunityView]:
        """Return the communities of a level (0 is the coarsest), or of all, that hold a document which passes
        ``where``."""
        from clew.query import views

        space = self.engine.space
        return views.communities(space, level, scope_of(space, where))

    def stats(self, *, where: Filter | None = None) -> dict[str, Any]:
        """Return what the index holds and how it was made; with ``where``, what of it passes."""
        from clew.query import views
        from clew.query.scope import count_by, count_passing

        space = self.engine.space
        scope = scope_of(space, where)
        hubs = [
            {"name": one.name, "kind": one.kind, "degree": one.degree, "pagerank": one.pagerank}
            for one in views.hubs(space, HUBS, scope)
        ]
        if scope is not None:
            return {"index": str(self.file), **count_passing(space, scope), "hubs": hubs}
        reader = space.reader
        tables = ("documents", "chunks", "nodes", "mentions", "edges", "communities", "reports")
        codes, kinds = reader.array("graph.node_kind"), reader.meta["node_kinds"]
        return {
            "index": str(self.file),
            "bytes": self.file.stat().st_size if self.file.is_file() else 0,
            "generation": reader.generation,
            "sources": [describe(origin) for origin in reader.sources],
            **{table: reader.count(table) for table in tables},
            "undated": int((reader.array("documents.created_at") == UNDATED).sum()),
            "documents_by_kind": count_by(reader.array("documents.kind"), reader.meta["document_kinds"]),
            "nodes_by_kind": {kind: int((codes == at).sum()) for at, kind in enumerate(kinds)},
            "edges_by_kind": count_by(reader.array("edges.kind"), reader.meta["edge_kinds"]),
            "hubs": hubs,
            **{key: reader.meta.get(key) for key in ("embedder", "dimension", "languages", "clew_version")},
            "options": reader.meta.get("options"),
        }

    def bridge(
        self,
        recent: str = "7d",
        older: str = "180d",
        *,
        me: str = "",
        limit: int = 10,
        where: Filter | None = None,
        now: int | str | None = None,
    ) -> Bridges:
        """Return what was written or saved of late and connects to what was of long ago, and through what.

        ``recent`` is how far back the one reaches (``7d``, or a day), ``older`` how long ago the other was
        at least. With ``me`` only what that person wrote or saved counts. ``now`` None is the present moment.
        Raises OptionError for what is no time, NotFound.
        """
        from clew.query.bridge import bridge
        from clew.query.match import find_me

        space = self.engine.space
        flags = ("--recent", "--older")
        since, _ = window(Filter(since=recent, now=now), flags)
        _, until = window(Filter(until=older, now=now), flags)
        scope = scope_of(space, where)
        allowed = None if scope is None else scope.nodes
        mine = find_me(space, me) if me.strip() else ()
        return bridge(space, since or 0, until or 0, mine, limit, allowed)

    def activity(self, theme: str = "", by: str = "month", *, where: Filter | None = None) -> Activity:
        """Return a theme over time: how many notes of each ``day``, ``week``, ``month`` or ``year`` (UTC)
        are about it, and what came up with it and what was last spoken of. An empty theme is everything."""
        from clew.query.activity import activity

        if by not in ACTIVITY_BY:
            raise registry.unknown("period", by, ACTIVITY_BY)
        engine = self.engine

        def search(text: str) -> list[int]:
            return [hit.chunk.chunk for hit in engine.search(text, THEME_PASSAGES, "basic").hits]

        scope = scope_of(engine.space, where)
        return activity(engine.space, theme, cast(Any, by), search, None if scope is None else scope.docs)

    def export(
        self,
        form: str,
        path: str | Path,
        *,
        profile: str = "mobile",
        vectors: str = "float32",
        since: str | Path | None = None,
    ) -> Exported:
        """Write the graph for other programs: ``sqlite`` (with the profile ``mobile``), ``graphml``,
        ``json``, or ``csv`` (a folder with two tables).

        ``vectors`` of the SQLite file are ``float32``, ``int8`` or ``none``; with ``since``, an earlier one,
        only what differs from that is written, and counted. The same index gives the same bytes. Raises
        OptionError, and PublishError if a file can't be written or one that is no such export is there.
        """
        from clew.export import changes, graph_files, mobile

        goal = Path(path)
        reader = self.engine.reader
        for thing, value, known in (
            ("format", form, EXPORTS),
            ("profile", profile, ("mobile",)),
            ("vectors", vectors, ("float32", "int8", "none")),
        ):
            if value not in known:
                raise registry.unknown(thing, value, known)
        if since is not None and form != "sqlite":
            raise OptionError("--since-export", f"{form} is written whole", "It goes with sqlite")
        files = [goal / "nodes.csv", goal / "edges.csv"] if form == "csv" else [goal]
        counts = reader.count("nodes"), reader.count("edges")
        if since is not None:
            counts = changes.write_changes(reader, goal, Path(since), cast(mobile.Vectors, vectors))
        elif form == "sqlite":
            mobile.write_mobile(reader, goal, cast(mobile.Vectors, vectors))
        else:
            {
                "graphml": graph_files.write_graphml,
                "json": graph_files.write_json,
                "csv": graph_files.write_csv,
            }[form](reader, goal)
        sizes = {str(file): file.stat().st_size for file in files}
        return Exported(form, sizes, *counts, reader.generation)

    def doctor(self) -> Diagnosis:
        """Check the whole index: its checksum, every reference, span and count, and, where its sources are
        there, every passage and mention of the documents that haven't changed, byte for byte."""
        from clew.ingest.verify import verify_sources

        reader = self.engine.reader
        checks = reader.check()
        if any(check.faults for check in checks):
            return Diagnosis(tuple(checks), None, "a damaged index says nothing of its sources")
        try:
            check, state = verify_sources(reader, sources_of(reader, self.file))
        except SourceError as error:
            return Diagnosis(tuple(checks), None, str(error))
        return Diagnosis((*checks, check), state)

    def close(self) -> None:
        """Close the file."""
        if self._callers is not None:
            self._callers.close()
        if self._cache is not None:
            self._cache.close()
        self._engine.reader.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@contextmanager
def _enough_memory(goal: Path) -> Iterator[None]:
    """Turn a lack of memory that any stage tells of into a PublishError."""
    try:
        need(INDEXING)
        yield
    except ClewError:
        raise
    except Exception as error:
        if not lacks_memory(error):
            raise
        remedy = "Close other programs, or index fewer notes. An index that is there is whole"
        raise PublishError(str(goal), "there isn't enough memory to make it", remedy) from error


def _parts(
    paths: Sequence[str | Path], goal: Path, options: IndexOptions, progress: Progress, *, named: bool
) -> dict[str, Any]:
    """Return what a build is made with, by the names of its arguments: store, sources, embedder, tokenizer,
    window, extractors. Raises OptionError and, for sources that would be lost, UsageError."""
    check_choices(options)
    store: Store = registry.load("stores", DEFAULT_STORE)()
    sources = open_sources(paths, options, goal)
    _spare_sources(store, goal, sources, progress, named=named)
    embedder = registry.make_embedder(options.embed)
    sizing = embedder if embedder is not None else _default_embedder(options.embed)
    return {
        "store": store,
        "sources": sources,
        "embedder": embedder,
        "tokenizer": sizing.tokenizer,
        "window": sizing.window,
        "extractors": [registry.load("extractors", name)() for name in registry.names("extractors")],
    }


def _prompts(llm: LlmOptions | ChatModel | None) -> str:
    """Return the folder of prompts that take the place of Clew's, empty for none."""
    return llm.prompts if isinstance(llm, LlmOptions) else ""


def _make_mode(name: str) -> Mode:
    made: Mode = registry.load("modes", name)()
    return made


def _prepare_embedder(engine: IndexEngine) -> None:
    with suppress(Exception):  # of the embedder's library; the question will say
        load: Callable[[], None] | None = getattr(engine.embedder, "load", None)
        if load is not None:
            load()


def _spare_sources(
    store: Store, goal: Path, sources: Sequence[Source], progress: Progress, named: bool
) -> None:
    """Raise UsageError if the index at ``goal`` has sources that an index of ``sources`` would lose.

    `clew index notes/one.md` would else leave that one note in the index of all. Where the file was
    ``named``, replacing it is what was asked for, and only told.
    """
    imprint = store.imprint(goal)
    if imprint is None:
        return
    old = imprint.sources
    gone = [_short(describe(one)) for one in lost(old, origins(sources))]
    if gone and named:
        progress.note(f"This replaces the index of {', '.join(gone)}.")
    elif gone:
        every = " ".join(shlex.quote(_short(describe(one))) for one in old)
        raise UsageError(
            str(goal),
            f"it is the index of {', '.join(gone)}, which would be lost",
            f"To update it: clew index {every}. To make another: add --index FILE. To replace it: add "
            f"--index {shlex.quote(str(goal))}",
        )


def _short(path: str) -> str:
    """Return a path relative to the current folder if it is in it; not that folder itself, whose dot would be
    lost among those of sentences."""
    here = Path.cwd()
    return str(Path(path).relative_to(here)) if here in Path(path).parents else path


def _default_embedder(options: EmbedOptions) -> Embedder:
    embedder = registry.make_embedder(replace(options, embedder=DEFAULT_EMBEDDER))
    assert embedder is not None
    return embedder


def _check(reader: Reader, embedder: Embedder | None, path: Path) -> None:
    """Raise IndexMismatch if the index has vectors of another embedder."""
    made = reader.meta.get("embedder")
    if embedder is None or made is None or made == embedder.name:
        return
    raise IndexMismatch(
        str(path),
        f"its vectors are of {made} ({reader.meta.get('dimension')} dimensions), "
        f"not of {embedder.name} ({embedder.dimension} dimensions)",
        "Leave --embedder out, or index again with it",
    )


__all__ = [
    "Index",
    "SilentProgress",
    "cache_path",
    "default_path",
    "look_at_cache",
    "look_at_costs",
    "open_sources",
]
