"""The words of an open index: how a question becomes terms and names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from clew.algo.lookup import locate
from clew.query.inflected import find_forms, inflecting
from clew.query.space import Space
from clew.text.terms import term_hash, terms_of
from clew.text.tokens import normal_words

# A language counts for a question if this share of the documents is written in it.
LANGUAGE_SHARE = 0.02
LONGEST_NAME = 16  # tokens; as many as a name of the dictionary has


@dataclass(frozen=True, slots=True)
class Named:
    """A name that occurs in the question: its words' range, its text, and the nodes that bear it.

    ``holders`` counts the chunks that hold all of its words, as that name or otherwise; 0 if unknown.
    """

    start: int
    end: int
    name: str
    nodes: tuple[int, ...]
    holders: int = 0


class IndexLexicon:
    """Implements :class:`clew.query.model.Lexicon` on an index's postings."""

    def __init__(self, space: Space, languages: Mapping[str, int]) -> None:
        self.space = space
        total = sum(languages.values()) or 1
        known = [name for name, count in languages.items() if count / total >= LANGUAGE_SHARE]
        self.languages = sorted(known) or ["und"]

    def terms(self, text: str, language: str) -> list[str]:
        """Return the index terms of a text, in order, with repeats."""
        return terms_of(text, language)

    def question_terms(self, question: str) -> list[str]:
        """Return the question's distinct terms: the stems by each language of the index, in order."""
        found: dict[str, None] = {}
        for language in self.languages:
            found.update(dict.fromkeys(terms_of(question, language)))
        return list(found)

    def weights(self, question: str) -> dict[str, float]:
        """Return the question's terms with their inverse document frequency (0 for unknown terms)."""
        postings = self.space.postings
        out: dict[str, float] = {}
        for term in self.question_terms(question):
            at = postings.find(term_hash(term))
            out[term] = postings.idf(at) if at >= 0 else 0.0
        return out

    def positions(self, question: str) -> list[int]:
        """Return the postings' positions of the question's known terms, in order."""
        found = (self.space.postings.find(term_hash(term)) for term in self.question_terms(question))
        return [at for at in found if at >= 0]

    def unknown(self, question: str) -> int:
        """Return how many of the question's distinct words no passage has."""
        return sum(not self.positions(word) for word in dict.fromkeys(normal_words(question)))

    def names(self, question: str) -> list[Named]:
        """Return the names of nodes in the question, longest match first from the left.

        Where names take endings, words that are none as they stand are looked up as forms of defined names.
        """
        words = normal_words(question)
        sizes = [min(LONGEST_NAME, len(words) - at) for at in range(len(words))]
        runs = [(at, at + n) for at, size in enumerate(sizes) for n in range(size, 0, -1)]
        known = self.space.known_names([term_hash("".join(words[at:end])) for at, end in runs])
        found: list[Named] = []
        for (at, end), nodes in zip(runs, known, strict=True):
            if nodes and (not found or at >= found[-1].end):
                holders = self._holders(words[at:end])
                found.append(Named(at, end, " ".join(words[at:end]), nodes, holders))
        if inflecting(self.languages):
            found += self._forms(words, found)
        return sorted(found, key=lambda one: one.start)

    def _forms(self, words: list[str], found: list[Named]) -> list[Named]:
        """Return the names in other forms among the words that aren't names yet."""
        taken = [False] * len(words)
        for one in found:
            if any(self.space.defined[node] > 0 for node in one.nodes):
                taken[one.start : one.end] = [True] * (one.end - one.start)
        out = []
        for start, end, nodes in find_forms(words, taken, self.space, self.languages):
            holders = self._holders(words[start:end])
            out.append(Named(start, end, " ".join(words[start:end]), nodes, holders))
        return out

    def _holders(self, words: list[str]) -> int:
        """Return how many chunks hold all the words, in any order; words that aren't terms don't count."""
        postings = self.space.postings
        found = [max(map(postings.chunks, at), key=len) for at in map(self.positions, words) if at]
        found.sort(key=len)
        if not found:
            return 0
        held = found[0]
        for chunks in found[1:]:
            held = held[locate(chunks, held)[1]]
        return len(held)
