"""What events of each kind are, and which of them are wanted."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from clew.errors import OptionError

PROFILE, NOTE, FOLLOWS, REPOST, REACTION, GENERIC_REPOST, COMMENT = 0, 1, 3, 6, 7, 16, 1111
HIGHLIGHT, ARTICLE, PACK = 9802, 30023, 39089
MUTES, BOOKMARKS, OLD_BOOKMARKS, BOOKMARK_SET = 10000, 10003, 30001, 30003
NAMES: dict[int, str] = {
    PROFILE: "profile",
    NOTE: "note",
    FOLLOWS: "follows",
    REPOST: "repost",
    REACTION: "reaction",
    GENERIC_REPOST: "repost",
    COMMENT: "comment",
    HIGHLIGHT: "highlight",
    BOOKMARKS: "bookmarks",
    OLD_BOOKMARKS: "bookmarks",
    BOOKMARK_SET: "bookmarks",
    ARTICLE: "article",
    PACK: "pack",
}
WRITTEN = frozenset((NOTE, COMMENT, HIGHLIGHT, ARTICLE))  # their content is text
NAMED = frozenset((BOOKMARKS, OLD_BOOKMARKS, BOOKMARK_SET, PACK))  # their text is a title and a description
SAVING = frozenset((BOOKMARKS, OLD_BOOKMARKS, BOOKMARK_SET))
NUMBERS = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")
POLICIES = ("keep", "ignore")


def kind_name(kind: int) -> str:
    """Return what documents of a kind are called: ``note``, …, else ``event-30311``."""
    return NAMES.get(kind, f"event-{kind}")


def parse_kinds(values: Iterable[str]) -> list[tuple[int, int]]:
    """Return ranges of kinds (both ends included); values are numbers, ranges ``30000-39999`` and names,
    several with commas between them. Raises OptionError."""
    ranges: list[tuple[int, int]] = []
    for part in (part.strip() for value in values for part in value.split(",")):
        if not part:
            continue
        match = NUMBERS.fullmatch(part)
        named = [kind for kind, name in NAMES.items() if name == part.casefold()]
        if match:
            low, high = int(match[1]), int(match[2] or match[1])
            if low > high or high > 65535:
                raise OptionError("--kinds", f"{part} is no range of kinds", "Kinds go from 0 to 65535")
            ranges.append((low, high))
        elif named:
            ranges += [(kind, kind) for kind in named]
        else:
            known = sorted(set(NAMES.values()))
            near = get_close_matches(part, known, n=1)
            remedy = f"Did you mean {near[0]!r}? " if near else ""
            raise OptionError(
                "--kinds", f"{part!r} is no kind", f"{remedy}Give numbers, ranges, or: {', '.join(known)}"
            )
    return ranges


def is_in(kind: int, ranges: Iterable[tuple[int, int]]) -> bool:
    """Tell whether a kind is in one of some ranges."""
    return any(low <= kind <= high for low, high in ranges)
