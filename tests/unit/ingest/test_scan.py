"""Sources to documents with unique keys."""

from __future__ import annotations

from collections.abc import Iterator

from clew.ingest.scan import scan
from clew.types import Problem, RawDocument


class Listed:
    path = None

    def __init__(self, name: str, *items: RawDocument | Problem) -> None:
        self.name = name
        self.items = items

    def read(self) -> Iterator[RawDocument | Problem]:
        yield from self.items


def raw(key: str, data: bytes = b"x") -> RawDocument:
    return RawDocument(key, f"dir/{key}", data, "markdown")


def test_one_source_keeps_its_keys_sorted() -> None:
    raws, problems = scan([Listed("n", raw("b"), Problem("z", "bad"), raw("a"))])
    assert [item.key for item in raws] == ["a", "b"]
    assert problems == [Problem("z", "bad")]


def test_several_sources_precede_keys_by_their_names() -> None:
    raws, problems = scan(
        [Listed("two", raw("a"), Problem("z", "bad")), Listed("one", raw("a")), Listed("two", raw("a"))]
    )
    assert [item.key for item in raws] == ["one/a", "two/a", "two~2/a"]
    assert [item.location for item in raws] == ["dir/a"] * 3
    assert [problem.key for problem in problems] == ["two/z"]


def test_a_repeated_key_is_made_unique_in_any_order() -> None:
    first, second, other = raw("a", b"1"), raw("a", b"2"), raw("a~2")
    one, _ = scan([Listed("n", first, second, other)])
    two, _ = scan([Listed("n", other, second, first)])
    assert [item.key for item in one] == ["a", "a~2", "a~3"]
    assert one == two


def test_no_sources() -> None:
    assert scan([]) == ([], [])
