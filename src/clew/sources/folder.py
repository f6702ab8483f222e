"""Notes of a folder: Markdown, plain text, JSONL files and dumps of Nostr events, as the ignore rules leave
them; or one file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from pathspec import GitIgnoreSpec

from clew.errors import OptionError, SourceError
from clew.ids import content_hash
from clew.nostr.dump import is_dump
from clew.nostr.known import Known
from clew.nostr.reading import Reading
from clew.nostr.select import wanted
from clew.nostr.shared import EventSet
from clew.options import SourceOptions
from clew.text.commits import first_commits
from clew.text.files import file_status, shown_name
from clew.text.records import read_records
from clew.types import MediaType, Problem, RawDocument

MARKDOWN = frozenset((".md", ".markdown", ".mdown", ".mkdn", ".mkd", ".mdwn", ".mdx", ".qmd", ".rmd"))
TEXT = frozenset((".txt", ".text", ".rst", ".org", ".adoc", ".asciidoc", ".tex"))
RECORDS = frozenset((".jsonl", ".ndjson"))
EVENTS = frozenset((".json",))  # read if it holds Nostr events
OURS = MARKDOWN | TEXT | RECORDS | EVENTS
IGNORE_FILE = ".gitignore"


@dataclass(frozen=True, slots=True)
class _Rules:
    """The patterns of one .gitignore, which hold below its folder."""

    folder: str  # POSIX path relative to the root, "" for the root itself
    spec: GitIgnoreSpec

    def verdict(self, path: str) -> bool | None:
        """Tell whether a path (with a slash at its end: a folder) is ignored; None if no pattern says."""
        local = path[len(self.folder) + 1 :] if self.folder else path
        return self.spec.check_file(local).include


@dataclass(frozen=True, slots=True)
class _Found:
    key: str
    path: Path


class FolderSource:
    """Walks a folder. Keys and locations are POSIX paths relative to it.

    Hidden files and folders are left out, and what a .gitignore or the options leave out. Links are
    followed within the folder only, and only to what isn't reached otherwise.
    """

    def __init__(
        self,
        path: Path,
        options: SourceOptions,
        name: str,
        parts: Sequence[str] = (),
        verified: Path | None = None,
    ) -> None:
        self.name = name
        self.notes: list[str] = []  # what was left out of the last reading, and is no problem
        self._verified = verified  # the file that remembers verified events
        EventSet().join(self)
        self.parts = tuple(parts)  # the only files and folders in it that are read, if any are named
        self.path = path
        self._root = path
        self._options = options
        self._include = GitIgnoreSpec.from_lines(options.include) if options.include else None
        self._exclude = GitIgnoreSpec.from_lines(options.exclude) if options.exclude else None

    def read(self) -> Iterator[RawDocument | Problem]:
        """Yield the files' documents in key order, then those of events. Raises SourceError if the folder
        can't be read."""
        found, problems = self._find()
        dumps = [item for item in found if self._is_dump(item)]
        commits: dict[str, int] = {}
        if self._options.git_times:
            commits, reason = first_commits(self._root if self._root.is_dir() else self._root.parent)
            if reason:
                remedy = "Leave --git-times out, or index a folder that is in a repository"
                yield Problem(self.name, f"git tells no times: {reason}", remedy, skipped=False)
        for item in found:
            other = PurePosixPath(item.key).suffix.lower() in EVENTS and not self._is_named(item)
            if item not in dumps and not other:
                yield from self._timed(item, commits)
        yield from problems
        if dumps:
            yield from self._events(dumps)

    def _timed(self, item: _Found, commits: Mapping[str, int]) -> Iterator[RawDocument | Problem]:
        at = commits.get(item.key)
        for one in self._file(item):
            yield one if at is None or isinstance(one, Problem) else replace(one, committed_at=at)

    def _is_named(self, item: _Found) -> bool:
        """Tell whether a file was named by itself, so that it is read whatever it is."""
        return item.path == self._root or item.key in self.parts

    def _is_dump(self, item: _Found) -> bool:
        suffix = PurePosixPath(item.key).suffix.lower()
        return suffix in RECORDS | EVENTS and _is_regular(item.path) and is_dump(item.path)

    def share(self, events: EventSet) -> None:
        """Read events as those of one set with other sources'."""
        self._shared = events

    def add_events(self, reading: Reading) -> None:
        """Add the events of all dumps to a reading."""
        for item in self._find()[0]:
            if self._is_dump(item):
                try:
                    reading.file(item.path, item.key)
                except OSError as error:
                    reading.problem(_unreadable(item.key, error))

    def _events(self, dumps: Sequence[_Found]) -> Iterator[RawDocument | Problem]:
        """Yield the documents of all dumps, as one set of events."""
        try:
            reading = self._shared.reading(self, Known(self._verified))
        except OptionError as error:
            if self.parts or (len(dumps) == 1 and dumps[0].path == self._root):
                raise
            yield from (
                Problem(item.key, f"it holds Nostr events: {error.reason}", error.remedy) for item in dumps
            )
            return
        yield from reading.problems_of(self)
        yield from reading.documents(wanted(self._options), owner=self)
        self.notes = reading.notes

    def stamp(self) -> str:
        """Return a hash of the names, sizes and times of what would be read; contents aren't read.

        Raises SourceError if the folder can't be read.
        """
        found, problems = self._find()
        lines = [f"{item.key}\0{_status(item.path)}" for item in found]
        lines += [f"{problem.key}\0{problem.reason}" for problem in problems]
        return content_hash("\n".join(lines).encode("utf-8", "surrogatepass"))

    def _find(self) -> tuple[list[_Found], list[Problem]]:
        """Return the files in key order, and what is wrong elsewhere."""
        found: list[_Found] = []
        problems: list[Problem] = []
        if os.path.isfile(self._root):  # noqa: PTH113 -- Path.is_file raises where rights are missing
            found.append(_Found(shown_name(self._root.name), self._root))
        else:
            _check_folder(self._root)
            walk = _Walk(self._root, self._include, self._exclude)
            walk.run(self.parts)
            found, problems = walk.found, walk.problems
        return sorted(found, key=lambda item: item.key), problems

    def _file(self, item: _Found) -> Iterator[RawDocument | Problem]:
        suffix = PurePosixPath(item.key).suffix.lower()
        try:
            status = item.path.stat()
            if not stat.S_ISREG(status.st_mode):
                yield Problem(item.key, "it isn't a regular file", "Remove or exclude it")
                return
            if status.st_size > self._options.max_bytes:
                reason = f"it has {status.st_size} bytes, more than the {self._options.max_bytes} allowed"
                yield Problem(item.key, reason, "Raise max_bytes, divide the file, or exclude it")
                return
            data = item.path.read_bytes()
        except OSError as error:
            yield _unreadable(item.key, error)
            return
        if suffix in RECORDS:
            yield from read_records(data, item.key, prefix=f"{item.key}#")
            return
        media: MediaType = "text" if suffix in TEXT else "markdown"
        yield RawDocument(item.key, item.key, data, media)


