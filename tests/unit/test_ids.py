"""Ids are hashes of content."""

from clew.ids import content_hash, make_id


def test_parts_are_kept_apart():
    assert make_id("ab", "c") != make_id("a", "bc")
    assert make_id("a") == make_id("a")
    assert len(make_id("a")) == 20


def test_any_string_has_an_id():
    assert make_id("\ud800") != make_id("\ufffd")


def test_known_values():
    assert content_hash(b"") == "cae66941d9efbd404e4d88758ea67670"
    assert make_id("document", "a.md") == make_id("document", "a.md")
