"""The newest of an address counts, and nothing that its author deleted, in whatever order events come."""

import random

import pytest
from signed import ANA, BEN, T0

from clew.nostr.current import Current
from clew.nostr.events import check


def kept(*events):
    found = set()
    for seed in range(4):
        shuffled = [check(event) for event in events]
        random.Random(seed).shuffle(shuffled)
        current = Current()
        for event in shuffled:
            current.add(event)
        found.add(tuple(event.id for event in current.events()))
    assert len(found) == 1
    return set(found.pop())


def ids(*events):
    return {event["id"] for event in events}


@pytest.mark.parametrize("kind", [0, 3, 10000, 10003, 19999])
def test_the_newest_replaceable_event_of_an_author_counts(kind):
    old, new, other = (who.sign(kind, str(at), at=T0 + at) for who, at in ((ANA, 1), (ANA, 2), (BEN, 1)))
    assert kept(old, new, other) == ids(new, other)


def test_addressable_events_differ_by_their_d_tag():
    one, newer, two, none = (
        ANA.sign(30023, "x", tags, T0 + at)
        for at, tags in enumerate(([["d", "a"]], [["d", "a"]], [["d", "b"]], []))
    )
    assert kept(one, newer, two, none) == ids(newer, two, none)


def test_of_one_second_the_lowest_id_counts():
    events = [ANA.sign(0, str(number)) for number in range(6)]
    assert kept(*events) == {min(event["id"] for event in events)}


def test_deletions_are_by_the_author_alone():
    note, other = ANA.note("a"), ANA.note("b")
    assert kept(note, other, ANA.delete(note)) == ids(other)
    assert kept(note, other, BEN.delete(note)) == ids(note, other)
    deletion = ANA.delete(note)
    assert kept(note, deletion, ANA.delete(deletion)) == set()  # which can't be taken back


def test_deletions_of_an_address_reach_up_to_their_time():
    address = f"30023:{ANA.key}:a"
    old, new = (ANA.sign(30023, "x", [["d", "a"]], T0 + at) for at in (0, 100))
    assert kept(old, ANA.delete(addresses=[address], at=T0)) == set()
    assert kept(old, new, ANA.delete(addresses=[address], at=T0 + 50)) == ids(new)
    assert kept(old, BEN.delete(addresses=[address])) == ids(old)
    follows = ANA.sign(3)
    for named in (f"3:{ANA.key}:", f"3:{ANA.key}"):
        assert kept(follows, ANA.delete(addresses=[named])) == set()
    assert kept(old, ANA.delete(addresses=["", "x", f":{ANA.key}", f"30023:{BEN.key}:a"])) == ids(old)


def test_the_older_version_of_a_deleted_one_stays_replaced():
    old, new = (ANA.sign(30023, "x", [["d", "a"]], T0 + at) for at in (0, 100))
    assert kept(old, new, ANA.delete(new)) == set()


def test_what_is_left_out_is_counted():
    note = ANA.note("a")
    current = Current()
    for event in (note, note, ANA.sign(0, at=T0), ANA.sign(0, at=T0 + 1), ANA.sign(20001), ANA.delete(note)):
        current.add(check(event))
    assert len(current.events()) == 1
    assert current.counts == {"repeated": 1, "replaced": 1, "deleted": 1, "ephemeral": 1}
