"""Words and phrases that the corpus' statistics set apart, in any script, without letter case.

A phrase coheres (its parts occur together far above chance, at the weakest of its joints), is free
on both sides (what stands next to it varies: branching entropy), and clings to places (it is in fewer
of them than a scattered word would be: residual IDF). Scripts without spaces are searched the same
way, with characters for words.

Jin and Tanaka-Ishii (2006) for branching entropy, Bouma (2009) for normalised PMI, Church and Gale
(1995) for residual IDF. Frantzi's (2000) c-value has the same aim as the entropy: no fragments of phrases.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import regex

from clew.ingest.casing import Casing
from clew.ingest.names import Candidates
from clew.ingest.spans import Bools, Line, distinct
from clew.types import Floats, Ints, Longs, TokenFlag

WORD_LETTERS = 3  # shorter words of spaced scripts are no parts of phrases
SINGLE_LETTERS = 4  # shorter ones are no terms by themselves: frequent words are short in all languages
FULL_LETTERS = 7  # from this length on a word's score isn't lowered for being short
LONGEST_SPACED, LONGEST_DENSE = 3, 8  # tokens of a phrase; dense scripts: characters
LEAST_DF = 2  # chunks
COHESION = {False: 0.4, True: 0.3}  # least NPMI of the weakest joint; dense: single characters are frequent
# Bits on each side. 0.9 lets pass what occurs twice with different neighbours (1 bit), no fragments.
FREEDOM = 0.9
# Bits of residual IDF that a single word needs: it is in half as many places as if scattered. In few
# chunks chance makes words cling, hence CLINGING_FEW / chunks more. Without letter case nothing else
# shows names, so there words need to recur, no more.
CLINGING, CLINGING_FEW = 1.0, 100
PHRASE_CLINGING = 0.6  # what a phrase of common words ("even though") doesn't have
# A word in more chunks than this share carries no topic. Small collections are about few things, and
# their topics are in many of their chunks: half of 10 chunks, a third of 100, a tenth from 900 on.
FREQUENT_LOW, FREQUENT_HIGH, FREQUENT_ROOT = 0.1, 0.5, 3.0
FREQUENT_LEAST = 8  # chunks; fewer are never too many for a phrase
# Phrases kept a chunk: where letter case shows names, few (and fewer below SHARE_FEW chunks, whose
# statistics are weak); where nothing else shows any, more, and SHARE_LEAST at least.
SHARE_CASED, SHARE_FEW, SHARE_UNCASED, SHARE_LEAST = 0.3, 300, 1.0, 20
SURE_LOW, SURE_HIGH = 0.3, 0.6

DENSE = regex.compile(r"[\p{Han}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}\p{Tibetan}]", regex.V1)


@dataclass(frozen=True, slots=True)
class _Level:
    """The n-grams of one length: G of them. ``at`` (P,) where each occurs, ``gram`` (P,) which it is."""

    size: int
    at: Longs
    gram: Ints
    count: Longs
    df: Longs
    first: Longs
    cohesion: Floats


def find_phrases(line: Line, casing: Casing, words: Words | None = None) -> Candidates:
    """Return the best words and phrases, a bounded number, by key; ``words`` are counted if not given."""
    corpus = line.corpus
    if not line.size or not corpus.n_chunks:
        return _candidates(line, [], 0)
    words = words if words is not None else Words(line, casing)
    found = [words.single()]
    for dense in (False, True):
        for level in _levels(line, words, dense):
            if level.size > 1:
                found.append(_phrases(line, words, level, dense))
    return _candidates(line, found, _bound(line, casing))


_Found = tuple[Longs, Longs, Longs, Longs, Floats]  # lo, hi, count, df, score


class Words:
    """Counts of single words, and which are members of phrases.

    Where every noun has a capital, words are judged as in scripts without case.
    """

    def __init__(self, line: Line, casing: Casing) -> None:
        corpus, n_words = line.corpus, len(line.corpus.words)
        self.line, self.casing = line, casing
        self.live = ~line.has(TokenFlag.CODE) & (line.chunk >= 0)
        dense = np.fromiter(map(bool, map(DENSE.match, corpus.words)), dtype=bool, count=n_words)
        lettered = np.fromiter(
            (len(word) >= WORD_LETTERS and word.isalpha() for word in corpus.words), dtype=bool, count=n_words
        )
        self.spread = Spread(np.bincount(line.chunk[self.live], minlength=corpus.n_chunks))
        self.count = np.bincount(corpus.form[self.live], minlength=n_words)
        self.df = line.word_df(self.live)
        self.clinging = self._clinging()
        share = min(FREQUENT_HIGH, max(FREQUENT_LOW, FREQUENT_ROOT / corpus.n_chunks**0.5))
        self.rare = self.df <= max(share * corpus.n_chunks, LEAST_DF)
        single = np.zeros(n_words, dtype=bool)
        single[corpus.form[line.has(TokenFlag.SINGLE)]] = True
        self.member = {False: lettered & self.rare & ~single, True: dense}
        self.lettered = lettered & ~single

    def _clinging(self) -> Floats:
        n_docs = len(self.line.corpus.documents)
        spread = Spread(np.bincount(self.line.doc[self.live], minlength=n_docs))
        in_docs = spread.residual_idf(self.count, self.line.word_df(self.live, self.line.corpus.chunk_doc))
        return np.asarray(np.maximum(in_docs, self.spread.residual_idf(self.count, self.df)))

    def single(self) -> _Found:
        """Return the words that cling to places; names of letter case are found elsewhere."""
        named = self.casing.cased & (self.casing.middle > self.casing.lower) & ~self._nouns()
        cased = self.casing.cased & ~self._nouns()
        needed = np.where(cased, CLINGING + CLINGING_FEW / self.line.corpus.n_chunks, 0)
        size = self.line.word_size
        fits = self.lettered & self.rare & ~named & (self.df >= LEAST_DF) & (self.clinging >= needed)
        word = np.flatnonzero(fits & (size >= SINGLE_LETTERS))
        score = (0.5 + np.minimum(self.clinging[word], 4)) * np.log2(1 + self.df[word])
        score *= np.minimum(size[word] / FULL_LETTERS, 1)
        first = np.zeros(len(self.count), dtype=np.int64)
        live = np.flatnonzero(self.live)[::-1]
        first[self.line.corpus.form[live]] = live
        return first[word], first[word] + 1, self.count[word], self.df[word], score.astype(np.float32)

    def _nouns(self) -> Bools:
        """Tell the words that have a capital in mid-sentence of a language that gives one to all nouns."""
        form, n_words = self.line.corpus.form, len(self.line.corpus.words)
        here = np.bincount(form[self.casing.nouns], minlength=n_words)
        most = 2 * here > np.bincount(form, minlength=n_words)
        return most & (self.casing.middle > self.casing.lower)


class Spread:
    """How scattered words would be spread over units (chunks or documents) of these sizes in tokens.

    With units of one size this is Church and Gale's Poisson model; notes differ in size by orders, and
    without regard to that "the" clings to the longer ones.
    """

    BINS = 64  # classes of size; the mean within one stands for all

    def __init__(self, sizes: Longs) -> None:
        sizes = np.sort(sizes[sizes > 0])
        edges = np.unique(np.linspace(0, len(sizes), self.BINS + 1).astype(np.int64))
        self.number = np.diff(edges)
        self.mean = np.add.reduceat(sizes, edges[:-1]) / self.number if len(sizes) else sizes.astype(float)
        self.total = max(int(sizes.sum()), 1)

    def residual_idf(self, count: Longs, df: Longs) -> Floats:
        """Return log2(expected df / df) of words with these counts, in bits, at least 0."""
        distinct, which = np.unique(count, return_inverse=True)
        expected = np.zeros(len(distinct))
        for number, mean in zip(self.number.tolist(), self.mean.tolist(), strict=True):
            expected += number * -np.expm1(-distinct * (mean / self.total))
        ratio = np.maximum(expected[which], 1e-9) / np.maximum(df, 1)
        return np.maximum(np.log2(ratio), 0).astype(np.float32)


def _levels(line: Line, words: Words, dense: bool) -> Iterator[_Level]:
    """Yield the n-grams of runs of members, shortest first; only what recurs is extended."""
    form, n_words = line.corpus.form, len(line.corpus.words)
    member = words.member[dense][form] & words.live
    parts = TokenFlag.GAP_BREAK | (TokenFlag.GAP_SPACE | TokenFlag.GAP_JOIN if dense else 0)
    glued = member & ~line.has(parts) & ~line.first_of_doc
    glued[1:] &= member[:-1]
    total = int(member.sum())
    at = np.flatnonzero(member)
    counts: list[Longs] = [words.count]
    grams: list[Ints] = [form]
    for size in range(1, (LONGEST_DENSE if dense else LONGEST_SPACED) + 1):
        if size == 1:
            gram, count = form[at], words.count
            df, first = words.df, np.zeros(0, dtype=np.int64)
            cohesion = np.zeros(0, dtype=np.float32)
        else:
            at = at[at + size - 1 < line.size]
            at = at[glued[at + size - 1] & (grams[-1][at] >= 0)]
            key = grams[-1][at] * np.int64(n_words) + form[at + size - 1]
            _, first_at, gram64, count = np.unique(
                key, return_index=True, return_inverse=True, return_counts=True
            )
            gram, first = gram64.astype(np.int32), at[first_at]
            pairs = distinct(gram * np.int64(line.corpus.n_chunks) + line.chunk[at])
            df = np.bincount(pairs // line.corpus.n_chunks, minlength=len(count))
            cohesion = _cohesion(size, first, count, grams, counts, total)
            if not len(count):
                return
        yield _Level(size, at, gram, count, df, first, cohesion)
        keep = df[gram] >= LEAST_DF
        at = at[keep]
        if size > 1:
            placed = np.full(line.size, -1, dtype=np.int32)
            placed[at] = gram[keep]
            grams.append(placed)
            counts.append(count)


def _cohesion(
    size: int, first: Longs, count: Longs, grams: list[Ints], counts: list[Longs], total: int
) -> Floats:
    """Return the NPMI of each n-gram's weakest joint; ``grams[k]`` places the (k + 1)-grams."""
    weakest = np.full(len(first), np.inf)
    for left in range(1, size):
        right = size - left
        a = counts[left - 1][grams[left - 1][first]].astype(np.float64)
        b = counts[right - 1][grams[right - 1][first + left]].astype(np.float64)
        weakest = np.minimum(weakest, np.log(count * total / (a * b)))
    return (weakest / np.maximum(-np.log(count / total), 1e-9)).astype(np.float32)


