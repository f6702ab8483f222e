"""Tags and text become relations, by the rules of each kind."""

import json

import nostr_sdk
import pytest
from signed import ANA, BEN, CY, T0, note_of

from clew.nostr.documents import Wanted, to_documents
from clew.nostr.events import check
from clew.nostr.kinds import kind_name, parse_kinds
from clew.types import Ref

ROOT, PARENT, OTHER = (BEN.note(text, at=T0 + at) for at, text in enumerate(("root", "parent", "other")))
R, P, O = (event["id"] for event in (ROOT, PARENT, OTHER))  # noqa: E741
ARTICLE = f"30023:{BEN.key}:tides"


def document(event, *more):
    made = list(to_documents([check(one) for one in (event, *more)], Wanted()))
    return next(one for one in made if event["id"] in one.ids)


def relations(event, *more):
    """Return {(kind, target id): the bytes that state it}."""
    made = document(event, *more)
    return {
        (one.kind, (one.source or one.target).id if one.kind == "saved_by" else one.target.id): made.data[
            one.start : one.end
        ].decode()
        for one in made.relations
    }


def pairs(event):
    return set(relations(event))


DAMAGED = [
    *([], ["e"], ["e", ""], ["e", "zz"], ["e", R[:63]], ["q"], ["q", "nonsense"], ["", ""]),
    *(["p", "x" * 64], ["a", "1"], ["a", "x:y:z"]),
    *(["t"], ["t", ""], ["t", " # "], ["t", "x" * 101]),
]
THREADS = {
    "root and reply": ([["e", R, "", "root"], ["e", P, "", "reply"]], {("replied_to", P), ("references", R)}),
    "root alone is the parent": ([["e", R, "", "root"]], {("replied_to", R)}),
    "a mention": ([["e", R, "", "mention"]], {("references", R)}),
    "reply and a mention": (
        [["e", O, "", "mention"], ["e", P, "wss://r", "reply", BEN.key]],
        {("replied_to", P), ("references", O)},
    ),
    "unmarked among marked": ([["e", O], ["e", P, "", "reply"]], {("replied_to", P), ("references", O)}),
    "by position: one": ([["e", R]], {("replied_to", R)}),
    "by position: two": ([["e", R], ["e", P]], {("replied_to", P), ("references", R)}),
    "by position: three": (
        [["e", R], ["e", O], ["e", P]], {("replied_to", P), ("references", R), ("references", O)},
    ),
    "a quote": ([["q", R, "", BEN.key]], {("references", R)}),
    "a quote of an article": ([["q", ARTICLE]], {("references", ARTICLE)}),
    "a reply to an article": ([["a", ARTICLE, "", "root"]], {("replied_to", ARTICLE)}),
    "an article": ([["a", ARTICLE]], {("references", ARTICLE)}),
    "people and tags": ([["p", BEN.key], ["t", "sea"]], {("mentions", BEN.npub), ("tagged_with", "sea")}),
    "oneself": ([["p", ANA.key]], set()),
    "the same twice": ([["p", BEN.key], ["p", BEN.key, "wss://r"]], {("mentions", BEN.npub)}),
    "damaged": (DAMAGED, set()),
    "an unknown marker": ([["e", R, "", "quote"]], {("replied_to", R)}),
}  # fmt: skip


@pytest.mark.parametrize("name", THREADS)
def test_notes(name):
    tags, expected = THREADS[name]
    assert pairs(ANA.note("Hm.", tags)) == expected


def test_old_citations_by_number_are_no_replies():
    event = ANA.note("See #[0] by #[1], and #[9].", [["e", O], ["p", BEN.key], ["e", R]])
    found = relations(event)
    assert found["references", O] == "#[0]"
    assert found["mentions", BEN.npub] == "#[1]"
    assert ("replied_to", R) in found
    assert len(found) == 3


