"""The baselines rank as their descriptions say."""

import importlib

import numpy as np
import pytest
from scipy.sparse import csr_array


@pytest.fixture(scope="module")
def material(engine, tmp_path_factory):
    return importlib.import_module("baselines.material").gather(
        engine, tmp_path_factory.mktemp("vectors") / "cache"
    )


METHODS = ("linearrag:LinearRag", "hipporag:HippoRag", "fastgraph:FastGraph", "lightrag:LightRag")


@pytest.fixture(params=METHODS)
def method(request, material):
    module, name = request.param.split(":")
    return getattr(importlib.import_module(f"baselines.{module}"), name)(material)


def keys(engine, chunks):
    documents = engine.reader.documents()
    return [documents[doc].key for doc in engine.space.chunk_doc[chunks].tolist()]


def test_sentences_hold_what_they_mention(material):
    texts = {one.chunk: one.text for one in material.engine.reader.chunks(range(material.n_chunks))}
    assert len(material.sentence_chunk) == len(material.sentence_vectors) == material.holds.shape[0]
    for row, chunk in enumerate(material.sentence_chunk.tolist()):
        nodes = material.holds.indices[material.holds.indptr[row] : material.holds.indptr[row + 1]]
        assert len(nodes)
        for node in nodes.tolist():
            assert material.counts[chunk, node] > 0
            assert material.names[node].split()[-1] in texts[chunk]
    names = dict(zip(material.names, range(len(material.names)), strict=True))
    born = [row for row in range(len(material.sentence_chunk)) if material.holds[row, names["Orlath"]]]
    assert any(material.holds[row, names["Ina Kolvar"]] for row in born)


def test_vectors_are_kept(material, engine, tmp_path, monkeypatch):
    gather = importlib.import_module("baselines.material").gather
    gather(engine, tmp_path / "cache")
    monkeypatch.setattr(engine.embedder, "embed", lambda texts: pytest.fail("embedded again"))
    again = gather(engine, tmp_path / "cache")
    assert np.allclose(again.sentence_vectors, material.sentence_vectors, atol=1e-3)


def test_a_baseline_returns_k_distinct_passages_best_first(method, engine, questions):
    for question in questions:
        chunks = method.rank(question.text, 5)
        assert len(set(chunks.tolist())) == 5
        assert keys(engine, chunks)[0] in question.gold
        assert chunks.tolist() == method.rank(question.text, 5).tolist()
        assert chunks[:3].tolist() == method.rank(question.text, 3).tolist()


def test_a_baseline_answers_questions_without_names(method):
    assert len(method.rank("what is that?", 4)) == 4


@pytest.mark.parametrize("method", METHODS[:3], indirect=True)  # LightRAG doesn't walk
def test_the_second_hop_is_found(method, engine, questions):
    assert {"Ina Kolvar.md", "Orlath.md"} <= set(keys(engine, method.rank(questions[0].text, 5)))


def test_a_walk_is_the_solution_of_its_equation():
    material = importlib.import_module("baselines.material")
    passages = csr_array(np.array([[1.0, 0.0, 2.0], [0.0, 3.0, 1.0], [0.0, 0.0, 0.0]], dtype=np.float32))
    graph = material.Undirected(passages)
    restart = np.array([0.2, 0, 0.3, 0.5, 0, 0], dtype=np.float32)
    mass = graph.walk(restart, 0.5)
    step = graph.table.toarray() * graph.inverse[None, :]
    step[:, graph.stuck] = restart[:, None]
    exact = np.linalg.solve(np.eye(6) - 0.5 * step, 0.5 * restart)
    assert np.allclose(mass, exact, atol=1e-5)
    assert mass.sum() == pytest.approx(1, abs=1e-5)


def test_synonyms_are_near_symmetric_and_not_oneself():
    hipporag = importlib.import_module("baselines.hipporag")
    angle = np.radians([0, 10, 80, 95])
    vectors = np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)
    found = hipporag.synonyms(vectors).toarray()
    assert np.allclose(found, found.T)
    assert set(zip(*map(np.ndarray.tolist, np.nonzero(found)), strict=True)) == {
        (0, 1),
        (1, 0),
        (2, 3),
        (3, 2),
    }
