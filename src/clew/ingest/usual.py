"""Candidates that are everyday words of their text's language: they name nothing.

Statistics of a small folder can't tell them: «Вона» stands at beginnings of sentences alone, and 我们 clings
to a few passages as a name does. A language without a list of everyday words loses nothing.
"""

from __future__ import annotations

import numpy as np

from clew.ingest.casing import Casing
from clew.ingest.names import Candidates
from clew.ingest.spans import Bools, Line
from clew.text.wording import is_everyday


def without_names(line: Line, casing: Casing, found: Candidates) -> Candidates:
    """Leave out single everyday words that never have a capital in mid-sentence ("Her", «Тут»)."""
    first = line.corpus.form[found.lo]
    return _without(line, found, (found.hi - found.lo == 1) & (casing.middle[first] == 0))


def without_phrases(line: Line, found: Candidates) -> Candidates:
    """Leave out words and phrases that consist of everyday words ("even though", 没有)."""
    return _without(line, found, np.ones(len(found.lo), dtype=np.bool_))


def _without(line: Line, found: Candidates, doubtful: Bools) -> Candidates:
    words, documents = line.corpus.words, line.corpus.documents
    keep = np.ones(len(found.lo), dtype=np.bool_)
    for at in np.flatnonzero(doubtful).tolist():
        lo, hi = int(found.lo[at]), int(found.hi[at])
        parts = [words[form] for form in line.corpus.form[lo:hi].tolist()]
        keep[at] = not all(is_everyday(parts, [documents[int(line.doc[lo])].language]))
    return found.take(keep)
