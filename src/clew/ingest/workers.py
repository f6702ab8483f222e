"""Documents over several processes, where there are enough of them to be worth it.

The pool is loky's: its workers don't import the program that indexes, so that a script needs no
``if __name__ == "__main__"`` and a notebook works, and it notices when one of them dies. Whatever
goes wrong with processes, the documents are analysed in this one: that takes longer, nothing else.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from clew.ingest.documents import Failures, Items, Work
from clew.ports import AnalysisCodec, Progress
from clew.types import Analysis

if TYPE_CHECKING:
    from concurrent.futures import Future

    from loky import ProcessPoolExecutor

# A process takes one to two seconds to start (imports, the model of languages, words that another has
# seen already), in which this one reads a megabyte or two: with fewer bytes for each it would gain nothing.
LEAST_BYTES = 2_000_000
MOST_WORKERS = 60  # Windows waits for 61 processes at most
PARENT_SECONDS = 1.0  # between two looks at whether the process that indexes is still there
AHEAD = 2  # batches that wait for each process, so that none waits for this one
# The tokenizers library would use every core from every process.
ENVIRONMENT = {"TOKENIZERS_PARALLELISM": "false"}


@dataclass(frozen=True, slots=True)
class Done:
    """A batch's analyses and failures by cache key; ``encoded`` are the analyses that came as bytes."""

    analyses: dict[str, Analysis]
    failures: Failures
    encoded: Mapping[str, bytes] = field(default_factory=dict)


_Sent = tuple[dict[str, bytes], dict[str, Analysis], Failures]


def spread(
    work: Work, batches: Sequence[Items], codec: AnalysisCodec | None, workers: int, progress: Progress
) -> Iterator[Done]:
    """Yield the batches' results in order. ``workers`` is the number of processes, this one among them; 0
    is that of the cores."""
    done = 0
    for result in _in_processes(work, batches, codec, workers, progress):
        done += 1
        yield result
    for batch in islice(batches, done, None):
        yield Done(*work.analyse(batch))


def _in_processes(
    work: Work, batches: Sequence[Items], codec: AnalysisCodec | None, workers: int, progress: Progress
) -> Iterator[Done]:
    """Yield the results of the first batches, of all if nothing goes wrong."""
    size = sum(len(raw.data) for batch in batches for _, raw in batch.values())
    most = min(len(batches), size // LEAST_BYTES, MOST_WORKERS)
    if most < 2 or workers == 1 or getattr(sys, "frozen", False):  # a frozen program is no interpreter
        return
    import loky  # 0.15 s

    n = min(most, workers or loky.cpu_count())
    recipe = _pickled(work, codec)
    if n < 2 or recipe is None:
        return
    try:
        pool = loky.ProcessPoolExecutor(n - 1, initializer=_begin, initargs=(os.getpid(),), env=ENVIRONMENT)
    except (OSError, ImportError, NotImplementedError, RuntimeError):
        return  # a system without semaphores, or a process that may have no children
    whole = False
    try:
        yield from _Shared(pool, recipe, work, codec, batches).results(AHEAD * (n - 1))
        whole = True
    except Exception as error:
        progress.note(f"Another process failed ({type(error).__name__}): documents are read in this one now.")
    finally:  # also after an interrupt, or if nobody wants the rest
        pool.shutdown(wait=True, kill_workers=not whole)


def _pickled(work: Work, codec: AnalysisCodec | None) -> bytes | None:
    """Return what a process needs, or None if a part can't be sent (an engine's own tokenizer, say)."""
    import cloudpickle

    try:
        pickled: bytes = cloudpickle.dumps((work, codec))
    except Exception:  # objects decide themselves how they fail
        return None
    return pickled


class _Shared:
    """Batches that a pool and this process read together, each taking the next that nobody has."""

    def __init__(
        self,
        pool: ProcessPoolExecutor,
        recipe: bytes,
        work: Work,
        codec: AnalysisCodec | None,
        batches: Sequence[Items],
    ) -> None:
        self._pool, self._recipe, self._work, self._codec = pool, recipe, work, codec
        self._batches = batches
        self._next = 0
        self._sent: dict[int, Future[_Sent]] = {}
        self._done: dict[int, Done] = {}

    def results(self, ahead: int) -> Iterator[Done]:
        """Yield the results in order, keeping ``ahead`` batches sent and not done."""
        with _uninterrupted():
            self._send(ahead)
        for number in range(len(self._batches)):
            while number not in self._done:
                self._send(ahead)
                if number in self._sent and (self._sent[number].done() or self._next == len(self._batches)):
                    self._done[number] = _received(self._sent.pop(number).result(), self._codec)
                else:
                    taken = self._take()
                    self._done[taken] = Done(*self._work.analyse(self._batches[taken]))
            yield self._done.pop(number)

    def _take(self) -> int:
        self._next += 1
        return self._next - 1

    def _send(self, ahead: int) -> None:
        waiting = sum(not future.done() for future in self._sent.values())
        for _ in range(min(ahead - waiting, len(self._batches) - self._next)):
            number = self._take()
            self._sent[number] = self._pool.submit(_run, self._recipe, self._batches[number])


def _received(sent: _Sent, codec: AnalysisCodec | None) -> Done:
    encoded, analyses, failures = sent
    if codec is not None:
        analyses |= {key: codec.decode(data) for key, data in encoded.items()}
    return Done(analyses, failures, encoded)


@contextmanager
def _uninterrupted() -> Iterator[None]:
    """Let no process that starts meanwhile see an interrupt (Ctrl-C reaches all of a terminal's), which
    each would report with a traceback of its own. This one's comes through afterwards."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


# --- in the other process ------------------------------------------------------------------------


def _begin(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()  # as in the process that indexes: see clew.ingest.build
    if sys.platform != "win32":  # a process keeps its parent's number there
        threading.Thread(target=_end_with, args=(parent,), name="clew-parent", daemon=True).start()


def _end_with(parent: int) -> None:
    """Leave soon after the process that indexes: killed, it can't end this one, which would wait for work
    for ever and hold its memory."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)


@lru_cache(maxsize=1)
def _unpickled(recipe: bytes) -> tuple[Work, AnalysisCodec | None]:
    import cloudpickle

    made: tuple[Work, AnalysisCodec | None] = cloudpickle.loads(recipe)
    return made


def _run(recipe: bytes, batch: Items) -> _Sent:
    """Analyse a batch; return analyses as bytes where the codec has a form for them."""
    work, codec = _unpickled(recipe)
    analyses, failures = work.analyse(batch)
    encoded: dict[str, bytes] = {}
    if codec is not None:
        for key in list(analyses):
            data = codec.encode(analyses[key])
            if data is not None:
                encoded[key] = data
                del analyses[key]
    return encoded, analyses, failures
