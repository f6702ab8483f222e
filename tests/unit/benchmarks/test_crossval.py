"""What is chosen for a set doesn't look at it."""

import dataclasses
import importlib

import numpy as np
import pytest


@pytest.fixture(scope="module")
def crossval():
    return importlib.import_module("crossval")


@pytest.fixture(scope="module")
def measured(crossval, engine, questions):
    sets = importlib.import_module("sets")
    parts = {"a": questions, "b": questions[:1]}
    return {
        name: crossval.measure(sets.RetrievalSet(name, None, tuple(part)), engine, 0)
        for name, part in parts.items()
    }


class Fake:
    """A set on which settings are worth what a table says, together what ``joint`` says."""

    def __init__(self, alone, joint):
        self.worth, self.joint = alone, joint
        self.default = type("Asked", (), {"recall": np.array([[0.6, 0.6, 0.6]])})

    def with_values(self, values):
        return self.joint[frozenset((each.name, value) for each, value in values.items())]


def test_a_setting_is_moved_only_if_it_gains_with_those_moved_before(crossval):
    x, y = (crossval.Setting(name, 1.0, (1.0, 2.0)) for name in "XY")
    alone = {("X", 1.0): 60.0, ("X", 2.0): 63.0, ("Y", 1.0): 60.0, ("Y", 2.0): 62.0}
    both = frozenset({("X", 2.0), ("Y", 2.0)})
    first = frozenset({("X", 2.0)})
    assert crossval.choose([Fake(alone, {first: 63.0, both: 64.0})], [y, x]) == {x: 2.0, y: 2.0}
    assert crossval.choose([Fake(alone, {first: 63.0, both: 63.05})], [y, x]) == {x: 2.0}


def test_sets_count_alike_and_the_default_stays_where_nothing_gains(crossval):
    x = crossval.Setting("X", 1.0, (0.5, 1.0, 2.0))
    worths = [{("X", 0.5): 60.0, ("X", 1.0): 60.0, ("X", 2.0): 64.0}, {("X", 0.5): 60.0, ("X", 1.0): 60.0}]
    worths[1]["X", 2.0] = 56.0
    others = [Fake(one, {}) for one in worths]
    assert crossval.best_value(others, x) == (0.0, 1.0)
    assert crossval.choose(others, [x]) == {}


def test_nothing_of_the_set_left_out_is_used(crossval, measured):
    rows = crossval.judge("a", measured)
    mine = measured["a"]
    spoiled = dataclasses.replace(mine, worth=dict.fromkeys(mine.worth, -1.0), examples=[], walked=0.0)
    again = crossval.judge("a", {**measured, "a": spoiled})
    for row in (*rows, *again):
        del row["median_ms"], row["cpu_ms"]
    assert rows == again


def test_each_value_takes_effect_and_the_default_is_back_afterwards(crossval, engine, questions):
    ranking = importlib.import_module("clew.query.rank")
    choosing = importlib.import_module("clew.query.choose")
    places = {"DEFINES": importlib.import_module("clew.query.space"), "NEAR": choosing}
    places["ENOUGH"] = importlib.import_module("clew.algo.select")

    def current(one):
        if one.name in ("GATE", "DAMPING"):
            return getattr(ranking.walk, "keywords", {}).get(one.name.lower(), one.default)
        return getattr(places.get(one.name, ranking), one.name)

    for one in crossval.settings_for(engine):
        assert one.default in one.values
        for value in one.values:
            with one.change(value)(engine):
                assert current(one) == value
        assert current(one) == one.default


def test_two_changes_of_the_walk_hold_together(crossval, engine):
    ranking = importlib.import_module("clew.query.rank")
    several = importlib.import_module("ingredients").several
    by_name = {one.name: one for one in crossval.settings_for(engine)}
    with several(by_name["GATE"].change(2.0), by_name["DAMPING"].change(0.5))(engine):
        assert ranking.walk.keywords == {"gate": 2.0, "damping": 0.5}


def test_the_table_has_a_row_for_what_the_others_choose(crossval, measured):
    rows = crossval.judge("a", measured)
    kinds = ["default", "settings of the others", "weights of the others", "both"]
    assert [row["from"] for row in rows] == kinds
    assert len(crossval.table(rows).splitlines()) == len(rows) + 2
    assert np.isfinite([row["change@5"] for row in rows]).all()
