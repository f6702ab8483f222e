from __future__ import annotations

import pytest

from clew.query.cite import Citer, characters
from clew.types import Chunk, Document

TEXT = "Line one.\nДругий рядок 中文 😀.\nThird line."


def passage(text, encoding="utf-8", lead=b"", data=None):
    data = data if data is not None else text.encode(encoding)
    chunk = Chunk(0, "c0", 0, 0, len(lead), len(lead) + len(data), 5, 7, 9, (), text)
    document = Document(0, "d", "a.md", "notes/a.md", "A", "en", encoding, "", 0, 1, "markdown", {})
    return chunk, document, lead + data


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16-le", "utf-32-be", "gb18030"])
def test_bytes_lines_and_quote_agree(encoding):
    text = TEXT.replace("😀", "") if encoding == "gb18030" else TEXT
    chunk, document, data = passage(text, encoding, b"0123")
    at = text.index("Другий")
    citation = Citer().at(chunk, document, at, text.index("\nThird"))
    assert data[citation.start : citation.end].decode(encoding) == citation.quote
    assert (citation.start_line, citation.end_line) == (6, 6)
    assert citation.key == "a.md"
    assert characters(chunk, document, citation.start, citation.end) == (at, text.index("\nThird"))


def test_every_span_goes_there_and_back():
    chunk, document, _ = passage(TEXT, "utf-8", b"xx")
    for a in range(len(TEXT)):
        for b in range(a + 1, len(TEXT) + 1):
            citation = Citer().at(chunk, document, a, b)
            assert characters(chunk, document, citation.start, citation.end) == (a, b)


def test_the_same_passage_has_one_number():
    chunk, document, _ = passage(TEXT)
    citer = Citer()
    numbers = [citer.at(chunk, document, *span).number for span in ((0, 9), (10, 15), (0, 9))]
    assert numbers == [1, 2, 1]
    assert [citation.number for citation in citer.citations] == [1, 2]


def test_beside_damaged_bytes_spans_are_exact_and_across_them_the_chunk_is_cited():
    data = "à one ".encode() + b"\xe2\x82" + " two é".encode()
    text = data.decode("utf-8", "replace")
    chunk, document, data = passage(text, data=data)
    citer = Citer()
    for word in ("à one", "two é"):
        at = text.index(word)
        citation = citer.at(chunk, document, at, at + len(word))
        assert data[citation.start : citation.end].decode() == word == citation.quote
        again = citer.at_source(chunk, document, citation.start, citation.end)
        assert again == citation
    whole = citer.at_source(chunk, document, 1, len(data) - 1)
    assert (whole.start, whole.end, whole.quote) == (0, len(data), text)


def test_bytes_outside_the_chunk_have_no_place():
    chunk, document, _ = passage(TEXT, "utf-8", b"xx")
    assert characters(chunk, document, 0, 4) is None