def _phrases(line: Line, words: Words, level: _Level, dense: bool) -> _Found:
    """Return the n-grams of a level that are phrases."""
    most = FREQUENT_HIGH if dense else 1.0
    good = (level.df >= LEAST_DF) & (level.cohesion >= COHESION[dense])
    good &= level.df <= max(most * line.corpus.n_chunks, FREQUENT_LEAST)
    outside = ~words.member[dense]
    freedom = np.minimum(*(_freedom(line, level, good, side, outside) for side in (-1, level.size)))
    clinging = words.spread.residual_idf(level.count, level.df)
    ends = np.maximum(words.clinging[line.corpus.form[level.first]], clinging)
    ends = np.maximum(words.clinging[line.corpus.form[level.first + level.size - 1]], ends)
    good &= freedom >= FREEDOM
    if not dense:
        cased = words.casing.cased[line.corpus.form[level.first]]
        good &= ends >= np.where(cased, PHRASE_CLINGING + CLINGING_FEW / line.corpus.n_chunks, 0)
    score = level.cohesion * np.log2(1 + level.df) * (1 + np.minimum(ends, 4))
    which = np.flatnonzero(good)
    lo = level.first[which]
    return lo, lo + level.size, level.count[which], level.df[which], score[which].astype(np.float32)


