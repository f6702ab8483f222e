"""What has changed since an index was made, document by document. Nothing that is built depends on it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping


def count_changes(before: Mapping[str, str], now: Mapping[str, str]) -> dict[str, int]:
    """Count the documents, given as hashes of contents by key, that are ``new``, ``edited``, ``moved`` (a
    content under another key), ``removed`` and ``unchanged``.

    A document that is gone and one that came are one moved document if they have the same content.
    """
    gone = Counter(before[key] for key in before.keys() - now.keys())
    came = Counter(now[key] for key in now.keys() - before.keys())
    moved = (gone & came).total()
    stayed = before.keys() & now.keys()
    unchanged = sum(before[key] == now[key] for key in stayed)
    return {
        "documents_new": came.total() - moved,
        "documents_edited": len(stayed) - unchanged,
        "documents_moved": moved,
        "documents_removed": gone.total() - moved,
        "documents_unchanged": unchanged,
    }
