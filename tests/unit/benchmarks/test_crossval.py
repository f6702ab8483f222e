"""What is chosen for a set doesn't look at it."""

import importlib

import numpy as np
import pytest


@pytest.fixture(scope="module")
def crossval():
    return importlib.import_module("crossval")


def test_a_setting_takes_the_best_value_of_the_other_sets(crossval):
    one = crossval.Setting("X", 1.0, (0.5, 1.0, 2.0))
    worths = [
        {("X", 0.5): 50.0, ("X", 1.0): 60.0, ("X", 2.0): 62.0},
        {("X", 0.5): 40.0, ("X", 1.0): 40.0, ("X", 2.0): 41.0},
    ]
    assert crossval.choose(worths, one) == 2.0
    worths[1]["X", 2.0] = 38.1
    assert crossval.choose(worths, one) == 1.0  # as good within a tenth of a point: the default stays


def test_nothing_of_the_set_left_out_is_used(crossval, engine, questions):
    sets = importlib.import_module("sets")
    whole = crossval.measure(sets.RetrievalSet("a", None, tuple(questions)), engine, 0)
    part = crossval.measure(sets.RetrievalSet("b", None, tuple(questions[:1])), engine, 0)
    settings = crossval.settings_for(engine)
    values, weights = crossval.held_out("a", {"a": whole, "b": part}, settings)
    spoiled = crossval.Measured(whole.default, dict.fromkeys(whole.worth, -1.0), [], 0.0)
    again, weights_again = crossval.held_out("a", {"a": spoiled, "b": part}, settings)
    assert values == again
    assert weights == weights_again
    assert weights is not None


def test_each_value_takes_effect_and_the_default_is_back_afterwards(crossval, engine, questions):
    ranking = importlib.import_module("clew.query.rank")
    choosing = importlib.import_module("clew.query.choose")
    places = {"DEFINES": importlib.import_module("clew.query.space"), "NEAR": choosing}

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


def test_the_table_has_a_row_for_what_the_others_choose(crossval, engine, questions):
    sets = importlib.import_module("sets")
    both = [sets.RetrievalSet(name, None, tuple(questions)) for name in "ab"]
    measured = {one.name: crossval.measure(one, engine, 0) for one in both}
    rows = crossval.judge(both[0], engine, measured, 0)
    assert [row["from"] for row in rows] == [
        "default",
        "settings of the others",
        "weights of the others",
        "both",
    ]
    assert len(crossval.table(rows).splitlines()) == len(rows) + 2
    assert np.isfinite([row["change@5"] for row in rows]).all()
