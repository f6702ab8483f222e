"""Which names are one thing: the register of nodes, one for each key, and what defines them.

A document's title is the name of its document node: a link to a note, a mention of it in text and
the note itself are one node. Where several documents share a title, the name stays an entity of its
own that they define together, so that two people of one name aren't blended.
"""

from __future__ import annotations

import html
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from clew.ingest.dictionary import Row
from clew.ingest.inflect import Forms, languages
from clew.ingest.links import LinkTable
from clew.ingest.model import Corpus
from clew.ingest.names import Candidates
from clew.ingest.places import chunks_at
from clew.ingest.spans import Line, distinct
from clew.ingest.stated import stated_names, stated_tags, tag_names
from clew.ingest.told import NOTHING, Told, add_told
from clew.text.forms import INFLECTS_NAMES
from clew.text.stem import has_stemmer
from clew.text.tokens import normal_name, normal_words, numbered
from clew.types import MarkKind, NodeKind

# How sure each signal makes it that something is named.
SURE_TITLE, SURE_ALIAS, SURE_PERSON, SURE_LINK, SURE_TAG = 1.0, 0.95, 0.95, 0.9, 0.8
SURE_HEADING, SURE_CODE, SURE_STRONG, SURE_QUOTED, SURE_LINK_TEXT = 0.7, 0.7, 0.5, 0.5, 0.6
SURE_QUOTED_NAME = 0.75
HEADING_WEIGHT = 0.5  # of a definition by a heading; a title's is 1
HEADING_DECAY = 0.8  # a level deeper, less of a definition
HEADING_TOKENS = 8  # longer headings are sentences
# A heading in more documents than this is furniture ("Overview", "See also") and defines nothing.
GENERIC_DOCS = 2
GENERIC_SHARE = 0.01
# A title of more documents than this share (at least SHARED_DOCS) names the collection, not them.
SHARED_DOCS = 20
SHARED_SHARE = 0.02
PARTICLE_LETTERS = 3  # of a word that may stand before or in a name without being part of its sense
NUMBERING = re.compile(r"\s*(?:\d+[.)]\s*)+(?:\d+\s+)?|\s*[IVXLC]+[.)]\s+")
QUALIFIER = re.compile(r"(.*\S)\s*[(（][^()（）]*[)）]\s*")


@dataclass(slots=True)
class Entry:
    """A node in the making. ``told`` is what tells it from others of its kind and key.

    ``structural`` entries stay in the graph however rarely they are mentioned. ``marked`` counts the
    chunks where a heading, emphasis, quotation or code sets the name apart; ``stated`` says that something
    stronger does, a link, letter case or statistics. ``in_code``: it was seen as inline code alone.
    """

    kind: NodeKind
    name: str
    key: str
    doc: int = -1
    sure: float = 0.0
    structural: bool = False
    told: str = ""
    code: bool = False
    in_code: bool = False
    marked: int = 0
    stated: bool = False


