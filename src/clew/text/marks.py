"""Spans that stand out in any text: quotations, hashtags, URLs. All offsets are UTF-8 offsets."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence

import regex

from clew.types import Mark

Span = tuple[int, int]

# Found by their first literal bytes, which is ten times as fast as by a pattern that begins with a class.
URL_LEAD = re.compile(rb"://|www\.|mailto:")
SCHEME = re.compile(rb"(?<![A-Za-z0-9])[A-Za-z][A-Za-z0-9+.-]{1,20}\Z")
SCHEME_MAX = 22
URL_BODY = re.compile(rb"[^\s<>\"`\[\]{}|\\]*")
URL_END = b".,;:!?'*_~"  # at its end these belong to the sentence
# Where a URL ends at the latest: the quotation marks and punctuation of scripts without spaces.
URL_WIDE_END = regex.compile("[\u2018-\u201f\u3000-\u303f\uff01-\uff0f\uff1a-\uff1f«»‹›]")

# NIP-19: npub1, note1, nprofile1, nevent1 and naddr1 with 20 letters or more, as NIP-27 puts them in text.
NOSTR_LEAD = re.compile(rb"n(?:pub|ote|profile|event|addr)1")
NOSTR = re.compile(rb"(?<![0-9A-Za-z])(?:nostr:|@)?n(?:pub|ote|profile|event|addr)1[02-9ac-hj-np-z]{20,}")

HASHTAG = re.compile(rb"#[0-9A-Za-z_/\-\x80-\xff]+")
TAG_LEAD_ASCII = b" \t\r\n({,;>"  # what may stand before a tag
TAG_BODY = regex.compile(r"[\p{L}\p{M}\p{N}\p{So}\p{Sk}\u200d\ufe0f_/\-]+")
TAG_LETTER = regex.compile(r"[^\p{N}_/\-]")
TAG_LEAD = regex.compile(r"[\p{P}\p{Z}\ufeff]")  # the same, of other scripts

QUOTED_MAX = 80  # characters; what is longer is speech, not a name
_Q = rf"[^\n%s]{{1,{QUOTED_MAX}}}?"
QUOTED = regex.compile(
    "|".join(
        (
            r"“(%s)”" % (_Q % "“”„"),
            r"„(%s)[“”]" % (_Q % "“”„"),
            r"«\s?(%s)\s?»" % (_Q % "«»"),
            r"»(%s)«" % (_Q % "«»"),
            r"「(%s)」" % (_Q % "「」"),
            r"『(%s)』" % (_Q % "『』"),
            r"《(%s)》" % (_Q % "《》"),
            r"〈(%s)〉" % (_Q % "〈〉"),
            r'(?<![\p{L}\p{N}"])"(?=\S)(%s)(?<=\S)"(?![\p{L}\p{N}"])' % (_Q % '"'),
            r"(?<![\p{L}\p{N}‘’])‘(?=\S)(%s)(?<=\S)’(?![\p{L}\p{N}])" % (_Q % "‘’"),
        )
    )
)
# The bytes by which any of them begins, to pass over text without one.
QUOTE_LEAD = re.compile(rb"\"|\xc2[\xab\xbb]|\xe2\x80[\x98\x9c\x9e]|\xe3\x80[\x88\x8a\x8c\x8e]")


def urls(data: bytes) -> list[Span]:
    """Return the spans of the bare URLs, ascending, and of what stands for people and notes of Nostr. Closing
    brackets count if they were opened."""
    nostr = [match.span() for match in NOSTR.finditer(data)] if NOSTR_LEAD.search(data) else []
    return sorted([*nostr, *_urls(data)]) if nostr else _urls(data)


def _urls(data: bytes) -> list[Span]:
    spans: list[Span] = []
    last = 0
    for match in URL_LEAD.finditer(data):
        start, body = match.span()
        if start < last:
            continue
        if match[0] == b"://":
            scheme = SCHEME.search(data, max(last, start - SCHEME_MAX), start)
            if scheme is None:
                continue
            start = scheme.start()
        elif start and data[start - 1 : start].isalnum():
            continue
        until = URL_BODY.match(data, body)
        last = start + _url_length(data[start : until.end() if until else body])
        if last > body:
            spans.append((start, last))
    return spans


def _url_length(url: bytes) -> int:
    if not url.isascii():
        text = url.decode("utf-8", "ignore")
        wide = URL_WIDE_END.search(text)
        if wide:
            url = text[: wide.start()].encode("utf-8")
    while url:
        if url[-1] in URL_END or (url.endswith(b")") and url.count(b")") > url.count(b"(")):
            url = url[:-1]
        else:
            break
    return len(url)


def without(spans: Sequence[Span], cuts: Iterable[Span]) -> Iterator[Span]:
    """Yield the spans less what the cuts cover; all ascending, the spans disjoint."""
    cut_list = sorted(cuts)
    i = 0
    for start, end in spans:
        at = start
        while i < len(cut_list) and cut_list[i][1] <= at:
            i += 1
        j = i
        while j < len(cut_list) and cut_list[j][0] < end:
            low, high = cut_list[j]
            if low > at:
                yield at, low
            at = max(at, high)
            j += 1
        if at < end:
            yield at, end


class Inside:
    """Tells whether a place lies in one of some ascending, disjoint spans."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self._starts = [span[0] for span in spans]
        self._ends = [span[1] for span in spans]

    def __call__(self, place: int) -> bool:
        i = bisect_right(self._starts, place) - 1
        return i >= 0 and place < self._ends[i]


def hashtags(data: bytes, prose: Inside) -> Iterator[Mark]:
    """Yield the tags written as ``#tag``: letters of any script, digits (not alone), ``/``, ``-``, ``_``."""
    if b"#" not in data:
        return
    for match in HASHTAG.finditer(data):
        start = match.start()
        if not prose(start):
            continue
        before = data[max(0, start - 4) : start]
        if before and before[-1] < 0x80:
            if before[-1] not in TAG_LEAD_ASCII:
                continue
        elif before and not TAG_LEAD.match(before.decode("utf-8", "ignore")[-1:]):
            continue
        body = TAG_BODY.match(match[0][1:].decode("utf-8", "ignore"))
        if body is None or not TAG_LETTER.search(body[0]):
            continue
        name = body[0].strip("/-") if body[0].strip("/-") else body[0]
        name = body[0][: body[0].index(name) + len(name)]
        yield Mark("tag", "#" + name, start, start + 1 + len(name.encode()), name)


def quotations(data: bytes, prose: Sequence[Span]) -> Iterator[Mark]:
    """Yield what stands between any language's quotation marks, if it is short enough for a name."""
    leads = [match.start() for match in QUOTE_LEAD.finditer(data)]
    if not leads:
        return
    i = 0
    for start, end in prose:
        while i < len(leads) and leads[i] < start:
            i += 1
        if i == len(leads):
            return
        if leads[i] >= end:
            continue
        piece = data[start:end]
        text = piece.decode("utf-8")
        for match in QUOTED.finditer(text):
            low, high = match.span(match.lastindex or 0)
            if text.isascii():
                at, until = start + low, start + high
            else:
                at = start + len(text[:low].encode())
                until = at + len(text[low:high].encode())
            yield Mark("quoted", text[low:high].strip(), at, until)
