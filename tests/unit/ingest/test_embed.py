from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from clew.errors import ProviderError
from clew.ingest.embed import dense_text, embed_chunks, language_note, split_windows, unknown_share
from clew.options import EmbedOptions
from clew.ports import Embedder
from clew.registry import make_embedder
from clew.types import Analysis, Floats

OPTIONS = EmbedOptions()
SHORT = ["The borrow checker.", "Bread and butter.", "Одіссей повернувся додому.", "借用检查器。"]
LONG = " ".join(f"Sentence {i} is about the number {i * i}." for i in range(120))


@cache
def minilm() -> Embedder:
    made = make_embedder(OPTIONS)
    assert made is not None
    return made


class Memory:
    """A cache in memory that counts its commits."""

    def __init__(self) -> None:
        self.stored: dict[tuple[str, str], NDArray[np.float16]] = {}
        self.commits: list[int] = []

    def vectors(self, embedder: str, keys: Sequence[str]) -> dict[str, NDArray[np.float16]]:
        return {key: self.stored[embedder, key] for key in keys if (embedder, key) in self.stored}

    def put_vectors(self, embedder: str, items: Mapping[str, NDArray[np.float16]]) -> None:
        self.commits.append(len(items))
        self.stored.update({(embedder, key): vector for key, vector in items.items()})

    def analyses(self, keys: Sequence[str]) -> dict[str, Analysis]:
        return {}

    def put_analyses(self, items: Mapping[str, Analysis]) -> None: ...

    def close(self) -> None: ...


class Tally:
    def __init__(self) -> None:
        self.done = 0
        self.notes: list[str] = []

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, n: int = 1) -> None:
        self.done += n

    def note(self, text: str) -> None:
        self.notes.append(text)


class Words:
    """A tokenizer by white space."""

    name = "words"

    def offsets(self, texts: Sequence[str]) -> list[NDArray[np.int32]]:
        return [starts_of(text) for text in texts]


def starts_of(text: str) -> NDArray[np.int32]:
    before = " " + text
    return np.array(
        [i for i, char in enumerate(text) if not char.isspace() and before[i].isspace()], dtype=np.int32
    )


class Picky:
    """A model that refuses texts with ``bad`` in them, or dies at a given call."""

    name = "picky"
    dimension = 3
    window = 8
    languages: frozenset[str] = frozenset()
    tokenizer = Words()

    def __init__(self, parallel: int = 1, dies_at: int = 0, bad: str = "bad") -> None:
        self.parallel = parallel
        self.dies_at = dies_at
        self.bad = bad
        self.calls: list[list[str]] = []

    def embed(self, texts: Sequence[str]) -> Floats:
        self.calls.append(list(texts))
        if self.dies_at and len(self.calls) >= self.dies_at:
            raise KeyboardInterrupt
        if any(self.bad in text for text in texts):
            raise ValueError("a bad text")
        rows = np.array([[len(text), ord(text[0]), 1] for text in texts], dtype=np.float32)
        unit: Floats = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        return unit

    def embed_question(self, text: str) -> Floats:
        vector: Floats = self.embed([text])[0]
        return vector


# --- with the real model -------------------------------------------------------------------------


def test_each_short_text_has_its_own_vector_in_order() -> None:
    tally = Tally()
    chunk, vectors = embed_chunks(SHORT, minilm(), OPTIONS, None, tally)
    assert chunk.tolist() == [0, 1, 2, 3]
    assert chunk.dtype == np.int32
    assert vectors.dtype == np.float16
    np.testing.assert_allclose(vectors, minilm().embed(SHORT), atol=1e-3)
    assert tally.done == len(SHORT)
    assert tally.notes == []


def test_a_long_text_has_several_windows_and_a_blank_one_none() -> None:
    tally = Tally()
    chunk, vectors = embed_chunks(["", LONG, " \n", SHORT[0]], minilm(), OPTIONS, None, tally)
    n_tokens = len(minilm().tokenizer.offsets([LONG])[0])
    assert chunk.tolist() == [1] * (len(chunk) - 1) + [3]
    assert len(chunk) - 1 == pytest.approx(n_tokens / (minilm().window * 7 / 8), abs=1)
    np.testing.assert_allclose(np.linalg.norm(vectors.astype(np.float32), axis=1), 1, atol=2e-3)
    assert tally.done == 4