@dataclass(slots=True)
class Register:
    """Nodes, their names, and what defines them.

    ``by_key`` is what the dictionary pass goes by: a key names one entry. ``spellings`` holds every
    (entry, surface) pair with its normal forms; ``people`` are known by their names, ``persons`` by
    their sources' ids; ``defines`` (entry, chunk, weight); ``claimed`` (entry, document, weight) for
    entities that documents define together. ``same`` weighs pairs that are one thing; ``topics`` are the
    entries that headings single out; ``last_words`` holds (short, long) pairs that may be one thing, if
    they occur together.
    """

    entries: list[Entry] = field(default_factory=list)
    by_key: dict[str, int] = field(default_factory=dict)
    spellings: dict[tuple[int, str], tuple[str, ...]] = field(default_factory=dict)
    defines: dict[tuple[int, int], float] = field(default_factory=dict)
    claimed: dict[tuple[int, int], float] = field(default_factory=dict)
    tags: dict[str, int] = field(default_factory=dict)
    people: dict[str, int] = field(default_factory=dict)
    persons: dict[str, int] = field(default_factory=dict)
    same: dict[tuple[int, int], float] = field(default_factory=dict)
    last_words: dict[tuple[int, int], None] = field(default_factory=dict)
    topics: set[int] = field(default_factory=set)

    def add(self, entry: Entry) -> int:
        self.entries.append(entry)
        return len(self.entries) - 1

    def entity(
        self,
        surface: str,
        key: str,
        sure: float,
        *,
        structural: bool = False,
        words: Sequence[str] | None = None,
        marked: int = 0,
    ) -> int:
        """Return the entry that a key names, made as an entity if there is none; note the spelling."""
        at = self.by_key.get(key)
        if at is None:
            at = self.add(Entry("entity", surface, key))
            self.by_key[key] = at
        entry = self.entries[at]
        entry.sure = max(entry.sure, sure)
        entry.structural |= structural
        entry.marked += marked
        entry.stated |= not marked
        self.spell(at, surface, words)
        return at

    def spell(self, entry: int, surface: str, words: Sequence[str] | None = None) -> None:
        """Note a name of an entry; ``words`` are its normal forms, where they are known."""
        if (entry, surface) not in self.spellings:
            self.spellings[entry, surface] = tuple(normal_words(surface) if words is None else words)

    def define(self, entry: int, chunk: int, weight: float) -> None:
        if weight > 0 and weight > self.defines.get((entry, chunk), 0.0):
            self.defines[entry, chunk] = weight

    def definitions(self) -> list[tuple[int, int, float]]:
        """Return (entry, chunk, weight) rows."""
        return [(entry, chunk, weight) for (entry, chunk), weight in self.defines.items()]


def resolve(
    line: Line,
    links: LinkTable,
    named: Candidates,
    topics: Candidates,
    phrases: Candidates,
    told: Told = NOTHING,
) -> Register:
    """Return the register of everything that the corpus names: structure, what a model has told, then case,
    then statistics."""
    register = Register()
    _add_documents(register, line)
    _add_people(register, line)
    add_persons(register, line.corpus)
    _add_missing(register, links)
    _add_headings(register, line)
    _add_marks(register, line)
    forms = _forms(register, line)
    add_told(register, line, told, forms)
    _add_candidates(register, line, named, forms, _repeats_known)
    register.topics = _add_candidates(register, line, topics, forms, lambda *_: False)
    _add_candidates(register, line, phrases, forms, _extends_known)
    _add_tags(register, line)
    return register


def spellings(register: Register) -> list[Row]:
    """Return the rows of the dictionary pass: each spelling with the entry that its key names."""
    rows = set()
    for (_, surface), words in register.spellings.items():
        owner = register.by_key.get("".join(words)) if words else None
        if owner is not None:
            entry = register.entries[owner]
            rows.add((owner, surface, words, entry.code, entry.in_code and not entry.stated))
    return sorted(rows)


# --- documents -----------------------------------------------------------------------------------


def titles(title: str) -> Iterator[str]:
    """Yield a title's spellings, surest first: as it stands, without character references."""
    yield title
    plain = html.unescape(title) if "&" in title else title
    if plain != title:
        yield plain


def unqualified(title: str) -> str:
    """Return a title without its last parenthesis: "Theodred II (Bishop of Elmham)" is Theodred II."""
    match = QUALIFIER.fullmatch(html.unescape(title))
    return match[1] if match else ""


def names_something(surface: str) -> bool:
    """Tell whether a name has a letter: a date or a number alone names nothing."""
    return any(char.isalpha() for char in surface)


def _add_documents(register: Register, line: Line) -> None:
    """Make a node for each document, and let titles, then aliases, then unqualified titles claim keys."""
    claims: list[dict[str, dict[int, str]]] = [defaultdict(dict) for _ in range(3)]
    corpus = line.corpus
    for document, stated, analysis in zip(corpus.documents, corpus.stated, corpus.analyses, strict=True):
        title = html.unescape(document.title) or document.key
        at = register.add(
            Entry("document", title, normal_name(title), document.doc, SURE_TITLE, True, document.key)
        )
        surfaces = [list(titles(document.title)), _aliases(analysis.marks), [unqualified(document.title)]]
        for rank, found in zip(claims, surfaces, strict=True):
            for surface in found if stated.titled else ():
                if surface.strip():
                    register.spell(at, surface)
                if names_something(surface):
                    rank[normal_name(surface)].setdefault(at, surface)
    for rank, sure in zip(claims, (SURE_TITLE, SURE_ALIAS, SURE_ALIAS), strict=True):
        for key in sorted(rank):
            if key not in register.by_key:
                _claim(register, line, key, rank[key], sure)


