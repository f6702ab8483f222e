"""The language of ``clew match``: nodes and the edges between them, in a line.

::

    pattern  node (edge node)*
    node     (kind | kind:name | "name" | #tag | me | *) ["as" variable]
    edge     -kinds->  |  <-kinds-  |  -kinds-        kinds: kind ("|" kind)*, or * or nothing for any
             a kind list may end with {n} or {n,m}: so many such edges one after the other

What a node's kind and an edge's kind may be is the index's matter and given to :func:`parse`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from itertools import product
from typing import Literal, NoReturn

from clew.errors import PatternError

Direction = Literal["out", "in", "either"]
ANY = ("*", "any")
ME = "me"
QUOTES = {'"': '"', "'": "'", "“": "”", "„": "“", "«": "»", "「": "」", "`": "`"}
MOST_REPEATS = 5  # of one edge: the rows grow with the power of it
MOST_NODES = 12  # of a pattern

_WORD = re.compile(r"[^\s\-<>|{}\"'“”„«»「」`#:]+")
_EDGE = re.compile(r"(?P<left><)?-(?P<kinds>[^<>]*?)-(?P<right>>)?")
_REPEAT = re.compile(r"\{\s*(\d+)\s*(?:,\s*(\d+)\s*)?\}\s*$")
_AS = re.compile(r"\s+as\s+(?P<name>[^\W\d]\w*)")


@dataclass(frozen=True, slots=True)
class NodePattern:
    """A node: of a ``kind`` ("" for any), of a ``name`` ("" for any), or ``me``. ``start``..``end`` is its
    place in the text; nodes of one ``variable`` are the same node."""

    kind: str = ""
    name: str = ""
    me: bool = False
    variable: str = ""
    start: int = 0
    end: int = 0


@dataclass(frozen=True, slots=True)
class EdgePattern:
    """An edge of one of some ``kinds`` (any if empty), from the left (``out``), from the right or either way;
    ``low`` to ``high`` of them."""

    kinds: tuple[str, ...] = ()
    direction: Direction = "out"
    low: int = 1
    high: int = 1


@dataclass(frozen=True, slots=True)
class Pattern:
    """``len(nodes)`` is one more than ``len(edges)``."""

    text: str
    nodes: tuple[NodePattern, ...]
    edges: tuple[EdgePattern, ...]

    def variants(self) -> list[Pattern]:
        """Return the patterns without repeats that this one stands for, the shortest first."""
        counts = [range(edge.low, edge.high + 1) for edge in self.edges]
        return [self._repeated(chosen) for chosen in sorted(product(*counts), key=lambda c: (sum(c), c))]

    def _repeated(self, chosen: Sequence[int]) -> Pattern:
        nodes, edges = [self.nodes[0]], []
        for node, edge, count in zip(self.nodes[1:], self.edges, chosen, strict=True):
            nodes += [NodePattern()] * (count - 1) + [node]
            edges += [replace(edge, low=1, high=1)] * count
        return Pattern(self.text, tuple(nodes), tuple(edges))


def parse(text: str, node_kinds: Collection[str], edge_kinds: Collection[str]) -> Pattern:
    """Return the pattern of a text. Raises PatternError, which points at the wrong word and gives the
    nearest."""
    return _Parser(text, node_kinds, edge_kinds).run()


def wrong(text: str, start: int, end: int, reason: str, remedy: str = "") -> PatternError:
    """Return the error for a place in a pattern: the pattern with carets under the place, and why."""
    marks = " " * _width(text[:start]) + "^" * max(_width(text[start:end]), 1)
    return PatternError(reason, remedy, f"  {text}\n  {marks}")


def _width(text: str) -> int:
    """Return how many columns a terminal gives a text: two for the wide characters of East Asia."""
    return sum(
        0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text
    )


class _Parser:
    def __init__(self, text: str, node_kinds: Collection[str], edge_kinds: Collection[str]) -> None:
        self.text = " ".join(text.split("\n")).replace("\t", " ")
        self.node_kinds, self.edge_kinds = node_kinds, edge_kinds
        self.at = 0

    def run(self) -> Pattern:
        nodes, edges = [self._node()], []
        while self._more():
            edges.append(self._edge())
            nodes.append(self._node())
        if sum(edge.high for edge in edges) >= MOST_NODES:
            reason = f"it is longer than {MOST_NODES} nodes"
            raise wrong(self.text, 0, len(self.text), reason, "Ask for a part of it")
        return Pattern(self.text, tuple(nodes), tuple(edges))

    def _more(self) -> bool:
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1
        return self.at < len(self.text)

    def _fail(self, start: int, end: int, reason: str, remedy: str = "") -> NoReturn:
        raise wrong(self.text, start, end, reason, remedy)

    def _node(self) -> NodePattern:
        if not self._more():
            nodes = ", ".join([*self.node_kinds, ME, "*"])
            self._fail(len(self.text), len(self.text), "a node is missing here", f"Write one of {nodes}")
        start = self.at
        first = self.text[start]
        if first in QUOTES:
            node = NodePattern(name=self._quoted(), start=start, end=self.at)
        elif first == "#":
            found = re.compile(r"#[^\s<>|]+").match(self.text, start)
            if found is None:
                self._fail(start, start + 1, "a tag's name is missing", "Write #tag or tag")
            self.at = found.end()
            node = NodePattern("tag", found[0][1:], start=start, end=self.at)
        elif first == "*":
            self.at += 1
            node = NodePattern(start=start, end=self.at)
        else:
            node = self._word(start)
        variable = _AS.match(self.text, self.at)
        if variable is None:
            return node
        self.at = variable.end()
        return replace(node, variable=variable["name"])

    def _quoted(self) -> str:
        start = self.at
        close = self.text.find(QUOTES[self.text[start]], start + 1)
        if close < 0:
            self._fail(start, len(self.text), "a quote that isn't closed", "End the name with the same mark")
        self.at = close + 1
        name = self.text[start + 1 : close].strip()
        if not name:
            self._fail(start, self.at, "an empty name", "Write a note's, a person's or a tag's name")
        return name

    def _word(self, start: int) -> NodePattern:
        found = _WORD.match(self.text, start)
        if found is None:
            self._fail(
                start,
                start + 1,
                "a node was expected here",
                "A node is a kind, a name in quotes, #tag, me or *",
            )
        word, self.at = found[0], found.end()
        if self.text[self.at : self.at + 1] == ":":
            return self._of_kind(word, start)
        if word == ME:
            return NodePattern(me=True, start=start, end=self.at)
        if word in ANY:
            return NodePattern(start=start, end=self.at)
        if word not in self.node_kinds:
            self._unknown(word, start, self.at, "kind of node", [*self.node_kinds, ME, *ANY], quote=True)
        return NodePattern(word, start=start, end=self.at)

    def _of_kind(self, word: str, start: int) -> NodePattern:
        if word not in self.node_kinds:
            self._unknown(word, start, self.at, "kind of node", self.node_kinds)
        self.at += 1
        if self.text[self.at : self.at + 1] in QUOTES and self.at < len(self.text):
            name = self._quoted()
        else:
            found = _WORD.match(self.text, self.at)
            if found is None:
                self._fail(self.at, self.at + 1, f"a name was expected after {word}:", f'Write {word}:"NAME"')
            name, self.at = found[0], found.end()
        return NodePattern(word, name, start=start, end=self.at)

    def _edge(self) -> EdgePattern:
        start = self.at
        found = _EDGE.match(self.text, start)
        if found is None:
            self._no_edge(start)
        self.at = found.end()
        body, begin = found["kinds"], found.start("kinds")
        low, high = 1, 1
        repeat = _REPEAT.search(body)
        if repeat is not None:
            low, high = int(repeat[1]), int(repeat[2] or repeat[1])
            if not 1 <= low <= high <= MOST_REPEATS:
                self._no_number(begin + repeat.start(), repeat[0].rstrip())
            body = body[: repeat.start()]
        elif "{" in body:
            self._no_number(begin + body.index("{"), body[body.index("{") :].rstrip())
        direction: Direction = "either"
        if bool(found["left"]) != bool(found["right"]):
            direction = "in" if found["left"] else "out"
        return EdgePattern(self._kinds(body, begin), direction, low, high)

    def _no_number(self, place: int, given: str) -> NoReturn:
        remedy = f"Write {{n}} or {{n,m}}, 1 to {MOST_REPEATS}"
        self._fail(place, place + len(given), f"{given} isn't a number of edges", remedy)

    def _no_edge(self, start: int) -> NoReturn:
        found = _WORD.match(self.text, start)
        end = found.end() if found else start + 1
        if self.text[start] in "-<":
            remedy = "Write -kind->, <-kind- or -kind-"
            self._fail(start, len(self.text), "an edge that isn't closed", remedy)
        remedy = 'An edge is -kind->, <-kind- or -kind-; a name of several words stands in quotes: "A name"'
        self._fail(start, end, "an edge was expected here", remedy)

    def _kinds(self, body: str, begin: int) -> tuple[str, ...]:
        if body.strip() in ("", *ANY):
            return ()
        kinds = []
        for piece in re.finditer(r"[^|]+", body):
            word = piece[0].strip()
            start = begin + piece.start() + (len(piece[0]) - len(piece[0].lstrip()))
            if word not in self.edge_kinds:
                self._unknown(word, start, start + len(word), "kind of edge", self.edge_kinds)
            kinds.append(word)
        return tuple(dict.fromkeys(kinds))

    def _unknown(
        self, word: str, start: int, end: int, what: str, known: Collection[str], *, quote: bool = False
    ) -> NoReturn:
        near = get_close_matches(word.casefold(), list(known), n=1, cutoff=0.5)
        remedy = f"Did you mean {near[0]}? " if near else ""
        remedy += f'A name stands in quotes: "{word}". ' if quote else ""
        self._fail(start, end, f"there is no {what} {word!r}", f"{remedy}Known: {', '.join(known)}")
