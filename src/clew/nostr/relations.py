"""What an event's tags and text state: replies, references, follows, saves, tags, people.

Each statement has a place: a span of the document's bytes where its text or its JSON holds it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from clew.nostr.events import Event
from clew.nostr.kinds import (
    COMMENT,
    FOLLOWS,
    GENERIC_REPOST,
    MUTES,
    NOTE,
    OLD_BOOKMARKS,
    REACTION,
    REPOST,
    SAVING,
)
from clew.nostr.refs import hashtag, indexed, places, tag_ref
from clew.types import EdgeKind, Ref, Relation

MARKERS = ("reply", "root", "mention")
POINTING = ("e", "a", "q")
REACTING = (REPOST, GENERIC_REPOST, REACTION)
LONGEST_TAG = 100  # characters; longer ones are text in the wrong place


@dataclass(frozen=True, slots=True)
class _Said:
    """A statement: an edge's kind and target, and the number of the tag that makes it, or -1."""

    kind: EdgeKind
    target: Ref
    tag: int = -1
    by_author: bool = False  # the edge is not the document's, but of its author


def relate(event: Event, author: Ref, text: str, spans: Sequence[tuple[int, int]]) -> tuple[Relation, ...]:
    """Return an event's relations; ``text`` is what offsets count in, or empty where they count in its JSON,
    in which its tags have these ``spans``."""
    found: dict[tuple[EdgeKind, Ref], Relation] = {}
    for place in places(text, event.tags):
        kind: EdgeKind = "mentions" if place.ref.kind == "person" else "references"
        found.setdefault((kind, place.ref), Relation(kind, place.ref, None, place.start, place.end))
    for said in _said(event):
        if said.target == author and said.kind == "mentions":
            continue  # clients name the author among those of a thread
        start, end = (0, 0)
        if spans and said.tag >= 0:
            start, end = spans[said.tag]
        elif text and said.target.kind == "tag":
            start, end = hashtag(text, said.target.id) or (0, 0)
        if said.kind == "saved_by":
            relation = Relation("saved_by", author, said.target, start, end)
        else:
            relation = Relation(said.kind, said.target, author if said.by_author else None, start, end)
        # A reply that also quotes its parent is both; a person named twice is one mention.
        found.setdefault((said.kind, said.target), relation)
    return tuple(found.values())


def _said(event: Event) -> Iterator[_Said]:
    """Yield what the tags state, in their order."""
    for number, tag in enumerate(event.tags):
        if len(tag) < 2:
            continue
        if tag[0] == "t" and event.kind != FOLLOWS:
            name = " ".join(tag[1].split()).lstrip("#")
            if name and len(name) <= LONGEST_TAG:
                yield _Said("tagged_with", Ref("tag", name), number)
        elif tag[0] == "p":
            yield from _person(event, number)
    if event.kind in SAVING and (event.kind != OLD_BOOKMARKS or event.first("d") == "bookmark"):
        for number, ref in _pointing(event, ("e", "a")):
            yield _Said("saved_by", ref, number)
    elif event.kind == COMMENT:
        yield from _comment(event)
    elif event.kind == NOTE:
        yield from _thread(event)
    elif event.kind == REACTION:  # NIP-25: the last is meant, those before it may be of its thread
        targets = [(number, ref) for number, ref in _pointing(event, ("e", "a")) if ref]
        last = {event.tags[number][0]: (number, ref) for number, ref in targets}
        for number, ref in last.values():
            yield _Said("references", ref, number)
    else:
        for number, ref in _pointing(event, POINTING):
            yield _Said("references", ref, number)


def _person(event: Event, number: int) -> Iterator[_Said]:
    ref = tag_ref(event.tags[number])
    if ref is None or event.kind == MUTES:
        return
    if event.kind == FOLLOWS:
        yield _Said("follows", ref, number, by_author=True)
    elif event.kind not in REACTING or not any(tag and tag[0] in ("e", "a") for tag in event.tags):
        yield _Said("mentions", ref, number)  # whom a reaction names is the author of what it points at


def _pointing(event: Event, names: Sequence[str]) -> Iterator[tuple[int, Ref]]:
    for number, tag in enumerate(event.tags):
        ref = tag_ref(tag) if len(tag) > 1 and tag[0] in names else None
        if ref is not None:
            yield number, ref


def _thread(event: Event) -> Iterator[_Said]:
    """What a note replies to and references: by markers, else by position (NIP-10)."""
    cited = indexed(event.content)  # #[0]: a citation, whatever its position
    every = [(number, ref) for number, ref in _pointing(event, POINTING)]
    marks = {number: _marker(event.tags[number]) for number, _ in every}
    if any(marks.values()):
        root = [(n, ref) for n, ref in every if marks[n] == "root"]
        reply = [(n, ref) for n, ref in every if marks[n] == "reply"]
        parents = reply[:1] or root[:1]
        rest = [row for row in every if row not in parents]
    else:
        listed = [(n, ref) for n, ref in every if event.tags[n][0] == "e" and n not in cited]
        parents = listed[-1:]
        rest = [row for row in every if row not in parents]
    for number, ref in parents:
        yield _Said("replied_to", ref, number)
    for number, ref in rest:
        if all(ref != parent for _, parent in parents):
            yield _Said("references", ref, number)


def _marker(tag: Sequence[str]) -> str:
    return tag[3] if tag[0] in ("e", "a") and len(tag) > 3 and tag[3] in MARKERS else ""


def _comment(event: Event) -> Iterator[_Said]:
    """What a comment replies to, small letters, and the root of its thread, capitals (NIP-22).

    An addressable parent is named twice, by address and by the version's id: the address stays the same.
    """
    named = {name: row for name in "eaEA" for row in [next(_pointing(event, (name,)), None)]}
    parent = named["a"] or named["e"]
    root = named["A"] or named["E"]
    if parent is None:
        parent = root
    if parent is not None:
        yield _Said("replied_to", parent[1], parent[0])
        if named["a"] and named["e"] and named["e"][1] != parent[1]:
            yield _Said("references", named["e"][1], named["e"][0])
    if root is not None and parent is not None and root[1] != parent[1]:
        yield _Said("references", root[1], root[0])
    for number, ref in _pointing(event, ("q",)):
        yield _Said("references", ref, number)
