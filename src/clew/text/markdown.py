"""Markdown as people write it: CommonMark, GFM, and what Obsidian and Foam add.

The parser is pulldown-cmark (by ``pyromark``): its events carry the UTF-8 range that they come
from, which is what every span here is made of. One pass over the events collects spans; what
needs a look at the text itself (tags, URLs, quotations) runs over the bytes afterwards, because an
event costs a microsecond and a regular expression a few nanoseconds a byte.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote

import pyromark

from clew.text.frontmatter import Frontmatter, parse_frontmatter
from clew.text.marks import Inside, Span, hashtags, quotations, urls, without
from clew.text.outline import Heading, flat_blocks, outline
from clew.text.tags import TAG_BYTES
from clew.types import BlockKind, Link, LinkKind, Mark, MarkKind, ParsedDocument

OPTIONS = (
    pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_GFM
    | pyromark.Options.ENABLE_WIKILINKS
)
CODE_MAX = 60  # bytes of inline code that may be a name; longer is an example
STRONG_MAX = 120  # bytes of strong or emphasised text that may be a name
HTML_MARKUP = re.compile(
    rb"<!--.*?(?:-->|\Z)|<(script|style|svg|pre|textarea)\b.*?(?:</\1\s*>|\Z)|<[!?][^<>]*>|"
    + TAG_BYTES.pattern,
    re.DOTALL | re.IGNORECASE,
)
HTML_LINK = re.compile(
    rb"<a\s[^<>]*?href\s*=\s*(?:\"([^\"<>]*)\"|'([^'<>]*)')[^<>]*>(.*?)</a\s*>", re.S | re.I
)
COMMENT = re.compile(rb"%%")  # Obsidian's
CALLOUT = re.compile(rb"\[![^\]\n]{1,40}\][+-]?")
MARKERS = re.compile(  # of a line, and the first line of a GitHub alert
    rb"(?:[ \t>]|[-*+][ \t]|\d{1,9}[.)][ \t]|\[[ xX]\][ \t]|\[\^[^\]\n]*\]:|\[![A-Za-z]{1,20}\][ \t]*\r?\n)*"
)
AMPERSAND = ord("&")
MEDIA = re.compile(
    r"\.(?:png|jpe?g|gif|svg|webp|avif|bmp|tiff?|mp[34]|m4[av]|wav|ogg|flac|webm|mov|mkv|pdf)$", re.I
)
URL_TEXT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://|www\.|mailto:")
KINDS: dict[str, BlockKind] = {
    "Paragraph": "paragraph",
    "Heading": "heading",
    "BlockQuote": "quote",
    "CodeBlock": "code",
    "HtmlBlock": "html",
    "Item": "list",
    "Table": "table",
    "FootnoteDefinition": "footnote",
}
CONTAINERS = frozenset(("BlockQuote", "Item", "FootnoteDefinition"))
ATOMS = frozenset(("CodeBlock", "Table", "HtmlBlock"))
SPANS = frozenset(("Link", "Image", "Strong", "Emphasis"))
AUTO = frozenset(("Autolink", "Email"))


def parse_markdown(text: str, name: str = "") -> ParsedDocument:
    """Return the structure of a Markdown text; ``name`` is the title if the text has none."""
    front = parse_frontmatter(text)
    walk = _Walk(text, front)
    walk.run()
    return walk.document(name)


class _Open:
    """An inline span that has begun: where it lies, what is visible of it, and its plain text."""

    __slots__ = ("end", "high", "low", "piece", "start", "tag", "value")

    def __init__(self, tag: str, value: Any, start: int, end: int, piece: int) -> None:
        self.tag = tag
        self.value = value
        self.start = start
        self.end = end
        self.low = -1  # of its content
        self.high = -1
        self.piece = piece  # where its text begins among the pieces


class _Walk:
    """One pass over the events of a document. Offsets are UTF-8 offsets into the whole text."""

    def __init__(self, text: str, front: Frontmatter | None) -> None:
        self.text = text
        self.data = text.encode("utf-8")
        self.front = front
        self.base = front.end if front else 3 if text.startswith("\ufeff") else 0
        self.leaves: list[list[Any]] = []  # start, end, kind, heading level
        self.inline: list[list[int]] = []  # start and end of each leaf's inline content
        self.cuts: list[Span] = []
        self.code: list[Span] = []
        self.html: list[Span] = []
        self.links: list[Link] = []
        self.marks: list[Mark] = []
        self.headings: list[Heading] = []  # start, end, level, title
        self.warnings: list[str] = []
        self.containers: list[str] = []  # open block quotes, items and footnotes
        self.spans: list[_Open] = []
        self.pieces: list[str] = []  # text of the open spans and of the heading
        self.tail: list[int] | None = None  # the last of ``inline`` while its block is open
        self.leaf_low = -1  # where the last block begins, after its line's markers
        self.in_leaf = self.in_code = self.in_heading = self.collecting = False

    def run(self) -> None:
        """Fill the lists."""
        if self.front:
            self._frontmatter(self.front)
        body = self.data[self.base :].decode("utf-8") if self.base else self.text
        self._events(pyromark.events_with_range(body, options=OPTIONS))

    def _frontmatter(self, front: Frontmatter) -> None:
        if not front.invalid:
            self.leaves.append([0, front.end, "frontmatter", 0])
            self.links.extend(front.links)
            self.marks.extend(front.marks)
            return
        self.warnings.append(f"frontmatter is kept as text: {front.invalid}")
        start, end = front.inner
        inner = self.data[start:end]
        start, end = start + len(inner) - len(inner.lstrip()), start + len(inner.rstrip())
        if start < end:
            self.leaves.append([start, end, "paragraph", 0])
            self.inline.append([start, end])

    def _events(self, events: Iterable[tuple[Any, Any]]) -> None:
        """Go through the events. This is the hot loop: what is most frequent comes first, and plain
        text costs no call."""
        base, data = self.base, self.data
        for event, place in events:
            low, high = place["start"] + base, place["end"] + base
            if type(event) is str:
                self._break(event, low, high)
                continue
            value = event.get("Text")
            if value is not None:
                if self.in_code:
                    continue
                if data[low] == AMPERSAND and high - low > 2 and len(value) < 3:
                    self.cuts.append((low, high))  # a character reference such as &nbsp;
            else:
                ((what, value),) = event.items()
                if what == "Start":
                    if not self._start(value, low, high):
                        continue
                    value = None  # its text comes by events of its own
                elif what == "End":
                    self._end(value, low, high)
                    continue
                elif not self._other(what, value, low, high):
                    continue
            if self.collecting and value is not None:
                self._collect(value, low, high)
            if self.tail is None:
                self._begin_inline(low, high)
            elif high > self.tail[1]:
                self.tail[1] = high

    def _break(self, event: str, low: int, high: int) -> None:
        if event == "Rule":
            self._leaf("rule", low, high)
            self.in_leaf, self.tail = False, None
        elif self.collecting:
            self.pieces.append(" ")

    def _start(self, value: Any, low: int, high: int) -> bool:
        """Open a block or an inline span; tell whether it is an inline one."""
        tag = value if type(value) is str else next(iter(value))
        kind = KINDS.get(tag)
        if kind is None:
            if tag not in SPANS:
                return False
            if self.spans and self.spans[-1].low < 0:
                self.spans[-1].low = low
            self.spans.append(_Open(tag, value, low, high, len(self.pieces)))
            self.collecting = True
            return True
        if tag in CONTAINERS:
            self.containers.append(tag)
        self._leaf(kind, low, high, tag in ATOMS)
        self.in_leaf, self.tail = True, None
        if tag == "CodeBlock":
            self.in_code = True
            self.code.append((low, high))
        elif tag == "HtmlBlock":
            self.html.append((low, high))
        elif tag == "Heading":
            self.in_heading = self.collecting = True
        return False

    def _end(self, value: Any, low: int, high: int) -> None:
        tag = value if type(value) is str else next(iter(value))
        if self.spans and tag == self.spans[-1].tag:
            span = self.spans.pop()
            self._span(span, "".join(self.pieces[span.piece :]))
            if self.spans:
                self.spans[-1].high = span.end
        elif tag in KINDS:
            if tag in CONTAINERS:
                self.containers.pop()
            elif tag == "Heading":
                self._heading(low, high, int(value["Heading"][1]), "".join(self.pieces))
                self.in_heading = False
            self.in_leaf = self.in_code = False
            self.tail = None
        if self.collecting and not self.spans and not self.in_heading:
            self.collecting = False
            self.pieces.clear()

    def _other(self, what: str, value: Any, low: int, high: int) -> bool:
        """Take note of what is neither text nor a border; tell whether it is inline content."""
        if what == "Code":
            self._inline_code(low, high, value)
            return True
        named = what == "InlineHtml" and self.data[low + 1 : low + 2].isalpha()
        if named and not TAG_BYTES.fullmatch(self.data, low, high):
            return True  # `<SEP>`, `Vec<T>`: text
        if what == "InlineHtml" or what == "FootnoteReference":
            self.cuts.append((low, high))
            if self.spans:
                self._widen(low, high)
        return False

    def _collect(self, value: str, low: int, high: int) -> None:
        """Keep text for the open spans and the heading."""
        self.pieces.append(self._plain(value, low, high))
        if self.spans:
            self._widen(low, high)

    def _widen(self, low: int, high: int) -> None:
        span = self.spans[-1]
        if span.low < 0:
            span.low = low
        span.high = high

    def _begin_inline(self, low: int, high: int) -> None:
        """Begin a block's inline content."""
        if not self.in_leaf:  # text that goes on in a list item, after something nested in it
            self._leaf(KINDS[self.containers[-1]] if self.containers else "paragraph", low, high)
            self.in_leaf = True
        self.tail = [low, high]
        self.inline.append(self.tail)

    def _plain(self, value: str, low: int, high: int) -> str:
        """Return a text as read; the parser shows NUL as U+FFFD, which the source doesn't hold."""
        return self.data[low:high].decode("utf-8") if "\ufffd" in value else value

    def _leaf(self, kind: BlockKind, low: int, high: int, atom: bool = False) -> None:
        """Begin a block: one that begins on the same line, after markers alone, is part of it."""
        if self.containers and not atom and kind != "rule":
            kind = KINDS[self.containers[-1]]
        since, self.leaf_low = self.leaf_low, low
        if 0 <= since <= low and MARKERS.fullmatch(self.data, since, low):
            last = self.leaves[-1]
            last[1] = max(last[1], high)
            if atom:
                last[2] = kind
            return
        line = max(self.data.rfind(b"\n", 0, low) + 1, self.base)
        start = line if MARKERS.fullmatch(self.data, line, low) else low
        self.leaves.append([start, high, kind, 0])

    def _heading(self, low: int, high: int, level: int, title: str) -> None:
        title = " ".join(title.split())
        if self.containers:
            return  # in a quotation or a list it heads nothing
        self.leaves[-1][3] = level
        self.headings.append((self.leaves[-1][0], high, level, title))
        if title:
            start, end = self.inline[-1]
            self.marks.append(Mark("heading", title, start, end))

    def _inline_code(self, low: int, high: int, value: str) -> None:
        raw = self.data[low:high]
        ticks = len(raw) - len(raw.lstrip(b"`"))
        start, end = low + ticks, high - ticks
        self.code.append((start, end))
        if end - start <= CODE_MAX and b"\n" not in raw and value.strip():
            self.marks.append(Mark("code", self._plain(value, start, end).strip(), start, end))

    def _span(self, span: _Open, text: str) -> None:
        """Close an inline span."""
        text = " ".join(text.split())
        if span.tag in ("Strong", "Emphasis"):
            if text and span.high - span.low <= STRONG_MAX:
                kind: MarkKind = "strong" if span.tag == "Strong" else "emphasis"
                self.marks.append(Mark(kind, text, span.low, span.high))
            return
        data = span.value[span.tag]
        link_type, target = data["link_type"], data["dest_url"]
        if type(link_type) is dict:
            self._wikilink(span, target, text, link_type["WikiLink"]["has_pothole"])
        else:
            self._link(span, target, text, link_type in AUTO)

    def _wikilink(self, span: _Open, target: str, text: str, pothole: bool) -> None:
        target = target.removesuffix("\\").strip()  # in a table the bar is written \|
        page, _, anchor = target.partition("#")
        page = page.strip()
        embed = span.tag == "Image"
        kind: LinkKind = "embed" if embed else "wikilink"
        self.links.append(Link(kind, page, anchor.strip(), text or target, span.start, span.end))
        if span.low < 0 or (embed and MEDIA.search(page)):
            self.cuts.append((span.start, span.end))
            return
        if pothole:
            self.cuts.append((span.start, span.low))
        if not embed and page:
            self.marks.append(Mark("link", text or page, span.low, span.high, page))

    def _link(self, span: _Open, url: str, text: str, auto: bool) -> None:
        page, _, anchor = url.partition("#")
        kind: LinkKind = "image" if span.tag == "Image" else "link"
        target = unquote(page, errors="replace").strip() if "%" in page else page
        self.links.append(Link(kind, target, unquote(anchor), text, span.start, span.end))
        if auto or span.low < 0:
            self.cuts.append((span.start, span.end))
            return
        self.cuts.append((span.high, span.end))
        if kind == "link" and target and text and not URL_TEXT.match(text):
            self.marks.append(Mark("link", text, span.low, span.high, target))

    # --- after the events ---

    def document(self, name: str) -> ParsedDocument:
        """Return what was found."""
        self.cuts += urls(self.data)
        self._comments()
        self._html_links()
        prose = self._prose()
        in_code, in_prose = Inside(self.code), Inside(prose)
        marks = self.marks
        for found in (hashtags(self.data, in_prose), quotations(self.data, prose)):
            marks += [mark for mark in found if not in_code(mark.start)]
        title = self.front.title if self.front else ""
        if not title:
            title = self._first_title()
        marks.sort(key=lambda mark: (mark.start, mark.end, mark.kind, mark.name))
        self.links.sort(key=lambda link: (link.start, link.end))
        blocks = flat_blocks(self.data, self.leaves)
        return ParsedDocument(
            text=self.text,
            title=title or name,
            metadata=self.front.metadata if self.front else {},
            blocks=blocks,
            sections=outline(blocks, self.headings, len(self.data)),
            links=tuple(self.links),
            marks=tuple(marks),
            prose=tuple(prose),
            code=tuple(self.code),
            warnings=tuple(self.warnings),
        )

    def _first_title(self) -> str:
        """Return the first top heading, and mark it as the title."""
        for mark in self.marks:
            if mark.kind == "heading" and any(
                level == 1 and low <= mark.start < high for low, high, level, _ in self.headings
            ):
                self.marks.append(Mark("title", mark.name, mark.start, mark.end))
                return mark.name
        return ""

    def _comments(self) -> None:
        """Cut out Obsidian's comments: two marks in one block, or each at the beginning of a line."""
        if b"%%" not in self.data:
            return
        inside = Inside(self.code)
        pairs = [match.start() for match in COMMENT.finditer(self.data) if not inside(match.start())]
        for low, high in zip(pairs[0::2], pairs[1::2], strict=False):
            block = b"\n" in self.data[low:high]
            if not block or all(self.data[at - 1 : at] in (b"", b"\n") for at in (low, high)):
                self.cuts.append((low, high + 2))

    def _prose(self) -> list[Span]:
        spans: list[Span] = [(span[0], span[1]) for span in self.inline]
        if self.front and len(self.leaves) == 1:
            # A note may be a page of properties: they are its text then.
            spans = [self.front.inner]
        for low, high in self.html:
            markup = [match.span() for match in HTML_MARKUP.finditer(self.data, low, high)]
            spans += [
                (start, end)
                for start, end in without([(low, high)], markup)
                if not self.data[start:end].isspace()
            ]
        spans.sort()
        callouts: list[Span] = []
        if b"[!" in self.data:
            for start, _ in spans:
                match = CALLOUT.match(self.data, start)
                if match:
                    callouts.append(match.span())
        kept = without(spans, self.cuts + callouts)
        return [(low, high) for low, high in kept if not self.data[low:high].isspace()]

    def _html_links(self) -> None:
        if b"<a" not in self.data and b"<A" not in self.data:
            return
        inside = Inside(self.code)
        for match in HTML_LINK.finditer(self.data, self.base):
            if inside(match.start()):
                continue
            url = html.unescape((match[1] or match[2] or b"").decode("utf-8", "replace"))
            page, _, anchor = url.partition("#")
            text = HTML_MARKUP.sub(b"", match[3]).decode("utf-8", "replace")
            self.links.append(
                Link("link", unquote(page).strip(), unquote(anchor), " ".join(text.split()), *match.span())
            )
