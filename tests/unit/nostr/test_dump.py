"""Files of events in all their forms, and what is wrong with some of them."""

import json

import nostr_sdk
import pytest
from signed import ANA, BEN, write_lines

from clew.nostr.dump import is_dump, objects
from clew.nostr.events import Event, Invalid, check, event_id
from clew.nostr.known import Known
from clew.nostr.reading import LISTED, Reading

TEXT = 'The tide is at %d m, "so" {to} [say] 潮 🌊\n\\'
NOTES = [ANA.note(TEXT % level, at=1_700_000_000 + level) for level in range(5)]


def dumps(value, **options):
    return json.dumps(value, ensure_ascii=False, **options)


FORMS = {
    "lines": "\n".join(map(dumps, NOTES)),
    "crlf": "\r\n".join(map(dumps, NOTES)) + "\r\n\r\n",
    "bom": "\ufeff" + "\n".join(map(dumps, NOTES)),
    "array": dumps(NOTES),
    "array, pretty": dumps(NOTES, indent=2),
    "array, an event a line": "[\n" + ",\n".join(map(dumps, NOTES)) + "\n]\n",
    "frames": "\n".join(dumps(["EVENT", "sub", note]) for note in NOTES)
    + '\n["EOSE","sub"]\n["NOTICE","{ hm"]',
    "array of frames": dumps([["EVENT", "sub", note] for note in NOTES]),
    "objects, pretty": "\n".join(dumps(note, indent=1) for note in NOTES),
    "mixed": "\n".join(
        [dumps(NOTES[0]), dumps(NOTES[1:3]), dumps(["EVENT", "x", NOTES[3]]), dumps(NOTES[4], indent=4)]
    ),
    "long array": "[" + ",".join(map(dumps, NOTES * 100)) + "]",
}


@pytest.mark.parametrize("form", FORMS)
def test_events_are_read_in_every_form(form, tmp_path):
    (tmp_path / "dump.json").write_bytes(FORMS[form].encode())
    assert is_dump(tmp_path / "dump.json")
    found = list(objects(FORMS[form].encode().splitlines()))
    values = [value for _, value in found]
    assert values == NOTES * (len(values) // len(NOTES))
    reading = Reading()
    reading.file(tmp_path / "dump.json", "dump.json")
    assert reading.problems == []
    assert {event.id for event in reading._current.events()} == {note["id"] for note in NOTES}


def test_each_event_has_its_line():
    lines = FORMS["mixed"].encode().splitlines()
    assert [line for line, _ in objects(lines)] == [1, 2, 2, 3, 4]


@pytest.mark.parametrize(
    "broken", ['{"id":"', dumps(NOTES[0])[:80], dumps(NOTES[0])[40:], "hello", '["EVENT","x",{"id":1']
)
def test_a_damaged_line_costs_one_event(broken):  # fmt: skip
    text = "\n".join([dumps(NOTES[0]), broken, dumps(NOTES[1]), dumps(NOTES[2])])
    found = list(objects(text.encode().splitlines()))
    assert [value for _, value in found if not isinstance(value, Invalid)] == NOTES[:3]
    assert [line for line, value in found if isinstance(value, Invalid)] == [2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        '{"id":"1","title":"t","text":"x"}\n' * 3,
        '{"id":"1","text":"of \\"pubkey\\" and \\"sig\\""}\n' * 3,
        json.dumps({"pubkey": "", "sig": ""}),
        '{"note": ' + json.dumps(NOTES[0]) + "}",
        "# A note on events\n" + json.dumps(NOTES[0]),
    ],
)
def test_other_files_are_no_dumps(text, tmp_path):
    (tmp_path / "a.jsonl").write_text(text, "utf-8")
    assert is_dump(tmp_path / "a.jsonl") == text.startswith("# A note")  # an event with words before it


def forged(**changes):
    return {**NOTES[0], **changes}