def open_source(
    path: Path,
    options: SourceOptions,
    name: str,
    parts: Sequence[str] = (),
    verified: Path | None = None,
) -> FolderSource:
    """Return the source for a folder, for one file, or for ``parts`` of a folder: paths within it, a folder's
    with a slash at its end. ``verified`` is the file that remembers which events were verified."""
    return FolderSource(path, options, name, parts, verified)


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.stat().st_mode)
    except OSError:
        return False


def _check_folder(root: Path) -> None:
    """Raise SourceError unless ``root`` is a folder that can be listed."""
    try:
        with os.scandir(root):
            pass
    except FileNotFoundError as error:
        raise SourceError(
            shown_name(str(root)), "there is no such file or folder", "Check the path"
        ) from error
    except NotADirectoryError as error:
        raise SourceError(
            shown_name(str(root)), "it is neither a folder nor a regular file", "Give a folder of notes"
        ) from error
    except OSError as error:
        raise SourceError(
            shown_name(str(root)), f"it can't be read ({error.strerror})", "Check its permissions"
        ) from error


def _status(path: Path) -> str:
    try:
        return file_status(path)
    except OSError as error:
        return str(error.errno)


def _unreadable(key: str, error: OSError) -> Problem:
    return Problem(key, f"it can't be read ({error.strerror or error})", "Check its permissions")


