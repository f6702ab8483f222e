"""YAML frontmatter: metadata that JSON can hold, and the place of each name in it."""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import yaml

from clew.types import Link, Mark, MarkKind

FENCE = re.compile(r"\ufeff?---[ \t]*\r?\n((?:.*\n)*?)(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)")
MAX_CHARS = 256 * 1024  # more than this isn't a note's frontmatter
MAX_DEPTH = 200  # the C parser recurses without a check of its own
MAX_VALUES = 20_000  # aliases let ten lines stand for a billion values
KEY = re.compile(r"(?:[ \t]*(?:#.*)?\r?\n)*[^\s#:][^:\n]*:(?:\s|\Z)")  # else the lines are rules around text
WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]*))?\]\]")
TITLES = ("title",)
ALIASES = ("aliases", "alias")
TAGS = ("tags", "tag", "keywords", "keyword")
PEOPLE = ("author", "authors", "creator", "creators")
Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """What stands before the text. ``end`` is the UTF-8 offset after the closing line.

    ``invalid`` says why the YAML can't be read; the rest is empty then.
    """

    end: int
    inner: tuple[int, int]
    metadata: dict[str, Any]
    title: str = ""
    marks: tuple[Mark, ...] = ()
    links: tuple[Link, ...] = ()
    invalid: str = ""


class _Unreadable(Exception):
    """Why the frontmatter can't be read, in words for a person."""


def parse_frontmatter(text: str) -> Frontmatter | None:
    """Return the frontmatter at the beginning of a text, or None if it has none. Never raises.

    Text between two ``---`` lines that has no keys isn't frontmatter.
    """
    if not text.startswith(("---", "\ufeff---")):
        return None
    fence = FENCE.match(text)
    if fence is None:
        return None
    inner = fence[1]
    begin = len(text[: fence.start(1)].encode())
    span = (begin, begin + len(inner.encode()))
    end = len(text[: fence.end()].encode())
    try:
        root = _compose(inner)
        metadata = _Values(inner).mapping(root)
    except _Unreadable as error:
        return Frontmatter(end, span, {}, invalid=str(error)) if KEY.match(inner) else None
    places = _Places(inner, begin)
    marks = tuple(_marks(root, places))
    title = next((mark.name for mark in marks if mark.kind == "title"), "")
    return Frontmatter(end, span, metadata, title, marks, tuple(places.links()))