def add_persons(register: Register, corpus: Corpus) -> None:
    """Make a node for each person that sources know by an id, however many share a name.

    A name is found in text if it has several words and nothing else is called so: what people call
    themselves is often an everyday word. A document by which people tell their names defines them.
    """
    names, labels = stated_names(corpus)
    claims: dict[str, dict[int, str]] = defaultdict(dict)
    for person in sorted(labels):
        known = names.get(person, {})
        label = next(iter(known), labels[person])
        at = register.add(
            Entry("person", label, normal_name(label) or normal_name(person), -1, SURE_PERSON, True, person)
        )
        register.persons[person] = at
        for surface in (*known, person):
            register.spell(at, surface)
            if len(normal_words(surface)) > 1 and names_something(surface):
                claims[normal_name(surface)][at] = surface
        for doc in dict.fromkeys(known.values()):
            first = int(corpus.doc_chunks[doc])
            if first < int(corpus.doc_chunks[doc + 1]):
                register.define(at, first, 1.0)
    for key in sorted(claims):
        if key not in register.by_key and len(claims[key]) == 1:
            (register.by_key[key],) = claims[key]


def _aliases(marks: Iterable[object]) -> list[str]:
    return [mark.name for mark in marks if getattr(mark, "kind", "") == "alias"]  # type: ignore[attr-defined]


def _claim(register: Register, line: Line, key: str, claimants: dict[int, str], sure: float) -> None:
    """Give a key to the one document that claims it, or to an entity that several define together."""
    corpus = line.corpus
    if len(claimants) == 1:
        (entry,) = claimants
        register.by_key[key] = entry
        _define_document(register, line, entry, entry, 1.0)
        return
    if len(claimants) > max(SHARED_DOCS, SHARED_SHARE * len(corpus.documents)):
        return
    shared = register.entity(next(iter(claimants.values())), key, sure, structural=True)
    weight = len(claimants) ** -0.5
    for entry in claimants:
        register.claimed[shared, register.entries[entry].doc] = weight
        _define_document(register, line, shared, entry, weight)


def _define_document(register: Register, line: Line, entry: int, document: int, weight: float) -> None:
    """Let a document's first chunk define an entry."""
    doc = register.entries[document].doc
    first = int(line.corpus.doc_chunks[doc])
    if first < int(line.corpus.doc_chunks[doc + 1]):
        register.define(entry, first, weight)


# --- structure -----------------------------------------------------------------------------------


def _add_people(register: Register, line: Line) -> None:
    for _, mark in line.marked("person"):
        name = (mark.value or mark.name).strip()
        key = normal_name(name)
        if not key or key in register.people:
            continue
        at = register.by_key.get(key)
        if at is None or register.entries[at].kind == "entity":
            person = register.add(Entry("person", name, key, -1, SURE_PERSON, True))
            if at is None:
                register.by_key[key] = person
            at = person
        register.people[key] = at
        register.spell(at, name)


def _add_missing(register: Register, links: LinkTable) -> None:
    """Make an entity of each note that is linked but isn't there."""
    for name in links.missing:
        key = normal_name(name)
        if key:
            register.entity(name, key, SURE_LINK, structural=True)


