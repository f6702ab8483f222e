"""First stage: read every source, and give every document a key of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from clew.ports import Source
from clew.types import Problem, RawDocument


def scan(sources: Sequence[Source]) -> tuple[list[RawDocument], list[Problem]]:
    """Return all documents, sorted by key, and the problems, sorted by key and reason.

    With more than one source a key is preceded by its source's name and a slash. Raises
    SourceError if a source as a whole can't be read.
    """
    raws: list[RawDocument] = []
    problems: list[Problem] = []
    names = source_names(sources)
    for source, name in zip(sources, names, strict=True):
        prefix = f"{name}/" if len(sources) > 1 else ""
        for item in source.read():
            keyed = replace(item, key=prefix + item.key) if prefix else item
            if isinstance(keyed, Problem):
                problems.append(keyed)
            else:
                raws.append(keyed)
    raws.sort(key=lambda raw: (raw.key, raw.location, raw.line, raw.data))
    keys = _unique(raw.key for raw in raws)
    raws = [raw if raw.key == key else replace(raw, key=key) for raw, key in zip(raws, keys, strict=True)]
    raws.sort(key=lambda raw: raw.key)
    problems.sort(key=lambda problem: (problem.key, problem.reason))
    return raws, problems


def source_names(sources: Sequence[Source]) -> list[str]:
    """Return the sources' names, each its own."""
    return _unique(source.name for source in sources)


def _unique(names: Iterable[str]) -> list[str]:
    """Return the names, each repeated one with a number: "notes", "notes~2"."""
    wanted = list(names)
    taken = set(wanted)
    seen: set[str] = set()
    unique: list[str] = []
    for name in wanted:
        chosen, number = name, 1
        while chosen in seen or (number > 1 and chosen in taken):
            number += 1
            chosen = f"{name}~{number}"
        seen.add(chosen)
        unique.append(chosen)
    return unique
