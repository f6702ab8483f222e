"""The document stages as a whole, on bad input, and on every file of the vaults where they are present."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from clew.ingest.analyse import analyse
from clew.ingest.scan import scan
from clew.options import ChunkOptions, IndexOptions, SourceOptions
from clew.ports import Extractor
from clew.sources.folder import open_source
from clew.types import Analysis, Ints, Mark, ParsedDocument, Problem, RawDocument

SHARED = Path(os.environ.get("CLEW_SHARED", Path(__file__).parents[4] / "shared"))
VAULTS = SHARED / "vaults"


class Fours:
    """A tokenizer with a token for every four characters."""

    name = "fours"

    def __init__(self) -> None:
        self.calls = 0

    def offsets(self, texts: Sequence[str]) -> list[Ints]:
        self.calls += len(texts)
        return [np.arange(0, len(text), 4, dtype=np.int32) for text in texts]


class Silent:
    def __init__(self) -> None:
        self.done = 0

    def stage(self, name: str, total: int | None = None) -> None: ...

    def advance(self, n: int = 1) -> None:
        self.done += n

    def note(self, text: str) -> None: ...


class Memory:
    """A cache in memory."""

    codec = None

    def __init__(self) -> None:
        self.items: dict[str, Analysis] = {}

    def analyses(self, keys: Sequence[str]) -> dict[str, Analysis]:
        return {key: self.items[key] for key in keys if key in self.items}

    def put_analyses(self, items: Mapping[str, Analysis], encoded: Mapping[str, bytes] | None = None) -> None:
        self.items.update(items)

    def vectors(self, embedder: str, keys: Sequence[str]) -> dict[str, np.ndarray]:
        return {}

    def put_vectors(self, embedder: str, items: Mapping[str, np.ndarray]) -> None: ...

    def close(self) -> None: ...


def run(
    *raws: RawDocument,
    options: IndexOptions | None = None,
    cache: Memory | None = None,
    extractors: Sequence[Extractor] = (),
    tokenizer: Fours | None = None,
) -> tuple[list[RawDocument], list[Analysis], list[Problem]]:
    return analyse(raws, options or IndexOptions(), tokenizer or Fours(), 64, extractors, cache, Silent())


def note(data: bytes, key: str = "dir/Note.md", media: str = "markdown") -> RawDocument:
    return RawDocument(key, key, data, media)  # type: ignore[arg-type]


def one(data: bytes, **fields: str) -> Analysis:
    kept, analyses, _ = run(note(data, **fields))
    assert len(kept) == 1
    return analyses[0]


def check(raw: RawDocument, analysis: Analysis) -> None:
    """Every offset must lead to what it says, in the document's own bytes."""
    data, encoding = raw.data, analysis.encoding
    for span, text in zip(analysis.chunks, analysis.texts, strict=True):
        assert data[span.start : span.end].decode(encoding) == text
        assert text.strip()
        section = analysis.sections[span.section]
        assert span.end <= section.end
    for thing in (*analysis.sections, *analysis.links, *analysis.marks):
        data[thing.start : thing.end].decode(encoding)
    tokens = analysis.tokens
    assert np.all(tokens.start < tokens.end)
    assert np.all(tokens.start[1:] >= tokens.end[:-1])
    covered = np.zeros(len(data) + 1, dtype=bool)
    for span in analysis.chunks:
        covered[span.start : span.end] = True
    assert covered[tokens.start].all(), "a word is in no passage"


def test_offsets_in_every_encoding() -> None:
    text = "# Über die Brücke\n\nСьогодні їжак спить, #тег. 今天 🎉 [[Ціль|там]]\n\nкінець «назва» line\n"
    for encoding in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32", "gb18030"):
        raw = note(text.encode(encoding))
        _, [analysis], _ = run(raw)
        check(raw, analysis)
        tag = next(mark for mark in analysis.marks if mark.kind == "tag")
        assert raw.data[tag.start : tag.end].decode(analysis.encoding) == "#тег"
        words = [analysis.tokens.words[form] for form in analysis.tokens.form.tolist()]
        at = words.index("спить")
        place = slice(int(analysis.tokens.start[at]), int(analysis.tokens.end[at]))
        assert raw.data[place].decode(analysis.encoding) == "спить"
        assert analysis.lines == ((1, 5),)


def test_lines_are_those_of_the_file() -> None:
    body = "---\na: 1\n---\n\n# One\n\ntext\ntext\n\n# Two\n\nmore\n"
    assert one(body.encode()).lines == ((5, 8), (10, 12))
    assert one(body.encode("utf-16")).lines == ((5, 8), (10, 12))


def test_the_title_falls_back_on_the_file_name() -> None:
    assert one(b"text").title == "Note"
    assert one(b"# Head").title == "Head"
    _, [analysis], _ = run(RawDocument("7", "c.jsonl", b"text", "record", "Named", {"year": 3}))
    assert (analysis.title, analysis.metadata) == ("Named", {"year": 3})
    _, [analysis], _ = run(RawDocument("a.b/7", "c.jsonl", b"text", "record"))
    assert analysis.title == "a.b/7"