def test_the_end_of_a_long_text_is_found() -> None:
    chunk, vectors = embed_chunks([LONG + " Penelope wove a shroud."], minilm(), OPTIONS, None, Tally())
    near = vectors.astype(np.float32) @ minilm().embed_question("Who wove a shroud?")
    assert int(np.argmax(near)) == len(chunk) - 1


def test_order_batches_and_neighbours_change_nothing() -> None:
    texts = [*SHORT, LONG, *(LONG[i : i + 300] for i in range(0, 1500, 300))]
    chunk, vectors = embed_chunks(texts, minilm(), OPTIONS, None, Tally())
    back_chunk, back = embed_chunks(texts[::-1], minilm(), EmbedOptions(batch_tokens=100), None, Tally())
    assert sorted(len(texts) - 1 - back_chunk) == chunk.tolist()
    order = np.argsort(len(texts) - 1 - back_chunk, kind="stable")
    np.testing.assert_allclose(back[order].astype(np.float32), vectors.astype(np.float32), atol=5e-4)


def test_no_texts_make_no_vectors() -> None:
    chunk, vectors = embed_chunks([], minilm(), OPTIONS, None, Tally())
    assert chunk.shape == (0,)
    assert vectors.shape == (0, minilm().dimension)


# --- the cache, errors and interruption ----------------------------------------------------------


def test_what_is_cached_is_not_embedded_again() -> None:
    memory = Memory()
    first = embed_chunks(["a b", "c d", "a b"], Picky(), OPTIONS, memory, Tally())
    assert len(memory.stored) == 2
    again, tally = Picky(), Tally()
    chunk, vectors = embed_chunks(["c d", "a b", "e"], again, OPTIONS, memory, tally)
    assert again.calls == [["e"]]
    assert chunk.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(vectors[:2], first[1][[1, 0]])
    assert tally.done == 3


def test_equal_windows_are_embedded_once() -> None:
    model = Picky()
    chunk, vectors = embed_chunks(["a b", "a b", "a b"], model, OPTIONS, None, Tally())
    assert model.calls == [["a b"]]
    assert chunk.tolist() == [0, 1, 2]
    assert (vectors == vectors[0]).all()


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_refused_text_is_left_out_and_noted(parallel: int) -> None:
    tally = Tally()
    texts = ["one", "two bad", "three", "four"]
    chunk, vectors = embed_chunks(texts, Picky(parallel), OPTIONS, None, tally)
    assert chunk.tolist() == [0, 2, 3]
    assert len(vectors) == 3
    assert tally.done == 4
    assert "two bad" in tally.notes[0]
    assert "a bad text" in tally.notes[0]


@pytest.mark.parametrize("parallel", [1, 3])
def test_a_model_that_refuses_everything_ends_the_run_with_its_reason(parallel: int) -> None:
    texts = [f"text {i}" for i in range(50)]
    with pytest.raises(ProviderError, match="a bad text"):
        embed_chunks(texts, Picky(parallel, bad=""), OPTIONS, None, Tally())


def test_an_interrupted_run_keeps_what_it_did() -> None:
    memory = Memory()
    texts = [" ".join(f"w{i}x{j}" for j in range(8)) for i in range(40)]
    with pytest.raises(KeyboardInterrupt):
        embed_chunks(texts, Picky(dies_at=3), EmbedOptions(batch_tokens=64), memory, Tally())
    assert len(memory.stored) == 16
    again = Picky()
    chunk, _ = embed_chunks(texts, again, EmbedOptions(batch_tokens=64), memory, Tally())
    assert sum(map(len, again.calls)) == 24
    assert len(chunk) == 40


def test_the_cache_is_written_while_the_run_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clew.ingest.embed.COMMIT_SECONDS", -1.0)
    memory = Memory()
    texts = [" ".join(f"w{i}x{j}" for j in range(8)) for i in range(40)]
    embed_chunks(texts, Picky(), EmbedOptions(batch_tokens=64), memory, Tally())
    assert memory.commits == [8] * 5


