"""The summary shows what was saved, beside what is published."""

import importlib
import json


def test_methods_of_several_files_stand_side_by_side(tmp_path):
    summary = importlib.import_module("summary")
    paths = []
    for embedder, method in (("none", "auto"), ("minilm", "hipporag2")):
        row = {"set": "hotpot", "method": method, "recall@2": 81.25, "recall@5": 90.0, "cpu_ms": 3.6}
        results = {
            "embedder": embedder,
            "rows": [row, {**row, "set": "other", "recall@2": 10.0, "cpu_ms": 4.6}],
        }
        paths.append(tmp_path / f"{embedder}.json")
        paths[-1].write_text(json.dumps({"results": results}), "utf-8")
    lines = summary.table(paths).splitlines()
    assert lines[0] == "| method | models | hotpot | other | ms of CPU | command |"
    assert lines[2] == (
        "| auto | none | 81.2 / 90.0 | 10.0 / 90.0 | 4 | `retrieval.py BENCH --embedder none` |"
    )
    assert "--baselines" in lines[3]
    assert "| HippoRAG 2, published | 70B + 7B | 83.5 / 96.3 |  |  | larger corpora |" in lines


def test_each_published_figure_has_a_set():
    summary = importlib.import_module("summary")
    for _, _, cells in summary.PUBLISHED:
        assert cells.keys() == summary.SIZES.keys()


def test_the_methods_of_others_are_told_apart(engine, tmp_path):
    summary, methods = importlib.import_module("summary"), importlib.import_module("methods")
    assert tuple(methods.baseline_methods(engine, tmp_path / "cache")) == summary.BASELINES
    assert set(methods.PLAIN) <= set(methods.all_methods(engine, tmp_path))


def test_without_vectors_there_are_no_baselines(lexical, tmp_path):
    methods = importlib.import_module("methods")
    assert list(methods.all_methods(lexical, tmp_path, baselines=True)) == [
        "bm25",
        "hybrid",
        "walk",
        "local",
        "auto",
    ]