class _Walk:
    """One walk over a folder, without recursion."""

    def __init__(self, root: Path, include: GitIgnoreSpec | None, exclude: GitIgnoreSpec | None) -> None:
        self._root = root
        self._real = Path(os.path.realpath(root))
        self._include = include
        self._exclude = exclude
        self._seen: set[str] = set()  # real paths of folders and files
        self._links: list[tuple[str, Path, tuple[_Rules, ...]]] = []
        self.found: list[_Found] = []
        self.problems: list[Problem] = []

    def run(self, parts: Sequence[str] = ()) -> None:
        """Walk what is there, then follow the links in key order to what hasn't been reached.

        With ``parts``, files are taken as they were named, ignored or not; folders are walked.
        """
        if not parts:
            self._folders("", self._root, ())
        for part in (part for part in parts if part.endswith("/")):
            rules = self._with_ignore_file("", self._root, ())
            self._folders(part.rstrip("/"), self._root / part, rules)
        for part in (part for part in parts if not part.endswith("/")):
            real = os.path.realpath(self._root / part)
            if real not in self._seen:
                self._seen.add(real)
                self.found.append(_Found(shown_name(part), self._root / part))
        while self._links:
            links, self._links = sorted(self._links, key=lambda link: link[0]), []
            for key, path, rules in links:
                self._follow(key, path, rules)

    def _folders(self, key: str, path: Path, rules: tuple[_Rules, ...]) -> None:
        stack = [(key, path, rules)]
        while stack:
            key, path, rules = stack.pop()
            real = os.path.realpath(path)
            if real in self._seen:
                continue
            self._seen.add(real)
            try:
                with os.scandir(path) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except OSError as error:
                self.problems.append(_unreadable(f"{shown_name(key)}/", error))
                continue
            rules = self._with_ignore_file(key, path, rules)
            for entry in listed:
                below = f"{key}/{entry.name}" if key else entry.name
                if entry.name.startswith("."):
                    continue
                if entry.is_symlink():
                    self._links.append((below, path / entry.name, rules))
                elif entry.is_dir(follow_symlinks=False):
                    if not self._ignored(f"{below}/", rules):
                        stack.append((below, path / entry.name, rules))
                else:
                    self._file(below, path / entry.name, rules)

    def _with_ignore_file(self, key: str, path: Path, rules: tuple[_Rules, ...]) -> tuple[_Rules, ...]:
        file = path / IGNORE_FILE
        try:
            if not file.is_file():
                return rules
            lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
            return (*rules, _Rules(key, GitIgnoreSpec.from_lines(lines)))
        except (OSError, ValueError) as error:
            where = shown_name(f"{key}/{IGNORE_FILE}" if key else IGNORE_FILE)
            reason = f"it can't be read as ignore rules ({error}); they weren't applied"
            self.problems.append(Problem(where, reason, "Correct it", skipped=False))
            return rules

    def _ignored(self, path: str, rules: tuple[_Rules, ...]) -> bool:
        if self._exclude is not None and self._exclude.match_file(path):
            return True
        for rule in reversed(rules):  # the nearest file that says anything decides
            verdict = rule.verdict(path)
            if verdict is not None:
                return verdict
        return False

    def _file(self, key: str, path: Path, rules: tuple[_Rules, ...]) -> None:
        if PurePosixPath(key).suffix.lower() not in OURS or self._ignored(key, rules):
            return
        if self._include is not None and not self._include.match_file(key):
            return
        self._seen.add(os.path.realpath(path))
        self.found.append(_Found(shown_name(key), path))

    def _follow(self, key: str, path: Path, rules: tuple[_Rules, ...]) -> None:
        """Follow a link. One that leads nowhere or outside is a problem if it would have been a document."""
        ours = PurePosixPath(key).suffix.lower() in OURS
        try:
            real = Path(os.path.realpath(path, strict=True))
            is_folder = real.is_dir()
        except (OSError, RuntimeError):
            if ours:
                self.problems.append(
                    Problem(shown_name(key), "it is a link that leads nowhere", "Mend or remove it")
                )
            return
        if self._ignored(f"{key}/" if is_folder else key, rules) or not (ours or is_folder):
            return
        if not real.is_relative_to(self._real):
            remedy = "Give the folder that it leads to as a further source"
            self.problems.append(
                Problem(shown_name(key), "it is a link that leads out of the folder", remedy)
            )
        elif str(real) in self._seen:
            return
        elif is_folder:
            self._folders(key, path, rules)
        else:
            self._file(key, path, rules)
