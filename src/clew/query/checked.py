"""A model's answer, as it comes, with its citations resolved and its sentences compared with what they cite.

The text is split into sentences while it streams. A citation becomes one of the narrowest passage that says
what its sentence says, numbered in the order of the text; one of a number that wasn't given out is removed
and counted. A sentence that cites nothing gets the citation of what was given out and supports it, if
anything does. In strict mode a sentence is held back until it has been checked, and left out if it isn't
supported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from clew.query.bracketed import Cited, Splitter
from clew.query.cite import Citer
from clew.query.sources import Item, Line
from clew.query.support import Supporter
from clew.text.sentences import sentences
from clew.types import Citation, Sentence


@dataclass(slots=True)
class _Open:
    """A sentence on its way: its text without citations, what it cites, and what is to be written."""

    text: str = ""
    items: list[Item] = field(default_factory=list)
    parts: list[str | Cited] = field(default_factory=list)
    numbers: dict[int, None] = field(default_factory=dict)
    held: bool = False


class Checking:
    """Takes the pieces of a reply and gives those of the answer; at the end it has the sentences."""

    def __init__(self, items: Sequence[Item], supporter: Supporter, *, strict: bool = False) -> None:
        self._items = {item.number: item for item in items}
        self._supporter = supporter
        self._strict = strict
        self._splitter = Splitter()
        self._citer = Citer()
        self._open = _Open(held=strict)
        self._spaces: str = ""  # after a citation or a sentence, until it is known what follows
        self.written: list[str] = []
        self.sentences: list[Sentence] = []
        self.removed = 0  # citations of numbers that weren't given out
        self.left_out = 0  # sentences, in strict mode

    @property
    def text(self) -> str:
        return "".join(self.written).strip()

    @property
    def citations(self) -> tuple[Citation, ...]:
        return self._citer.citations

    def feed(self, piece: str) -> Iterator[str]:
        """Yield what may be shown by now."""
        for part in self._splitter.feed(piece):
            yield from self._take(part)

    def end(self) -> Iterator[str]:
        """Yield the rest."""
        for part in self._splitter.end():
            yield from self._take(part)
        yield from self._finish()

    def _take(self, part: str | Cited) -> Iterator[str]:
        if isinstance(part, Cited):
            yield from self._cite(part)
            return
        at = 0
        for begin in self._starts(part):
            yield from self._say(part[at:begin])
            yield from self._finish()
            at = begin
        yield from self._say(part[at:])

    def _starts(self, part: str) -> list[int]:
        """Return where in a piece of text new sentences begin."""
        before = self._open.text
        spans = sentences(before + part)
        return [start - len(before) for start, _ in spans[1:] if start >= len(before)]

    def _say(self, text: str) -> Iterator[str]:
        if not text:
            return
        self._open.text += text
        self._open.parts.append(text)
        if not self._open.held:
            yield from self._write(text)

    def _cite(self, cited: Cited) -> Iterator[str]:
        known = [self._items[number] for number in cited.numbers if number in self._items]
        self.removed += len(cited.numbers) - len(known)
        new = [item for item in known if item not in self._open.items]
        self._open.items += new
        if not known:
            return
        self._open.parts.append(Cited(tuple(item.number for item in known), cited.space))
        said = self._open.text
        if not any(char.isalnum() for char in said):
            self._open.held = True  # the citation comes first: what it shall show comes after it
        if not self._open.held:
            verdict = self._supporter.check(said.strip(), known)
            yield from self._write(cited.space + self._mark(verdict.lines, self._open))

    def _finish(self) -> Iterator[str]:
        """End the sentence that is open: check it, and cite what supports it if it cites nothing."""
        done, self._open = self._open, _Open(held=self._strict)
        said = done.text.strip()
        if not any(char.isalnum() for char in said):
            if done.held:
                yield from self._write("".join(part for part in done.parts if isinstance(part, str)))
            return
        items = done.items
        added = None if items else self._supporter.nearest(said, list(self._items.values()))
        if added is not None:
            items = [added]
        verdict = self._supporter.check(said, items)
        if self._strict and not verdict.supported:
            self.left_out += 1
            return
        lines = dict(zip((item.number for item in items), verdict.lines, strict=True))
        for part in done.parts if done.held else []:
            if isinstance(part, str):
                yield from self._write(part)
            else:
                yield from self._write(part.space + self._mark([lines[n] for n in part.numbers], done))
        if added is not None:
            # Before the white space that parts it from the next sentence.
            space, self._spaces = self._spaces, ""
            yield from self._write(" " + self._mark([lines[added.number]], done))
            self._spaces += space
        self.sentences.append(Sentence(said, tuple(done.numbers), verdict.supported, verdict.support))

    def _mark(self, lines: Sequence[Sequence[Line]], sentence: _Open) -> str:
        """Return the citations of some lines as they are shown, and note them as the sentence's."""
        marks = dict.fromkeys(self._number(some) for some in lines if some)
        sentence.numbers.update(marks)
        return "".join(f"[{number}]" for number in marks)

    def _number(self, lines: Sequence[Line]) -> int:
        place = lines[0].place
        return self._citer.at(place.chunk, place.document, lines[0].start, lines[-1].end).number

    def _write(self, text: str) -> Iterator[str]:
        """Write text; white space waits until something follows, so that none is left at the end."""
        text = self._spaces + text
        kept = text.rstrip()
        self._spaces = text[len(kept) :]
        if not self.written:
            kept = kept.lstrip()
        if kept:
            self.written.append(kept)
            yield kept
