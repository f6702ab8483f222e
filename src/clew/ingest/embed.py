"""Vectors for chunks: texts are cut into windows that the model can read, each distinct window is
embedded once, and what a run has embedded is kept in the cache while it goes on.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from clew.errors import ProviderError
from clew.ids import make_id
from clew.options import EmbedOptions
from clew.ports import Cache, Embedder, Progress, Tokenizer
from clew.registry import embedder_for
from clew.types import Floats, Ints

Halves = NDArray[np.float16]

OVERLAP = 1 / 8  # share of a window that the next one repeats, so that no sentence is only seen cut
COMMIT_SECONDS = 3.0  # what a killed run loses at most
TOKENIZE_AT_ONCE = 2048  # texts; keeps the tokenizer's own objects below some 100 MB
CACHE_AT_ONCE = 8192  # keys per look-up
MOST_IN_BATCH = 256  # texts; endpoints limit the number in a request
# A batch that fails is tried again text by text. If this many texts in a row fail as well, the
# fault isn't theirs, and the run stops with the last error.
HOPELESS = 5
MOST_SKIPPED_NAMED = 3  # texts that a note quotes
QUOTED = 60  # characters of such a quote


def dense_text(title: str, heading_path: Sequence[str], text: str) -> str:
    """Return what is embedded for a chunk: title, headings and text, each on a line of its own.

    A heading that only repeats the title, or that the text begins with, isn't said twice.
    """
    above = [title.strip()] if title.strip() else []
    opening = text.lstrip("# \t\r\n")
    for heading in heading_path:
        name = heading.strip()
        if name and name not in above:
            above.append(name)
    while above and opening.startswith(above[-1]):
        above.pop()
    head, rest = above[:1], above[1:]
    return "\n".join([*head, *([" > ".join(rest)] if rest else []), text])


def embed_chunks(
    texts: Sequence[str],
    embedder: Embedder,
    options: EmbedOptions,
    cache: Cache | None,
    progress: Progress,
    work: Counter[str] | None = None,
) -> tuple[Ints, Halves]:
    """Return ``(vec_chunk, vectors)``: row i of ``vectors`` (W, dimension) is a window of the text
    ``vec_chunk[i]``, rows in the order of texts, then of windows.

    A text longer than the embedder's window has several rows, one without any token none. A text
    that the embedder refuses is left out and noted. Batches hold windows of similar length, about
    ``options.batch_tokens`` tokens with padding. ``progress`` advances once for every text.
    ``work`` counts rows whose window was embedded now as ``vectors_embedded``, each window once; all
    others are ``vectors_reused``.
    Raises ProviderError if the embedder fails on everything; what was done stays in the cache.
    """
    plan = _plan(texts, embedder)
    run = _Run(plan, embedder, cache, progress)
    run.start()
    missing = run.missing()
    try:
        budget = int(getattr(embedder, "batch_tokens", options.batch_tokens))
        run.embed(list(_batches(missing, plan.tokens, budget)))
    finally:
        run.commit()
    chunk, vectors = run.result()
    if work is not None:
        work["vectors_embedded"] = int(np.count_nonzero(run.done[missing]))
        work["vectors_reused"] = len(chunk) - work["vectors_embedded"]
    return chunk, vectors


def count_missing(texts: Sequence[str], embedder: Embedder, cache: Cache | None) -> tuple[int, int]:
    """Return how many windows ``embed_chunks`` would embed, and how many rows there would be."""
    plan = _plan(texts, embedder)
    known = 0
    for first in range(0, len(plan.keys) if cache is not None else 0, CACHE_AT_ONCE):
        assert cache is not None
        known += len(cache.vectors(embedder.name, plan.keys[first : first + CACHE_AT_ONCE]))
    return len(plan.keys) - known, len(plan.row_window)


# --- windows -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Plan:
    """U distinct windows, and R rows that name them: row r is window ``row_window[r]`` of text
    ``row_text[r]``. ``tokens`` (U,) counts each window's tokens."""

    n_texts: int
    windows: list[str]
    keys: list[str]
    tokens: Ints
    row_text: Ints
    row_window: Ints


