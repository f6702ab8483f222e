"""What letter case tells in this corpus: counts by word, and what may stand within a name.

Nothing here is a word list. Whether a capital means a name at a sentence's beginning, which short
words join names ("of", "von", "де"), and which words are abbreviations that a full stop follows,
are all read off the corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clew.ingest.spans import Bools, Line
from clew.types import Ints, Longs, TokenFlag

# Orthographies that capitalise every noun: there a capital alone doesn't make a name.
NOUN_CAPITALS = frozenset(("de", "lb", "gsw", "nds"))
SHOUT = 3  # consecutive words in capitals that make a heading or emphasis of them, not names
ABBREVIATION_SHARE = 0.5  # of a short word's occurrences that stand before ". " and a capital
ABBREVIATION_LETTERS = 4
ABBREVIATION_COUNT = 3
# A lower-case word belongs to names if most of its occurrences stand between two capitals
# ("von" .89, "de" .75, "bin" .94 in encyclopedic English; "of" .34, "and" .20, "in" .08).
PARTICLE_SHARE = 0.6
PARTICLE_COUNT = 5
# Other words join only names that recur. They must at least sometimes stand in recurring ones: of
# the triples "A of B" 61 % recur, "A and B" 19 %, "A or B" 13 %, "A married B" 24 %.
JOINING_REPEATS = 0.3


@dataclass(frozen=True, slots=True)
class Casing:
    """Counts of case by word form (V,), and marks by token (T,).

    ``middle`` counts capitals in mid-sentence, ``lower`` small initials, both without
    headings, code and shouted text. ``candidate`` tells the tokens that may be part of a
    name, ``glued`` those that go on from the token before.
    """

    cased: Bools
    middle: Longs
    lower: Longs
    ordinary: Bools
    candidate: Bools
    glued: Bools
    open: Bools  # running text with case: no heading, code or shouting
    nouns: Bools  # tokens of documents whose language capitalises every noun


def read_casing(line: Line) -> Casing:
    """Count letter case over the corpus."""
    corpus, n_words = line.corpus, len(line.corpus.words)
    form = corpus.form
    # Letters without case in their script are neither.
    cased = np.fromiter(
        (word[0].upper() != word[0].lower() for word in corpus.words), dtype=bool, count=n_words
    )
    # Camel case ("iPhone") counts as a capital.
    capital = line.has(TokenFlag.CAPITAL | TokenFlag.CAMEL)
    open_text = cased[form] & ~line.has(TokenFlag.HEADING | TokenFlag.CODE) & ~_shouted(line)
    inside = open_text & ~line.has(TokenFlag.SENTENCE)

    def count(which: Bools) -> Longs:
        return np.bincount(form[which], minlength=n_words)

    middle, lower = count(inside & capital), count(open_text & ~capital)
    ordinary = cased & (lower > middle)
    glued = _glued(line, capital, ordinary)
    unsure = line.has(TokenFlag.SENTENCE) & (lower > middle)[form]
    candidate = open_text & capital & ~unsure
    languages = np.array([d.language in NOUN_CAPITALS for d in corpus.documents], dtype=bool)
    nouns = languages[line.doc] if line.size else np.zeros(0, dtype=bool)
    return Casing(cased, middle, lower, ordinary, candidate, glued, open_text, nouns)


def _shouted(line: Line) -> Bools:
    """Tell the tokens in runs of at least SHOUT words in capitals."""
    upper = line.has(TokenFlag.UPPER)
    begins = upper & ~line.has(TokenFlag.GAP_BREAK)
    begins[1:] &= upper[:-1]
    run = np.cumsum(~begins)  # tokens of one run share a number
    size = np.bincount(run[upper], minlength=int(run[-1]) + 1 if len(run) else 1)
    return upper & (size[run] >= SHOUT)


def _glued(line: Line, capital: Bools, ordinary: Bools) -> Bools:
    """Tell the tokens that may go on a name: by space or joiner, or after an initial or abbreviation."""
    form, size = line.corpus.form, line.word_size
    breaks = line.has(TokenFlag.GAP_BREAK)
    glued = ~breaks & ~line.first_of_doc
    short = (size <= ABBREVIATION_LETTERS)[form] & capital & ~line.has(TokenFlag.DIGIT | TokenFlag.SINGLE)
    # ". " leaves two bytes and begins a sentence as far as the tokeniser knows.
    stop = breaks & line.has(TokenFlag.SENTENCE) & (line.space == 2) & capital
    stop[1:] &= short[:-1]
    stop[:1] = False
    at = np.flatnonzero(stop)
    at = at[line.gap_begins(at, ".")]
    abbreviation = _abbreviations(line, form[at - 1]) | (size == 1)
    at = at[abbreviation[form[at - 1]] & ~ordinary[form[at]]]
    glued[at] = True
    return glued


def _abbreviations(line: Line, before: Ints) -> Bools:
    """Tell the words that mostly stand before ". " and a capital (after Kiss and Strunk 2006)."""
    n_words = len(line.corpus.words)
    stopped = np.bincount(before, minlength=n_words)
    total = np.bincount(line.corpus.form, minlength=n_words)
    return (stopped >= ABBREVIATION_COUNT) & (stopped >= ABBREVIATION_SHARE * total)