def test_text_points_at_people_and_events_with_its_place():
    profile = nostr_sdk.Nip19Profile(nostr_sdk.PublicKey.parse(CY.key), []).to_bech32()
    place = nostr_sdk.Coordinate(nostr_sdk.Kind(30023), nostr_sdk.PublicKey.parse(BEN.key), "tides")
    address = nostr_sdk.Nip19Coordinate(place, []).to_bech32()
    event = nostr_sdk.Nip19Event(nostr_sdk.EventId.parse(P)).to_bech32()
    text = (
        f"潮🌊 nostr:{BEN.npub}, (nostr:{profile}) «nostr:{note_of(ROOT)}».nostr:{event}\n"
        f"@{BEN.npub} https://njump.me/{note_of(OTHER)} nostr:{address}！ nostr:npub1{'q' * 58}"
    )
    found = relations(ANA.note(text, [["p", BEN.key], ["q", R]]))
    assert found == {
        ("mentions", BEN.npub): f"nostr:{BEN.npub}",
        ("mentions", CY.npub): f"nostr:{profile}",
        ("references", R): f"nostr:{note_of(ROOT)}",
        ("references", P): f"nostr:{event}",
        ("references", ARTICLE): f"nostr:{address}",
    }


def test_references_end_where_the_official_examples_do():
    npub = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"
    nprofile = (
        "nprofile1qqsrhuxx8l9ex335q7he0f09aej04zpazpl0ne2cgukyawd24mayt8gpp4mhxue69uhhytnc9e3k7mgpz4mhxue69uhkg"
        "6nzv9ejuumpv34kytnrdaksjlyr9p"
    )
    found = relations(ANA.note(f"{npub}; nostr:{nprofile}?"))
    assert found["mentions", npub] == npub
    key = nostr_sdk.PublicKey.parse("3bf0c63fcb93463407af97a5e5ee64fa883d107ef9e558472c4eb9aaaefa459d")
    assert found["mentions", key.to_bech32()] == f"nostr:{nprofile}"


def test_hashtags_have_their_place_in_text():
    found = relations(
        ANA.note("Über #Überfahrt, 海 #海 and #sea-fog", [["t", "überfahrt"], ["t", "海"], ["t", "fog"]])
    )
    assert found["tagged_with", "überfahrt"] == "#Überfahrt"
    assert found["tagged_with", "海"] == "#海"
    assert found["tagged_with", "fog"] == ""


COMMENTS = {
    "of a note": ([["E", R], ["K", "1"], ["P", BEN.key], ["e", R], ["k", "1"]], {("replied_to", R)}),
    "of a comment": ([["E", R], ["e", P]], {("replied_to", P), ("references", R)}),
    "of an article": (
        [["A", ARTICLE], ["a", ARTICLE], ["e", P]], {("replied_to", ARTICLE), ("references", P)},
    ),
    "of a comment on an article": ([["A", ARTICLE], ["e", P]], {("replied_to", P), ("references", ARTICLE)}),
    "of a web page": ([["I", "https://a.example"], ["i", "https://a.example"]], set()),
}  # fmt: skip


@pytest.mark.parametrize("name", COMMENTS)
def test_comments(name):
    tags, expected = COMMENTS[name]
    made = document(ANA.sign(1111, "Well said.", tags))
    assert made.kind == "comment"
    assert pairs(ANA.sign(1111, "Well said.", tags)) == expected


def test_follows_are_of_the_author_and_point_into_the_list():
    event = ANA.sign(3, "", [["p", BEN.key, "wss://r", "benny"], ["p", CY.key], ["t", "sea"], ["p", "bad"]])
    made = document(event)
    assert made.media_type == "event"
    assert {(one.kind, one.source, one.target.id) for one in made.relations} == {
        ("follows", Ref("person", ANA.npub, made.author.label), BEN.npub),
        ("follows", Ref("person", ANA.npub, made.author.label), CY.npub),
    }
    assert relations(event)["follows", BEN.npub] == json.dumps(event["tags"][0], separators=(",", ":"))
    assert [(one.id, one.names) for one in made.people] == [(BEN.npub, ("benny",))]


@pytest.mark.parametrize("kind", [10003, 30003, 30001])
def test_bookmarks_are_saved_by_their_author(kind):
    event = ANA.sign(
        kind, "", [["d", "bookmark"], ["e", R], ["a", ARTICLE], ["t", "sea"], ["r", "https://x"]]
    )
    found = relations(event)
    assert found["saved_by", R] == f'["e","{R}"]'
    assert found["saved_by", ARTICLE] == f'["a","{ARTICLE}"]'
    assert {one.target.id for one in document(event).relations if one.kind == "saved_by"} == {ANA.npub}
    named = ANA.sign(
        kind, "", [["d", "bookmark"], ["title", "To read"], ["description", "Some day"], ["e", R]]
    )
    made = document(named)
    assert (made.title, made.titled, made.data) == ("To read", True, b"To read\n\nSome day")
    assert ("saved_by", R) in pairs(named)