def _compose(inner: str) -> yaml.MappingNode | None:
    """Return the YAML node tree; None if there is nothing in it."""
    if len(inner) > MAX_CHARS or _depth(inner) > MAX_DEPTH:
        raise _Unreadable("it is too large or too deeply nested")
    try:
        root = yaml.compose(inner, Loader=Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        mark = getattr(error, "problem_mark", None)
        what = getattr(error, "problem", None) or str(error).splitlines()[0]
        where = f" in line {mark.line + 2}" if mark is not None else ""
        raise _Unreadable(f"it isn't valid YAML{where}: {what}") from None
    if root is None or (isinstance(root, yaml.ScalarNode) and not root.value.strip()):
        return None
    if not isinstance(root, yaml.MappingNode):
        raise _Unreadable("it isn't a list of keys and values")
    return root


def _depth(inner: str) -> int:
    """Return an upper bound of the nesting."""
    flow = inner.count("[") + inner.count("{")
    if flow > MAX_DEPTH:  # count what is open at once
        level = flow = 0
        for char in inner:
            level += (char in "[{") - (char in "]}" and level > 0)
            flow = max(flow, level)
    inline = max(
        (line.count("- ") + line.count("? ") + line.count(": ") for line in inner.split("\n")), default=0
    )
    indent = max((len(line) - len(line.lstrip()) for line in inner.split("\n")), default=0)
    return flow + min(inline, inner.count("- ") + inner.count("? ")) + min(indent, inner.count("\n"))


class _Values:
    """Turns nodes into values that JSON can hold."""

    def __init__(self, inner: str) -> None:
        self._inner = inner
        self._left = MAX_VALUES
        self._open: set[int] = set()
        self._loader = yaml.SafeLoader("")

    def mapping(self, root: yaml.MappingNode | None) -> dict[str, Any]:
        return {} if root is None else self._value(root)

    def _value(self, node: yaml.Node) -> Any:
        self._left -= 1
        if self._left < 0:
            raise _Unreadable("it stands for too many values")
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if id(node) in self._open:
            raise _Unreadable("it contains itself")
        self._open.add(id(node))
        value = self._collection(node)
        self._open.discard(id(node))
        return value

    def _collection(self, node: yaml.Node) -> Any:
        if isinstance(node, yaml.SequenceNode):
            link = _unquoted_link(node, self._inner)
            return link or [self._value(item) for item in node.value]
        return {self._key(key): self._value(value) for key, value in node.value}

    def _key(self, node: yaml.Node) -> str:
        if isinstance(node, yaml.ScalarNode):
            return _clean(node.value)
        return _clean(self._inner[node.start_mark.index : node.end_mark.index].strip())

    def _scalar(self, node: yaml.ScalarNode) -> Any:
        try:
            value = self._loader.construct_object(node, deep=True)
        except (yaml.YAMLError, ValueError, OverflowError, TypeError):
            return _clean(node.value)  # an unknown tag, a 32nd of May, a number beyond all bounds
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            return value if abs(value) < 1 << 53 else node.value  # beyond, JSON readers round
        if isinstance(value, float):
            return value if math.isfinite(value) else node.value
        if isinstance(value, (datetime.date, datetime.datetime)):
            return value.isoformat()
        return _clean(value if isinstance(value, str) else node.value)


def _clean(text: str) -> str:
    """Replace lone surrogates, which an escape can make and UTF-8 can't hold."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _unquoted_link(node: yaml.SequenceNode, inner: str) -> str:
    """Return ``[[Note]]`` where YAML sees a list in a list; people forget the quotes."""
    source = inner[node.start_mark.index : node.end_mark.index]
    return source if WIKILINK.fullmatch(source) else ""


class _Places:
    """Finds the UTF-8 offsets of values in the document."""

    def __init__(self, inner: str, begin: int) -> None:
        self._inner = inner
        self._begin = begin

    def span(self, node: yaml.Node) -> tuple[int, int]:
        """Return a value's span, without its quotes."""
        low, high = node.start_mark.index, node.end_mark.index
        source = self._inner[low:high]
        low += len(source) - len(source.lstrip())
        high -= len(source) - len(source.rstrip())
        if high - low > 1 and self._inner[low] in "\"'" and self._inner[high - 1] == self._inner[low]:
            low, high = low + 1, high - 1
        return self._offset(low), self._offset(max(low, high))

    def _offset(self, index: int) -> int:
        return self._begin + len(self._inner[:index].encode())

    def links(self) -> Iterator[Link]:
        """Yield the wikilinks that stand in the values."""
        for match in WIKILINK.finditer(self._inner):
            target, _, anchor = match[1].strip().partition("#")
            kind = "embed" if match[0].startswith("!") else "wikilink"
            text = match[2] or match[1]
            yield Link(
                "embed" if kind == "embed" else "wikilink",
                target.strip(),
                anchor,
                text.strip(),
                self._offset(match.start()),
                self._offset(match.end()),
            )


def field_marks(fields: Mapping[str, Any]) -> Iterator[Mark]:
    """Yield the tags and people that the fields of a record name. They have no place in its text: ``start``
    and ``end`` are 0."""
    for name, value in fields.items():
        key = name.casefold()
        if key in PEOPLE:
            yield from (Mark("person", text, 0, 0, text) for text in _texts(value, 0))
        elif key in TAGS:
            yield from (Mark("tag", tag, 0, 0, tag) for text in _texts(value, 0) for tag in _tag_names(text))


def _texts(value: Any, depth: int) -> Iterator[str]:
    """Yield the texts of a JSON value: itself, its items, a ``name`` in them."""
    if isinstance(value, str) and value.strip():
        yield value.strip()
    elif depth < 3 and isinstance(value, list):
        for item in value:
            yield from _texts(item, depth + 1)
    elif depth < 3 and isinstance(value, Mapping):
        for name, item in value.items():
            if str(name).casefold() == "name":
                yield from _texts(item, depth + 1)


def _marks(root: yaml.MappingNode | None, places: _Places) -> Iterator[Mark]:
    """Yield the title, aliases, tags and people that the keys name."""
    if root is None:
        return
    kinds: dict[str, MarkKind] = {}
    for names, kind in ((TITLES, "title"), (ALIASES, "alias"), (TAGS, "tag"), (PEOPLE, "person")):
        kinds.update(dict.fromkeys(names, kind))  # type: ignore[arg-type]
    for key, value in root.value:
        if not isinstance(key, yaml.ScalarNode):
            continue
        found = kinds.get(key.value.casefold())
        if found:
            for node in _scalars(value, 0):
                yield from _mark(found, node, places)


def _scalars(node: yaml.Node, depth: int) -> Iterator[yaml.ScalarNode]:
    """Yield a value's texts: of itself, of its items, of a ``name`` in them."""
    if isinstance(node, yaml.ScalarNode):
        if node.tag not in ("tag:yaml.org,2002:null", "tag:yaml.org,2002:bool"):
            yield node
    elif depth < 3 and isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _scalars(item, depth + 1)
    elif depth < 3 and isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode) and key.value.casefold() == "name":
                yield from _scalars(value, depth + 1)


def _mark(kind: MarkKind, node: yaml.ScalarNode, places: _Places) -> Iterator[Mark]:
    text = _clean(node.value).strip()
    start, end = places.span(node)
    if kind == "tag":
        for name in _tag_names(text):
            yield Mark("tag", name, start, end, name)
    elif text:
        link = WIKILINK.fullmatch(text)
        if link:
            target = link[1].partition("#")[0].strip()
            yield Mark(kind, (link[2] or target).strip() or target, start, end, target)
        else:
            yield Mark(kind, text, start, end)


def _tag_names(text: str) -> list[str]:
    """Return the tags in a value: "a, b" holds two, "#a #b" too, "two words" one."""
    link = WIKILINK.fullmatch(text)
    if link:
        return [link[1].rpartition("/")[2].strip()]
    parts = text.split() if text.startswith("#") else re.split(r"[,;，、；]", text)
    return [part.strip().lstrip("#").strip() for part in parts if part.strip().lstrip("#").strip()]
