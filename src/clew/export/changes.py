"""What changed since an earlier export, for an app that has that one: a SQLite file of the rows that differ.

Numbers such as a PageRank change with every edit, texts and vectors seldom do: a node of which only numbers
differ comes without them. ``APPLY`` is what the app runs; it may have tables of its own beside these.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

from clew.errors import OptionError
from clew.export.files import replaced
from clew.export.mobile import APPLICATION, SCHEMA, VERSION, Vectors, is_mobile, write_mobile
from clew.ports import Reader

FORMAT = "clew mobile update"
REMEDY = "Name a file that `clew export sqlite` wrote, the one that the app has"
GONE = """
CREATE TABLE node_metadata (id TEXT PRIMARY KEY NOT NULL, metadata TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE gone_nodes (id TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
CREATE TABLE gone_edges (
    source_id TEXT NOT NULL,
    target_id TEXT NOT NULL,
    edge_type TEXT NOT NULL,
    PRIMARY KEY (source_id, target_id, edge_type)
) WITHOUT ROWID;
CREATE TABLE gone_communities (id TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
CREATE TABLE gone_members (
    community_id TEXT NOT NULL,
    node_id TEXT NOT NULL,
    PRIMARY KEY (community_id, node_id)
) WITHOUT ROWID;
"""
# Of a row that changed in nothing but its metadata these alone are sent.
DIFFER = """
INSERT INTO node_metadata
    SELECT n.id, n.metadata FROM new.graph_nodes n JOIN old.graph_nodes o USING (id)
    WHERE n.metadata != o.metadata AND (n.node_type, n.label) = (o.node_type, o.label)
        AND n.content IS o.content AND n.embedding IS o.embedding AND n.created_at IS o.created_at
    ORDER BY id;
INSERT INTO graph_nodes
    SELECT n.* FROM new.graph_nodes n LEFT JOIN old.graph_nodes o USING (id)
    WHERE o.id IS NULL OR (n.node_type, n.label) != (o.node_type, o.label)
        OR n.content IS NOT o.content OR n.embedding IS NOT o.embedding OR n.created_at IS NOT o.created_at
    ORDER BY n.id;
INSERT INTO gone_nodes SELECT id FROM old.graph_nodes EXCEPT SELECT id FROM new.graph_nodes;
INSERT INTO graph_edges SELECT * FROM new.graph_edges EXCEPT SELECT * FROM old.graph_edges;
INSERT INTO gone_edges
    SELECT source_id, target_id, edge_type FROM old.graph_edges
    EXCEPT SELECT source_id, target_id, edge_type FROM new.graph_edges;
INSERT INTO communities SELECT * FROM new.communities EXCEPT SELECT * FROM old.communities;
INSERT INTO gone_communities SELECT id FROM old.communities EXCEPT SELECT id FROM new.communities;
INSERT INTO community_members
    SELECT * FROM new.community_members EXCEPT SELECT * FROM old.community_members;
INSERT INTO gone_members
    SELECT * FROM old.community_members EXCEPT SELECT * FROM new.community_members;
INSERT INTO export_info SELECT * FROM new.export_info WHERE key != 'format';
INSERT INTO export_info SELECT 'since', value FROM old.export_info WHERE key = 'generation';
"""
# docs/structure.md shows it. ``change`` is the update, attached.
APPLY = """DELETE FROM graph_nodes WHERE id IN (SELECT id FROM change.gone_nodes);
INSERT OR REPLACE INTO graph_nodes SELECT * FROM change.graph_nodes;
UPDATE graph_nodes SET metadata = (SELECT metadata FROM change.node_metadata m WHERE m.id = graph_nodes.id)
    WHERE id IN (SELECT id FROM change.node_metadata);
DELETE FROM graph_edges WHERE (source_id, target_id, edge_type) IN (SELECT * FROM change.gone_edges);
INSERT OR REPLACE INTO graph_edges SELECT * FROM change.graph_edges;
DELETE FROM communities WHERE id IN (SELECT id FROM change.gone_communities);
INSERT OR REPLACE INTO communities SELECT * FROM change.communities;
DELETE FROM community_members WHERE (community_id, node_id) IN (SELECT * FROM change.gone_members);
INSERT OR REPLACE INTO community_members SELECT * FROM change.community_members;
INSERT OR REPLACE INTO export_info SELECT * FROM change.export_info WHERE key NOT IN ('format', 'since');"""


def write_changes(reader: Reader, path: Path, earlier: Path, vectors: Vectors = "float32") -> tuple[int, int]:
    """Write what differs from an ``earlier`` export; return how many nodes and edges that is, those that are
    gone among them. Raises OptionError if that is none, or has other vectors, and PublishError if the file
    can't be written."""
    had = read_info(earlier).get("embedding", "none")
    now = vectors if reader.has_array("dense.vectors") else "none"
    if had != now and had != "none" and now != "none":
        raise OptionError("--vectors", f"{earlier} has {had}, this would have {now}", f"Add --vectors {had}")
    with (
        replaced(path, is_mobile, "an export of Clew") as new,
        TemporaryDirectory(dir=path.absolute().parent, prefix=".clew-export-") as folder,
        closing(sqlite3.connect(new.absolute().as_uri(), isolation_level=None, uri=True)) as out,
    ):
        whole = Path(folder) / "new.db"
        write_mobile(reader, whole, vectors)
        out.execute("PRAGMA journal_mode = OFF")
        out.execute("PRAGMA synchronous = OFF")
        out.execute(f"PRAGMA application_id = {APPLICATION}")
        out.execute(f"PRAGMA user_version = {VERSION}")
        out.executescript(SCHEMA + GONE)
        out.execute("ATTACH ? AS old", (_readable(earlier),))
        out.execute("ATTACH ? AS new", (str(whole),))
        out.execute("BEGIN")
        for statement in DIFFER.strip().split(";\n"):
            out.execute(statement)
        out.execute("INSERT INTO export_info VALUES ('format', ?)", (FORMAT,))
        out.execute("COMMIT")
        counts = [
            sum(out.execute(f"SELECT count(*) FROM main.{table}").fetchone()[0] for table in tables)
            for tables in (("graph_nodes", "node_metadata", "gone_nodes"), ("graph_edges", "gone_edges"))
        ]
    return counts[0], counts[1]


def read_info(path: Path) -> dict[str, str]:
    """Return what an export says of itself. Raises OptionError if the file is no whole export."""
    try:
        with path.open("rb") as file:
            ours = is_mobile(file.read(100))
        if ours:
            with closing(sqlite3.connect(_readable(path), uri=True)) as db:
                found = dict(db.execute("SELECT key, value FROM export_info"))
                if found.get("format") == "clew mobile" and found.get("version") == str(VERSION):
                    return found
    except OSError as error:
        reason = f"it can't be read ({error.strerror or error})"
        raise OptionError(f"--since-export {path}", reason, REMEDY) from error
    except sqlite3.Error as error:
        raise OptionError(f"--since-export {path}", f"it is damaged ({error})", REMEDY) from error
    raise OptionError(f"--since-export {path}", "it is no whole export of Clew's", REMEDY)


def _readable(path: Path) -> str:
    """Return the address of a file that is only read."""
    return f"{path.absolute().as_uri()}?mode=ro"