def _plan(texts: Sequence[str], embedder: Embedder) -> _Plan:
    """Cut texts into windows and number the distinct ones in order of appearance."""
    place: dict[str, int] = {}
    windows: list[str] = []
    tokens: list[int] = []
    row_text: list[int] = []
    row_window: list[int] = []
    for at, (window, n_tokens) in _windows(texts, embedder.tokenizer, embedder.window):
        key = make_id(window)
        number = place.setdefault(key, len(windows))
        if number == len(windows):
            windows.append(window)
            tokens.append(n_tokens)
        row_text.append(at)
        row_window.append(number)
    return _Plan(
        len(texts),
        windows,
        list(place),
        np.array(tokens, dtype=np.int32),
        np.array(row_text, dtype=np.int32),
        np.array(row_window, dtype=np.int32),
    )


def _windows(
    texts: Sequence[str], tokenizer: Tokenizer, window: int
) -> Iterator[tuple[int, tuple[str, int]]]:
    """Yield (position, (window's text, its tokens)) for every window of every text."""
    for first in range(0, len(texts), TOKENIZE_AT_ONCE):
        some = texts[first : first + TOKENIZE_AT_ONCE]
        for at, (text, starts) in enumerate(zip(some, tokenizer.offsets(some), strict=True), first):
            for piece in split_windows(text, starts, window):
                yield at, piece


