"""The telling sentences of a community: what its members are, in the notes' own words."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clew.ingest.model import Corpus, Graph
from clew.ingest.passages import Passages, split_words
from clew.ports import Cache
from clew.text.display import link_share, plain
from clew.types import Finding, Floats, Ints, Longs

# A good finding's length in characters (a wide one counts twice, as it says about as much as two).
SHORT, GOOD, LONG, LIMIT = 20, 40, 220, 420
# Within this share of a sentence its subject stands, in most languages that we looked at.
SUBJECT = 0.4
# What a sentence earns for naming a member whose heading it stands under, early: most likely it defines it.
DEFINITION = 1.5
# Most that naming members can earn: a sentence that lists many isn't better for it than one that defines one.
NAMING = 1.2
# For being the first sentence of a passage that defines a member: it introduces it, by name or not.
LEAD = 0.9
# A member that a chosen finding names already counts this much.
AGAIN = 0.2
# Word overlap above which two sentences say the same.
SAME = 0.5
LINKS = 0.6  # a sentence of which links are a greater share points elsewhere and says nothing
CODE_SPAN = re.compile(r"`[^`]+`")


@dataclass(frozen=True, slots=True)
class _Sentence:
    text: str
    start: int
    end: int
    lead: bool
    quality: float
    words: frozenset[int]  # forms, as places in the corpus's vocabulary
    nodes: tuple[tuple[int, float], ...]  # mentioned nodes with the relative place of the first mention


class Telling:
    """Reads each passage once, however many levels ask for it."""

    def __init__(self, corpus: Corpus, graph: Graph, cache: Cache | None = None) -> None:
        self.corpus = corpus
        self.graph = graph
        self.passages = Passages(corpus, cache)
        edge = np.arange(corpus.n_chunks + 1)
        self.mention_at = np.searchsorted(graph.mention_chunk, edge)
        order = np.lexsort((graph.def_node, graph.def_chunk))
        self.def_at = np.searchsorted(graph.def_chunk[order], edge)
        self.def_node = graph.def_node[order]
        self.def_weight = graph.def_weight[order]
        self.letters = np.array([0 if word.isdigit() else len(word) for word in corpus.words], dtype=np.int32)
        self._read: dict[int, list[_Sentence]] = {}
        self._chunks_of: tuple[Longs, Ints] | None = None

    def findings(
        self, chunks: list[int], community: int, label: Ints, importance: Floats, most: int
    ) -> list[Finding]:
        """Return the most telling sentences of these chunks for a community, most telling first."""
        pool: list[tuple[int, _Sentence, dict[int, float], float]] = []
        for chunk in chunks:
            defined = self._defined(chunk)
            inside = [w * float(importance[n]) for n, w in defined.items() if label[n] == community]
            opening = max(inside, default=0.0)
            for sentence in self.sentences(chunk):
                members = {n: float(importance[n]) for n, _ in sentence.nodes if label[n] == community}
                extra = LEAD * opening if sentence.lead else 0.0
                for node, place in sentence.nodes:
                    if node in members and node in defined and place < SUBJECT:
                        extra = max(extra, DEFINITION * defined[node] * members[node])
                pool.append((chunk, sentence, members, extra))
        return _choose(pool, most)

    def chunks_of(self, node: int, most: int) -> list[int]:
        """Return the passages that define a node, surest first, then others that name it, in order."""
        graph = self.graph
        if self._chunks_of is None:
            node_of = np.concatenate([graph.def_node, graph.mention_node]).astype(np.int64)
            chunk_of = np.concatenate([graph.def_chunk, graph.mention_chunk])
            weight = np.concatenate([graph.def_weight, np.zeros(len(graph.mention_node), np.float32)])
            order = np.lexsort((chunk_of, -weight, node_of))
            ptr = np.searchsorted(node_of[order], np.arange(graph.n_nodes + 1))
            self._chunks_of = ptr, chunk_of[order].astype(np.int32)
        ptr, chunks = self._chunks_of
        return list(dict.fromkeys(chunks[ptr[node] : ptr[node + 1]].tolist()))[:most]

    def about(self, node: int, chunks: Sequence[int], most: int = 1) -> list[Finding]:
        """Return the sentences of these chunks that tell most about one node, best first; of equals, the
        first."""
        found: list[tuple[float, int, _Sentence]] = []
        for chunk in chunks:
            weight = 1.0 + self._defined(chunk).get(node, 0.0)
            for sentence in self.sentences(chunk):
                places = [place for other, place in sentence.nodes if other == node]
                if places or (sentence.lead and weight > 1):
                    early = bool(places) and places[0] < SUBJECT
                    value = sentence.quality * (weight + LEAD * sentence.lead * (weight - 1) + early)
                    found.append((-value, chunk, sentence))
        found.sort(key=lambda item: (item[0], item[1], item[2].start))
        return [Finding(s.text, chunk, s.start, s.end) for _, chunk, s in found[:most]]

    def _defined(self, chunk: int) -> dict[int, float]:
        span = slice(int(self.def_at[chunk]), int(self.def_at[chunk + 1]))
        return dict(zip(self.def_node[span].tolist(), self.def_weight[span].tolist(), strict=True))

    def sentences(self, chunk: int) -> list[_Sentence]:
        """Return the sentences of a chunk that could stand in a report."""
        found = self._read.get(chunk)
        if found is None:
            found = self._read[chunk] = self._sentences(chunk)
        return found

    def _sentences(self, chunk: int) -> list[_Sentence]:
        passage = self.passages.of(chunk)
        if not passage.spans:
            return []
        text = self.corpus.text(chunk)
        nodes, forms = self._between(chunk, passage.spans)
        found: list[_Sentence] = []
        rows = zip(passage.places, passage.spans, passage.quality, nodes, forms, strict=True)
        for at, ((start, end), span, quality, mine, words) in enumerate(rows):
            if found and not mine:
                continue  # it names nothing: reading it would take time and gain nothing
            raw = text[start:end]
            if math.isnan(quality):
                quality = _quality(raw, plain(raw), int(self.letters[words].sum()))
                self.passages.value(chunk, at, quality)
            if quality:
                lead = not found
                found.append(
                    _Sentence(raw, *span, lead, quality, frozenset(words.tolist()), tuple(mine.items()))
                )
        return found

    def _between(self, chunk: int, spans: list[tuple[int, int]]) -> tuple[list[dict[int, float]], list[Ints]]:
        """Return what each span of a chunk mentions, with the first mention's place, and its words."""
        graph, corpus = self.graph, self.corpus
        low, high = int(self.mention_at[chunk]), int(self.mention_at[chunk + 1])
        at = np.searchsorted(graph.mention_start[low:high], spans).tolist()
        starts = graph.mention_start[low:high].tolist()
        mentioned = graph.mention_node[low:high].tolist()
        nodes: list[dict[int, float]] = []
        for (a, b), (start, end) in zip(at, spans, strict=True):
            mine: dict[int, float] = {}
            for i in range(a, b):
                mine.setdefault(mentioned[i], (starts[i] - start) / (end - start))
            nodes.append(mine)
        return nodes, split_words(corpus, chunk, spans)


