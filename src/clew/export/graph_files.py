"""The graph as GraphML, JSON and CSV. The same index gives the same bytes."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TextIO
from xml.sax.saxutils import escape

from clew.export.files import replaced
from clew.export.rows import (
    all_communities,
    all_edges,
    all_nodes,
    batched_edges,
    facts,
    fit,
    node_ids,
    rounded,
    type_of,
)
from clew.ports import Reader
from clew.types import Edge, Evidence, Node

# What XML 1.0 can't hold, not even as a reference; https://www.w3.org/TR/xml/#charsets
_NO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# A cell that begins so is a formula to a spreadsheet: https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
PLACES = 20  # that state an edge
JSON_FORMAT, JSON_VERSION = "clew graph", 1
XML_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n<!-- clew graph -->\n'
NODE_COLUMNS = (
    "id",
    "type",
    "kind",
    "name",
    "key",
    "created_at",
    "degree",
    "passages",
    "confidence",
    "pagerank",
)
EDGE_COLUMNS = ("id", "kind", "source", "target", "weight", "phrase", "created_at")
_TYPES = {"degree": "long", "passages": "long", "created_at": "long", "confidence": "double"}
_TYPES |= {"pagerank": "double", "weight": "double"}


def node_rows(reader: Reader) -> Iterator[dict[str, Any]]:
    """Yield each node as NODE_COLUMNS; what isn't known is None."""
    documents = {document.doc: document for document in reader.documents()}
    for node in all_nodes(reader):
        document = documents.get(node.doc)
        yield _node(node, type_of(node, document), facts(node, document))


def _node(node: Node, kind: str, known: dict[str, Any]) -> dict[str, Any]:
    row = {"id": node.id, "type": kind, "kind": node.kind, "name": fit(node.name)}
    more = {name: known.get(name) for name in NODE_COLUMNS if name not in row and name != "created_at"}
    return {name: {**row, **more, "created_at": node.created_at}[name] for name in NODE_COLUMNS}


def edge_rows(reader: Reader) -> Iterator[dict[str, Any]]:
    """Yield each edge as EDGE_COLUMNS; source and target are ids of nodes."""
    ids = node_ids(reader)
    for edge in all_edges(reader):
        yield _edge(edge, ids)


def _edge(edge: Edge, ids: list[str]) -> dict[str, Any]:
    ends = {"source": ids[edge.source], "target": ids[edge.target]}
    told = {"weight": rounded(edge.weight), "phrase": fit(edge.phrase), "created_at": edge.created_at}
    return {"id": edge.id, "kind": edge.kind, **ends, **told}


# --- JSON ----------------------------------------------------------------------------------------


def write_json(reader: Reader, path: Path) -> None:
    """Write one object; nodes, edges and communities are an element a line."""
    start = '{"format": ' + json.dumps(JSON_FORMAT)
    with _text(path, lambda head: head.startswith(start.encode()), "a graph that Clew wrote") as file:
        file.write(f'{start}, "version": {JSON_VERSION}, "generation": {json.dumps(reader.generation)},\n')
        _elements(file, "nodes", node_rows(reader), ",")
        _elements(file, "edges", _stated_edges(reader), ",")
        _elements(file, "communities", _community_rows(reader), "")
        file.write("}\n")


def _stated_edges(reader: Reader) -> Iterator[dict[str, Any]]:
    """Yield each edge as EDGE_COLUMNS with the places that state it, at most PLACES."""
    ids = node_ids(reader)
    keys = [fit(document.key) for document in reader.documents()]
    for edges in batched_edges(reader):
        stated = reader.evidence([edge.edge for edge in edges], limit=PLACES)
        for edge in edges:
            yield {**_edge(edge, ids), "evidence": [_place(one, keys) for one in stated[edge.edge]]}


def _place(one: Evidence, keys: list[str]) -> dict[str, Any]:
    """Return a place: bytes of a document; where no passage holds it (frontmatter) with its text."""
    found: dict[str, Any] = {"key": keys[one.doc], "start": one.start, "end": one.end}
    return {**found, "line": one.line, "quote": fit(one.quote)} if one.chunk < 0 else found


