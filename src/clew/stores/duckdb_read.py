"""Reading a published index."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from clew.errors import BadIndex
from clew.stores.duckdb_files import Cursors
from clew.stores.kept import KeptThemes
from clew.stores.places import META_KEY, Places
from clew.stores.queries import AGAIN, Queries
from clew.stores.schema import TABLES
from clew.stores.strings import escape, unescape
from clew.text.tokens import normal_name
from clew.types import (
    FILE_TYPES,
    Check,
    Chunk,
    Community,
    Document,
    Edge,
    Evidence,
    Mention,
    Node,
    Origin,
    Report,
)

Row = TypeVar("Row")
Stamp = tuple[int, int, int, int]

PARTS_AT_ONCE = 16  # parts of an array (1 MB each) held twice while it loads

# A join with a list of numbers lets DuckDB skip row groups, and a text is the cheapest way to hand a long
# list over: 10 of 100,000 chunks take 4 ms, where literals take 8, and a list as a parameter up to 14.
_LISTED = "SELECT unnest(string_split(?, ',')::BIGINT[])"
_DOCUMENT = (
    "doc, id, key, location, title, language, encoding, content_hash, size, line, media_type, metadata, "
    "kind, created_at"
)
_CHUNK = "chunk, id, doc, section, start_byte, end_byte, start_line, end_line, n_tokens, heading_path, text"
_NODE = "node, id, kind, name, df, degree, doc, confidence, type, description, created_at, pagerank"
_MENTION = "node, chunk, start_byte, end_byte, surface"
_EDGE = "edge, id, kind, source, target, weight, phrase, created_at"
_EVIDENCE = "edge, doc, chunk, start_byte, end_byte, line, quote"


class DuckReader:
    """A Reader of one DuckDB file. Threads may share it; each has a cursor of its own."""

    def __init__(self, path: Path, cursors: Cursors, meta: Mapping[str, Any], stamp: Stamp) -> None:
        self.path = path
        self.meta = meta
        self.generation: str = meta["generation"]
        self._cursors = cursors
        self._stamp = stamp
        self._lock = threading.Lock()
        self._arrays: dict[str, NDArray[Any]] = {}
        self._counts: dict[str, int] = {}
        self._parts: dict[str, tuple[str, str, int, int]] | None = None
        self._places = Places(meta.get(META_KEY) or (), path)
        queries = Queries(path, cursors)
        self._rows = queries.rows
        self._themes = KeptThemes(queries.rows, queries.columns)

    @property
    def sources(self) -> tuple[Origin, ...]:
        """Where the documents were."""
        return self._places.origins

    # --- arrays ---

    def array(self, name: str) -> NDArray[Any]:
        """Return a published array (read-only, kept after the first call). Raises BadIndex if it isn't
        there."""
        with self._lock:
            found = self._arrays.get(name)
            if found is None:
                found = self._arrays[name] = self._load(name)
            return found

    def has_array(self, name: str) -> bool:
        """Tell whether an array of this name was published."""
        with self._lock:
            return name in self._array_places()

    def _array_places(self) -> dict[str, tuple[str, str, int, int]]:
        """Return each array's type, shape, first row and number of rows."""
        if self._parts is None:
            columns = "name, any_value(dtype), any_value(shape), min(rowid), count(*)"
            rows = self._rows(f"SELECT {columns} FROM arrays GROUP BY name")
            self._parts = {unescape(name): (dtype, shape, at, n) for name, dtype, shape, at, n in rows}
        return self._parts

    def _array_parts(self, name: str) -> tuple[str, str, int, Iterator[bytes]]:
        """Return an array's type, shape (as JSON), size in bytes, and its parts, which are as long together.

        Raises BadIndex, also while the parts are read.
        """
        places = self._array_places()
        if name not in places:
            raise BadIndex(str(self.path), f"it has no array {name!r}", AGAIN)
        kind, shape, first, count = places[name]
        size = math.prod(json.loads(shape)) * np.dtype(kind).itemsize

        def parts() -> Iterator[bytes]:
            left = size
            for begin in range(first, first + count, PARTS_AT_ONCE):
                end = min(begin + PARTS_AT_ONCE, first + count) - 1
                for (data,) in self._rows(f"SELECT data FROM arrays WHERE rowid BETWEEN {begin} AND {end}"):
                    left -= len(data)
                    if left < 0:
                        raise BadIndex(str(self.path), f"its array {name!r} is longer than its shape", AGAIN)
                    yield data
            if left:
                raise BadIndex(str(self.path), f"its array {name!r} is incomplete", AGAIN)

        return kind, shape, size, parts()

    def _load(self, name: str) -> NDArray[Any]:
        kind, shape, _, parts = self._array_parts(name)
        array = np.empty(tuple(json.loads(shape)), dtype=np.dtype(kind))
        into = array.reshape(-1).view(np.uint8)
        at = 0
        for data in parts:
            into[at : at + len(data)] = np.frombuffer(data, dtype=np.uint8)
            at += len(data)
        array.flags.writeable = False
        return array

    # --- tables ---

    def count(self, table: str) -> int:
        """Return the number of a table's rows. Raises ValueError for a name that isn't a table's."""
        if table not in TABLES:
            raise ValueError(f"there is no table {table!r}")
        if table not in self._counts:
            self._counts[table] = self._rows(f"SELECT count(*) FROM {table}")[0][0]
        return self._counts[table]

    def documents(self, docs: Sequence[int] | None = None) -> list[Document]:
        """Return documents by position, or all."""
        return self._at("documents", "doc", _DOCUMENT, docs, self._document)

    def contents(self) -> dict[str, str]:
        """Return the hash of each document's content by its key."""
        rows = self._rows("SELECT key, content_hash FROM documents ORDER BY doc")
        return {unescape(key): content for key, content in rows}

    def chunks(self, chunks: Sequence[int]) -> list[Chunk]:
        """Return chunks by position."""
        return self._at("chunks", "chunk", _CHUNK, chunks, _chunk)

    def chunks_of(self, doc: int) -> list[Chunk]:
        """Return the chunks of a document, in order."""
        rows = self._rows(f"SELECT {_CHUNK} FROM chunks WHERE doc = ? ORDER BY chunk", [int(doc)])
        return list(map(_chunk, rows))

    def nodes(self, nodes: Sequence[int]) -> list[Node]:
        """Return nodes by position."""
        return self._at("nodes", "node", _NODE, nodes, _node)

    def find_nodes(self, normal: str) -> list[Node]:
        """Return the nodes that have this normal name (see ``clew.text.tokens.normal_name``)."""
        named = "SELECT node FROM names WHERE key = ?"
        query = f"SELECT {_NODE} FROM nodes WHERE node IN ({named}) ORDER BY node"
        return list(map(_node, self._rows(query, [escape(normal)])))

    def find_documents(self, name: str) -> list[Document]:
        """Return the documents that a person means by a name: those whose file it leads to from the
        current folder; else those with this key or path in the source; else those whose path ends so (with
        or without the extension); else those of this file name or title in any spelling that
        ``normal_name`` makes the same."""
        there = f"SELECT {_DOCUMENT} FROM documents WHERE location = ? ORDER BY doc"
        for number, location in self._places.stored(name):
            rows = self._rows(there, [escape(location)])
            here = [row for row in map(self._document, rows) if self._places.is_in(row.key, number)]
            if here:
                return here
        exact = f"SELECT {_DOCUMENT} FROM documents WHERE key = ? OR location = ? ORDER BY doc"
        found = list(map(self._document, self._rows(exact, [escape(name)] * 2)))
        if found:
            return found
        last = PurePosixPath(name.replace("\\", "/"))
        keys = [escape(normal_name(text)) for text in (last.name, last.stem, name) if text]
        either = "title_key = ? OR file_key IN (SELECT unnest(?::VARCHAR[]))"
        loose = f"SELECT {_DOCUMENT} FROM documents WHERE {either} ORDER BY doc"
        loosely = list(map(self._document, self._rows(loose, [escape(normal_name(name)), keys])))
        by_path = [document for document in loosely if _ends_with(document, str(last))]
        if by_path:
            return by_path
        normal = normal_name(name)
        return [document for document in loosely if normal in _loose_names(document)]

    def names_of(self, node: int) -> list[str]:
        """Return the names by which a node is found."""
        rows = self._rows("SELECT surface FROM names WHERE node = ? ORDER BY rowid", [int(node)])
        return [unescape(surface) for (surface,) in rows]

    def mentions(
        self, *, node: int | None = None, chunk: int | None = None, limit: int = 1000
    ) -> list[Mention]:
        """Return mentions of a node, in a chunk, or of the one in the other."""
        wanted = [(name, int(at)) for name, at in (("node", node), ("chunk", chunk)) if at is not None]
        where = " AND ".join(f"{name} = ?" for name, _ in wanted) or "true"
        query = f"SELECT {_MENTION} FROM mentions WHERE {where} ORDER BY rowid LIMIT ?"
        return list(map(_mention, self._rows(query, [*(at for _, at in wanted), limit])))

    def mentions_within(self, chunks: range) -> list[Mention]:
        """Return the mentions in some consecutive chunks, in order."""
        query = f"SELECT {_MENTION} FROM mentions WHERE chunk >= ? AND chunk < ? ORDER BY rowid"
        return list(map(_mention, self._rows(query, [chunks.start, chunks.stop])))

    def edges(self, *, node: int, kinds: Sequence[str] = (), limit: int = 1000) -> list[Edge]:
        """Return the edges that begin or end at ``node``, heaviest first."""
        some = "AND kind IN (SELECT unnest(?::VARCHAR[]))" if kinds else ""
        where = f"(source = ? OR target = ?) {some}"
        query = f"SELECT {_EDGE} FROM edges WHERE {where} ORDER BY weight DESC, edge LIMIT ?"
        values = [int(node), int(node), *([list(kinds)] if kinds else []), limit]
        return list(map(_edge, self._rows(query, values)))

    def edge_rows(self, edges: Sequence[int]) -> list[Edge]:
        """Return edges by position."""
        return self._at("edges", "edge", _EDGE, edges, _edge)

    def evidence(self, edges: Sequence[int], limit: int = 20) -> dict[int, list[Evidence]]:
        """Return the places that state each of the edges, at most ``limit`` each."""
        query = (
            f"SELECT {_EVIDENCE} FROM edge_evidence WHERE edge IN ({_LISTED}) "
            "QUALIFY row_number() OVER (PARTITION BY edge ORDER BY rowid) <= ? ORDER BY rowid"
        )
        found: dict[int, list[Evidence]] = {int(edge): [] for edge in edges}
        for row in self._rows(query, [_listed(edges), limit]):
            found[row[0]].append(_place(row))
        return found

    def evidence_outside(self) -> list[Evidence]:
        """Return the places that state edges and that no chunk holds."""
        rows = self._rows(f"SELECT {_EVIDENCE} FROM edge_evidence WHERE chunk < 0 ORDER BY rowid")
        return list(map(_place, rows))

    def communities(self, level: int | None = None) -> list[Community]:
        """Return the communities of a level, or all."""
        return self._themes.communities(level)

    def members(self, community: int) -> list[int]:
        """Return the nodes of a community, in position order."""
        query = "SELECT node FROM community_members WHERE community = ? ORDER BY node"
        return [node for (node,) in self._rows(query, [int(community)])]

    def belonging(self, nodes: Sequence[int], communities: Sequence[int]) -> list[tuple[int, int]]:
        """Return which of the communities hold which of the nodes, as (community, node), ascending."""
        return self._themes.belonging(map(int, nodes), communities)

    def reports(self, communities: Sequence[int]) -> list[Report]:
        """Return the reports of communities, with their findings. Raises IndexError for one without."""
        found = []
        for community in map(int, communities):
            report = self._themes.report(community)
            if report is None:
                raise IndexError(f"there is no report of community {community} in {self.path}")
            found.append(report)
        return found

    # --- the file ---

    def check(self) -> list[Check]:
        """Compare everything with everything; memory holds a few columns or arrays at a time."""
        from clew.stores.check import check_reader

        return check_reader(self)

    def stale(self) -> bool:
        """Tell whether another index has been published at this path since it was opened."""
        try:
            return file_stamp(self.path) != self._stamp
        except OSError:
            return False  # it's gone: what is open can still be read

    def close(self) -> None:
        """Close the file. Arrays that were read stay valid."""
        self._cursors.close()

    def _document(self, row: tuple[Any, ...]) -> Document:
        doc, *texts, content_hash, size, line, media_type, metadata, kind, created_at = row
        id_, key, location, title, language, encoding = map(unescape, texts)
        location, file = self._places.show(key, location)
        facts = (title, language, encoding, content_hash, size, line, media_type)
        fields = json.loads(unescape(metadata))
        return Document(doc, id_, key, location, *facts, fields, file, unescape(kind), created_at)

    def _at(
        self,
        table: str,
        position: str,
        columns: str,
        wanted: Sequence[int] | None,
        make: Callable[[tuple[Any, ...]], Row],
    ) -> list[Row]:
        """Return rows by position, in the order asked for. Raises IndexError for one that isn't there.

        Where the rows are all positions from 0 on, which the writer makes sure of, ``rowid`` is the
        position, and the fastest way to a row.
        """
        if wanted is None:
            return list(map(make, self._rows(f"SELECT {columns} FROM {table} ORDER BY {position}")))
        asked = [int(at) for at in wanted]
        if not asked:
            return []
        query = f"SELECT {columns} FROM {table} WHERE rowid IN ({_LISTED})"
        found = {row[0]: make(row) for row in self._rows(query, [_listed(asked)])}
        try:
            return [found[at] for at in asked]
        except KeyError as error:
            raise IndexError(f"there is no {position} {error.args[0]} in {self.path}") from None