def _choose(pool: list[tuple[int, _Sentence, dict[int, float], float]], most: int) -> list[Finding]:
    """Pick one by one: each time what says most about the members that nothing chosen names yet."""
    chosen: list[tuple[int, _Sentence]] = []
    covered: set[int] = set()
    while pool and len(chosen) < most:
        best, best_value = -1, 0.0
        for at, (_, sentence, members, extra) in enumerate(pool):
            news = sum(value * (AGAIN if node in covered else 1.0) for node, value in members.items())
            stale = AGAIN if members and covered.issuperset(members) else 1.0
            value = sentence.quality * (min(news, NAMING) + extra * stale)
            if value > best_value:
                best, best_value = at, value
        if best < 0:
            break
        chunk, sentence, members, _ = pool.pop(best)
        chosen.append((chunk, sentence))
        covered.update(members)
        pool = [item for item in pool if _overlap(item[1].words, sentence.words) < SAME]
    return [Finding(sentence.text, chunk, sentence.start, sentence.end) for chunk, sentence in chosen]


def _overlap(a: frozenset[int], b: frozenset[int]) -> float:
    return len(a & b) / max(min(len(a), len(b)), 1)


def _quality(raw: str, shown: str, letters: int) -> float:
    """Return how well a sentence stands alone, 0 to 1: its length, its letters, and how it ends."""
    wide = sum(char >= "\u2e80" for char in shown) if not shown.isascii() else 0
    size = len(shown) + wide
    if size < SHORT or size > LIMIT:
        return 0.0
    if letters < 0.6 * len(shown):  # numbers, code, paths; spaces make a fifth of a text
        return 0.0
    value = 1.0
    if size < GOOD:
        value *= 0.5 + 0.5 * (size - SHORT) / (GOOD - SHORT)
    elif size > LONG:
        value *= max(0.3, 1 - (size - LONG) / (LIMIT - LONG))
    links = link_share(raw, shown)
    if links > LINKS:
        return 0.0
    value *= max(0.3, 1 - 1.5 * links)
    code = sum(len(span) for span in CODE_SPAN.findall(raw)) if "`" in raw else 0
    value *= 1 - min(code / len(raw), 0.7)
    last = shown.rstrip("\"'”’»)")[-1:]
    if last in ":：?？؟":  # announces what follows, or asks for it
        value *= 0.4
    elif last not in ".!。！…؟۔।॥":  # a fragment: an item of a list, a caption
        value *= 0.7
    return value