def test_reactions_and_reposts_point_at_what_they_are_about():
    thread = [["e", R], ["p", CY.key], ["e", P], ["p", BEN.key]]
    assert pairs(ANA.sign(7, "🤙", thread)) == {("references", P)}
    assert pairs(ANA.sign(6, "", [["e", P], ["p", BEN.key]])) == {("references", P)}
    assert pairs(ANA.sign(16, "", [["a", ARTICLE], ["k", "30023"]])) == {("references", ARTICLE)}
    assert document(ANA.sign(7, "🤙", thread), ANA.profile()).title == "🤙 · reaction · Ana Lima"
    assert (
        document(ANA.sign(7, ":soapbox:", [["emoji", "soapbox", "https://x"], ["e", P]])).kind == "reaction"
    )


def test_highlights_packs_and_unknown_kinds():
    highlight = ANA.sign(
        9802, "A fine line.", [["a", ARTICLE], ["p", BEN.key, "", "author"], ["comment", "So true"]]
    )
    made = document(highlight)
    assert made.data == b"A fine line.\n\nSo true"
    assert pairs(highlight) == {("references", ARTICLE), ("mentions", BEN.npub)}
    pack = ANA.sign(39089, "", [["d", "x"], ["title", "Tide people"], ["p", BEN.key], ["p", CY.key]])
    assert document(pack).kind == "pack"
    assert pairs(pack) == {("mentions", BEN.npub), ("mentions", CY.npub)}
    other = ANA.sign(30311, "words", [["d", "x"], ["e", R], ["t", "sea"]])
    made = document(other)
    assert (made.kind, made.media_type) == ("event-30311", "event")
    assert relations(other) == {("references", R): f'["e","{R}"]', ("tagged_with", "sea"): '["t","sea"]'}
    assert pairs(ANA.sign(10000, "", [["p", BEN.key]])) == set()  # whom somebody doesn't want to read


def test_articles_have_their_title_first_date_and_references():
    text = f"## Springs\n\nAsk nostr:{BEN.npub}."
    tags = [
        ["d", "tides"],
        ["title", "On  tides\n"],
        ["published_at", "1600000000"],
        ["summary", "S"],
        ["t", "Sea"],
    ]
    made = document(ANA.sign(30023, text, tags))
    assert (made.key, made.media_type, made.title) == (f"30023:{ANA.key}:tides", "article", "On tides")
    assert (made.created_at, made.metadata["summary"]) == (1_600_000_000, "S")
    for odd in ("later", "9999999999", "-1", ""):
        assert document(ANA.sign(30023, text, [["d", ""], ["published_at", odd]])).created_at == T0
    assert document(ANA.sign(30023, "# Spring\n\ntide", [["d", ""]])).title is None  # its heading
    assert document(ANA.sign(30023, text, [["d", ""]])).titled is False


def test_profiles_name_people_and_odd_ones_are_passed_over():
    made = document(ANA.profile(display_name="Ana\nL.", nip05="_@ana.example", about="Tides 潮"))
    assert made.people[0].names == ("Ana L.", "Ana Lima", "ana.example")
    assert made.data == "Tides 潮".encode()
    for content in (
        "",
        "{",
        "[]",
        '"x"',
        '{"name":1,"about":[]}',
        '{"name":"' + "x" * 200 + '"}',
        '{"about":"\\ud83d"}',
    ):
        odd = document(ANA.sign(0, content))
        assert odd.people == ()
        assert odd.media_type == "event"


def test_titles_are_beginnings_with_names_for_references():
    text = f"Morning nostr:{BEN.npub}!\nThe tide turns at {'nine ' * 20}"
    made = document(ANA.note(text), BEN.profile())
    assert made.title.startswith("Morning @Ben! The tide turns at nine")
    assert len(made.title) <= 61
    assert made.title.endswith("…")
    assert document(ANA.note("   ")).title == f"note · {document(ANA.note('x')).author.label}"


def test_kinds_are_numbers_ranges_and_names():
    assert parse_kinds(["1, 30000-39999", "article"]) == [(1, 1), (30000, 39999), (30023, 30023)]
    for wrong in ("x", "5-1", "70000", "notee"):
        with pytest.raises(Exception, match="kind"):
            parse_kinds([wrong])
    assert kind_name(1984) == "event-1984"
