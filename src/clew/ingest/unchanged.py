"""Whether there is anything to do: an index records what it was made from, and the same gives the same.

What counts is everything that the index is a function of: the documents' bytes and names, the options, and
the code, Clew's own and that of the libraries it stands on. The record is beside the contents and no part
of the generation: two machines with other libraries may well make the same index.
"""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from importlib import metadata
from pathlib import Path
from typing import Any

import clew
from clew.ids import content_hash
from clew.ports import Embedder, Extractor, Tokenizer
from clew.types import Imprint, Origin, RawDocument


def fingerprint(
    raws: Sequence[RawDocument],
    recorded: Mapping[str, Any],
    tokenizer: Tokenizer,
    window: int,
    extractors: Sequence[Extractor],
    embedder: Embedder | None,
    model: Mapping[str, Any] | None = None,
) -> str:
    """Return the hash of all that an index depends on; ``recorded`` are the options as it records them,
    ``model`` what it records of the language model that is asked.

    It doesn't depend on the order of ``raws``. Hashing takes about a millisecond a megabyte.
    """
    names = [tokenizer.name, str(window), embedder.name if embedder is not None else ""]
    total = blake2b(digest_size=16)
    for part in (recorded, names, [one.name for one in extractors], model, _code()):
        total.update(_json(part) + b"\n")
    for raw in sorted(raws, key=lambda raw: raw.key):
        given = (raw.key, raw.location, raw.media_type, raw.title, raw.line, dict(raw.metadata))
        stated = (raw.kind, raw.created_at, raw.author, raw.ids, raw.titled, raw.relations, raw.people)
        total.update(_json([*given, content_hash(raw.data), repr(stated), raw.committed_at]) + b"\n")
    return total.hexdigest()


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, default=str).encode()


def _code() -> list[str]:
    """Return the hash of Clew's source files and the versions of Python and of what Clew requires."""
    folder = Path(clew.__file__).parent
    own = blake2b(digest_size=16)
    for path in sorted(folder.rglob("*.py"), key=lambda path: path.relative_to(folder).parts):
        own.update(content_hash(path.read_bytes()).encode())
    versions = [f"clew {clew.__version__}", f"python {platform.python_version()}"]
    for name in sorted(_required()):
        try:
            versions.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:  # of an extra that isn't installed
            continue
    return [own.hexdigest(), *versions]


def _required() -> set[str]:
    try:
        lines = metadata.requires("clew") or []
    except metadata.PackageNotFoundError:  # run from a folder of sources
        return set()
    ends = str.maketrans(dict.fromkeys("<>=!~;[( ", " "))
    return {line.translate(ends).split()[0] for line in lines}


def unchanged(imprint: Imprint | None, made_from: str, sources: Sequence[Origin]) -> Mapping[str, Any] | None:
    """Return the record in an index's imprint if it was made from just this; else None.

    None too if there is no index that can be read, and for one made before there was such a record. That
    what is in the index is undamaged isn't looked at.
    """
    if imprint is None or not imprint.readable or not isinstance(imprint.made, dict):
        return None
    same = imprint.made.get("from") == made_from and list(imprint.sources) == list(sources)
    return imprint.made if same else None
