"""Where links lead: to which document, or to a note that isn't there.

Wikilinks are found as Obsidian finds them: by path, by the end of a path, by title, by alias, in
any letter case; of several, one in the same folder, then the one with the shortest path.
Markdown links are paths relative to their document's folder.
"""

from __future__ import annotations

import posixpath
import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from clew.ingest.model import Corpus
from clew.text.tokens import normal_name
from clew.types import Ints, Link

SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")  # two letters at least: "C:" is a drive
ENDINGS = (".md", ".markdown", ".mdown", ".mkd", ".mdx", ".qmd", ".rmd", ".txt", ".html", ".htm")
FOLDER_NOTES = ("index", "readme", "_index")
HAS_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")


@dataclass(frozen=True, slots=True)
class LinkTable:
    """Links that lead somewhere, in (document, start) order, L of them.

    ``doc``, ``start``, ``end`` (L,) are where each stands; ``target`` is the document it leads to, or
    -1 for a missing note, whose name is ``name``. ``missing`` are the missing notes' names.
    """

    doc: Ints
    start: Ints
    end: Ints
    target: Ints
    name: tuple[str, ...]

    @property
    def missing(self) -> list[str]:
        rows = zip(self.name, self.target.tolist(), strict=True)
        return list(dict.fromkeys(name for name, target in rows if target < 0))


def resolve_links(corpus: Corpus) -> LinkTable:
    """Return where the corpus' links lead; links out of it and to media are left out."""
    rows: list[tuple[int, int, int, int, str]] = []
    linked = any(analysis.links for analysis in corpus.analyses)
    places = _Places(corpus) if linked else None
    for document, analysis in zip(corpus.documents, corpus.analyses, strict=True):
        for link in analysis.links:
            found = places.find(document.doc, link) if places is not None else None
            if found is not None and found[0] != document.doc:
                rows.append((document.doc, link.start, link.end, *found))
    rows.sort()

    def column(i: int) -> Ints:
        return np.array([row[i] for row in rows], dtype=np.int32)

    return LinkTable(column(0), column(1), column(2), column(3), tuple(row[4] for row in rows))


def path_key(path: str) -> str:
    """Return a path as it is compared: without a note's ending, in one letter case and normal form."""
    folded = unicodedata.normalize("NFC", path).casefold().strip()
    for ending in ENDINGS:
        if folded.endswith(ending) and len(folded) > len(ending):
            return folded[: -len(ending)]
    return folded


class _Places:
    """The documents by path, by the ends of their paths, by title and by alias."""

    def __init__(self, corpus: Corpus) -> None:
        self.path: dict[str, int] = {}
        self.name: dict[str, list[int]] = defaultdict(list)
        self.title: dict[str, list[int]] = defaultdict(list)
        self.alias: dict[str, list[int]] = defaultdict(list)
        self.keys = [path_key(document.key) for document in corpus.documents]
        self.folders = [posixpath.dirname(key) for key in self.keys]
        for document, analysis in zip(corpus.documents, corpus.analyses, strict=True):
            doc, key = document.doc, self.keys[document.doc]
            self.path.setdefault(key, doc)
            self.path.setdefault(unicodedata.normalize("NFC", document.key).casefold(), doc)
            self.name[posixpath.basename(key)].append(doc)
            self.title[normal_name(document.title)].append(doc)
            for mark in analysis.marks:
                if mark.kind == "alias":
                    self.alias[normal_name(mark.name)].append(doc)

    def find(self, doc: int, link: Link) -> tuple[int, str] | None:
        """Return (document, "") or (-1, name of a missing note); None if the link leads elsewhere."""
        target = link.target.strip().replace("\\", "/")
        if not target or link.kind == "image" or SCHEME.match(target) or target.startswith("//"):
            return None
        if link.kind == "link":
            found = self._relative(doc, target)
            return None if found is None else (found, "")
        found = self._relative(doc, target) if target.startswith(".") else self._wiki(doc, target)
        if found is not None:
            return found, ""
        name = posixpath.basename(path_key(target)) and posixpath.basename(target)
        if link.kind == "embed" and HAS_ENDING.search(name):
            return None
        return (-1, _plain(name)) if _plain(name) else None

    def _relative(self, doc: int, target: str) -> int | None:
        folder = self.folders[doc] if not target.startswith("/") else ""
        path = posixpath.normpath(posixpath.join(folder, path_key(target.lstrip("/"))))
        if path.startswith(".."):
            return None
        for candidate in (path, *(posixpath.normpath(posixpath.join(path, name)) for name in FOLDER_NOTES)):
            if candidate in self.path:
                return self.path[candidate]
        return None

    def _wiki(self, doc: int, target: str) -> int | None:
        key = posixpath.normpath(path_key(target).lstrip("/"))
        if "/" in key and key in self.path:
            return self.path[key]
        ends = [
            other
            for other in self.name.get(posixpath.basename(key), ())
            if self.keys[other] == key or self.keys[other].endswith("/" + key)
        ]
        normal = normal_name(target)
        for found in (ends, self.title.get(normal, ()), self.alias.get(normal, ())):
            if found:
                return self._nearest(doc, found)
        return None

    def _nearest(self, doc: int, found: Iterable[int]) -> int:
        def distance(other: int) -> tuple[bool, int, int, str]:
            key = self.keys[other]
            return self.folders[other] != self.folders[doc], key.count("/"), len(key), key

        return min(found, key=distance)


def _plain(name: str) -> str:
    for ending in (".md", ".markdown"):
        if name.lower().endswith(ending):
            return name[: -len(ending)].strip()
    return name.strip()
