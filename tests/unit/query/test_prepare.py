"""What is read before the first question, and what isn't read at all."""

from __future__ import annotations

import subprocess
import sys
import threading

import numpy as np
import pytest
from small_vault import NOTES, build

from clew import Index, registry
from clew.options import EmbedOptions
from clew.query.apart import embed_apart


class Lengths:
    """An embedder that gains from calls at once; a vector is the text's length and that of its batch."""

    parallel = 3

    def __init__(self):
        self.batches = []
        self.threads = set()

    def embed(self, texts):
        if "bad" in texts:
            raise ValueError("bad")
        self.batches.append(list(texts))
        self.threads.add(threading.get_ident())
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 8])
@pytest.mark.parametrize("parallel", [1, 3])
def test_texts_embedded_apart_keep_their_order(n, parallel):
    model = Lengths()
    model.parallel = parallel
    texts = ["x" * (1 + 7 * i % 5) for i in range(n)]
    rows = embed_apart(model, texts)
    assert [row[0] for row in rows.tolist()] == [len(text) for text in texts]
    assert rows.dtype == np.float32
    assert len(model.batches) == (n if parallel > 1 and n else 1)
    assert len(model.threads) <= parallel


def test_an_error_in_any_thread_is_raised():
    for place in range(4):
        texts = ["a", "b", "c", "d"]
        texts[place] = "bad"
        with pytest.raises(ValueError, match="bad"):
            embed_apart(Lengths(), texts)


def test_the_models_vectors_are_the_same_apart():
    model = registry.make_embedder(EmbedOptions(embedder="minilm", threads=2))
    texts = ["One sentence.", "Another one, which is a good deal longer than the first.", "", "短い"]
    np.testing.assert_allclose(embed_apart(model, texts), model.embed(texts), atol=1e-6)


@pytest.mark.parametrize("embedder", ["none", "minilm"])
def test_an_index_answers_the_same_prepared_or_not(tmp_path, embedder):
    build(tmp_path, NOTES, embedder).close()
    question = "What is compost made of?"
    with Index.open(tmp_path / "index.duckdb") as plain, Index.open(tmp_path / "index.duckdb") as ready:
        ready.prepare(question)
        one, other = plain.ask(question), ready.ask(question)
        assert (one.text, one.citations, one.mode) == (other.text, other.citations, other.mode)
        assert other.text


class Broken:
    """An embedder that can be made and not loaded."""

    name, dimension, window, languages = "all-MiniLM-L6-v2-int8", 384, 254, frozenset({"en"})

    def load(self):
        raise OSError("the model is gone")

    def embed_question(self, text):
        raise OSError("the model is gone")


def test_a_fault_of_the_embedder_is_told_by_the_question(tmp_path, monkeypatch):
    build(tmp_path, NOTES, "minilm").close()
    monkeypatch.setattr(registry, "make_embedder", lambda options: Broken())
    with Index.open(tmp_path / "index.duckdb") as index:
        index.prepare("anything")
        with pytest.raises(OSError, match="the model is gone"):
            index.search("anything")


def test_threads_that_come_first_share_one_session(monkeypatch):
    import onnxruntime

    made = []
    real = onnxruntime.InferenceSession
    monkeypatch.setattr(
        onnxruntime, "InferenceSession", lambda *given, **named: made.append(1) or real(*given, **named)
    )
    model = registry.make_embedder(EmbedOptions(embedder="minilm"))
    threads = [threading.Thread(target=model.embed, args=(["text"],)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1


def test_a_question_without_a_walk_pays_for_no_sparse_matrices(tmp_path):
    """Half of a cold start is imports; what a plain question doesn't use isn't imported."""
    build(tmp_path, NOTES, "none").close()
    code = (
        "import sys; from clew import Index; index = Index.open(sys.argv[1]);"
        "index.prepare(sys.argv[2]); answer = index.ask(sys.argv[2], mode='basic'); assert answer.text;"
        "heavy = {'scipy', 'rich', 'onnxruntime', 'tokenizers', 'graspologic_native', 'py3langid'};"
        "print(sorted(heavy & {name.partition('.')[0] for name in sys.modules}))"
    )
    words = [sys.executable, "-c", code, str(tmp_path / "index.duckdb"), "what keeps water?"]
    run = subprocess.run(words, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
