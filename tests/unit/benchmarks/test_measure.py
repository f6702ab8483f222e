"""What the benchmarks count beside recall."""

import importlib


def test_shares_of_residual_questions_add_up(engine, questions):
    measure = importlib.import_module("measure")
    shares = measure.residual_shares(engine, questions)
    assert list(shares) == ["no walk", "0", "1", "2"]
    assert round(sum(shares.values())) == 100
    assert shares["no walk"] < 100


def test_weights_of_the_fusion_are_swept_and_back_afterwards(engine):
    fusion, ranking = importlib.import_module("fusion"), importlib.import_module("clew.query.rank")
    sets, before = importlib.import_module("sets"), ranking.DENSE_WEIGHT
    millers = ("Ina Kolvar", "Per Asmund", "Lute Farrow", "Oda Brekke", "Sim Tolland")
    flour = sets.Question("0", "Who ground flour?", frozenset(f"{who}.md" for who in millers))
    found = fusion.sweep(engine, [flour], (0.0, 0.5, 1.0))
    assert len(found) == 3
    assert len(set(found)) > 1, "words alone and meaning alone rank otherwise"
    assert before == ranking.DENSE_WEIGHT