def _add_headings(register: Register, line: Line) -> None:
    """Let headings of few documents define what they name."""
    corpus = line.corpus
    found: dict[str, list[tuple[int, int, int, str]]] = defaultdict(list)
    for document, analysis in zip(corpus.documents, corpus.analyses, strict=True):
        for section in analysis.sections:
            surface = NUMBERING.sub("", section.title, count=1).strip() if section.level else ""
            if surface and names_something(surface):
                found[normal_name(surface)].append((document.doc, section.start, section.level, surface))
    generic = max(GENERIC_DOCS, GENERIC_SHARE * len(corpus.documents))
    kept: list[tuple[int, int]] = []  # the entry and how many headings have its name, heading by heading
    rows: list[tuple[int, int, int, str]] = []
    for key in sorted(found):
        places = found[key]
        if len(places) > 2 * generic or len({doc for doc, _, _, _ in places}) > generic:
            continue
        surface = places[0][3]
        if key not in register.by_key and len(normal_words(surface)) > HEADING_TOKENS:
            continue
        at = register.entity(surface, key, SURE_HEADING, structural=True, marked=len(places))
        kept += [(at, len(places))] * len(places)
        rows += places
    docs = np.array([row[0] for row in rows], dtype=np.int32)
    starts = np.array([row[1] for row in rows], dtype=np.int32)
    chunks = chunks_at(corpus, docs, starts, starts).tolist()
    for (at, count), (_, _, level, _), chunk in zip(kept, rows, chunks, strict=True):
        if chunk >= 0:
            depth = HEADING_DECAY ** max(level - 2, 0)
            register.define(at, chunk, HEADING_WEIGHT * depth / count)


MARK_SURE: dict[MarkKind, float] = {
    "code": SURE_CODE,
    "strong": SURE_STRONG,
    "emphasis": SURE_QUOTED,
    "quoted": SURE_QUOTED,
    "link": SURE_LINK_TEXT,
}
MARK_TOKENS = 6
EDGES = " \t\n,.;:!?…،؛。，、"  # what a sentence leaves at the edges of what it sets apart
QUOTED_LETTERS = 10  # characters of a quoted name in a script without case


def quotes_name(name: str) -> bool:
    """Tell whether what stands in quotation marks looks like a title by itself.

    Every longer word has a capital; or the script has no case, and it is short.
    """
    if name.lower() == name.upper():
        return 1 < len(name) <= QUOTED_LETTERS
    words = name.split()
    return all(word[0].isupper() or len(word) <= PARTICLE_LETTERS for word in words) and words[0][0].isupper()


def _mark_key(name: str) -> str:
    """Return the key of what a mark sets apart; empty if it's no name."""
    words = normal_words(name)
    fits = words and len(words) <= MARK_TOKENS and name.strip(EDGES) and names_something(name)
    return "".join(words) if fits else ""


