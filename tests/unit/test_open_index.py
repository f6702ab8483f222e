"""An open index follows its file: what other processes publish is asked from the next question on."""

from __future__ import annotations

import gc
import shutil
import subprocess
import sys
import textwrap
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np
import pytest

from clew import Index, IndexOptions, registry
from clew.cli.reading import opened
from clew.errors import BadIndex, IndexMismatch
from clew.options import EmbedOptions

NO_VECTORS = IndexOptions(embed=EmbedOptions(embedder="none"))

PUBLISHER = """
    import pathlib, sys
    from clew import Index, IndexOptions
    from clew.options import EmbedOptions
    folder, embedder = pathlib.Path(sys.argv[1]), sys.argv[2]
    for line in sys.stdin:
        number = int(line)
        (folder / "count.md").write_text(f"# Count\\n\\nThe keeper counted {number} moths.\\n")
        for at in range(number):
            (folder / f"moth {at}.md").write_text(f"# Moth {at}\\n\\nA moth of night {at}.\\n")
        Index.build([folder], options=IndexOptions(embed=EmbedOptions(embedder=embedder))).close()
        print(number, flush=True)
"""


class Publisher:
    """Another process, which publishes generation n when told: n + 1 notes, one of which says n."""

    def __init__(self, tell: IO[str], told: IO[str]) -> None:
        self._tell, self._told = tell, told

    def __call__(self, number: int) -> None:
        self._tell.write(f"{number}\n")
        self._tell.flush()
        assert self._told.readline() == f"{number}\n"


@contextmanager
def publisher(folder: Path, embedder: str = "none") -> Iterator[Publisher]:
    folder.mkdir(exist_ok=True)
    command = [sys.executable, "-c", textwrap.dedent(PUBLISHER), str(folder), embedder]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield Publisher(process.stdin, process.stdout)


def counted(index: Index) -> int:
    """Return the generation that a search shows."""
    [hit] = index.search("how many moths has the keeper counted?", k=1)
    return int(hit.chunk.text.partition("counted ")[2].partition(" ")[0])


def test_the_next_question_sees_what_another_process_published(tmp_path: Path) -> None:
    with publisher(tmp_path / "notes") as publish:
        publish(0)
        with Index.open(tmp_path / "notes/.clew/index.duckdb") as index:
            for number in range(1, 4):
                assert counted(index) == number - 1
                publish(number)
                assert counted(index) == number
                assert f"counted {number}" in index.ask("How many moths did the keeper count?").text
                assert index.stats()["documents"] == number + 1
                assert index.show("Count").definitions[0].quote.endswith(f"{number} moths.")


def test_a_command_answers_from_one_generation(tmp_path: Path) -> None:
    """What it prints may come from several calls."""
    with publisher(tmp_path / "notes") as publish:
        publish(0)
        file = tmp_path / "notes/.clew/index.duckdb"
        with opened(file) as index, opened(file, follow=True) as chat:
            before = index.stats()
            publish(1)
            assert counted(index) == 0
            assert index.stats()["generation"] == before["generation"]
            assert counted(chat) == 1
        with opened(file) as index:
            assert counted(index) == 1


def test_threads_ask_while_another_process_publishes(tmp_path: Path) -> None:
    failures: list[BaseException] = []
    seen: list[list[int]] = [[] for _ in range(4)]
    done = threading.Event()
    with publisher(tmp_path / "notes") as publish:
        publish(0)
        with Index.open(tmp_path / "notes/.clew/index.duckdb") as index:

            def ask(numbers: list[int]) -> None:
                try:
                    while not done.is_set():
                        numbers.append(counted(index))
                except BaseException as error:
                    failures.append(error)

            threads = [threading.Thread(target=ask, args=(numbers,)) for numbers in seen]
            for thread in threads:
                thread.start()
            for number in range(1, 8):
                publish(number)
                assert counted(index) == number
            done.set()
            for thread in threads:
                thread.join(60)
            assert not failures, failures
            for numbers in seen:
                assert numbers == sorted(numbers)  # no answer is of an older generation than the last one
                assert set(numbers) <= set(range(8))
                assert len(set(numbers)) > 1


