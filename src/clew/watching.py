"""Following notes: index them, and again after each change.

What counts as a change is decided by the sources alone: whenever something may have happened, they are asked
for their stamps (names, sizes and times of the files that they would read), and if these differ from those
before the last build, there is a build. So hidden folders, what .gitignore or the options leave out, and the
index's own files never cause one. That something may have happened is told by the operating system; and
since network folders tell nothing, and a watch dies with the folder that it is on, Clew also looks by itself.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISDIR
from threading import Event

from clew.errors import ClewError, SourceError, UsageError
from clew.ids import content_hash
from clew.index import Index, SilentProgress
from clew.inputs import default_path, open_sources, relay_of
from clew.options import FOLDER, IndexOptions, LlmOptions
from clew.ports import ChatModel, Progress, Source
from clew.types import BuildResult

REMEDY = "Leave --watch out: each run fetches what is new"
SHARE = 0.01  # of the time may go to looking at all files without being told of a change
SHARE_UNTOLD = 0.1  # the same where the system tells of none


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait, in seconds."""

    quiet: float = 0.3  # a burst of changes is over when nothing has changed for so long ...
    burst: float = 5.0  # ... or when it has gone on for so long
    look: float = 1.0  # between looks at named files, and at whether the folders are the same
    sweep: float = 60.0  # between looks at all files without being told of a change
    again: float = 15.0  # until what failed is tried again


@dataclass(frozen=True, slots=True)
class Update:
    """A publication, or a failure to publish, with ``error``; then the index is as it was.

    ``added``, ``edited`` and ``removed`` count documents; a renamed one is removed and added.
    """

    result: BuildResult | None = None
    generation: str = ""
    added: int = 0
    edited: int = 0
    removed: int = 0
    seconds: float = 0.0
    error: Exception | None = None

    @property
    def changed(self) -> int:
        """The number of documents that changed."""
        return self.added + self.edited + self.removed


def watch(
    paths: Sequence[str | Path],
    path: str | Path | None = None,
    *,
    options: IndexOptions | None = None,
    llm: LlmOptions | ChatModel | None = None,
    progress: Progress | None = None,
    stop: Event | None = None,
) -> Iterator[Update]:
    """Index as :meth:`Index.build` does, yield the update, and go on so after each change, until ``stop`` is
    set.

    Only the first build raises (what ``Index.build`` raises); later failures are yielded, and tried again
    after the next change, or 15 seconds. A source that is missing for a while is waited for.
    """
    watcher = Watcher(paths, path, options=options, llm=llm)
    yield watcher.update(progress)
    yield from watcher.follow(progress, stop)


