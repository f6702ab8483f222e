"""Several calls at once, their results as they come."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from queue import Empty, Full, Queue
from threading import Event, Lock, Thread
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
LOOK = 0.2  # seconds between looks at whether results are still wanted


def in_parallel(
    work: Callable[[Item], Result], items: Sequence[Item], threads: int
) -> Iterator[tuple[int, Result]]:
    """Yield each item's number with ``work`` of it, as they come; an exception of ``work`` is raised here.

    Results wait in a short queue, so a slow reader holds the work up instead of filling the memory. Where
    the reader leaves off, or Ctrl-C comes, nothing more is begun, and calls under way aren't waited for:
    the threads are daemons.
    """
    numbers, lock, left = iter(range(len(items))), Lock(), Event()
    results: Queue[tuple[int, Result | None, BaseException | None]] = Queue(2 * threads)

    def run() -> None:
        while not left.is_set():
            with lock:
                number = next(numbers, None)
            if number is None:
                return
            try:
                _offer(results, (number, work(items[number]), None), left)
            except BaseException as error:  # it is raised where the results are read
                _offer(results, (number, None, error), left)
                return

    workers = [Thread(target=run, name="clew-call", daemon=True) for _ in range(min(threads, len(items)))]
    for worker in workers:
        worker.start()
    try:
        for _ in range(len(items)):
            number, result, error = _take(results)
            if error is not None:
                raise error
            yield number, result  # type: ignore[misc]
    finally:
        left.set()


def _offer(results: Queue[Result], result: Result, left: Event) -> None:
    while not left.is_set():
        try:
            results.put(result, timeout=LOOK)
        except Full:
            continue
        return


def _take(results: Queue[Result]) -> Result:
    """Wait for a result so that Ctrl-C comes through on every system."""
    while True:
        try:
            return results.get(timeout=LOOK)
        except Empty:
            continue
