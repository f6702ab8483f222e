"""Whether a published index agrees with itself: checksums, references, spans, counts, arrays."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from clew.errors import BadIndex
from clew.stores.checksum import ROWS, column_array, content_hash
from clew.stores.schema import ARTIFACT_TABLES
from clew.types import Check

if TYPE_CHECKING:
    from clew.stores.duckdb_read import DuckReader

SHOWN = 20  # faults of one check that are listed
RANK_SUM = 1e-6  # how far the sum of all shares may be from 1: they are rounded
NORM = 0.01  # how far a vector's length may be from 1: it is stored with 16 bits a number
# A column whose values are rows of another table. -1 stands for none in those of NONE.
REFERENCES = (
    ("sections", "doc", "documents"),
    ("chunks", "doc", "documents"),
    ("nodes", "doc", "documents"),
    ("names", "node", "nodes"),
    ("mentions", "node", "nodes"),
    ("mentions", "chunk", "chunks"),
    ("edges", "source", "nodes"),
    ("edges", "target", "nodes"),
    ("edge_evidence", "edge", "edges"),
    ("edge_evidence", "doc", "documents"),
    ("edge_evidence", "chunk", "chunks"),
    ("communities", "parent", "communities"),
    ("community_members", "community", "communities"),
    ("community_members", "node", "nodes"),
    ("reports", "community", "communities"),
    ("report_findings", "community", "reports"),
    ("report_findings", "chunk", "chunks"),
)
NONE = (("nodes", "doc"), ("communities", "parent"), ("edge_evidence", "chunk"))
WITHIN_CHUNK = ("mentions", "edge_evidence", "report_findings")
Faults = Iterator[str]


def check_reader(reader: DuckReader) -> list[Check]:
    """Return every check with what it found. A part that can't even be read is a fault, not an error."""
    parts: tuple[tuple[str, Callable[[DuckReader], Faults], int], ...] = (
        ("checksum", _checksum, sum(map(reader.count, ARTIFACT_TABLES))),
        ("positions", _positions, sum(reader.count(t.name) for t in ARTIFACT_TABLES.values() if t.positions)),
        ("references", _references, sum(reader.count(table) for table, _, _ in REFERENCES)),
        ("spans", _spans, sum(map(reader.count, ("sections", "chunks", *WITHIN_CHUNK)))),
        ("counts", _counts, reader.count("nodes") + reader.count("communities")),
        ("arrays", _arrays, len(reader._array_places())),
    )
    return [_run(name, check, checked, reader) for name, check, checked in parts]


def _run(name: str, check: Callable[[DuckReader], Faults], checked: int, reader: DuckReader) -> Check:
    faults: list[str] = []
    try:
        for fault in check(reader):
            faults.append(fault)
            if len(faults) == SHOWN:
                break
    except (BadIndex, IndexError, KeyError, ValueError) as error:
        faults.append(error.reason if isinstance(error, BadIndex) else f"{type(error).__name__}: {error}")
    return Check(name, checked, tuple(faults))


def _checksum(reader: DuckReader) -> Faults:
    """Make the generation again from all rows, arrays and options."""
    found = content_hash(reader)
    if found != reader.generation:
        yield f"the content has the hash {found}, not {reader.generation}"


def _positions(reader: DuckReader) -> Faults:
    """Rows of these tables are found by number, and ids name one row each."""
    for table in ARTIFACT_TABLES.values():
        if not table.positions:
            continue
        at = table.columns[0].name
        for (row,) in reader._rows(f"SELECT rowid FROM {table.name} WHERE {at} <> rowid LIMIT {SHOWN}"):
            yield f"{table.name}: row {row} isn't in its place"
        twice = f"SELECT id FROM {table.name} GROUP BY id HAVING count(*) > 1 ORDER BY id LIMIT {SHOWN}"
        for (found,) in reader._rows(twice):
            yield f"{table.name}: the id {found} is there twice"


def _references(reader: DuckReader) -> Faults:
    for table, column, target in REFERENCES:
        low = -1 if (table, column) in NONE else 0
        wrong = f"{column} < {low} OR {column} >= {reader.count(target)}"
        yield from _rows_where(reader, table, wrong, f"{column} names no row of {target}")
    lost = "NOT EXISTS (SELECT 1 FROM sections s WHERE s.doc = t.doc AND s.section = t.section)"
    yield from _rows_where(reader, "chunks", lost, "its section isn't there")
    wrong = "(kind = 'document') <> (doc >= 0)"
    yield from _rows_where(reader, "nodes", wrong, "only a document's node stands for a document")
    parent = "(SELECT p.level FROM communities p WHERE p.community = t.parent)"
    wrong = f"level <> coalesce({parent}, -1) + 1"
    yield from _rows_where(reader, "communities", wrong, "its parent isn't of the level above")
    n_nodes = reader.count("nodes")
    for community, members in reader._rows("SELECT community, members FROM reports ORDER BY rowid"):
        if not all(0 <= node < n_nodes for node in json.loads(members)):
            yield f"reports: that of community {community} names a node that isn't there"


