"""The tables of a published index, as plain data.

``docs/schema.md`` is checked against this module by a test, and the writer creates its tables from
it. Text in an index is any Python string: what UTF-8 can't hold is escaped (see ``clew.stores.strings``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

# Raise it whenever tables, columns, arrays or keys of ``meta`` change, or what a reader computes to compare
# with them does (normal names, terms). An index is remade from its notes rather than migrated: it then is
# what this version makes of them, and the cache spares the expensive part. tests/data/indexes says how
# to keep an index of each version.
SCHEMA_VERSION = 3
FORMAT = "clew index"  # what meta's ``format`` says, so that any other DuckDB file is told apart

# Small row groups (DuckDB's default is 122,880 rows) let a look-up of ten positions skip nearly all
# of a table: 4 ms instead of 45 ms for ten chunks of 100,000. They cost about 5 % of the file.
ROW_GROUP = 8192
# DuckDB's default is 262,144. Tables begin new blocks, so an index of a few notes takes 1 MB instead of 4,
# and one of 100,000 chunks 6 % less; reading isn't slower.
BLOCK = 65536

Kind = Literal["int", "long", "real", "text", "json", "blob"]

SQL_TYPES: Mapping[str, str] = {
    "int": "INTEGER",
    "long": "BIGINT",
    "real": "DOUBLE",
    "text": "VARCHAR",
    "json": "VARCHAR",
    "blob": "BLOB",
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column. ``kind`` ``json`` is text that holds JSON; ``plain`` asks for no compression, which makes
    single rows fast to read; ``derived`` columns are made by the writer, not given in an Artifact. Where
    ``optional`` says so, ``clew.types.UNDATED`` in an Artifact is NULL in the table."""

    name: str
    kind: Kind
    doc: str
    plain: bool = False
    derived: bool = False
    optional: bool = False

    @property
    def sql(self) -> str:
        """The column's definition in SQL."""
        return f"{self.name} {SQL_TYPES[self.kind]}{' USING COMPRESSION uncompressed' if self.plain else ''}"


@dataclass(frozen=True, slots=True)
class Table:
    """A table, its columns in order, and the order of its rows. ``positions`` says that the first column
    numbers the rows 0, 1, 2, …"""

    name: str
    doc: str
    order: str
    columns: tuple[Column, ...]
    positions: bool = False

    @property
    def sql(self) -> str:
        """The statement that creates it."""
        return f"CREATE TABLE {self.name} ({', '.join(column.sql for column in self.columns)})"


_START = Column("start_byte", "int", "Where it begins in the source document, in bytes")
_END = Column("end_byte", "int", "Where it ends, in bytes (exclusive)")

META = Table(
    "meta",
    "What made the index, and its versions",
    "key",
    (
        Column(
            "key",
            "text",
            "`format`, `schema_version`, `generation` (a hash of the content), `sources` (where), "
            "`made` (of what), options",
        ),
        Column("value", "json", "The value, as JSON"),
    ),
)

DOCUMENTS = Table(
    "documents",
    "One row a document: a file, or a record of a corpus",
    "key",
    (
        Column("doc", "int", "Position in key order"),
        Column("id", "text", "Hash that is the same on any machine"),
        Column("key", "text", "Stable name: the path relative to the source, or a record's id"),
        Column("location", "text", "Path of its file, relative to the folder of its source"),
        Column("title", "text", "Title"),
        Column("language", "text", "ISO 639-1 code, or `und`"),
        Column("encoding", "text", "Encoding of the source's bytes"),
        Column("content_hash", "text", "Hash of the source's bytes"),
        Column("size", "long", "Length in bytes"),
        Column("line", "int", "Line of `location` at which it begins (1-based)"),
        Column("media_type", "text", "`markdown`, `text`, `record`, `post`, `article` or `event`"),
        Column("metadata", "json", "Frontmatter or record fields, as a JSON object"),
        Column("kind", "text", "`note`, `record`, or what else its source calls it"),
        Column(
            "created_at", "long", "When it was written, in seconds since 1970 (UTC), or NULL", optional=True
        ),
        Column("title_key", "text", "Normal form of the title, for look-ups", derived=True),
        Column("file_key", "text", "Normal form of the file's name without extension", derived=True),
    ),
    positions=True,
)

SECTIONS = Table(
    "sections",
    "A heading and what stands under it, up to the next heading",
    "doc, section",
    (
        Column("doc", "int", "Document"),
        Column("section", "int", "Number within the document, from 0"),
        Column("level", "int", "Level of the heading (1 to 6); 0 before the first"),
        Column("title", "text", "Text of the heading"),
        Column("path", "json", "Headings from the outermost to this one, as a JSON array"),
        _START,
        _END,
    ),
)

CHUNKS = Table(
    "chunks",
    "Passages: what is searched and cited",
    "doc, start_byte",
    (
        Column("chunk", "int", "Position in (document, start) order"),
        Column("id", "text", "Hash that is the same on any machine", plain=True),
        Column("doc", "int", "Document"),
        Column("section", "int", "Section of that document"),
        _START,
        _END,
        Column("start_line", "int", "First line of the document's `location` (1-based)"),
        Column("end_line", "int", "Last line"),
        Column("n_tokens", "int", "Length in the embedder's tokens"),
        Column("heading_path", "json", "Headings above it, as a JSON array"),
        Column("text", "text", "The passage", plain=True),
    ),
    positions=True,
)

