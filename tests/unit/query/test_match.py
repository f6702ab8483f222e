"""Patterns: the language, its errors, and the rows against a search of all rows."""

from __future__ import annotations

import contextlib
import random

import numpy as np
import pytest

from clew.errors import NotFound, PatternError, UsageError
from clew.query.limits import Limits
from clew.query.match import rows_of
from clew.query.pattern import EdgePattern, parse
from graphs import KINDS, random_graph

NODES = ("note", "document", "entity", "person", "tag")


def read(text):
    return parse(text, NODES, KINDS)


# --- the rows ------------------------------------------------------------------------------------


def every_row(graph, pattern, masks, allowed):
    """Return all rows by trying each edge both ways at each place."""
    edges = [
        (int(graph.source[e]), int(graph.target[e]), graph.kinds[graph.kind[e]], e)
        for e in range(graph.n_edges)
        if allowed is None or allowed[e]
    ]
    found = []

    def grow(nodes, used):
        place = len(nodes)
        if place == len(pattern.nodes):
            found.append((tuple(nodes), tuple(used)))
            return
        step = pattern.edges[place - 1]
        for source, target, kind, edge in edges:
            if edge in used or (step.kinds and kind not in step.kinds):
                continue
            ways = {"out": [(source, target)], "in": [(target, source)]}
            for near, far in ways.get(step.direction, [(source, target), (target, source)]):
                if near == nodes[-1] and masks[place][far] and fits(nodes, place, far):
                    grow([*nodes, far], [*used, edge])

    def fits(nodes, place, far):
        name = pattern.nodes[place].variable
        return not name or all(nodes[i] == far for i in range(place) if pattern.nodes[i].variable == name)

    for start in np.flatnonzero(masks[0]).tolist():
        grow([start], [])
    return sorted(found)


@pytest.mark.parametrize("seed", range(120))
def test_rows_are_those_of_a_search_of_everything(seed):
    rng = random.Random(seed)
    n = rng.randrange(2, 9)
    graph = random_graph(rng, n, rng.randrange(1, 18))
    length = rng.randrange(1, 5)
    text = rng.choice(("* as a", "*"))
    for _ in range(length - 1):
        kinds = "|".join(rng.sample(KINDS, rng.randrange(0, 3)))
        text += rng.choice((f" -{kinds}-> ", f" <-{kinds}- ", f" -{kinds}- "))
        text += rng.choice(("* as a", "* as b", "*", "*"))
    pattern = read(text)
    masks = [np.array([rng.random() < 0.8 for _ in range(n)]) for _ in range(length)]
    allowed = np.array([rng.random() < 0.8 for _ in range(graph.n_edges)]) if seed % 3 == 0 else None
    same = {}
    for node, mask in zip(pattern.nodes, masks, strict=True):
        if node.variable:
            same.setdefault(node.variable, mask.copy())
            same[node.variable] &= mask
    joined = [same.get(node.variable, mask) for node, mask in zip(pattern.nodes, masks, strict=True)]
    found = [(row.nodes, row.edges) for row in rows_of(graph, pattern, joined, Limits(edges=allowed))]
    assert len(found) == len(set(found))
    assert sorted(found) == every_row(graph, pattern, joined, allowed)
    assert [row[0] for row in found] == sorted(row[0] for row in found)


def test_repeats_stand_for_chains_of_each_length():
    pattern = read("note -references{1,3}-> tag")
    lengths = [len(one.edges) for one in pattern.variants()]
    assert lengths == [1, 2, 3]
    for one in pattern.variants():
        assert (one.nodes[0].kind, one.nodes[-1].kind) == ("note", "tag")
        assert all(not node.kind and not node.name for node in one.nodes[1:-1])
        assert {edge.kinds for edge in one.edges} == {("references",)}


# --- the language --------------------------------------------------------------------------------


def test_edges_are_read_in_each_direction_with_any_kinds():
    forms = {
        "-references->": EdgePattern(("references",), "out"),
        "<-references-": EdgePattern(("references",), "in"),
        "-references-": EdgePattern(("references",), "either"),
        "-references | replied_to->": EdgePattern(("references", "replied_to"), "out"),
        "-*->": EdgePattern((), "out"),
        "-->": EdgePattern((), "out"),
        "<--": EdgePattern((), "in"),
        "--": EdgePattern((), "either"),
        "-follows{2}->": EdgePattern(("follows",), "out", 2, 2),
        "<-{1,4}-": EdgePattern((), "in", 1, 4),
    }
    for form, expected in forms.items():
        for text in (f"note {form} person", f"note{form}person"):
            assert read(text).edges == (expected,), text


