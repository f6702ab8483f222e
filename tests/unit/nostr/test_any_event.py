"""Whatever an event holds, it becomes a document whose places are in it, or none; nothing ends a run."""

import json

from hypothesis import given, settings
from hypothesis import strategies as some
from signed import ANA, BEN, T0, note_of

from clew.nostr.documents import Wanted, to_documents
from clew.nostr.events import Event, Invalid, check
from clew.nostr.kinds import NAMES

NOTE = note_of(ANA.note("x"))
PIECES = [
    "",
    "#sea",
    "#",
    f"nostr:{BEN.npub}",
    f"@{NOTE}",
    "#[0]",
    "#[9]",
    "潮🌊",
    "\x00",
    "\u202e",
    "{",
    '{"name":"',
    "nostr:npub1",
]
VALUES = [*PIECES, ANA.key, BEN.key, ANA.note("x")["id"], f"30023:{BEN.key}:a:b", "30023:x", "reply", "root"]
text = some.lists(some.one_of(some.sampled_from(PIECES), some.text(max_size=9)), max_size=6).map(" ".join)
value = some.one_of(some.sampled_from(VALUES), some.text(max_size=9))
name = some.one_of(
    some.sampled_from([*"eapqtdrEAKPI", "title", "published_at", "comment", "emoji", ""]), value
)
tag = some.builds(lambda first, rest: [first, *rest], name, some.lists(value, max_size=4))
kind = some.one_of(some.sampled_from(sorted(NAMES)), some.integers(0, 65535))


@settings(max_examples=300, deadline=None)
@given(kind, text, some.lists(some.one_of(some.just([]), tag), max_size=6), some.integers(0, 2**40))
def test_every_event_becomes_a_document_with_its_places(number, content, tags, at):
    content = content.encode("utf-8", "replace").decode("utf-8")
    tags = tuple(tuple(part.encode("utf-8", "replace").decode("utf-8") for part in one) for one in tags)
    event = Event("ab" * 32, ANA.key, at, number, tags, content, "cd" * 64, "dump", 3)
    (made,) = to_documents([event], Wanted())
    data = made.data.decode("utf-8")
    assert data
    if made.media_type == "event":
        assert json.loads(data)["tags"] == [list(one) for one in tags]
    for one in made.relations:
        assert 0 <= one.start <= one.end <= len(made.data)
        said = made.data[one.start : one.end].decode("utf-8")
        if said and made.media_type == "event":
            assert tuple(json.loads(said)) in tags
        elif said:
            assert said.startswith(("nostr:", "@", "npub1", "note1", "#"))
    assert made.title is None or "\n" not in made.title
    list(to_documents([event], Wanted(), links=True))


json_values = some.recursive(
    some.one_of(some.none(), some.booleans(), some.integers(), some.floats(), some.text(max_size=5)),
    lambda inner: some.one_of(some.lists(inner, max_size=3), some.dictionaries(some.text(max_size=3), inner)),
    max_leaves=5,
)
GOOD = ANA.note("good", at=T0)


@settings(max_examples=200, deadline=None)
@given(some.sampled_from(sorted(GOOD)), json_values)
def test_a_field_of_any_other_value_is_refused(field, other):
    if other == GOOD[field]:
        return
    try:
        check({**GOOD, field: other})
    except Invalid:
        return
    raise AssertionError((field, other))