def test_vectors_that_are_not_numbers_are_refused() -> None:
    class Broken(Picky):
        def embed(self, texts: Sequence[str]) -> Floats:
            rows = super().embed(texts)
            rows[[text.startswith("n") for text in texts]] = np.nan
            return rows

    chunk, vectors = embed_chunks(["a", "nan", "c"], Broken(), OPTIONS, None, Tally())
    assert chunk.tolist() == [0, 2]
    assert np.isfinite(vectors).all()


def test_batches_are_of_similar_length_and_keep_within_the_budget() -> None:
    model = Picky()
    texts = [" ".join(f"{i}-{j}" for j in range(1 + i % 8)) for i in range(60)]
    embed_chunks(texts, model, EmbedOptions(batch_tokens=64), None, Tally())
    lengths = [[len(text.split()) for text in call] for call in model.calls]
    assert all(len(batch) * max(batch) <= 64 for batch in lengths)
    flat = [n for batch in lengths for n in batch]
    assert flat == sorted(flat, reverse=True)
    assert len(flat) == 60


# --- windows -------------------------------------------------------------------------------------


@settings(max_examples=300, deadline=None)
@given(st.lists(st.booleans(), max_size=150), st.integers(1, 40))
def test_windows_cover_the_text_and_fit(spaces: list[bool], window: int) -> None:
    # Every character is another, so that each window's place is certain.
    text = "".join(" " if space else chr(0x4E00 + i) for i, space in enumerate(spaces))
    starts = np.array([i for i, space in enumerate(spaces) if not space], dtype=np.int32)
    pieces = split_windows(text, starts, window)
    assert bool(pieces) == bool(len(starts))
    covered: set[str] = set()
    for piece, n_tokens in pieces:
        assert piece in text
        assert 1 <= n_tokens <= window
        assert len(piece.replace(" ", "")) == n_tokens
        covered |= set(piece)
    assert covered - {" "} == set(text) - {" "}


def test_windows_begin_at_words_and_overlap() -> None:
    starts = starts_of(LONG)
    sub = np.sort(np.concatenate([starts, starts + 1]))  # every word is two tokens
    pieces = split_windows(LONG, sub, 100)
    assert all(LONG[LONG.index(piece) - 1].isspace() for piece, _ in pieces[1:])
    for (before, _), (after, n_tokens) in pairwise(pieces):
        shared = LONG.index(before) + len(before) - LONG.index(after)
        assert 0 < shared < len(after) / 3
        assert n_tokens > 80


def test_a_text_a_little_too_long_costs_a_little_more() -> None:
    text = " ".join(f"w{i}" for i in range(260))
    pieces = split_windows(text, starts_of(text), 254)
    assert len(pieces) == 2
    assert sum(n for _, n in pieces) <= 260 + 254 / 8 + 1


# --- what is embedded, and languages -------------------------------------------------------------


@pytest.mark.parametrize(
    ("title", "path", "text", "expected"),
    [
        ("Rust", ("Ownership", "Moves"), "A value moves.", "Rust\nOwnership > Moves\nA value moves."),
        ("Rust", ("Rust", "Moves"), "A value moves.", "Rust\nMoves\nA value moves."),
        ("Rust", ("Moves",), "## Moves\n\nA value.", "Rust\n## Moves\n\nA value."),
        ("", (), "Alone.", "Alone."),
        ("{title} %s", (), "Text", "{title} %s\nText"),
    ],
)
def test_a_chunk_is_embedded_under_its_title_and_headings(
    title: str, path: tuple[str, ...], text: str, expected: str
) -> None:
    assert dense_text(title, path, text) == expected


def test_notes_in_an_unknown_language_are_told_of_with_the_remedy() -> None:
    assert unknown_share({"en": 3, "uk": 1, "und": 100}, minilm()) == 0.25
    assert unknown_share({"und": 3}, minilm()) == 0
    assert unknown_share({}, minilm()) == 0
    assert unknown_share({"uk": 9}, Picky()) == 0
    assert language_note({"en": 3, "uk": 1}, minilm()) == []
    [note] = language_note({"en": 1, "uk": 3}, minilm())
    assert "uk" in note
    assert "--embedder e5 (pip install 'clew[multilingual]')" in note
    [note] = language_note({"en": 1, "de": 3, "uk": 2}, minilm())
    assert "--embedder use" in note
