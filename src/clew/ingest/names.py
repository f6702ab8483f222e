"""Name candidates from letter case: runs of capitalised words, with what joins them.

Scripts without case yield none here; :mod:`clew.ingest.phrases` serves them.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from clew.ingest.casing import JOINING_REPEATS, PARTICLE_COUNT, PARTICLE_SHARE, Casing
from clew.ingest.spans import Bools, Line, distinct, expand
from clew.text.tokens import normalise, surface_words
from clew.types import Floats, Hashes, Ints, Longs, TokenFlag

MAX_TOKENS = 8  # of a name found by case; longer runs are lists or headlines
DATED = 5  # different years after a word ("May 1990", "May 1994", …) show that it dates, not names
NUMBERED = 10  # different numbers after a word ("Listing 1", "Listing 2", …) show that it counts things
# How sure a capital makes it. Their order matters more than their size.
SURE_RUN, SURE_JOINED, SURE_SHORT, SURE_WORD, SURE_PART, SURE_DOUBTFUL, SURE_START = (
    0.8,  # a run of capitalised words
    0.75,  # two of them, joined
    0.7,  # one word that ends a longer name elsewhere
    0.65,  # one word
    0.55,  # part of a run
    0.5,  # a run whose first word may be capitalised for beginning a sentence
    0.4,  # one word, seen at beginnings of sentences alone
)


@dataclass(frozen=True, slots=True)
class Spans:
    """Candidate occurrences: token ranges ``lo``..``hi`` and how sure each kind is."""

    lo: Longs
    hi: Longs
    sure: Floats


@dataclass(frozen=True, slots=True)
class Candidates:
    """Names by the hash of their key (ascending): a typical occurrence, counts, confidence (0 to 1).

    ``df`` counts the chunks that the spans lie in.
    """

    key: Hashes
    lo: Longs
    hi: Longs
    count: Ints
    df: Ints
    sure: Floats

    def take(self, which: Bools) -> Candidates:
        return Candidates(*(getattr(self, name)[which] for name in self.__slots__))


def find_name_candidates(line: Line, casing: Casing) -> Candidates:
    """Return the names that letter case shows, each in at least two chunks, or surely a name in one."""
    lo, hi = _runs(casing.candidate, casing.glued)
    keep = hi - lo <= MAX_TOKENS
    lo, hi = lo[keep], hi[keep]
    groups = [
        *_whole(line, casing, lo, hi),
        _parts(line, casing, lo, hi),
        _joined(line, casing, lo, hi),
        _numbered(line, casing, lo, hi),
    ]
    spans = Spans(*(np.concatenate([getattr(group, name) for group in groups]) for name in Spans.__slots__))
    return group_spans(line, spans)


def group_spans(line: Line, spans: Spans) -> Candidates:
    """Group occurrences by key. The typical one is the first of the surest."""
    key = line.hash_runs(spans.lo, spans.hi)
    order = np.lexsort((spans.lo, -spans.sure, key))
    key, lo, hi = key[order], spans.lo[order], spans.hi[order]
    first = np.ones(len(key), dtype=bool)
    first[1:] = key[1:] != key[:-1]
    number = np.cumsum(first) - 1
    n = int(first.sum())
    pairs = distinct(number * np.int64(line.corpus.n_chunks + 1) + line.chunk[lo] + 1)
    df = np.bincount(pairs // (line.corpus.n_chunks + 1), minlength=n)
    spots = distinct(number * np.int64(line.size + 1) + lo) // (line.size + 1)
    return Candidates(
        key[first],
        lo[first],
        hi[first],
        np.bincount(spots, minlength=n).astype(np.int32),
        df.astype(np.int32),
        spans.sure[order][first],
    )


def _runs(member: Bools, glued: Bools) -> tuple[Longs, Longs]:
    """Return the maximal runs of members that are glued together."""
    goes_on = member & glued
    goes_on[1:] &= member[:-1]
    if len(goes_on):
        goes_on[0] = False
    lo = np.flatnonzero(member & ~goes_on)
    stops = member.copy()
    stops[:-1] &= ~goes_on[1:]
    return lo, np.flatnonzero(stops) + 1


def _spans(lo: Longs, hi: Longs, sure: Floats | float) -> Spans:
    return Spans(lo, hi, np.broadcast_to(np.asarray(sure, dtype=np.float32), lo.shape))


def _whole(line: Line, casing: Casing, lo: Longs, hi: Longs) -> list[Spans]:
    """Runs as they stand. A single word needs to be mostly capitalised, and two letters.

    A run whose first word is known from beginnings of sentences alone may be a name less that word
    ("Yesterday Berlin"): the rest is a candidate too.
    """
    single = hi - lo == 1
    word = line.corpus.form[lo]
    known = casing.middle[word] > casing.lower[word]
    starting = ~known & (casing.lower[word] == 0) & _goes_on(line, casing, lo, hi, single)
    doubtful = ~single & ~known & line.has(TokenFlag.SENTENCE)[lo]
    short = _last_words(line)
    short[line.corpus.form[hi[~single & ~casing.nouns[lo]] - 1]] = True
    sure = np.where(
        single, np.where(known, np.where(short[word], SURE_SHORT, SURE_WORD), SURE_START), SURE_RUN
    )
    sure[doubtful] = np.where(_stands_alone(line, casing, lo, hi, doubtful), SURE_DOUBTFUL, SURE_RUN)[
        doubtful
    ]
    plain = ~casing.nouns[lo] | short[word] | line.has(TokenFlag.UPPER)[lo]
    fits = ~single | ((line.word_size[word] > 1) & plain & (known | starting))
    rest = _spans(lo[doubtful] + 1, hi[doubtful], SURE_DOUBTFUL)
    long = rest.hi - rest.lo > 1
    return [_spans(lo[fits], hi[fits], sure[fits]), Spans(rest.lo[long], rest.hi[long], rest.sure[long])]


def _last_words(line: Line) -> Bools:
    """Tell the words that end a title of several words: Goethe, of "Johann Wolfgang von Goethe"."""
    words = line.corpus.words
    out = np.zeros(len(words), dtype=bool)
    for document in line.corpus.documents:
        surfaces = surface_words(document.title)
        if len(surfaces) > 1 and surfaces[-1][0].isupper():
            last = normalise(surfaces[-1])
            at = bisect_left(words, last)
            if at < len(words) and words[at] == last:
                out[at] = True
    return out


def _stands_alone(line: Line, casing: Casing, lo: Longs, hi: Longs, which: Bools) -> Bools:
    """Tell the chosen runs that are runs elsewhere, too, without their first word.

    Where every noun is capitalised, all are taken to be.
    """
    out = casing.nouns[lo] & which
    others = line.hash_runs(lo[~which], hi[~which])
    out[which] |= np.isin(line.hash_runs(lo[which] + 1, hi[which]), others)
    return out


def _goes_on(line: Line, casing: Casing, lo: Longs, hi: Longs, single: Bools) -> Bools:
    """Tell the words, seen at beginnings of sentences alone, that mostly stand before a word or a colon.

    "Furthermore," and "Wow!" stand before other punctuation; "Aisling: …" speaks.
    """
    word = line.corpus.form[lo]
    after = np.minimum(hi, max(line.size - 1, 0))
    closed = ~casing.glued[after] | (hi >= line.size)
    asked = np.flatnonzero(closed & single & (hi < line.size) & ~line.first_of_doc[after])
    closed[asked[line.gap_begins(after[asked], ":")]] = False
    n_words = len(line.corpus.words)
    return (2 * np.bincount(word[closed], minlength=n_words) < np.bincount(word, minlength=n_words))[word]


def _parts(line: Line, casing: Casing, lo: Longs, hi: Longs) -> Spans:
    """Parts of two or more words that recur in different runs: "Barack Obama" of "President Barack Obama"."""
    length = hi - lo
    part_lo: list[Longs] = []
    part_hi: list[Longs] = []
    left: list[Longs] = []
    right: list[Longs] = []
    for size in range(2, MAX_TOKENS):
        which = np.flatnonzero(length > size)
        owner, start = expand(lo[which], hi[which] - size + 1)
        part_lo.append(start)
        part_hi.append(start + size)
        left.append(np.maximum(lo[which][owner], start - 1))
        right.append(np.minimum(hi[which][owner], start + size + 1))
    starts, ends = np.concatenate(part_lo), np.concatenate(part_hi)
    lefts, rights = np.concatenate(left), np.concatenate(right)
    edge = ~casing.ordinary & (line.word_size > 1)  # an ordinary word or an initial begins and ends no part
    fits = edge[line.corpus.form[starts]] & edge[line.corpus.form[ends - 1]]
    starts, ends, lefts, rights = starts[fits], ends[fits], lefts[fits], rights[fits]
    key = line.hash_runs(starts, ends)
    varied = _varied(key, line.hash_runs(lefts, ends)) & _varied(key, line.hash_runs(starts, rights))
    varied |= _varied(key, line.hash_runs(lefts, rights)) & _ends_run(lefts, starts, rights, ends)
    return _spans(starts[varied], ends[varied], SURE_PART)


def _ends_run(lefts: Longs, starts: Longs, rights: Longs, ends: Longs) -> Bools:
    at_edge: Bools = (lefts == starts) | (rights == ends)
    return at_edge


def _varied(key: Hashes, wider: Hashes) -> Bools:
    """Tell the occurrences whose key occurs within at least two different wider runs."""
    order = np.lexsort((wider, key))
    sorted_key, sorted_wider = key[order], wider[order]
    first = np.ones(len(key), dtype=bool)
    first[1:] = sorted_key[1:] != sorted_key[:-1]
    change = np.zeros(len(key), dtype=bool)
    change[1:] = (sorted_wider[1:] != sorted_wider[:-1]) & ~first[1:]
    number = np.cumsum(first) - 1
    varied = np.zeros(len(key), dtype=bool)
    varied[order] = (np.bincount(number[change], minlength=int(first.sum())) > 0)[number]
    return varied


def _joined(line: Line, casing: Casing, lo: Longs, hi: Longs) -> Spans:
    """Two runs with one or two lower-case words between them, if these belong or the whole recurs."""
    first_word = line.corpus.form[lo]
    # "I" by itself, or a word that may have its capital from the beginning of a sentence alone.
    alone = line.has(TokenFlag.SENTENCE)[lo] & (casing.middle[first_word] == 0)
    alone = (hi - lo == 1) & (alone | (line.word_size[first_word] == 1))
    lo, hi = lo[~alone], hi[~alone]
    if len(lo) < 2:
        return _spans(lo[:0], hi[:0], SURE_JOINED)
    apart = lo[1:] - hi[:-1]
    inner = casing.open & ~casing.candidate & casing.glued & ~line.has(TokenFlag.CAPITAL | TokenFlag.DIGIT)
    first = np.minimum(hi[:-1], line.size - 1)
    second = np.minimum(hi[:-1] + 1, line.size - 1)
    fits = ((apart == 1) & inner[first]) | ((apart == 2) & inner[first] & inner[second])
    fits &= casing.glued[lo[1:]] & (hi[1:] - lo[:-1] <= MAX_TOKENS)
    at = np.flatnonzero(fits)
    particle, joining = _connectors(line, casing, hi[:-1][at[apart[at] == 1]])
    begin, end, inner_lo = lo[at], hi[at + 1], hi[at]
    form = line.corpus.form
    free = particle[form[inner_lo]] & particle[form[np.maximum(inner_lo, lo[at + 1] - 1)]]
    free &= ~casing.nouns[begin]
    key = line.hash_runs(begin, end)
    free |= _varied_place(line, key, begin) & joining[form[inner_lo]]
    return _spans(begin[free], end[free], SURE_JOINED)


def _varied_place(line: Line, key: Hashes, at: Longs) -> Bools:
    """Tell the occurrences whose key occurs in at least two chunks."""
    return _varied(key, line.chunk[at].astype(np.uint64))


def _connectors(line: Line, casing: Casing, at: Longs) -> tuple[Bools, Bools]:
    """Return, by word, whether it belongs to names (particle) and whether names it joins recur."""
    form, n_words = line.corpus.form, len(line.corpus.words)
    word = form[at]
    between = np.bincount(word, minlength=n_words)
    particle = (between >= PARTICLE_COUNT) & (between >= PARTICLE_SHARE * np.maximum(casing.lower, 1))
    key = line.hash_runs(at - 1, at + 2)
    order = np.unique(key, return_inverse=True, return_counts=True)
    repeated = np.bincount(word[order[2][order[1]] > 1], minlength=n_words)
    joining = (repeated >= JOINING_REPEATS * between) & (between > 0)
    return particle, joining | particle


def _numbered(line: Line, casing: Casing, lo: Longs, hi: Longs) -> Spans:
    """Runs with a number after them: "Apollo 11", "GPT-4"; not dates, whose numbers are many years."""
    form = line.corpus.form
    at = np.minimum(hi, line.size - 1)
    number = line.has(TokenFlag.DIGIT) & ~line.has(TokenFlag.CAPITAL)
    fits = (hi < line.size) & number[at] & casing.glued[at] & (hi - lo < MAX_TOKENS)
    begin, end = lo[fits], hi[fits] + 1
    last, spaced = form[end - 2], line.has(TokenFlag.GAP_SPACE)[end - 1]
    year = line.word_size[form[end - 1]] == 4
    dates = _followers(line, last[year], form[end - 1][year]) >= DATED
    counts = _followers(line, last[spaced], form[end - 1][spaced]) >= NUMBERED
    keep = ~spaced | ~(counts[last] | (year & dates[last]))
    # A year after a name is often just when: it has to recur.
    keep &= ~(spaced & year) | _varied_place(line, line.hash_runs(begin, end), begin)
    return _spans(begin[keep], end[keep], SURE_RUN)


def _followers(line: Line, word: Ints, after: Ints) -> Longs:
    """Count the different words after each word, shape (V,)."""
    n_words = max(len(line.corpus.words), 1)
    pairs = distinct(word * np.int64(n_words) + after)
    return np.bincount(pairs // n_words, minlength=n_words)
