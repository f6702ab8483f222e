"""What a passage leaves open of a question, asked of the other candidates: the second hop.

Qi et al., "Answering Complex Open-domain Questions Through Iterative Query Generation" (2019), do it with
a reader that is trained to write the next query. Here the next query is what the passage doesn't hold of
the question, with the names to which the passage leads: "sibling" and "Natalie Wood" after a film's cast.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from clew.algo.bm25 import bm25_among
from clew.algo.fuse import scaled
from clew.query.lexicon import IndexLexicon
from clew.query.space import Space
from clew.text.tokens import spans
from clew.types import Floats, Ints

Embed = Callable[[str], Floats]

DEPTH = 30  # candidates whose scores for a residual question count, scaled to 0..1
# A word in a greater share of the passages tells nothing of the second hop. It is left out of what is
# embedded, which takes as long as it has words.
COMMON = 0.08


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question: its place in it, its terms' positions, and whether it is a common one."""

    start: int
    end: int
    terms: frozenset[int]
    common: bool


class Residual:
    """Residual questions of one question. ``embed`` makes a question's vector; None without vectors."""

    def __init__(self, space: Space, lexicon: IndexLexicon, question: str, embed: Embed | None) -> None:
        self.space, self.lexicon, self.embed = space, lexicon, embed
        self.question = question
        self.terms = lexicon.positions(question)
        self._words = [self._word(start, end) for start, end in spans(question)] if embed else []

    def _word(self, start: int, end: int) -> Word:
        terms = self.lexicon.positions(self.question[start:end])
        most = max(map(self.space.postings.df, terms), default=0)
        return Word(start, end, frozenset(terms), most > COMMON * self.space.n_chunks)

    def text(self, held: frozenset[int], name: str) -> str:
        """Return the words that aren't held, as they stand in the question, and a name."""
        out, last = "", -1
        for word in self._words:
            if not word.common and not (word.terms & held):
                out += ("" if word.start == last or not out else " ") + self.question[word.start : word.end]
                last = word.end
        return f"{out} {name}".strip()

    def scores(self, chunks: Ints, held: Iterable[int], nodes: list[int], *, meaning: bool) -> Floats:
        """Return how well chunks, ascending, answer a residual question, by words and by meaning, each in
        0..1, shape (n, 2); 0 by meaning if it isn't asked for.

        ``held`` are the positions of the question's terms that the passage holds, and ``nodes`` those to
        which it leads, the strongest first. All of them are looked for by their words; embedded is the
        first alone, since names that have nothing to do with each other blur a vector.
        """
        kept = frozenset(held)
        names = list(self.space.node_names(nodes).values())
        wanted = set(self.terms) - kept
        wanted.update(at for name in names for at in self.lexicon.positions(name))
        out = np.zeros((len(chunks), 2), dtype=np.float32)
        if wanted:
            terms = [(at, 1.0) for at in sorted(wanted)]
            out[:, 0] = scaled(bm25_among(self.space.postings, terms, chunks), DEPTH)
        if meaning and self.embed is not None and (text := self.text(kept, names[0] if names else "")):
            out[:, 1] = scaled(self.space.cosines_among(self.embed(text), chunks), DEPTH)
        return out