def test_old_generations_are_let_go(tmp_path: Path) -> None:
    note = tmp_path / "count.md"
    readers = []
    note.write_text("# Count\n\nThe keeper counted 0 moths.\n")
    with Index.build([tmp_path], options=NO_VECTORS) as index:
        gc.disable()
        try:
            for number in range(1, 4):
                assert counted(index) == number - 1
                index.ask("How many moths did the keeper count?")
                readers.append(weakref.ref(index.engine.reader))
                note.write_text(f"# Count\n\nThe keeper counted {number} moths.\n")
                Index.build([tmp_path], options=NO_VECTORS).close()
            assert counted(index) == 3
            assert [reader() for reader in readers] == [None] * 3
        finally:
            gc.enable()


def test_a_removed_index_answers_on(tmp_path: Path) -> None:
    with publisher(tmp_path / "notes") as publish:
        publish(1)
        file = tmp_path / "notes/.clew/index.duckdb"
        with Index.open(file) as index:
            shutil.rmtree(file.parent)
            assert counted(index) == 1
            assert index.stats()["bytes"] == 0
            publish(2)
            assert counted(index) == 2


@pytest.mark.parametrize("what", ["a note", "half an index"])
def test_something_else_in_its_place_is_told(tmp_path: Path, what: str) -> None:
    with publisher(tmp_path / "notes") as publish:
        publish(1)
        file = tmp_path / "notes/.clew/index.duckdb"
        with Index.open(file) as index:
            other = tmp_path / "other"
            other.write_bytes(b"# Diary\n" if what == "a note" else file.read_bytes()[:20_000])
            other.replace(file)
            with pytest.raises(BadIndex, match=r"index\.duckdb"):
                index.search("moths")
            publish(2)
            assert counted(index) == 2


class Marking:
    """An embedder of a few dimensions, to tell whose question's vector an index gets."""

    window = 64
    languages: frozenset[str] = frozenset()

    def __init__(self, name: str, dimension: int) -> None:
        self.name, self.dimension = name, dimension
        self.tokenizer = registry.make_embedder(EmbedOptions()).tokenizer  # type: ignore[union-attr]
        self.asked: list[str] = []

    def embed(self, texts):  # type: ignore[no-untyped-def]
        vectors = np.ones((len(texts), self.dimension), dtype=np.float32)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    def embed_question(self, text: str):  # type: ignore[no-untyped-def]
        self.asked.append(text)
        return self.embed([text])[0]


def test_a_generation_of_another_embedder_is_asked_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The vector of the wrong embedder would have another length, or worse, the same."""
    made = {"few": Marking("few", 3), "many": Marking("many", 5)}
    monkeypatch.setattr(registry, "make_embedder", lambda options: made.get(options.embedder))
    monkeypatch.setattr("clew.index._default_embedder", lambda options: made["few"])
    (tmp_path / "count.md").write_text("# Count\n\nThe keeper counted 7 moths.\n")

    def build(name: str) -> None:
        Index.build([tmp_path], options=IndexOptions(embed=EmbedOptions(embedder=name))).close()

    build("few")
    file = tmp_path / ".clew/index.duckdb"
    with Index.open(file) as index, Index.open(file, embedder="few") as strict:
        for name in ("few", "many", "none", "few"):
            build(name)
            before = {one: len(embedder.asked) for one, embedder in made.items()}
            index.prepare()
            assert counted(index) == 7
            after = {one for one, embedder in made.items() if len(embedder.asked) > before[one]}
            assert after == {name} - {"none"}
            if name == "many":
                with pytest.raises(IndexMismatch, match=r"vectors are of many"):
                    strict.search("moths")
            else:
                assert counted(strict) == 7
