"""Events of a real relay on loopback: pages, crowded seconds, interruptions, several relays."""

import json
import os
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from relays import Relay
from signed import ANA, BEN, CY, T0, write_lines
from websockets.sync.server import serve

from clew import Index, IndexOptions
from clew.errors import OptionError, SourceError, UsageError
from clew.index import SilentProgress
from clew.inputs import relay_of
from clew.nostr.documents import Wanted
from clew.nostr.events import check
from clew.nostr.known import Known
from clew.nostr.relay import OVERLAP, Pace
from clew.nostr.store import EventStore, gaps, merge
from clew.nostr.sync import sync
from clew.options import EmbedOptions, SourceOptions
from clew.watching import Watcher

LIMIT = 40
FAST = Pace(connect=2, silence=2, again=(0.1, 0.2, 0.4, 0.8, 1, 1, 1))


@pytest.fixture(scope="module")
def relay(tmp_path_factory):
    """A relay with 3 notes a second, and a second that holds more than two pages of two kinds."""
    with Relay(tmp_path_factory.mktemp("relay") / "r", LIMIT) as running:
        notes = [ANA.note(f"note {number}", at=T0 + number // 3) for number in range(130)]
        crowd = [
            who.sign(kind, f"{number}", [["e", notes[0]["id"]]], T0 - 5)
            for number in range(25)
            for who, kind in ((ANA, 1), (BEN, 1), (ANA, 7), (CY, 7))
        ]
        late = [ANA.note("early", at=T0 - 400), BEN.profile(at=T0 - 300)]
        running.publish(*notes, *crowd, *late)
        running.ids = {event["id"] for event in (*notes, *crowd, *late)}
        running.bens = [event for event in crowd if event["pubkey"] == BEN.key]
        yield running


@pytest.fixture
def empty(tmp_path):
    with Relay(tmp_path / "empty", LIMIT) as running:
        yield running


def stored(folder):
    return EventStore(folder / "events.jsonl", folder / "events.state")


def fetch(folder, *relays, wanted=None, pace=FAST, progress=None):
    store = stored(folder)
    found = sync(relays, wanted or Wanted(), store, Known(), progress or SilentProgress(), pace)
    return found, ids(folder)


def ids(folder):
    lines = (folder / "events.jsonl").read_text("utf-8").splitlines()
    found = [check(json.loads(line)).id for line in lines]
    assert len(found) == len(set(found))
    return set(found)


def build(relays, to, **source):
    options = IndexOptions(embed=EmbedOptions(embedder="none"), source=SourceOptions(**source))
    return Index.build(relays, to, options=options)


def test_everything_is_fetched_page_by_page_with_crowded_seconds(relay, tmp_path):
    both = Wanted(authors=frozenset((ANA.key, BEN.key, CY.key)))
    (one,), found = fetch(tmp_path, relay.url, wanted=both)
    assert (one.error, one.refused) == ("", {})
    assert found == relay.ids
    (again,), _ = fetch(tmp_path, relay.url, wanted=both)
    assert again.new == 0


def test_a_second_that_a_relay_never_gives_whole_is_told(relay, tmp_path):
    (one,), found = fetch(tmp_path, relay.url)
    assert any(f"{T0 - 5}" in notice for notice in one.notices)
    assert len(found) >= len(relay.ids) - 100 + LIMIT


def test_only_what_is_wanted_is_asked_for(relay, tmp_path):
    wanted = Wanted(kinds=((1, 1),), authors=frozenset((ANA.key,)), since=T0 + 5, until=T0 + 9)
    (one,), found = fetch(tmp_path, relay.url, wanted=wanted)
    assert len(found) == 15
    assert one.received < 30
    (more,), found = fetch(tmp_path, relay.url, wanted=Wanted(((1, 1),), frozenset((ANA.key,)), T0, T0 + 9))
    assert len(found) == 30
    assert more.new == 15
    assert more.received < 30  # only the seconds that weren't covered


def test_a_sync_goes_on_where_the_last_one_ended(empty, tmp_path):
    notes = [ANA.note(f"{number}", at=T0 + number * 1000) for number in range(100)]
    empty.publish(*notes[:50])
    fetch(tmp_path, empty.url)
    empty.publish(*notes[50:])
    (one,), found = fetch(tmp_path, empty.url)
    assert found == {note["id"] for note in notes}
    assert one.new == 50
    assert one.received <= 50 + 2 * OVERLAP // 1000 + 4


class KillAfter(SilentProgress):
    """Kills a relay once so many events have come, and starts it again."""

    def __init__(self, relay, count):
        self.relay, self.left = relay, count

    def advance(self, n=1):
        before, self.left = self.left, self.left - n
        if before > 0 >= self.left:
            self.relay.stop()
            threading.Timer(0.3, self.relay.start).start()


def test_a_relay_that_is_killed_and_started_again_is_read_to_the_end(empty, tmp_path):
    notes = [ANA.note(f"{number}", at=T0 + number) for number in range(150)]
    empty.publish(*notes)
    (one,), found = fetch(tmp_path, empty.url, progress=KillAfter(empty, 60))
    assert one.error == ""
    assert found == {note["id"] for note in notes}


def test_two_relays_are_one_set_and_one_that_is_down_is_told(relay, empty, tmp_path):
    other = [CY.note("elsewhere", at=T0 + 7), CY.profile(at=T0 - 1000)]
    empty.publish(*other, ANA.note("note 7", at=T0 + 7 // 3))
    dead = "ws://127.0.0.1:9"
    quick = Pace(connect=1, silence=1, again=(0.01,))
    found, _ = fetch(tmp_path, empty.url, relay.url, dead, pace=quick)
    assert [bool(one.error) for one in found] == [False, False, True]
    assert ids(tmp_path) >= {event["id"] for event in other}
    assert len(ids(tmp_path) & relay.ids) > 130


def test_relays_become_an_index_with_references_as_places(empty, tmp_path, monkeypatch):
    note = ANA.note("The tide turns. #sea", [["t", "sea"]])
    article = ANA.sign(30023, "Springs and neaps.", [["d", "t"], ["title", "Tides"]])
    empty.publish(note, article, BEN.profile())
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    with build([empty.url], None) as index:
        assert index.file.as_posix() == ".clew/index.duckdb"
        assert index.doctor().whole
        places = {document.title: document.location for document in index.engine.reader.documents()}
        assert places["The tide turns. #sea"].startswith("nostr:note1")
        assert places["Tides"].startswith("nostr:naddr1")
        assert index.show(places["Tides"]).node.name == "Tides"
        first = index.engine.reader.generation
    empty.publish(ANA.delete(note), CY.note("New.", at=T0 + 9))
    with build([empty.url], None) as index:
        titles = {document.title for document in index.engine.reader.documents()}
        assert "New." in titles
        assert "The tide turns. #sea" not in titles
        assert index.result.work["documents_parsed"] == 1
        second = index.engine.reader.generation
        assert second != first
    empty.stop()
    with build([empty.url], None) as index:  # what was fetched is there without the relay
        assert index.engine.reader.generation == second
        assert [problem.key for problem in index.result.problems] == [empty.url]
        assert "can't be reached" in index.result.problems[0].reason
    with pytest.raises(SourceError, match="can't be reached"):
        build([empty.url], tmp_path / "other.duckdb")


def test_dumps_and_relays_named_together_are_one_set(empty, tmp_path):
    note = ANA.note("Deleted on the relay.")
    dump = write_lines(tmp_path / "old.jsonl", [note, ANA.sign(3, "", [["p", BEN.key]]), BEN.profile()])
    empty.publish(ANA.delete(note), ANA.sign(3, "", [["p", CY.key]], T0 + 5))
    with build([dump, empty.url], tmp_path / "i.duckdb") as index:
        assert note["id"] not in index.engine.reader.contents()
        follows = [view.target.name for view in index.show(ANA.npub).edges if view.edge.kind == "follows"]
        assert follows == [f"{CY.npub[:9]}…{CY.npub[-4:]}"]
        assert index.doctor().whole
        assert index.doctor().sources.missing == 0


def test_a_store_with_a_torn_line_or_without_its_state_is_mended(empty, tmp_path):
    notes = [ANA.note(f"{number}", at=T0 + number) for number in range(50)]
    empty.publish(*notes)
    fetch(tmp_path, empty.url)
    data = (tmp_path / "events.jsonl").read_bytes()
    (tmp_path / "events.jsonl").write_bytes(data[:-30])
    for state in ("{", "[]", '{"x": [1]}'):
        (tmp_path / "events.state").write_text(state)
        _, found = fetch(tmp_path, empty.url)
        assert found == {note["id"] for note in notes}
    (tmp_path / "events.jsonl").unlink()  # the state alone says nothing
    _, found = fetch(tmp_path, empty.url)
    assert found == {note["id"] for note in notes}


# --- relays that misbehave -----------------------------------------------------------------------


@contextmanager
def played(answer):
    """A relay that answers each message with those that ``answer`` yields."""

    def handle(client):
        for message in client:
            for reply in answer(json.loads(message)):
                client.send(reply if isinstance(reply, str | bytes) else json.dumps(reply))

    with serve(handle, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        finally:
            server.shutdown()
            thread.join()


GOOD = ANA.note("good")
QUICK = Pace(connect=1, silence=0.3, again=(0.01, 0.01))


def asked(*replies, end=True):
    def answer(message):
        if message[0] == "REQ":
            first = "until" not in message[2]
            yield from ([["EVENT", message[1], GOOD]] if first else [])
            for reply in replies:
                yield (
                    [message[1] if part == "ID" else part for part in reply]
                    if isinstance(reply, list)
                    else reply
                )
            if end:
                yield ["EOSE", message[1]]

    return answer


FORGED = {**GOOD, "content": "evil"}
CASES = {
    "notices": (asked(["NOTICE", "be nice"], ["AUTH", "challenge"]), "", "be nice"),
    "noise": (asked("not json", b"\xff", [], ["EVENT"], ["EVENT", "other", GOOD], ["OK", 1], "{}"), "", ""),
    "a forged event": (asked(["EVENT", "ID", FORGED], ["EVENT", "ID", "text"], ["EVENT", "ID", {}]), "", ""),
    "sign in": (asked(["CLOSED", "ID", "auth-required: who are you?"], end=False), "sign in", ""),
    "no": (asked(["CLOSED", "ID", "error: shutting down"], end=False), "shutting down", ""),
    "wait": (asked(["CLOSED", "ID", "rate-limited: slow down"], end=False), "slow down", ""),
    "silence": (asked(end=False), "said nothing", ""),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_what_relays_say_is_told_and_what_they_gave_is_kept(case, tmp_path):
    answer, error, notice = CASES[case]
    with played(answer) as url:
        (one,), found = fetch(tmp_path, url, pace=QUICK)
    assert found == {GOOD["id"]}
    assert error in one.error
    assert bool(error) == bool(one.error)
    assert not notice or notice in one.notices
    if case == "a forged event":
        assert sum(one.refused.values()) >= 3
        assert any("hash" in reason for reason in one.refused)


def test_events_that_werent_asked_for_are_left_out(tmp_path):
    with played(asked(["EVENT", "ID", BEN.note("spam")], ["EVENT", "ID", ANA.note("old", at=5)])) as url:
        wanted = Wanted(authors=frozenset((ANA.key,)), since=T0 - 10)
        (one,), found = fetch(tmp_path, url, wanted=wanted, pace=QUICK)
    assert found == {GOOD["id"]}
    assert one.unasked >= 2


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("wss://relay.example/", "wss://relay.example"),
        ("wss:/relay.example", "wss://relay.example"),
        ("WS://[::1]:7/path", "ws://[::1]:7/path"),
        ("notes", ""),
        ("wss", ""),
        ("/a/wss:/x", ""),
    ],
)
def test_addresses_are_told_from_paths(typed, address):
    assert relay_of(typed) == address


def test_relays_arent_watched(tmp_path):
    with pytest.raises(UsageError, match="relay"):
        Watcher(["wss://relay.example"], tmp_path / "i.duckdb").update()


def test_what_is_covered():
    assert merge([(5, 9), (0, 3), (4, 4), (20, 30), (8, 12)]) == [(0, 12), (20, 30)]
    assert gaps([(5, 9), (20, 30)], 0, 40) == [(31, 40), (10, 19), (0, 4)]
    assert gaps([], 3, 3) == [(3, 3)]
    assert gaps([(0, 100)], 5, 50) == []
    assert gaps([(50, 60)], 0, 10) == [(0, 10)]


def test_the_command_fetches_and_tells(relay, tmp_path):
    command = [sys.executable, "-m", "clew", "index", relay.url, "--author", BEN.npub, "--kinds", "note"]
    done = subprocess.run(
        [*command, "--embedder", "none", "--json"],
        cwd=tmp_path,
        env=dict(os.environ),
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["counts"]["documents"] == len(relay.bens)
    assert (tmp_path / ".clew" / "index.duckdb").is_file()
    assert any("new events" in note for note in told["notes"])


def test_those_whom_an_author_follows_are_fetched_too(empty, tmp_path):
    stranger = CY.note("by nobody who is followed", at=T0 + 3)
    empty.publish(
        ANA.profile(at=T0),
        ANA.sign(3, "", [["p", CY.key]], T0),  # replaced by a newer list
        ANA.sign(3, "", [["p", BEN.key], ["p", "no key"], ["p"]], T0 + 1),
        BEN.profile(at=T0),
        BEN.note("by one who is followed", at=T0 + 2),
        stranger,
    )
    path = tmp_path / ".clew" / "index.duckdb"
    with build([empty.url], path, author=(ANA.npub,), kinds=("1",), follows=True) as index:
        assert [hit.document.title for hit in index.search("followed")] == ["by one who is followed"]
        assert index.show("ben").node.kind == "person"
    more = BEN.note("and this later", at=T0 + 60)
    late = CY.note("now followed", at=T0 + 70)
    empty.publish(more, late, ANA.sign(3, "", [["p", BEN.key], ["p", CY.key]], T0 + 80))
    with build([empty.url], path, author=(ANA.npub,), follows=True) as index:
        found = index.match("me -follows-> person <-authored_by- note", me=ANA.npub)
        assert {row.nodes[2].name for row in found.rows} == {
            "by one who is followed",
            "and this later",
            "now followed",
            "by nobody who is followed",
        }


def test_a_dump_has_follows_too_and_whose_must_be_said(tmp_path):
    events = [ANA.sign(3, "", [["p", BEN.key]]), ANA.note("mine"), BEN.note("his"), CY.note("hers")]
    dump = write_lines(tmp_path / "events.jsonl", events)
    with build([dump], tmp_path / "i.duckdb", author=(ANA.key,), follows=True) as index:
        assert {doc.title for doc in index.engine.reader.documents() if doc.kind == "note"} == {"mine", "his"}
    with pytest.raises(OptionError, match="whose"):
        build([dump], tmp_path / "i.duckdb", follows=True)