class Watcher:
    """Keeps the index of some paths up to date. Use it from one thread."""

    def __init__(
        self,
        paths: Sequence[str | Path],
        path: str | Path | None = None,
        *,
        options: IndexOptions | None = None,
        llm: LlmOptions | ChatModel | None = None,
        pace: Pace | None = None,
    ) -> None:
        self._given, self._to = paths, path
        self._options = options if options is not None else IndexOptions()
        self._llm = llm
        self._pace = pace if pace is not None else Pace()
        self._paths: list[Path] = []
        self._goal = Path()
        self._seen: tuple[str, ...] | None = None  # the stamps of what was published last
        self._documents: dict[str, str] = {}  # content hashes by key, of what was published last
        self._generation = ""
        self._due = 0.0  # when to look even if no change is told
        self._untold = False  # the system doesn't tell of changes

    # --- publishing ---

    def update(self, progress: Progress | None = None, *, rebuild: bool = False) -> Update:
        """Index, publish, and return what changed since the last time; the first time, since the index that
        was there. Raises what ``Index.build`` raises."""
        if self._paths:
            return self._build(self._stamps(), self._paths, self._goal, progress, rebuild)
        for given in self._given:
            if relay_of(given):
                raise UsageError("--watch", f"{relay_of(given)} is a relay, not a folder", REMEDY)
        open_sources(self._given, self._options)  # names what isn't there as it was typed
        self._goal = (Path(self._to) if self._to is not None else default_path(self._given)).absolute()
        self._generation, self._documents = _published(self._goal)
        # Absolute, since this process's folder may itself be replaced while it is watched.
        self._paths = [Path(one).expanduser().absolute() for one in self._given]
        try:
            return self._build(self._stamps(), self._given, self._to, progress, rebuild)
        except BaseException:
            self._paths = []
            raise

    def _build(
        self,
        stamps: tuple[str, ...],
        paths: Sequence[str | Path],
        to: str | Path | None,
        progress: Progress | None,
        rebuild: bool = False,
    ) -> Update:
        begin = time.perf_counter()
        with Index.build(
            paths, to, options=self._options, llm=self._llm, progress=progress, rebuild=rebuild
        ) as index:
            reader = index.engine.reader
            result, generation = index.result, reader.generation
            now = reader.contents()
        before = self._documents
        edited = sum(now[key] != before[key] for key in now.keys() & before.keys())
        added, removed = len(now.keys() - before.keys()), len(before.keys() - now.keys())
        # Only now: what failed is tried again, and what changed meanwhile differs from these stamps.
        self._seen, self._documents, self._generation = stamps, now, generation
        return Update(result, generation, added, edited, removed, time.perf_counter() - begin)

    def _stamps(self) -> tuple[str, ...]:
        """Return what changes when an index of the sources could. Raises SourceError."""
        begin = time.monotonic()
        for path in self._paths:
            if not _state(path):
                remedy = "The index stays as it is until it is back"
                raise SourceError(str(path), "it isn't there", remedy)
            if self._emptied(path):
                remedy = "The index stays as it is. To empty it, index again without watching"
                reason = "it is empty now, as a folder is whose disk isn't mounted"
                raise SourceError(str(path), reason, remedy)
        stamps = tuple(map(stamp_of, open_sources(self._paths, self._options)))
        now = time.monotonic()
        pause = (now - begin) / (SHARE_UNTOLD if self._untold else SHARE)
        self._due = now + max(self._pace.look if self._untold else self._pace.sweep, pause)
        return stamps

    def _emptied(self, path: Path) -> bool:
        """Tell whether there were documents of a folder in which nothing is left, not even what isn't a note.
        Who deletes notes seldom deletes all, and whose folder holds its index still has that in it."""
        try:
            if not path.is_dir() or any(path.iterdir()):
                return False
        except OSError:  # gone meanwhile, or not to be read, which reading it will tell
            return False
        prefix = f"{path.name}/" if len(self._paths) > 1 else ""
        return any(key.startswith(prefix) for key in self._documents)

    # --- waiting ---

    def follow(self, progress: Progress | None = None, stop: Event | None = None) -> Iterator[Update]:
        """Wait for changes and yield an update for each publication and each new failure, until ``stop``."""
        progress = progress if progress is not None else SilentProgress()
        told = ""
        stop = stop if stop is not None else Event()
        for _ in self._wakes(progress, stop):
            before = self._generation
            try:
                stamps = self._stamps()
                mend = bool(told) or not self._goal.exists()
                if stamps == self._seen and not mend:
                    continue
                if self._untold:
                    stamps = self._settled(stamps, stop)
                update = self._build(stamps, self._paths, self._goal, progress)
            except Exception as error:  # whatever it is, the next change may mend it
                self._due = time.monotonic() + self._pace.again
                if str(error) != told:
                    told = str(error)
                    yield Update(error=error)
                continue
            if update.generation != before or mend:
                told = ""
                yield update

    def _settled(self, stamps: tuple[str, ...], stop: Event) -> tuple[str, ...]:
        """Wait until the stamps stay the same, as the system does where it tells of changes."""
        until = time.monotonic() + self._pace.burst
        while not stop.wait(self._pace.quiet) and time.monotonic() < until:
            before, stamps = stamps, self._stamps()
            if stamps == before:
                break
        return stamps

    def _wakes(self, progress: Progress, stop: Event) -> Iterator[None]:
        """Yield whenever something may have changed, when it is quiet again."""
        while not stop.is_set():
            state = [_state(path) for path in self._paths]
            first = True  # what changed before the system was asked to tell
            with closing(self._events(progress, stop)) as events:
                for changes in events:
                    if first or time.monotonic() >= self._due or not all(map(self._is_own, changes)):
                        first = False
                        yield
                    if [_state(path) for path in self._paths] != state:
                        stop.wait(self._pace.quiet)
                        break  # the folder is another one, or gone, or back: ask anew

    def _events(self, progress: Progress, stop: Event) -> Generator[set[str], None, None]:
        """Yield the paths that the system tells of, and nothing once in a while. Ends if it fails."""
        import watchfiles  # 0.1 s of imports that nothing else needs

        pace, folders = self._pace, [path for path in self._paths if os.path.isdir(path)]  # noqa: PTH112 -- as elsewhere
        quiet, burst, look = (round(1000 * seconds) for seconds in (pace.quiet, pace.burst, pace.look))
        if folders and not self._untold:
            try:
                for changes in watchfiles.watch(
                    *folders,
                    watch_filter=None,
                    debounce=burst,
                    step=quiet,
                    rust_timeout=look,
                    yield_on_timeout=True,
                    stop_event=stop,
                    ignore_permission_denied=True,
                ):
                    yield {path for _, path in changes}
                return
            except FileNotFoundError:
                pass  # it has just gone
            except (OSError, RuntimeError) as error:
                self._untold = True
                progress.note(f"The system doesn't tell of changes here ({error}): Clew looks by itself.")
        while not stop.wait(pace.look):
            yield set()

    def _is_own(self, path: str) -> bool:
        """Tell whether a file is the index's, or beside it as its cache, lock or next generation are."""
        place, goal = Path(path), self._goal
        if goal.parent.name == FOLDER:
            return place == goal.parent or goal.parent in place.parents
        return place.parent == goal.parent and place.name.startswith(goal.name)


def _published(goal: Path) -> tuple[str, dict[str, str]]:
    """Return an index's generation and its documents' content hashes by key; nothing if there is none."""
    try:
        with Index.open(goal) as index:
            reader = index.engine.reader
            return reader.generation, reader.contents()
    except ClewError:
        return "", {}


def stamp_of(source: Source) -> str:
    """Return a source's stamp; of one that has none, the hash of all that it gives."""
    stamp = getattr(source, "stamp", None)
    if stamp is not None:
        return str(stamp())
    items = "\n".join(map(repr, source.read()))
    return content_hash(items.encode("utf-8", "surrogatepass"))


def _state(path: Path) -> tuple[int, ...]:
    """Return what tells a folder from another in its place, and a file from itself before."""
    try:
        found = path.stat()
    except OSError:
        return ()
    place = (found.st_dev, found.st_ino)
    return place if S_ISDIR(found.st_mode) else (*place, found.st_size, found.st_mtime_ns, found.st_ctime_ns)


__all__ = ["Pace", "Update", "Watcher", "watch"]
