"""How a question is worded, as a vector: the parts of its words, weighed by how telling they are.

It stands in for an embedder where there is none that knows the question's language. Words are cut into runs
of two to four characters, so that an ending, a compound or a cognate still counts ("Notizen", "notas",
"notatki"), and in scripts without spaces each run of characters is such a part. Which of them tell a kind of
question is learnt from the labelled examples of :mod:`clew.query.kinds`; no list of words decides.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from clew.text.terms import is_single
from clew.text.tokens import normal_words
from clew.types import Floats

SHORTEST, LONGEST = 2, 4  # characters of a part, with the borders of the word
COMMON = 2  # examples that a part must be in: what one alone has tells that one, not its kind


class Wording:
    """Vectors of texts by the parts that some ``examples`` are made of, tf × idf, of length 1."""

    def __init__(self, examples: Sequence[str]) -> None:
        counts = [Counter(parts(text)) for text in examples]
        df = Counter(part for count in counts for part in count)
        known = sorted(part for part, number in df.items() if number >= COMMON)
        self._place = {part: at for at, part in enumerate(known)}
        self._idf = [math.log((1 + len(examples)) / (1 + df[part])) + 1 for part in known]

    def vectors(self, texts: Sequence[str]) -> Floats:
        """Return the vectors of texts, shape (n, parts), unit; 0 for a text that has none of the parts."""
        out = np.zeros((len(texts), len(self._place)), dtype=np.float32)
        for row, text in zip(out, texts, strict=True):
            for part, number in Counter(parts(text)).items():
                at = self._place.get(part)
                if at is not None:
                    row[at] = (1 + math.log(number)) * self._idf[at]
        lengths = np.linalg.norm(out, axis=1, keepdims=True)
        unit: Floats = (out / np.maximum(lengths, 1e-9)).astype(np.float32)
        return unit


def parts(text: str) -> Iterator[str]:
    """Yield the words of a text, its pairs of words, and the runs of characters that words are made of."""
    words = list(_words(text))
    yield from (f"={word}" for word in words)
    yield from (f"={one} {other}" for one, other in pairwise(words))
    for word in words:
        bordered = f"<{word}>"
        for size in range(SHORTEST, LONGEST + 1):
            yield from (bordered[at : at + size] for at in range(len(bordered) - size + 1))


def _words(text: str) -> Iterator[str]:
    """Yield the words; a run of a script without spaces is one."""
    run = ""
    for word in normal_words(text):
        if is_single(word):
            run += word
            continue
        if run:
            yield run
        run = ""
        yield word
    if run:
        yield run