NODES = Table(
    "nodes",
    "What the graph can name: documents, entities, tags and people",
    "kind, normal name",
    (
        Column("node", "int", "Position in (kind, normal name) order"),
        Column("id", "text", "Hash that is the same on any machine", plain=True),
        Column("kind", "text", "`document`, `entity`, `tag` or `person`"),
        Column("name", "text", "Name to show"),
        Column("df", "int", "Number of chunks that mention it"),
        Column("degree", "int", "Number of its edges"),
        Column("doc", "int", "Document that it stands for, or -1"),
        Column("confidence", "real", "0 to 1: how sure it is that it names something"),
        Column("type", "text", "What it is (`place`, …), if a language model said so, or empty"),
        Column("description", "text", "What a language model said of it, or empty"),
        Column(
            "created_at",
            "long",
            "When its document, or the first that names it, was written, or NULL",
            optional=True,
        ),
        Column("pagerank", "real", "Its share of a random walk along the edges; their sum is 1"),
    ),
    positions=True,
)

NAMES = Table(
    "names",
    "The names by which a node is found in text",
    "node, surface",
    (
        Column("node", "int", "Node"),
        Column("surface", "text", "The name as written"),
        Column("key", "text", "Its normal form: case, accents and punctuation removed"),
    ),
)

MENTIONS = Table(
    "mentions",
    "Occurrences of nodes in chunks",
    "chunk, start_byte, end_byte, node",
    (
        Column("node", "int", "Node"),
        Column("chunk", "int", "Chunk"),
        _START,
        _END,
        Column("surface", "text", "The text that names it there"),
    ),
)

EDGES = Table(
    "edges",
    "Typed, directed, weighted links between nodes",
    "kind, source, target",
    (
        Column("edge", "int", "Position"),
        Column("id", "text", "Hash that is the same on any machine"),
        Column(
            "kind",
            "text",
            "`references`, `replied_to`, `tagged_with`, `authored_by`, `follows`, `saved_by`, `mentions`, "
            "`co_occurs_with`, `same_as`, `defined_by`, `related` or `unlinked_mention`",
        ),
        Column("source", "int", "Node at which it begins"),
        Column("target", "int", "Node at which it ends"),
        Column("weight", "real", "Strength; comparable within a kind"),
        Column("phrase", "text", "What a language model called it, or empty"),
        Column(
            "created_at",
            "long",
            "When the first document that states it was written, or NULL",
            optional=True,
        ),
    ),
    positions=True,
)

EDGE_EVIDENCE = Table(
    "edge_evidence",
    "The places that state an edge",
    "edge, doc, chunk, start_byte",
    (
        Column("edge", "int", "Edge"),
        Column("doc", "int", "Document"),
        Column("chunk", "int", "Chunk, or -1 where none holds the place (frontmatter, a record's fields)"),
        _START,
        _END,
        Column("line", "int", "Line of the document's `location` (1-based) where there is no chunk, else 0"),
        Column("quote", "text", "What stands there, where there is no chunk, else empty"),
    ),
)

COMMUNITIES = Table(
    "communities",
    "Clusters of nodes, in a hierarchy",
    "level, community",
    (
        Column("community", "int", "Position"),
        Column("id", "text", "Hash that is the same on any machine"),
        Column("level", "int", "Depth in the hierarchy; 0 is the coarsest"),
        Column("parent", "int", "Community that holds it, or -1 at level 0"),
        Column("size", "int", "Number of members"),
    ),
    positions=True,
)

COMMUNITY_MEMBERS = Table(
    "community_members",
    "Which nodes a community holds",
    "community, node",
    (Column("community", "int", "Community"), Column("node", "int", "Node")),
)

REPORTS = Table(
    "reports",
    "What a community is about",
    "community",
    (
        Column("community", "int", "Community"),
        Column("title", "text", "Title"),
        Column("summary", "text", "Summary"),
        Column("rating", "real", "0 to 10: its weight among its peers"),
        Column("members", "json", "The nodes to name first, as a JSON array of positions"),
    ),
)

REPORT_FINDINGS = Table(
    "report_findings",
    "The statements of a report, each with its place",
    "community, rank",
    (
        Column("community", "int", "Community"),
        Column("rank", "int", "Place in the report, from 0"),
        Column("text", "text", "The statement"),
        Column("chunk", "int", "Chunk that it is taken from"),
        _START,
        _END,
    ),
)

ARRAYS = Table(
    "arrays",
    "What search reads whole: postings, the graph as arrays, vectors",
    "name, part",
    (
        Column("name", "text", "Name, such as `dense.vectors`"),
        Column("dtype", "text", "numpy's name of the element type, little-endian"),
        Column("shape", "json", "Dimensions, as a JSON array"),
        Column("part", "int", "Number of the part, from 0; long arrays are stored in several"),
        Column("data", "blob", "The bytes of the part, in C order", plain=True),
    ),
)

# Tables that an Artifact gives (``Artifact.tables`` uses these names and columns).
ARTIFACT_TABLES: Mapping[str, Table] = {
    table.name: table
    for table in (
        DOCUMENTS,
        SECTIONS,
        CHUNKS,
        NODES,
        NAMES,
        MENTIONS,
        EDGES,
        EDGE_EVIDENCE,
        COMMUNITIES,
        COMMUNITY_MEMBERS,
        REPORTS,
        REPORT_FINDINGS,
    )
}
TABLES: Mapping[str, Table] = {META.name: META, **ARTIFACT_TABLES, ARRAYS.name: ARRAYS}