def _spans(reader: DuckReader) -> Faults:
    size = "(SELECT d.size FROM documents d WHERE d.doc = t.doc)"
    for table in ("sections", "chunks"):
        wrong = f"start_byte < 0 OR end_byte < start_byte OR end_byte > {size}"
        yield from _rows_where(reader, table, wrong, "it isn't within its document")
    yield from _rows_where(reader, "chunks", "start_line < 1 OR end_line < start_line", "its lines are wrong")
    for table in WITHIN_CHUNK:
        inside = "t.start_byte >= c.start_byte AND t.end_byte <= c.end_byte AND t.start_byte <= t.end_byte"
        placed = "t.chunk >= 0 AND " if (table, "chunk") in NONE else ""
        wrong = f"{placed}NOT EXISTS (SELECT 1 FROM chunks c WHERE c.chunk = t.chunk AND {inside})"
        yield from _rows_where(reader, table, wrong, "it isn't within its chunk")
    within = "0 <= start_byte AND start_byte <= end_byte AND end_byte <= " + size
    wrong = f"chunk < 0 AND NOT ({within} AND line > 0)"
    yield from _rows_where(reader, "edge_evidence", wrong, "it isn't within its document")
    wrong = "chunk >= 0 AND doc <> (SELECT c.doc FROM chunks c WHERE c.chunk = t.chunk)"
    yield from _rows_where(reader, "edge_evidence", wrong, "its chunk is of another document")


def _rows_where(reader: DuckReader, table: str, wrong: str, what: str) -> Faults:
    query = f"SELECT rowid FROM {table} t WHERE {wrong} ORDER BY rowid LIMIT {SHOWN}"
    for (row,) in reader._rows(query):
        yield f"{table}: row {row}: {what}"


def _counts(reader: DuckReader) -> Faults:
    ends = "SELECT source AS node FROM edges UNION ALL SELECT target FROM edges"
    degree = f"SELECT node, count(*) AS n FROM ({ends}) GROUP BY node"
    wrong = f"degree <> coalesce((SELECT n FROM ({degree}) e WHERE e.node = t.node), 0)"
    yield from _rows_where(reader, "nodes", wrong, "degree isn't the number of its edges")
    members = "SELECT count(*) FROM community_members m WHERE m.community = t.community"
    yield from _rows_where(reader, "communities", f"size <> ({members})", "size isn't that of its members")
    yield from _rows_where(reader, "nodes", "NOT pagerank >= 0", "pagerank isn't a share")
    ranks = reader._rows("SELECT coalesce(sum(pagerank), 0) FROM nodes")[0][0]
    if reader.count("nodes") and abs(ranks - 1) > RANK_SUM:
        yield f"nodes: the sum of pagerank is {ranks}, not 1"
    df = np.bincount(reader._load("graph.chunk_node"), minlength=reader.count("nodes"))
    stored = column_array(reader, "nodes", "df")
    for node in np.flatnonzero(df[: len(stored)] != stored)[:SHOWN].tolist():
        yield f"nodes: row {node}: df is {stored[node]}, and {df[node]} chunks mention it"


def _arrays(reader: DuckReader) -> Faults:
    """What search reads whole must say what the tables say."""
    chunks, nodes = reader.count("chunks"), reader.count("nodes")
    for name in ("edges.source", "edges.target", "chunks.doc"):
        table, column = name.split(".")
        if not np.array_equal(reader._load(name), column_array(reader, table, column)):
            yield f"{name} isn't the column of that table"
    if not np.array_equal(reader._load("graph.node_df"), column_array(reader, "nodes", "df")):
        yield "graph.node_df isn't the df of the nodes"
    lengths = {
        "lex.length": chunks,
        "graph.node_kind": nodes,
        "graph.node_doc": nodes,
        "graph.node_confidence": nodes,
    }
    for name, length in lengths.items():
        found = len(reader._load(name))
        if found != length:
            yield f"{name} has {found} items instead of {length}"
    pointers = {
        "lex.ptr": ("lex.chunk", len(reader._load("lex.terms")), chunks),
        "graph.chunk_ptr": ("graph.chunk_node", chunks, nodes),
        "place.mention_ptr": ("place.mention_node", chunks, nodes),
    }
    for name, (into, rows, below) in pointers.items():
        if not _points(reader._load(name), reader._load(into), rows, below):
            yield f"{name} doesn't divide {into} into {rows} parts"
    yield from _vectors(reader, chunks)


def _points(pointer: NDArray[Any], into: NDArray[Any], rows: int, below: int) -> bool:
    rising = len(pointer) == rows + 1 and pointer[0] == 0 and bool(np.all(np.diff(pointer) >= 0))
    inside = not len(into) or (int(into.min()) >= 0 and int(into.max()) < below)
    return rising and int(pointer[-1]) == len(into) and inside


def _vectors(reader: DuckReader, chunks: int) -> Faults:
    if not reader.has_array("dense.vectors"):
        if reader.meta.get("embedder") is not None:
            yield f"there are no vectors, though {reader.meta['embedder']} is said to have made some"
        return
    of, vectors = reader._load("dense.chunk"), reader._load("dense.vectors")
    if vectors.ndim != 2 or vectors.shape != (len(of), reader.meta.get("dimension")):
        yield f"dense.vectors has the shape {vectors.shape}"
        return
    if len(of) and (int(of.min()) < 0 or int(of.max()) >= chunks):
        yield "dense.chunk names a chunk that isn't there"
    for begin in range(0, len(vectors), ROWS):
        norms = np.linalg.norm(vectors[begin : begin + ROWS].astype(np.float32), axis=1)
        for row in np.flatnonzero(~(np.abs(norms - 1) <= NORM))[:SHOWN].tolist():
            yield f"dense.vectors: row {begin + row} isn't a unit vector"
