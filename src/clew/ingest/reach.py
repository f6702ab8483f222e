"""What it means for an index that its options have changed since it was made: what is made anew, what isn't.

The caches' keys decide what is done; this tells it beforehand. What the cache remembers from an earlier
run with the new options isn't done again either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from clew.options import IndexOptions, changed_options
from clew.ports import Embedder
from clew.types import Imprint, OptionChange

Reach = Literal["files", "parse", "embed", "communities"]


def tell(
    imprint: Imprint | None, options: IndexOptions, analysis: Mapping[str, str], embedder: Embedder | None
) -> tuple[tuple[OptionChange, ...], tuple[Reach, ...], str]:
    """Return the options that the index there was made with otherwise, which stages they reach, and a line
    that says so, empty if none changed and the index is of this schema.

    ``analysis`` is what analyses depend on now (see ``clew.ingest.analyse.dependence``).
    """
    if imprint is None:
        return (), (), ""
    changes = changed_options(imprint.meta.get("options"), options)
    older = (
        "" if imprint.readable else f"The index there is of schema {imprint.schema_version}: it is made anew."
    )
    if not changes:
        return (), (), older
    keys = {change.option for change in changes}
    before = imprint.meta.get("analysis")
    parsed = [kind for kind in analysis if not isinstance(before, dict) or before.get(kind) != analysis[kind]]
    sections = {key.partition(".")[0] for key in keys}
    made, now = imprint.meta.get("embedder"), embedder.name if embedder is not None else None
    other = bool(made != now and now and "embed" in sections)
    cut = bool(parsed and now and sections & {"chunk", "embed"})
    told: dict[Reach, bool] = {
        "files": "source" in sections,
        "parse": bool(parsed),
        "embed": other or cut,
        "communities": "community" in sections,
    }
    reach = tuple(stage for stage, is_reached in told.items() if is_reached)
    shown = ", ".join(f"{one.flag} {_show(one.before)} → {_show(one.after)}" for one in changes)
    consequence = "; ".join(_consequences(reach, parsed, other, dropped=bool(made and not now)))
    line = f"Options have changed: {shown}. {consequence[0].upper()}{consequence[1:]}."
    return changes, reach, f"{older} {line}".lstrip()


def _consequences(reach: tuple[Reach, ...], parsed: list[str], other: bool, dropped: bool) -> Iterator[str]:
    if "files" in reach:
        yield "files that come in are read, those that go out are dropped"
    if "parse" in reach:
        yield "records are parsed and cut again" if parsed == ["record"] else "notes are parsed and cut again"
    if other:
        yield "all passages are embedded"
    elif "embed" in reach:
        yield "passages that come out otherwise are embedded"
    if "communities" in reach:
        yield "communities and reports are made again"
    if dropped:
        yield "vectors are left out"
    kept = [word for stage, word in (("parse", "parsed"), ("embed", "embedded")) if stage not in reach]
    if kept and "files" not in reach:
        yield f"nothing is {' or '.join(kept)} again"


def _show(value: Any) -> str:
    return (" ".join(map(str, value)) or "nothing") if isinstance(value, tuple) else str(value)