FORGED = {
    "hash of its content": forged(content="Something else"),
    "hash": forged(created_at=1),
    "signature isn't by its author": forged(sig=NOTES[1]["sig"]),
    "signature isn't": forged(sig="00" * 64),
    "64 lower-case": forged(id="zz" * 32),
    "lower-case": forged(pubkey=NOTES[0]["pubkey"].upper()),
    "no 'sig'": {key: value for key, value in NOTES[0].items() if key != "sig"},
    "'kind' isn't a number": forged(kind="1"),
    "'created_at' isn't": forged(created_at=-1),
    "'tags' aren't": forged(tags=[["t", 1]]),
    "'tags'": forged(tags={"t": "x"}),
    "'content'": forged(content=None),
    "isn't a JSON object": ["EVENT"],
}


@pytest.mark.parametrize("reason", FORGED)
def test_what_is_no_valid_event_is_refused_with_the_reason(reason):
    with pytest.raises(Invalid) as error:
        check(FORGED[reason])
    assert reason in str(error.value)


def test_a_changed_event_with_its_new_id_is_refused_too():
    changed = forged(content="Send money")
    changed["id"] = event_id(Event(**{**changed, "tags": ()}))
    with pytest.raises(Invalid, match="signature"):
        check(changed)


TEXTS = [
    "",
    "a\tb\r\n\b\f\x0b\x1f\x7f\x85",
    "\\ \" / ' < > &",
    "🧵👩‍👩‍👧 \u2028 \ufeff \ufffd 𝒳 e\u0301",
    "\x00",
]


@pytest.mark.parametrize("text", TEXTS)
def test_ids_are_those_of_the_reference_library(text):
    event = BEN.note(text, [["t", text], ["x"], [""]])
    assert nostr_sdk.Event.from_json(json.dumps(event)).verify()
    assert check(event).content == text


def test_a_signed_event_that_others_test_with():
    event = {
        "content": "uRuvYr585B80L6rSJiHocw==?iv=oh6LVqdsYYol3JfFnXTbPA==",
        "created_at": 1640839235,
        "id": "2be17aa3031bdcb006f0fce80c146dea9c1c0268b0af2398bb673365c6444d45",
        "kind": 4,
        "pubkey": "f86c44a2de95d9149b51c6a29afeabba264c18e2fa7c49de93424a0c56947785",
        "sig": "a5d9290ef9659083c490b303eb7ee41356d8778ff19f2f91776c8dc4443388a6"
        "4ffcf336e61af4c25c05ac3ae952d1ced889ed655b67790891222aaa15b99fdd",
        "tags": [["p", "13adc511de7e1cfcf1c6b7f6365fb5a03442d7bcacf565ea57fa7770912c023d"]],
    }
    assert check(event).kind == 4


def test_refused_events_are_counted_and_the_first_are_listed(tmp_path):
    bad = [forged(content=str(number)) for number in range(LISTED + 7)]
    reading = Reading()
    reading.file(write_lines(tmp_path / "a.jsonl", [*bad, NOTES[0]]), "a.jsonl")
    assert len(reading.problems) == LISTED + 1
    assert reading.problems[0].key == "a.jsonl:1"
    assert "7 more" in reading.problems[-1].reason
    assert f"{LISTED + 7} in all" in reading.problems[-1].reason
    assert len(reading._current.events()) == 1


def test_what_was_verified_before_is_known_and_forgeries_of_it_are_not(tmp_path):
    known = Known(tmp_path / "verified")
    check(NOTES[0], known=known)
    known.save()
    (tmp_path / "verified").open("ab").write(b"torn")
    again = Known(tmp_path / "verified")
    assert again.has(NOTES[0]["id"], NOTES[0]["sig"])
    for reason in ("hash of its content", "signature isn't by its author"):
        with pytest.raises(Invalid, match=reason.split()[0]):
            check(FORGED[reason], known=again)
    check(NOTES[1], known=again)
    again.save()
    third = Known(tmp_path / "verified")
    assert all(third.has(note["id"], note["sig"]) for note in NOTES[:2])