def _elements(file: TextIO, name: str, rows: Iterable[dict[str, Any]], end: str) -> None:
    file.write(f'"{name}": [')
    for number, row in enumerate(rows):
        file.write((",\n" if number else "\n") + json.dumps(row, ensure_ascii=False))
    file.write(f"\n]{end}\n")


def _community_rows(reader: Reader) -> Iterator[dict[str, Any]]:
    ids = node_ids(reader)
    names: dict[int, str] = {}
    for one, report, members in all_communities(reader):
        names[one.community] = one.id
        yield {
            "id": one.id,
            "level": one.level,
            "parent": names.get(one.parent),
            "title": fit(report.title) if report is not None else "",
            "summary": fit(report.summary) if report is not None else "",
            "rating": rounded(report.rating) if report is not None else 0.0,
            "members": [ids[node] for node in members],
        }


# --- GraphML -------------------------------------------------------------------------------------


def write_graphml(reader: Reader, path: Path) -> None:
    """Write a directed graph with parallel edges; http://graphml.graphdrawing.org"""
    with _text(path, lambda head: head.startswith(XML_HEAD.encode()), "a graph that Clew wrote") as file:
        file.write(XML_HEAD + '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n')
        for what, columns in (("node", NODE_COLUMNS), ("edge", EDGE_COLUMNS)):
            for name in _attributes(columns):
                kind = _TYPES.get(name, "string")
                file.write(f'<key id="{what}_{name}" for="{what}" attr.name="{name}" attr.type="{kind}"/>\n')
        file.write('<graph id="clew" edgedefault="directed">\n')
        for row in node_rows(reader):
            file.write(f'<node id="{row["id"]}">{_data("node", row)}</node>\n')
        for row in edge_rows(reader):
            ends = f'id="{row["id"]}" source="{row["source"]}" target="{row["target"]}"'
            file.write(f"<edge {ends}>{_data('edge', row)}</edge>\n")
        file.write("</graph>\n</graphml>\n")


def _attributes(columns: Iterable[str]) -> list[str]:
    return [name for name in columns if name not in ("id", "source", "target")]


def _data(what: str, row: dict[str, Any]) -> str:
    found = ((name, row[name]) for name in _attributes(row) if row[name] not in (None, ""))
    return "".join(f'<data key="{what}_{name}">{xml_text(str(value))}</data>' for name, value in found)


def xml_text(text: str) -> str:
    """Return text as XML holds it: what it can't hold becomes U+FFFD, and a carriage return a reference."""
    return escape(_NO_XML.sub("\ufffd", text), {"\r": "&#13;"})


# --- CSV -----------------------------------------------------------------------------------------


def write_csv(reader: Reader, folder: Path) -> None:
    """Write ``nodes.csv`` and ``edges.csv`` to a folder, as RFC 4180 has it: UTF-8, CRLF, a head line."""
    _table(folder / "nodes.csv", NODE_COLUMNS, node_rows(reader))
    _table(folder / "edges.csv", EDGE_COLUMNS, edge_rows(reader))


def _table(path: Path, columns: tuple[str, ...], rows: Iterable[dict[str, Any]]) -> None:
    head = (",".join(columns) + "\r\n").encode()
    with _text(path, lambda found: found.startswith(head), "a table that Clew wrote") as file:
        out = csv.writer(file, lineterminator="\r\n")
        out.writerow(columns)
        out.writerows([csv_cell(row[name]) for name in columns] for row in rows)


def csv_cell(value: Any) -> Any:
    """Return a cell that no spreadsheet takes for a formula: a text that would be one begins with an
    apostrophe. Numbers stay numbers; what isn't known is empty."""
    if isinstance(value, str) and value.startswith(_FORMULA):
        return f"'{value}"
    return "" if value is None else value


@contextmanager
def _text(path: Path, ours: Callable[[bytes], bool], what: str) -> Iterator[TextIO]:
    """Give a UTF-8 file, without any translation of line ends, that replaces ``path`` when it is done."""
    with replaced(path, ours, what) as new, new.open("w", encoding="utf-8", newline="") as file:
        yield file
        file.flush()
