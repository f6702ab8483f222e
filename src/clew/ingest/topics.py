"""Words that headings single out: the topics of a collection that writes much about few things.

Statistics of rarity miss them ("ownership" stands in a twelfth of a book on Rust), but headings are
made of them: a word that is several times as frequent in headings as in the text is what sections
are about, in any language and without letter case; "and" and "the" are not.
"""

from __future__ import annotations

import numpy as np

from clew.ingest.names import Candidates
from clew.ingest.phrases import SINGLE_LETTERS, Words
from clew.ingest.spans import Line
from clew.types import TokenFlag

LEAST_HEADINGS = 3  # headings of that many chunks hold the word
LIFT = 3.0  # times as frequent in headings as in text
MOST_SHARE = 0.25  # of the chunks
# Bits of residual IDF. "Using", "over", "what" open many headings, but are scattered over the text.
CLINGING = 0.75
SURE_TOPIC = 0.6


def find_topics(line: Line, words: Words | None) -> Candidates:
    """Return the single words that headings single out, by key; none without counted words."""
    corpus, n_words = line.corpus, len(line.corpus.words)
    live = (line.chunk >= 0) & ~line.has(TokenFlag.CODE | TokenFlag.DIGIT | TokenFlag.SINGLE)
    heading = live & line.has(TokenFlag.HEADING)
    text = live & ~line.has(TokenFlag.HEADING)
    in_heading, in_text = (np.bincount(corpus.form[which], minlength=n_words) for which in (heading, text))
    lift = (in_heading / max(int(heading.sum()), 1)) / np.maximum(in_text / max(int(text.sum()), 1), 1e-12)
    df = line.word_df(live)
    fits = (line.word_df(heading) >= LEAST_HEADINGS) & (in_text > 0) & (lift >= LIFT)
    fits &= (words.clinging >= CLINGING) if words is not None else False
    fits &= (df <= MOST_SHARE * corpus.n_chunks) & (line.word_size >= SINGLE_LETTERS)
    first = np.zeros(n_words, dtype=np.int64)
    # As the text writes it: in small letters where it does, so that it isn't taken for a proper name.
    for which in (text, text & ~line.has(TokenFlag.CAPITAL)):
        places = np.flatnonzero(which)[::-1]
        first[corpus.form[places]] = places
    word = np.flatnonzero(fits)
    key = line.hash_runs(first[word], first[word] + 1)
    order = np.argsort(key, kind="stable")
    word = word[order]
    lo = first[word]
    sure = np.full(len(word), SURE_TOPIC, dtype=np.float32)
    count = (in_heading + in_text)[word]
    return Candidates(key[order], lo, lo + 1, count.astype(np.int32), df[word].astype(np.int32), sure)
