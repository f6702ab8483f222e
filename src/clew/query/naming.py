"""Which node a person means by a name, and how to name exactly one."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import numpy as np

from clew.errors import NotFound
from clew.nostr.refs import plain_id, references, shown
from clew.query.inflected import nodes_like
from clew.query.space import Space
from clew.text.tokens import normal_name, normal_words
from clew.types import Named, Node

KIND_ORDER = ("document", "entity", "person", "tag")
# What may stand before a name, with a colon, to say what kind of node is meant.
KIND_WORDS = {
    "note": "document",
    "document": "document",
    "entity": "entity",
    "person": "person",
    "tag": "tag",
}
# Comparing a name with another takes 0.1 ms: where there are more, only those alike in length and letters
# are.
COMPARED = 5000
SUGGESTED = 3


def find(space: Space, name: str) -> list[Node]:
    """Return the nodes that bear a name or stand for the document so called, best first; else those of which
    the name is another form («Одесу»). ``tag:NAME`` (or ``#NAME``), ``entity:NAME``, ``person:NAME`` and
    ``note:NAME`` take those of one kind.

    Raises NotFound with the nearest names.
    """
    if not name.strip():
        raise NotFound(
            "the name", "it is empty", "Write a title, an alias, a path, an entity, a tag or a person"
        )
    kind, rest = split_kind(name)
    if kind:
        found = [node for node in _bearing(space, rest) if node.kind == kind]
        if found:
            return _ordered(found)
    nodes = _bearing(space, name)
    if not nodes:
        nodes = [node for node in _in_other_form(space, rest) if not kind or node.kind == kind]
    if not nodes:
        reason = f"no {kind or 'note, entity, tag or person'} of this name"
        raise NotFound(name, reason, nearest(space, rest, kind))
    return _ordered(nodes)


def readable(space: Space, text: str) -> str:
    """Return a text with the names of the people and notes that it refers to by NIP-21."""
    refs = references(text)
    names: dict[str, str] = {}
    for ref in refs:
        nodes = _bearing(space, ref.id)
        if nodes:
            names[ref.id] = nodes[0].name
    return "".join(shown(text, names)) if refs else text


def split_kind(name: str) -> tuple[str, str]:
    """Return the kind of node that a name begins with, or "", and the name without it."""
    if name.startswith("#") and len(name.strip("#")) and name.lstrip("#") == name[1:]:
        return "tag", name[1:]
    word, colon, rest = name.partition(":")
    kind = KIND_WORDS.get(word.strip().casefold(), "") if colon and rest.strip() else ""
    return (kind, rest.strip()) if kind else ("", name)


def named(space: Space, name: str) -> Named:
    """Return the best node of a name, what picks exactly it, and the others. Raises NotFound."""
    return as_named(space, name, find(space, name))


def as_named(space: Space, name: str, nodes: Sequence[Node]) -> Named:
    """Return the first of some nodes as what a name was taken for."""
    picks = exactly(space, nodes)
    first, *others = zip(nodes, picks, strict=True)
    return Named(name, first[0], first[1], tuple(others))


def exactly(space: Space, nodes: Sequence[Node]) -> list[str]:
    """Return for each node what names it alone: a document's key, else its kind and name."""
    documents = space.documents({node.doc for node in nodes if node.kind == "document" and node.doc >= 0})
    return [
        documents[node.doc].key
        if node.kind == "document" and node.doc >= 0
        else f"{'note' if node.kind == 'document' else node.kind}:{node.name}"
        for node in nodes
    ]


def nearest(space: Space, name: str, kind: str = "") -> str:
    """Return what to try instead of a name that no node (of a kind) bears: names that have its words,
    shortest first, then those that are spelt much like it."""
    names = _names(space, kind)
    words = set(normal_words(name))
    # Only names with the first word's letters are split into words: 100,000 of them take seconds.
    sought = name.casefold().split()[:1]
    having = [one for one in names if sought and sought[0] in one]
    longer = [one for one in having[:COMPARED] if words and words <= set(normal_words(one))]
    longer.sort(key=lambda one: (len(one), one))
    close = get_close_matches(name.casefold(), _alike(list(names), name.casefold()), n=SUGGESTED, cutoff=0.6)
    listed = list(dict.fromkeys(names[one] for one in [*longer, *close]))[:SUGGESTED]
    if listed:
        return "Nearest: " + ", ".join(listed)
    return "`clew search` finds text; `clew communities` lists themes"


def _bearing(space: Space, name: str) -> list[Node]:
    reader = space.reader
    name = plain_id(name)
    nodes = list(reader.find_nodes(normal_name(name)))
    known = {node.node for node in nodes}
    documents = [document.doc for document in reader.find_documents(name)]
    if documents:
        table = reader.array("graph.node_doc")
        stand = np.flatnonzero(np.isin(table, documents)).tolist()
        nodes = reader.nodes([node for node in stand if node not in known]) + nodes
    return nodes


def _in_other_form(space: Space, name: str) -> list[Node]:
    counts = space.reader.meta.get("languages", {})
    languages = sorted(counts, key=lambda code: (-counts[code], code))
    return space.reader.nodes(nodes_like(name, space, languages))


def _ordered(nodes: list[Node]) -> list[Node]:
    return sorted(nodes, key=lambda node: (KIND_ORDER.index(node.kind), -node.df, node.node))


def _names(space: Space, kind: str) -> dict[str, str]:
    """Return the names of nodes (of a kind) in small letters, in order, with how they are written."""
    codes = space.reader.array("graph.node_kind")
    nodes = np.arange(len(codes))
    if kind:
        nodes = np.flatnonzero(codes == space.reader.meta["node_kinds"].index(kind))
    written = sorted(space.node_names(nodes.tolist()).values(), reverse=True)
    names = {name.casefold(): name for name in written}
    return dict(sorted(names.items()))


def _alike(names: list[str], name: str) -> list[str]:
    """Return the names that share most letters with one, if there are too many to compare with."""
    if len(names) <= COMPARED:
        return names
    letters = set(name)
    near = [one for one in names if abs(len(one) - len(name)) <= max(len(name) // 3, 2)]
    near.sort(key=lambda one: -len(letters & set(one)) + len(set(one) - letters))
    return near[:COMPARED]