@pytest.mark.parametrize(
    ("key", "text", "title"),
    [
        ("ch04-01-what-is-ownership.md", "## What Is Ownership?\n\n### Rules\n\ntext", "What Is Ownership?"),
        ("a/02 Карта.md", "intro\n\n## Карта бухти\n\ntext\n\n### Береги\n", "Карта бухти"),
        ("todo.md", "## Today\n\ntext", "todo"),
        ("the-plan.md", "## The Budget\n\ntext", "the-plan"),
        ("ownership.md", "## Ownership\n\ntext\n\n## Borrowing\n", "Ownership"),
        ("ch15-cycles.md", "## Cycles Can Leak\n\ntext\n\n## Summary\n", "Cycles Can Leak"),
        ("who-owns-what.md", "## Who Owns It\n\ntext\n\n## Summary\n", "who-owns-what"),
        ("meeting.md", "## Meeting with Ada\n\ntext\n\n## Meeting with Bo\n", "meeting"),
        ("2024-01-02.md", "## Morning\n\ntext\n\n## Evening\n", "2024-01-02"),
        ("ownership.md", "### Ownership\n\ntext\n\n## Borrowing\n", "ownership"),
        ("ownership.md", "---\ntitle: T\n---\n\n## Ownership\n", "T"),
        ("ownership.md", "## Ownership\n\n# Head\n", "Head"),
    ],
)
def test_a_chapter_is_called_by_the_heading_that_its_file_is_named_after(
    key: str, text: str, title: str
) -> None:
    _, [analysis], _ = run(note(text.encode(), key))
    assert analysis.title == title


def test_an_empty_file_is_a_document_with_a_warning() -> None:
    kept, [analysis], problems = run(note(b""))
    assert len(kept) == 1
    assert analysis.chunks == ()
    assert [(problem.skipped, problem.key) for problem in problems] == [(False, "dir/Note.md")]


def test_a_binary_file_is_a_problem_and_the_rest_is_kept() -> None:
    kept, analyses, problems = run(note(b"\x89PNG\0\0\0\0" * 9, "a.md"), note(b"text", "b.md"))
    assert [raw.key for raw in kept] == ["b.md"]
    assert len(analyses) == 1
    assert problems[0].key == "a.md"
    assert problems[0].skipped
    assert problems[0].remedy


def test_an_extractor_that_fails_costs_one_document() -> None:
    class Failing:
        name = "failing"

        def extract(self, parsed: ParsedDocument) -> Sequence[Mark]:
            if "bad" in parsed.text:
                raise RuntimeError("no such thing")
            return [Mark("strong", "extra", 0, 4)]

    kept, [analysis], [problem] = run(note(b"bad", "a.md"), note(b"good", "b.md"), extractors=[Failing()])
    assert [raw.key for raw in kept] == ["b.md"]
    assert [mark.name for mark in analysis.marks] == ["extra"]
    assert "RuntimeError: no such thing" in problem.reason


def test_records_stay_whole_and_on_their_line() -> None:
    text = "One sentence here. " * 50 + "\nend"
    record = RawDocument("1", "c.jsonl", text.encode(), "record", line=7)
    _, [analysis], _ = run(record)
    assert len(analysis.chunks) == 1
    assert analysis.lines == ((1, 1),)


def test_the_cache_gives_the_same_and_saves_the_work() -> None:
    cache, tokenizer = Memory(), Fours()
    raws = [note(b"# A\n\ntext", "x/a.md"), note(b"just text", "b.md")]
    first = run(*raws, cache=cache, tokenizer=tokenizer)
    calls = tokenizer.calls
    assert calls
    second = run(*reversed(raws), cache=cache, tokenizer=tokenizer)
    _, [renamed], _ = run(note(b"just text", "other.md"), cache=cache, tokenizer=tokenizer)
    assert tokenizer.calls == calls
    assert [a.title for a in first[1]] == [a.title for a in second[1]] == ["b", "A"]
    assert renamed.title == "other"
    run(raws[0], cache=cache, tokenizer=tokenizer, options=IndexOptions(chunk=ChunkOptions(size=9)))
    assert tokenizer.calls > calls


def test_the_same_content_under_two_names() -> None:
    _, analyses, _ = run(note(b"same", "a.md"), note(b"same", "b.md"))
    assert [analysis.title for analysis in analyses] == ["a", "b"]


def test_the_language_can_be_given() -> None:
    _, [analysis], _ = run(
        note("Сьогодні ми вивчили основні поняття".encode()), options=IndexOptions(language="ru")
    )
    assert analysis.language == "ru"


@pytest.mark.parametrize(
    "text",
    [
        "word",
        "a" * 10000,
        "汉" * 10000,
        "👩‍👩‍👧‍👦" * 2500,
        "<|endoftext|> {title} <SEP> ## [SEP] %s",
        "\ufeffbom",
        "nul \0 here",
        "(",
        "\\",
        'C++ node: "q" C:\\a|b ~ *',
        "\u202eright to left\u202c",
        "#",
        "---\n---\n",
        "---\ntitle: {x\n---\n",
        "\r\n\r\n",
        "\x1b[31m",
        " ## Indented   \n\ntext\n\n  # Again\n",
    ],
    ids=range(17),
)
def test_odd_text(text: str) -> None:
    raw = note(text.encode())
    kept, analyses, _ = run(raw)
    assert len(kept) == 1
    check(raw, analyses[0])
    assert "\ufffd" not in "".join(analyses[0].texts)


@pytest.mark.skipif(not VAULTS.exists(), reason="the shared vaults aren't here")
@pytest.mark.parametrize("vault", ["foam", "kepano", "nips", "rust-book"])
def test_every_file_of_the_vaults(vault: str) -> None:
    raws, problems = scan([open_source(VAULTS / vault, SourceOptions(), vault)])
    kept, analyses, failed = analyse(raws, IndexOptions(), Fours(), 256, [], None, Silent())
    assert problems == []
    assert [problem for problem in failed if problem.skipped] == []
    assert len(kept) == len(raws) > 50
    for raw, analysis in zip(kept, analyses, strict=True):
        check(raw, analysis)
        assert max((span.n_tokens for span in analysis.chunks), default=0) <= 256