def test_nodes_are_kinds_names_tags_me_and_any():
    names = 'me -follows-> "Ada Lovelace" -- «Одеса» -- #a/b-c -- person:"X Y" as p'
    pattern = read(f"{names} -- tag:z -- * -- any -- 「绿茶」")
    described = [(n.me, n.kind, n.name, n.variable) for n in pattern.nodes]
    assert described == [
        (True, "", "", ""),
        (False, "", "Ada Lovelace", ""),
        (False, "", "Одеса", ""),
        (False, "tag", "a/b-c", ""),
        (False, "person", "X Y", "p"),
        (False, "tag", "z", ""),
        (False, "", "", ""),
        (False, "", "", ""),
        (False, "", "绿茶", ""),
    ]


@pytest.mark.parametrize(
    ("text", "place", "words"),
    [
        ("nite -follows-> person", "nite", ["Did you mean note?", '"nite"']),
        ("note -refrences|follows-> tag", "refrences", ["Did you mean references?"]),
        ("note -references|folows-> tag", "folows", ["Did you mean follows?"]),
        ("note references note", "references", ["An edge is -kind->"]),
        ("note -references", "-references", ["isn't closed"]),
        ('note -- "Ada', '"Ada', ["isn't closed"]),
        ("note -follows{0,9}-> note", "{0,9}", ["1 to 5"]),
        ("persn:Ada -- note", "persn", ["Did you mean person?"]),
        ("note -- |", "|", ["A node is"]),
        ('note -- ""', '""', ["an empty name"]),
        ("绿茶 -follows-> note", "绿茶", ["no kind of node"]),
    ],
)
def test_errors_point_at_the_wrong_word(text, place, words):
    with pytest.raises(PatternError) as caught:
        read(text)
    shown, marks = caught.value.picture.splitlines()
    wide = sum(2 if ord(char) > 0x2E80 else 1 for char in shown[: shown.index(place)])
    assert marks.index("^") == wide
    assert marks.count("^") == sum(2 if ord(char) > 0x2E80 else 1 for char in place)
    assert all(word in str(caught.value) for word in words), str(caught.value)


@pytest.mark.parametrize("text", ["", "   ", "note --", "note -- note note", "<- note", "note -{9}-> note"])
def test_what_is_no_pattern_is_refused(text):
    with pytest.raises(PatternError):
        read(text)


def test_any_text_is_read_or_refused():
    rng = random.Random(5)
    pieces = [
        "note",
        "me",
        "*",
        "-",
        "->",
        "<-",
        "follows",
        "|",
        "{",
        "2",
        "}",
        '"',
        "#",
        ":",
        " as ",
        "a",
        " ",
        "绿",
    ]
    read_well = 0
    for _ in range(3000):
        text = "".join(rng.choice(pieces) for _ in range(rng.randrange(1, 12)))
        with contextlib.suppress(PatternError):  # any other error fails
            read_well += len(read(text).nodes) > 0
    assert read_well > 50


# --- on an index ---------------------------------------------------------------------------------


def test_rows_have_names_places_and_sentences(index):
    found = index.match('note as a -references-> "Soil"')
    assert {"Compost", "Mulch", "Earthworm"} == {row.nodes[0].name for row in found.rows}
    assert found.variables == ("a", "")
    for row in found.rows:
        assert row.steps[0].view.evidence
        assert row.steps[0].text.endswith("links to Soil")
        assert index.match(found.pattern).rows == found.rows


def test_limits_and_what_there_is_more(index):
    every = index.match("note -references-> note", 1000)
    assert not every.more
    assert len(every.rows) > 4
    some = index.match("note -references-> note", 3)
    assert some.more
    assert some.rows == every.rows[:3]
    exact = index.match("note -references-> note", len(every.rows))
    assert not exact.more


def test_directions_mirror_each_other(index):
    there = {row.nodes for row in index.match("note -references-> note", 1000).rows}
    back = {row.nodes[::-1] for row in index.match("note <-references- note", 1000).rows}
    assert there == back


def test_a_kind_without_edges_is_said(index):
    assert "follows" in index.match("note -follows-> person").notes[0]


def test_me_has_to_be_set_and_known(index):
    with pytest.raises(UsageError, match="CLEW_ME"):
        index.match("me -- note")
    with pytest.raises(NotFound):
        index.match("me -- note", me="nobody at all")
    assert index.match("me -- note", me="Soil").rows


def test_a_name_that_nothing_bears_is_pointed_at(index):
    with pytest.raises(PatternError) as caught:
        index.match('note -references-> "Soill"')
    assert caught.value.picture.endswith(" ^^^^^^^")
    assert "Soil" in str(caught.value)


def test_one_node_is_a_pattern(index):
    assert "Soil" in {row.nodes[0].name for row in index.match("note", 100).rows}


@pytest.mark.parametrize("wrong", ["{,3}", "{a}", "{}", "{1", "{3,1}", "{0}", "{1,2,3}", "{-1}"])
def test_a_wrong_number_of_edges_is_pointed_at(wrong):
    with pytest.raises(PatternError) as caught:
        parse(f"note -references{wrong}-> note", ("note",), ("references",))
    said = str(caught.value)
    assert "number of edges" in said or "isn't closed" in said
    assert "^" in said
