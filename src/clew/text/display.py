"""Marked-up text as a reader sees it."""

from __future__ import annotations

import html
import re

import regex

from clew.text.tags import TAG

CODE = re.compile(r"(`+)(.+?)(?<!`)\1(?!`)", re.DOTALL)
# In this order: each works on what those before have left. Before a pattern stand strings of which a text
# that it matches holds one: looking for them takes a twentieth of a search by the pattern.
MARKUP: tuple[tuple[tuple[str, ...], re.Pattern[str], str], ...] = (
    (("<!--", "%%"), re.compile(r"<!--.*?-->|%%.*?%%", re.DOTALL), " "),
    ((">",), re.compile(r"^[ \t]*(?:>[ \t]?)+", re.MULTILINE), ""),
    (("![",), re.compile(r"!\[\[[^\]\n]*\]\]|!\[[^\]]*\]\([^)\n]*\)"), ""),
    (("[[",), re.compile(r"\[\[(?:[^\]|\n]*\|)([^\]\n]+)\]\]"), r"\1"),
    (("[[",), re.compile(r"\[\[#?([^\]\n]+)\]\]"), r"\1"),
    (("[^",), re.compile(r"\[\^[^\]\s]+\]:?"), ""),
    (
        ("](",),
        re.compile(r"\[([^\[\]]+)\]\((?:[^()\s]|\([^()]*\))*(?:\s+\"[^\"]*\")?\)"),
        r"\1",
    ),
    (("][",), re.compile(r"\[([^\[\]]+)\](?:\[[^\[\]]*\])"), r"\1"),
    (("<http",), re.compile(r"<(https?://[^>\s]+)>"), r"\1"),
    (("<",), TAG, ""),
    (
        ("*", "_"),
        re.compile(r"(?<![\w\\])(\*{1,3}|_{1,3})(?=\S)(.+?)(?<=[^\s\\])\1(?!\w)", re.DOTALL),
        r"\2",
    ),
    (("*",), re.compile(r"(?<!\\)\*{1,3}(?=\S)(.+?)(?<=[^\s\\])\*{1,3}", re.DOTALL), r"\1"),
    (("~~", "=="), re.compile(r"(~~|==)(?=\S)(.+?)(?<=\S)\1", re.DOTALL), r"\2"),
    (("^",), re.compile(r"\s\^[\w-]+$", re.MULTILINE), ""),
    (("\\",), re.compile(r"\\([!-/:-@\[-`{-~])"), r"\1"),
)
# What a link shows: its text. Addresses by themselves show nothing that reads as a statement.
LINK_TEXT = re.compile(
    r"(?<!!)\[\[(?:[^\]|\n]*\|)?([^\]|\n]+)\]\]|(?<!!)\[([^\[\]]+)\](?:\([^)\n]*\)|\[[^\[\]]*\])|<?(https?://[^>\s]+)>?"
)
MARKED = re.compile(r"[][*_~=`<>\\&%^\ue000]")  # most sentences have none of these
ROOM = re.compile(r"\s+")
ENDED = regex.compile(r"[\p{Sentence_Terminal}…][\p{Pe}\p{Pf}\"']*\s*$")
PLACE = re.compile("\ue000(\\d+)\ue001")  # private use characters stand for code spans meanwhile


def plain(text: str) -> str:
    """Return a piece of Markdown without its markup, on one line. Inline code keeps its characters."""
    if not MARKED.search(text):
        return ROOM.sub(" ", text).strip()
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[2].strip() or match[2])
        return f"\ue000{len(kept) - 1}\ue001"

    if "\ue000" in text:
        return ROOM.sub(" ", text).strip()
    out = CODE.sub(keep, text) if "`" in text else text
    for needed, pattern, replacement in MARKUP:
        for piece in needed:
            if piece in out:
                out = pattern.sub(replacement, out)
                break
    out = html.unescape(out)
    if kept:
        out = PLACE.sub(lambda match: kept[int(match[1])], out)
    return ROOM.sub(" ", out).strip()


def ended(text: str) -> str:
    """Return a text with a full stop, unless it ends as a sentence or a cut title does, in any script."""
    return text if ENDED.search(text) else f"{text}."


def plural(count: int, noun: str) -> str:
    """Return a number with its noun: "1 passage", "2 passages"."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def link_share(marked: str, shown: str) -> float:
    """Return the share of the shown text that is the text of links, 0 to 1."""
    if "[" not in marked and "://" not in marked:
        return 0.0
    links = sum(len(plain(a or b or c)) for a, b, c in LINK_TEXT.findall(marked))
    return min(links / max(len(shown), 1), 1.0)
