"""Whether an index agrees with its sources: every offset of a document that hasn't changed, byte for byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from clew.ids import content_hash
from clew.ingest.scan import scan
from clew.ports import Reader, Source
from clew.text.decode import NotText, decode
from clew.types import Check, Document, SourceState

BATCH = 2_000  # chunks in memory at once, with what they mention
SHOWN = 20  # faults that are listed


def verify_sources(reader: Reader, sources: Sequence[Source]) -> tuple[Check, SourceState]:
    """Read the sources and compare. A document that was edited, added or removed since is no fault.

    Raises SourceError if a source as a whole can't be read.
    """
    raws, _ = scan(sources)
    now = {raw.key: raw.data for raw in raws}
    known = reader.documents()
    there = [one for one in known if one.key in now]
    same = {one.doc: one for one in there if content_hash(now[one.key]) == one.content_hash}
    new = now.keys() - {one.key for one in known}
    state = SourceState(
        unchanged=len(same),
        changed=len(there) - len(same),
        missing=len(known) - len(there),
        new=sum(_is_text(now[key]) for key in new),
    )
    checked = 0
    faults: list[str] = []
    for document, start, end, text in _spans(reader, same):
        checked += 1
        if now[document.key][start:end].decode(document.encoding, "replace") != text and len(faults) < SHOWN:
            faults.append(f"{document.key}: bytes {start} to {end} aren't {text[:40]!r}")
    return Check("sources", checked, tuple(faults)), state


def _spans(reader: Reader, docs: Mapping[int, Document]) -> Iterator[tuple[Document, int, int, str]]:
    """Yield all passages, mentions and quotes of frontmatter of some documents: the document, source offsets,
    and the text there."""
    count = reader.count("chunks")
    for begin in range(0, count, BATCH):
        some = range(begin, min(begin + BATCH, count))
        of: dict[int, Document] = {}
        for chunk in reader.chunks(some):
            if chunk.doc in docs:
                of[chunk.chunk] = docs[chunk.doc]
                yield docs[chunk.doc], chunk.start, chunk.end, chunk.text
        for mention in reader.mentions_within(some):
            if mention.chunk in of:
                yield of[mention.chunk], mention.start, mention.end, mention.surface
    for place in reader.evidence_outside():
        if place.doc in docs and place.quote:
            yield docs[place.doc], place.start, place.end, place.quote


def _is_text(data: bytes) -> bool:
    """Tell whether indexing would take a file: what isn't text was left out, and isn't new."""
    try:
        decode(data)
    except NotText:
        return False
    return True