def _listed(numbers: Iterable[int]) -> str | None:
    """Return numbers as ``_LISTED`` takes them; None for no number (no text stands for an empty list)."""
    return ",".join(str(int(number)) for number in numbers) or None


def file_stamp(path: Path) -> Stamp:
    """Return what tells one published file from another."""
    found = path.stat()
    return (found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def _ends_with(document: Document, path: str) -> bool:
    wanted = path.casefold()
    names = [document.key.casefold()]
    extension = PurePosixPath(names[0]).suffix
    if document.media_type in FILE_TYPES and extension:
        names.append(names[0].removesuffix(extension))
    return any(name == wanted or name.endswith(f"/{wanted}") for name in names)


def _loose_names(document: Document) -> set[str]:
    path = PurePosixPath(document.key)
    return {normal_name(text) for text in (document.title, path.name, path.stem, document.key)}


def _chunk(row: tuple[Any, ...]) -> Chunk:
    chunk, id_, doc, section, start, end, first, last, n_tokens, headings, text = row
    path = tuple(json.loads(unescape(headings)))
    return Chunk(chunk, id_, doc, section, start, end, first, last, n_tokens, path, unescape(text))


def _mention(row: tuple[Any, ...]) -> Mention:
    node, chunk, start, end, surface = row
    return Mention(node, chunk, start, end, unescape(surface))


def _node(row: tuple[Any, ...]) -> Node:
    node, id_, kind, name, df, degree, doc, confidence, type_, description, *rest = row
    told = unescape(type_), unescape(description)
    return Node(node, id_, kind, unescape(name), df, degree, doc, confidence, *told, *rest)


def _place(row: tuple[Any, ...]) -> Evidence:
    edge, doc, chunk, start, end, line, quote = row
    return Evidence(edge, doc, chunk, start, end, line, unescape(quote))


def _edge(row: tuple[Any, ...]) -> Edge:
    edge, id_, kind, source, target, weight, phrase, created_at = row
    return Edge(edge, id_, kind, source, target, weight, unescape(phrase), created_at)
