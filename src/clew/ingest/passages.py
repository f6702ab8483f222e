"""The sentences that passages consist of, kept between runs: reading them is half the work of reports."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from clew.ids import make_id
from clew.ingest.analyse import PARSE_VERSION
from clew.ingest.model import Corpus
from clew.ports import Cache
from clew.text.units import source_span, units
from clew.types import MARKDOWN_TYPES, Ints

VERSION = "1"  # raise it whenever the same passage would be read otherwise, or a sentence valued otherwise
SENTENCES_OF_CHUNK = 10  # what stands later in a long passage seldom tells what it is about
COLUMNS = 5  # of what is kept: a sentence's place, its span from where the passage begins, its quality
UNKNOWN = math.nan  # the quality of a sentence that nobody has asked about


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage's first sentences: where each stands in its text, ``places``, and in its source, ``spans``,
    and how well it stands alone, ``quality`` (0 to 1; UNKNOWN until it is worked out)."""

    places: list[tuple[int, int]]
    spans: list[tuple[int, int]]
    quality: list[float]


class Passages:
    """Reads each passage once, however many ask for it, in this run and, with a cache, in the next ones.

    What is kept depends on the document's bytes and kind and on the passage's place in it alone.
    """

    def __init__(self, corpus: Corpus, cache: Cache | None = None) -> None:
        self._corpus = corpus
        self._cache = cache
        self._read: dict[int, Passage] = {}
        self._new: set[int] = set()

    def fetch(self, chunks: Iterable[int]) -> None:
        """Take what is kept of these passages, all at once."""
        if self._cache is None:
            return
        wanted = {self._key(chunk): chunk for chunk in chunks if chunk not in self._read}
        for key, data in self._cache.parts(list(wanted)).items():
            with suppress(ValueError, OverflowError):  # a damaged entry is as good as none
                self._read[wanted[key]] = self._unpacked(wanted[key], data)

    def of(self, chunk: int) -> Passage:
        """Return a passage's sentences."""
        found = self._read.get(chunk)
        if found is None:
            found = self._read[chunk] = self._sentences(chunk)
            self._new.add(chunk)
        return found

    def value(self, chunk: int, at: int, quality: float) -> None:
        """Note how well a sentence stands alone."""
        self._read[chunk].quality[at] = quality
        self._new.add(chunk)

    def keep(self) -> None:
        """Store what has been read anew."""
        if self._cache is not None and self._new:
            self._cache.put_parts({self._key(chunk): self._packed(chunk) for chunk in sorted(self._new)})
        self._new.clear()

    def _key(self, chunk: int) -> str:
        corpus = self._corpus
        document = corpus.documents[int(corpus.chunk_doc[chunk])]
        place = str(corpus.chunk_start[chunk]), str(corpus.chunk_end[chunk])
        return make_id(VERSION, PARSE_VERSION, document.content_hash, document.media_type, *place)

    def _packed(self, chunk: int) -> bytes:
        passage, low = self._read[chunk], int(self._corpus.chunk_start[chunk])
        rows = zip(passage.places, passage.spans, passage.quality, strict=True)
        columns = [(start, end, a - low, b - low, quality) for (start, end), (a, b), quality in rows]
        return np.array(columns, dtype="<f8").reshape(-1, COLUMNS).T.tobytes()

    def _unpacked(self, chunk: int, data: bytes) -> Passage:
        rows = np.frombuffer(data, dtype="<f8").reshape(COLUMNS, -1).tolist()
        low, text = int(self._corpus.chunk_start[chunk]), self._corpus.text(chunk)
        start, end, begin, until = ([int(value) for value in row] for row in rows[:-1])
        places, spans = zip(start, end, strict=True), zip(begin, until, strict=True)
        if any(not 0 <= value <= len(text) for value in (*start, *end)):
            raise ValueError("a sentence stands outside its passage")
        return Passage(list(places), [(low + a, low + b) for a, b in spans], rows[-1])

    def _sentences(self, chunk: int) -> Passage:
        corpus = self._corpus
        document = corpus.documents[int(corpus.chunk_doc[chunk])]
        text = corpus.text(chunk)
        low, high = int(corpus.chunk_start[chunk]), int(corpus.chunk_end[chunk])
        places: list[tuple[int, int]] = []
        spans: list[tuple[int, int]] = []
        for unit in units(text, markdown=document.media_type in MARKDOWN_TYPES):
            span = source_span(text, unit.start, unit.end, low, high, document.encoding)
            if unit.kind == "sentence" and span is not None:
                places.append((unit.start, unit.end))
                spans.append(span)
            if len(spans) == SENTENCES_OF_CHUNK:
                break
        return Passage(places, spans, [UNKNOWN] * len(places))


def split_words(corpus: Corpus, chunk: int, spans: Sequence[tuple[int, int]]) -> list[Ints]:
    """Return the word forms within each span of a chunk, as places in the corpus's vocabulary."""
    first, last = int(corpus.token_lo[chunk]), int(corpus.token_hi[chunk])
    at = np.searchsorted(corpus.start[first:last], spans).tolist()
    form = corpus.form[first:last]
    return [form[a:b] for a, b in at]
