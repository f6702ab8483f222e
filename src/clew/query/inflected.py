"""Names of nodes in other grammatical forms: «про Одесу» names Одеса, "Goethes" Goethe."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from clew.query.space import Space
from clew.text.forms import INFLECTS_NAMES, LEAST_LETTERS, inflected
from clew.text.stem import has_stemmer, stem_words
from clew.text.terms import term_hash
from clew.text.tokens import normal_words

LONGEST = 8  # words of a name
# Nodes whose names are compared with a word of the question: those that passages with the word define. A word
# that leads to more of them is no name.
MOST = 200


def inflecting(languages: Iterable[str]) -> list[str]:
    """Return the languages whose names take endings and that have a stemmer."""
    return [language for language in languages if language in INFLECTS_NAMES and has_stemmer(language)]


def find_forms(
    words: Sequence[str], taken: Sequence[bool], space: Space, languages: Iterable[str]
) -> list[tuple[int, int, tuple[int, ...]]]:
    """Return (start, end, nodes) of defined names of which runs of ``words`` are forms, longest first from
    the left; ``taken`` words belong to none.

    Only names that a passage with the run's words defines are looked at, so that no table of stems
    has to be kept or built.
    """
    found: list[tuple[int, int, tuple[int, ...]]] = []
    used = list(taken)
    for language in inflecting(languages):
        stems = stem_words(words, language)
        known = _defined_names(stems, words, used, space, language)
        at = 0
        while known and at < len(words):
            end, nodes = _longest(words, stems, used, at, known, language)
            if nodes:
                found.append((at, end, nodes))
                used[at:end] = [True] * (end - at)
            at = end if nodes else at + 1
    return sorted(found)


Known = dict[tuple[str, ...], dict[int, tuple[str, ...]]]  # by stems: the nodes and their words


def _defined_names(
    stems: Sequence[str], words: Sequence[str], used: Sequence[bool], space: Space, language: str
) -> Known:
    nodes: set[int] = set()
    def_node, def_chunk = space.reader.array("graph.def_node"), space.reader.array("graph.def_chunk")
    for word, stem, skip in zip(words, stems, used, strict=True):
        at = -1 if skip or len(word) < LEAST_LETTERS else space.postings.find(term_hash(stem))
        if at >= 0:
            here = np.unique(def_node[np.isin(def_chunk, space.postings.chunks(at))])
            nodes.update(here.tolist() if len(here) <= MOST else ())
    return _by_stems(space.node_names(sorted(nodes)), language)


def _by_stems(names: dict[int, str], language: str) -> Known:
    split = {node: tuple(normal_words(name)) for node, name in names.items()}
    vocabulary = sorted({word for parts in split.values() for word in parts})
    stem_of = dict(zip(vocabulary, stem_words(vocabulary, language), strict=True))
    known: Known = {}
    for node, parts in split.items():
        if parts:
            known.setdefault(tuple(stem_of[word] for word in parts), {})[node] = parts
    return known


def _longest(
    words: Sequence[str], stems: Sequence[str], used: Sequence[bool], at: int, known: Known, language: str
) -> tuple[int, tuple[int, ...]]:
    """Return the end and the nodes of the longest name that begins here in some form; or no nodes."""
    for end in range(min(len(words), at + LONGEST), at, -1):
        if any(used[at:end]):
            continue
        nodes = _same(words[at:end], known.get(tuple(stems[at:end]), {}), language)
        if nodes:
            return end, nodes
    return at, ()


def _same(words: Sequence[str], names: dict[int, tuple[str, ...]], language: str) -> tuple[int, ...]:
    return tuple(
        sorted(
            node
            for node, parts in names.items()
            if all(inflected(a, b, language) for a, b in zip(words, parts, strict=True))
        )
    )


def nodes_like(name: str, space: Space, languages: Iterable[str]) -> list[int]:
    """Return the nodes of which a name is another form ("traits" of trait), in the first of the languages
    that has any. All names are stemmed (0.1 s for 100,000), and only where nothing else was found."""
    words = normal_words(name)
    names = space.node_names(range(space.n_nodes)) if words else {}
    for language in filter(has_stemmer, languages):
        known = _by_stems(names, language)
        nodes = _same(words, known.get(tuple(stem_words(words, language)), {}), language)
        if nodes:
            return list(nodes)
    return []
