"""Names of one thing that look different: acronyms with their expansions, last words, articles.

They become ``same_as`` edges with a weight, not one node: a weight can be wrong without harm.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from clew.ingest.casing import Casing
from clew.ingest.names import MAX_TOKENS
from clew.ingest.resolve import Register
from clew.ingest.spans import Bools, Line
from clew.types import Longs, TokenFlag

SURE_ACRONYM = 0.85
ACRONYM_WEIGHT = 0.9
ACRONYM_LETTERS = (2, 8)
GAP_BYTES = 4  # of a space and a bracket; a wide bracket has three
SMALL_WORD = 4  # letters of a word that an acronym may skip, if it has no capital: "of", "and", "der"
ARTICLE_WEIGHT = 0.8  # "The Beatles" and "Beatles"
ARTICLE_SHARE = 0.005  # of all tokens: an article is among the most frequent words


@dataclass(frozen=True, slots=True)
class Expansion:
    """An acronym's token and the range of tokens that it stands for."""

    acronym: int
    lo: int
    hi: int


def find_expansions(line: Line) -> list[Expansion]:
    """Return the acronyms explained in brackets: "World Health Organization (WHO)", or the reverse."""
    upper = line.has(TokenFlag.UPPER) & line.has(TokenFlag.GAP_BREAK) & ~line.has(TokenFlag.CODE)
    opened = np.flatnonzero(upper & (line.space <= GAP_BYTES) & ~line.first_of_doc)
    at = opened[_before(line, opened, "(", "（")]
    found = [_backward(line, i) for i in at.tolist()]
    upper = line.has(TokenFlag.UPPER) & ~line.has(TokenFlag.CODE)
    breaks = line.has(TokenFlag.GAP_BREAK) & ~line.first_of_doc
    next_opened = np.flatnonzero(upper[:-1] & breaks[1:] & (line.space[1:] <= GAP_BYTES)) + 1
    at = next_opened[_before(line, next_opened, "(", "（")] - 1
    found += [_forward(line, i) for i in at.tolist()]
    return [expansion for expansion in found if expansion is not None]


def _before(line: Line, at: Longs, *brackets: str) -> Bools:
    """Tell which tokens have one of the brackets in the gap before them."""
    corpus = line.corpus
    out = np.zeros(len(at), dtype=bool)
    rows = zip(line.doc[at].tolist(), corpus.end[at - 1].tolist(), corpus.start[at].tolist(), strict=True)
    for i, (doc, end, start) in enumerate(rows):
        out[i] = any(bracket in line.text(doc, end, start) for bracket in brackets)
    return out


def _letters(line: Line, at: int) -> str:
    word = line.corpus.words[int(line.corpus.form[at])]
    low, high = ACRONYM_LETTERS
    return word if low <= len(word) <= high and word.isalpha() else ""


def _initial(line: Line, at: int, letter: str) -> bool | None:
    """Tell whether a token begins with the letter; None if an acronym may skip it."""
    word = line.corpus.words[int(line.corpus.form[at])]
    if word[0] == letter:
        return True
    flags = int(line.corpus.flags[at])
    joined = flags & TokenFlag.GAP_JOIN
    small = len(word) <= SMALL_WORD and not flags & TokenFlag.CAPITAL
    return None if small or joined else False


def _backward(line: Line, acronym: int) -> Expansion | None:
    letters = _letters(line, acronym)
    at, left, lo = acronym - 1, len(letters), acronym
    while letters and left and at >= max(acronym - 2 * MAX_TOKENS, 0):
        begins = _initial(line, at, letters[left - 1])
        if begins is False:
            return None
        if begins:
            left, lo = left - 1, at
        if int(line.corpus.flags[at]) & TokenFlag.GAP_BREAK:
            break
        at -= 1
    return Expansion(acronym, lo, acronym) if letters and not left else None


def _forward(line: Line, acronym: int) -> Expansion | None:
    letters = _letters(line, acronym)
    at, done, hi = acronym + 1, 0, acronym + 1
    while letters and done < len(letters) and at < min(acronym + 2 * MAX_TOKENS, line.size):
        if at > acronym + 1 and int(line.corpus.flags[at]) & TokenFlag.GAP_BREAK:
            break
        begins = _initial(line, at, letters[done])
        if begins is False:
            return None
        if begins:
            done, hi = done + 1, at + 1
        at += 1
    return Expansion(acronym, acronym + 1, hi) if letters and done == len(letters) else None


def add_acronyms(register: Register, line: Line) -> None:
    """Make entities of explained acronyms and what they stand for, and say that they are the same."""
    found: dict[str, dict[str, Expansion]] = defaultdict(dict)
    for expansion in find_expansions(line):
        if expansion.hi - expansion.lo > 1:
            short = line.key(expansion.acronym, expansion.acronym + 1)
            found[short].setdefault(line.key(expansion.lo, expansion.hi), expansion)
    for short in sorted(found):
        weight = ACRONYM_WEIGHT / len(found[short])  # one acronym may stand for several things
        for key in sorted(found[short]):
            at = found[short][key]
            one = register.entity(line.surface(at.acronym, at.acronym + 1), short, SURE_ACRONYM)
            other = register.entity(line.surface(at.lo, at.hi), key, SURE_ACRONYM)
            _same(register, one, other, weight)


def add_variants(register: Register, line: Line, casing: Casing) -> None:
    """Note last words of one longer name alone, and names with an article and without."""
    spelled = [(at, words) for (at, _), words in register.spellings.items() if words]
    owners = [(at, words) for at, words in spelled if register.by_key.get("".join(words)) == at]
    longer: dict[str, set[int]] = defaultdict(set)
    ordinary = {line.corpus.words[form] for form in np.flatnonzero(casing.ordinary).tolist()}
    often = np.flatnonzero(casing.lower > ARTICLE_SHARE * line.size)
    articles = {line.corpus.words[form] for form in often.tolist()} & ordinary
    for at, words in owners:
        if len(words) > 1 and register.entries[at].name[:1].isupper() and ordinary.isdisjoint(words):
            longer[words[-1]].add(at)
    for at, words in owners:
        if len(words) == 1 and words[0] not in ordinary and len(longer.get(words[0], ())) == 1:
            (other,) = longer[words[0]]
            if other != at:
                register.last_words[at, other] = None
        elif len(words) > 1 and words[0] in articles and len(words[0]) <= SMALL_WORD:
            rest = register.by_key.get("".join(words[1:]))
            if rest is not None and "".join(words[1:]) not in ordinary:
                _same(register, at, rest, ARTICLE_WEIGHT)


def _same(register: Register, one: int, other: int, weight: float) -> None:
    if one != other:
        pair = (min(one, other), max(one, other))
        register.same[pair] = max(register.same.get(pair, 0.0), weight)
