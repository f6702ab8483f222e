"""When the default counts as losing to plain search."""

import importlib

import numpy as np
import pytest


@pytest.fixture
def verdict():
    safe, measure = importlib.import_module("safe"), importlib.import_module("measure")

    def asked(five):
        recall = np.repeat(np.array(five, dtype=float)[:, None], 3, axis=1)
        return measure.Asked(recall, np.ones(len(five)), np.ones(len(five)))

    return lambda **methods: safe.compare("some", {name: asked(five) for name, five in methods.items()})


def test_the_best_plain_method_counts_not_the_hybrid(verdict):
    row = verdict(bm25=[1, 1] * 50, dense=[0, 1] * 50, hybrid=[0, 1] * 50, auto=[0, 1] * 50)
    assert (row["best"], row["margin"], row["verdict"]) == ("bm25", -50.0, "fail")


def test_half_a_point_is_allowed_and_more_is_not(verdict):
    hybrid = [1.0] * 400
    assert verdict(bm25=[0.0] * 400, hybrid=hybrid, auto=[*hybrid[2:], 0.0, 0.0])["verdict"] == "pass"
    assert verdict(bm25=[0.0] * 400, hybrid=hybrid, auto=[*hybrid[3:], 0.0, 0.0, 0.0])["verdict"] != "pass"


def test_chance_is_told_from_loss(verdict):
    mixed = verdict(bm25=[1, 0, 1, 0, 1, 0, 1, 1], hybrid=[0] * 8, auto=[0, 1, 0, 1, 0, 1, 1, 1])
    assert mixed["verdict"] == "pass"
    loss = verdict(bm25=[1, 0] * 5, hybrid=[0] * 10, auto=[0, 1] * 4 + [0, 0])
    assert loss["verdict"] == "fail?"


def test_without_vectors_there_is_no_dense_column(verdict):
    row = verdict(bm25=[1.0], hybrid=[1.0], auto=[1.0])
    assert row["dense@5"] is None
    assert "| some | 1 | 100.0 |  | 100.0 | 100.0 | 0.0 | pass |" in importlib.import_module("safe").table(
        [row]
    )