def _add_marks(register: Register, line: Line) -> None:
    """Take what inline structure sets apart in at least two chunks."""
    rows = [
        (document.doc, mark)
        for document, analysis in zip(line.corpus.documents, line.corpus.analyses, strict=True)
        for mark in analysis.marks
        if mark.kind in MARK_SURE
    ]
    docs = np.array([doc for doc, _ in rows], dtype=np.int32)
    starts = np.array([mark.start for _, mark in rows], dtype=np.int32)
    ends = np.array([mark.end for _, mark in rows], dtype=np.int32)
    chunks = chunks_at(line.corpus, docs, starts, ends)
    names, which = numbered([mark.name for _, mark in rows])  # most of them come often
    keys, key_of = numbered([_mark_key(name) for name in names])  # empty: it names nothing
    number = key_of[which]
    first = np.zeros(len(keys), dtype=np.int64)
    first[number[::-1]] = np.arange(len(rows))[::-1]
    size = line.corpus.n_chunks + 1
    # Chunks and, counted as one more, where there is none.
    where = np.bincount(distinct(number * size + chunks + 1) // size, minlength=len(keys)).tolist()
    inside = np.bincount(distinct((number * size + chunks)[chunks >= 0]) // size, minlength=len(keys))
    kinds: list[set[MarkKind]] = [set() for _ in keys]
    for at, kind in set(zip(number.tolist(), (mark.kind for _, mark in rows), strict=True)):
        kinds[at].add(kind)
    for at in sorted(range(len(keys)), key=keys.__getitem__):
        key, name = keys[at], rows[int(first[at])][1].name.strip(EDGES)
        sure = max(MARK_SURE[kind] for kind in kinds[at])
        named = "quoted" in kinds[at] and bool(key) and quotes_name(name)
        if key and (inside[at] >= 2 or named) and ("code" in kinds[at] or len(key) > 1):
            new = key not in register.by_key
            entry = register.entries[
                register.entity(name, key, max(sure, SURE_QUOTED_NAME if named else 0), marked=where[at])
            ]
            entry.code |= "code" in kinds[at]
            entry.in_code |= new and kinds[at] == {"code"}


def _forms(register: Register, line: Line) -> Forms:
    """Return what structure names, to be found in other grammatical forms."""
    known = languages(line)
    forms = Forms(line, known)
    for (at, _), words in register.spellings.items():
        if words and register.by_key.get("".join(words)) == at:
            for language in known:
                forms.note(words, language, at)
    return forms


Redundant = Callable[[Register, list[str], int], bool]


def _add_candidates(
    register: Register, line: Line, found: Candidates, forms: Forms, redundant: Redundant
) -> set[int]:
    """Add candidates, most frequent first, as entities or as forms of names that are there; return which."""
    added: set[int] = set()
    words, documents = line.corpus.words, line.corpus.documents
    order = np.lexsort((found.key, -found.df))
    fixed = {entry for entry, _ in [*register.defines, *register.claimed]}
    columns = (
        found.lo[order],
        found.hi[order],
        found.df[order],
        found.sure[order],
        line.doc[found.lo[order]],
    )
    for lo, hi, df, sure, doc in zip(*(column.tolist() for column in columns), strict=True):
        parts = [words[form] for form in line.corpus.form[lo:hi].tolist()]
        key = "".join(parts)
        surface = line.surface(lo, hi)
        if not surface or (key not in register.by_key and redundant(register, parts, df)):
            continue
        language = documents[doc].language
        inflects = has_stemmer(language) and (hi - lo > 1 or language in INFLECTS_NAMES or surface.islower())
        if key not in register.by_key and inflects:
            other = forms.find(parts, language)
            if other >= 0:
                register.spell(other, surface, parts)
                register.by_key[key] = other
                register.entries[other].sure = max(register.entries[other].sure, sure)
                added.add(other)
                continue
        at = register.entity(surface, key, sure, words=parts)
        if register.entries[at].kind == "entity" and at not in fixed:
            # called as text mostly does, not by the first mark's spelling ("rUsT" in an example)
            register.entries[at].name = surface
            fixed.add(at)
        added.add(at)
        if inflects:
            forms.note(parts, language, at)
    return added


def _repeats_known(register: Register, parts: list[str], df: int) -> bool:
    """Tell whether a run seen once ends with a known name of several words: "Professor Ernst Abbe"."""
    return df < 2 and any("".join(parts[cut:]) in register.by_key for cut in range(1, len(parts) - 1))


def _extends_known(register: Register, parts: list[str], df: int) -> bool:
    """Tell whether a phrase is a known name with a particle before or after it: "to Cairo", 从长安."""

    def known(part: list[str]) -> bool:
        at = register.by_key.get("".join(part)) if part else None
        return at is not None and register.entries[at].sure >= SURE_HEADING

    first, last = len(parts[0]) <= PARTICLE_LETTERS, len(parts[-1]) <= PARTICLE_LETTERS
    if (first and known(parts[1:])) or (last and known(parts[:-1])):
        return True
    inner = range(2, len(parts) - 1)
    return first and any(known(parts[1:cut]) for cut in inner if len("".join(parts[1:cut])) > 1)


def _add_tags(register: Register, line: Line) -> None:
    """Make a node for each tag and for the tags above it; in text it counts if nothing else has its name."""
    names: set[str] = set()
    for _, mark in line.marked("tag"):
        names.update(tag_names(mark.value or mark.name))
    names.update(name for tag in stated_tags(line.corpus) for name in tag_names(tag))
    for name in sorted(names):
        if name.casefold() in register.tags:
            continue
        key = normal_name(name)
        at = register.add(Entry("tag", name, key, -1, SURE_TAG, True, name.casefold()))
        register.tags[name.casefold()] = at
        register.spell(at, name)
        other = register.by_key.setdefault(key, at)
        if other != at:
            register.same[at, other] = 1.0