def _freedom(line: Line, level: _Level, good: Bools, side: int, outside: Bools) -> Floats:
    """Return the entropy, in bits, of what stands at an offset from each n-gram.

    Breaks differ from all else. So do words that are no members of phrases: function words, and, in
    dense scripts, another script; they part phrases, though they vary little ("the", の).
    """
    chosen = good[level.gram]
    at, gram = level.at[chosen], level.gram[chosen]
    beside = at + side
    inside = (beside >= 0) & (beside < line.size)
    beside = np.clip(beside, 0, line.size - 1)
    gap = np.where(side < 0, at, beside)
    broken = ~inside | line.has(TokenFlag.GAP_BREAK)[gap] | line.first_of_doc[gap]
    broken |= outside[line.corpus.form[beside]]
    n_words = len(line.corpus.words)
    neighbour = np.where(broken, n_words + np.arange(len(at)), line.corpus.form[beside])
    pairs, count = np.unique(gram * np.int64(n_words + len(at) + 1) + neighbour, return_counts=True)
    owner = pairs // (n_words + len(at) + 1)
    share = count / level.count[owner]
    return np.bincount(owner, weights=-share * np.log2(share), minlength=len(good)).astype(np.float32)


def _candidates(line: Line, found: list[_Found], bound: int) -> Candidates:
    """Keep the best within the bound, one for each key, sorted by key."""
    none = np.zeros(0, dtype=np.int64)
    empty: _Found = (none, none, none, none, none.astype(np.float32))
    lo, hi, count, df, score = (np.concatenate(column) for column in zip(empty, *found, strict=True))
    key = line.hash_runs(lo, hi)
    order = np.lexsort((key, -score))[:bound]
    order = order[np.lexsort((-score[order], key[order]))]
    first = np.ones(len(order), dtype=bool)
    first[1:] = key[order][1:] != key[order][:-1]
    order = order[first]
    top = float(score[order].max(initial=1.0))
    sure = SURE_LOW + (SURE_HIGH - SURE_LOW) * np.minimum(score[order] / top, 1)
    columns = (count[order].astype(np.int32), df[order].astype(np.int32), sure.astype(np.float32))
    return Candidates(key[order], lo[order], hi[order], *columns)


def _bound(line: Line, casing: Casing) -> int:
    """Return how many phrases are kept. Capitals of nouns count half: they show some names."""
    words = line.corpus.words
    uncased = np.fromiter((word.upper() == word.lower() for word in words), dtype=bool, count=len(words))
    letters = np.fromiter((word.isalpha() for word in words), dtype=bool, count=len(words))
    form = line.corpus.form
    blind = float((uncased & letters)[form].sum()) + 0.5 * float(casing.nouns.sum())
    share = min(blind / max(int(letters[form].sum()), 1), 1.0)
    n = line.corpus.n_chunks
    cased = SHARE_CASED * n / (n + SHARE_FEW)
    return int((1 - share) * cased * n + share * (SHARE_LEAST + SHARE_UNCASED * n))