def split_windows(text: str, starts: Ints, window: int) -> list[tuple[str, int]]:
    """Cut a text into windows of at most ``window`` tokens, each with its number of tokens.

    ``starts`` holds the character offsets of the text's tokens. Windows are as few as can be, of about
    equal length, and overlap by an eighth of a window: a text a little too long costs an eighth more,
    and no window is a mere tail. Cuts are moved back to the start of a word where one is near.
    """
    n = len(starts)
    if n <= window:
        return [(text, n)] if n else []
    overlap = int(window * OVERLAP)
    count = -(-(n - overlap) // (window - overlap))
    size = -(-(n + (count - 1) * overlap) // count)
    pieces: list[tuple[str, int]] = []
    for i in range(count):
        begin = i * (n - size) // (count - 1)
        # The next window begins at least ``overlap`` tokens before this end, so nothing is left out.
        end = n if i == count - 1 else _word_start(text, starts, begin + size, begin + size - overlap)
        begin = 0 if i == 0 else _word_start(text, starts, begin, max(begin - overlap, end - window - 1))
        upto = len(text) if end == n else int(starts[end])
        pieces.append((text[0 if begin == 0 else int(starts[begin]) : upto], end - begin))
    return pieces


def _word_start(text: str, starts: Ints, at: int, after: int) -> int:
    """Return the last token up to ``at`` and beyond ``after`` that begins a word after white space; ``at``
    if there is none."""
    for token in range(at, after, -1):
        start = int(starts[token])
        if start == 0 or text[start - 1].isspace():
            return token
    return at


def _batches(wanted: Ints, tokens: Ints, batch_tokens: int) -> Iterator[Ints]:
    """Yield runs of windows, longest first, whose number times the longest one's tokens keeps within
    ``batch_tokens`` (a longer window is a batch alone).

    Longest first: the time left is then overestimated rather than underestimated, and memory is at
    its highest at the start.
    """
    order = wanted[np.lexsort((wanted, -tokens[wanted]))]
    at = 0
    while at < len(order):
        size = min(MOST_IN_BATCH, max(1, batch_tokens // max(1, int(tokens[order[at]]))))
        yield order[at : at + size]
        at += size


# --- the run -------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Run:
    """What has been embedded so far. Only the calling thread touches it; the embedder alone is called
    from others."""

    plan: _Plan
    embedder: Embedder
    cache: Cache | None
    progress: Progress
    vectors: Halves = field(init=False)
    done: NDArray[np.bool_] = field(init=False)
    left: Ints = field(init=False)  # rows of each text that wait for their vector
    row_order: Ints = field(init=False)  # rows sorted by window …
    row_bounds: Ints = field(init=False)  # … and where each window's rows begin
    unsaved: list[int] = field(default_factory=list)
    saved_at: float = field(default_factory=time.monotonic)
    failures: list[tuple[int, Exception]] = field(default_factory=list)
    failed_in_a_row: int = 0

    def __post_init__(self) -> None:
        plan = self.plan
        n = len(plan.windows)
        self.vectors = np.zeros((n, self.embedder.dimension if n else 0), dtype=np.float16)
        self.done = np.zeros(n, dtype=bool)
        self.left = np.bincount(plan.row_text, minlength=plan.n_texts).astype(np.int32)
        self.row_order = np.argsort(plan.row_window, kind="stable").astype(np.int32)
        self.row_bounds = np.searchsorted(plan.row_window[self.row_order], np.arange(n + 1)).astype(np.int32)

    def start(self) -> None:
        """Take what the cache holds."""
        self._advance(int(np.count_nonzero(self.left == 0)))
        if self.cache is None:
            return
        name, dimension = self.embedder.name, self.embedder.dimension
        for first in range(0, len(self.plan.keys), CACHE_AT_ONCE):
            keys = self.plan.keys[first : first + CACHE_AT_ONCE]
            stored = self.cache.vectors(name, keys)
            found = [i for i, key in enumerate(keys, first) if key in stored]
            found = [i for i in found if stored[self.plan.keys[i]].shape == (dimension,)]
            for i in found:
                self.vectors[i] = stored[self.plan.keys[i]]
            self._finish(found)

    def missing(self) -> Ints:
        return np.flatnonzero(~self.done).astype(np.int32)

    def embed(self, batches: Sequence[Ints]) -> None:
        """Embed batches, as many at once as the embedder gains from."""
        at_once = max(1, int(getattr(self.embedder, "parallel", 1)))
        if at_once == 1:
            for batch in batches:
                self._take(batch, self._try(batch))
            return
        # A few batches wait in line, so that no thread is idle; more would only hold memory.
        waiting: dict[Future[Floats | Exception], Ints] = {}
        pool = ThreadPoolExecutor(at_once, thread_name_prefix="clew-embed")
        try:
            for batch in batches:
                waiting[pool.submit(self._try, batch)] = batch
                if len(waiting) >= 2 * at_once:
                    self._collect(waiting)
            while waiting:
                self._collect(waiting)
        finally:
            pool.shutdown(wait=True, cancel_futures=True)

    def _collect(self, waiting: dict[Future[Floats | Exception], Ints]) -> None:
        finished, _ = wait(waiting, return_when=FIRST_COMPLETED)
        for future in [future for future in waiting if future in finished]:
            self._take(waiting.pop(future), future.result())

    def _try(self, batch: Ints) -> Floats | Exception:
        """Embed a batch; an error is returned, as it may be the fault of one text."""
        try:
            vectors = self.embedder.embed([self.plan.windows[i] for i in batch.tolist()])
        except Exception as error:
            return error
        wanted = (len(batch), self.embedder.dimension)
        if vectors.shape != wanted or not np.isfinite(vectors).all():
            shape = "x".join(map(str, vectors.shape))
            return ValueError(f"expected {wanted[0]}x{wanted[1]} finite numbers, got {shape}")
        return vectors

    def _take(self, batch: Ints, outcome: Floats | Exception) -> None:
        if isinstance(outcome, Exception):
            if len(batch) > 1:
                for alone in batch:
                    self._take(np.array([alone], dtype=np.int32), self._try(np.array([alone])))
                return
            self._fail(int(batch[0]), outcome)
            return
        self.failed_in_a_row = 0
        self.vectors[batch] = outcome
        self.unsaved += batch.tolist()
        self._finish(batch.tolist())
        if time.monotonic() - self.saved_at > COMMIT_SECONDS:
            self.commit()

    def _fail(self, window: int, error: Exception) -> None:
        if isinstance(error, MemoryError):  # not the text's fault
            raise error
        self.failures.append((window, error))
        self.failed_in_a_row += 1
        if self.failed_in_a_row >= HOPELESS:
            if isinstance(error, ProviderError):
                raise error
            raise ProviderError(
                f"embedder {self.embedder.name}", f"{type(error).__name__}: {error}"
            ) from error
        self._count(window)

    def _finish(self, windows: Sequence[int]) -> None:
        for window in windows:
            self.done[window] = True
            self._count(window)

    def _count(self, window: int) -> None:
        """Tell the progress of the texts that have all their rows now."""
        rows = self.row_order[self.row_bounds[window] : self.row_bounds[window + 1]]
        complete = 0
        for text in self.plan.row_text[rows].tolist():
            self.left[text] -= 1
            complete += int(self.left[text] == 0)
        self._advance(complete)

    def _advance(self, n: int) -> None:
        if n:
            self.progress.advance(n)

    def commit(self) -> None:
        """Put what is new into the cache."""
        if self.cache is not None and self.unsaved:
            # Copies: views would keep the whole array alive in a cache that holds on to them.
            items = {self.plan.keys[i]: self.vectors[i].copy() for i in sorted(self.unsaved)}
            self.cache.put_vectors(self.embedder.name, items)
        self.unsaved = []
        self.saved_at = time.monotonic()

    def result(self) -> tuple[Ints, Halves]:
        """Return the rows that have a vector, and note the texts that were refused."""
        if self.failures:
            self.progress.note(self._refused())
        rows = np.flatnonzero(self.done[self.plan.row_window])
        vectors = self.vectors[self.plan.row_window[rows]]
        return self.plan.row_text[rows], vectors.reshape(len(rows), self.embedder.dimension)

    def _refused(self) -> str:
        failures = sorted(self.failures, key=lambda failure: failure[0])
        quotes = [" ".join(self.plan.windows[i][:QUOTED].split()) for i, _ in failures[:MOST_SKIPPED_NAMED]]
        listed = "; ".join(f"“{quote}…”" for quote in quotes)
        return (
            f"{len(failures)} passage(s) have no vector, because {self.embedder.name} refused them "
            f"({failures[0][1]}): {listed}. They are found by their words."
        )


# --- languages -----------------------------------------------------------------------------------

UNKNOWN_LANGUAGE = "und"  # too little text to tell
MOST = 0.5  # share of the notes from which on the message is given


def unknown_share(languages: Mapping[str, int], embedder: Embedder) -> float:
    """Return the share (0 to 1) of documents in languages that the embedder doesn't know.

    ``languages`` counts documents by ISO 639-1 code; those of undetermined language aren't counted.
    """
    known = {code: n for code, n in languages.items() if code != UNKNOWN_LANGUAGE}
    total = sum(known.values())
    if not total or not embedder.languages:
        return 0.0
    return sum(n for code, n in known.items() if code not in embedder.languages) / total


def language_note(languages: Mapping[str, int], embedder: Embedder) -> list[str]:
    """Return a message, in a list, if most notes are in languages that the embedder doesn't know."""
    if unknown_share(languages, embedder) <= MOST:
        return []
    foreign = {
        code: n
        for code, n in languages.items()
        if code != UNKNOWN_LANGUAGE and code not in embedder.languages and n > 0
    }
    most = min(foreign, key=lambda code: (-foreign[code], code))
    plugin = embedder_for(most)
    remedy = f"; use --embedder {plugin.name}"
    if plugin.extra:
        remedy += f" (pip install 'clew[{plugin.extra}]')"
    return [f"Most notes are in languages such as {most}, which {embedder.name} doesn't know{remedy}"]
