"""What it means for an index that its options have changed since it was made: what is made anew, what isn't.

The caches' keys decide what is done; this tells it beforehand. What the cache remembers from an earlier
run with the new options isn't done again either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from clew.options import IndexOptions, changed_options, flag_of
from clew.ports import Embedder
from clew.types import Imprint, OptionChange

Reach = Literal["files", "parse", "embed", "communities", "extract", "reports"]


def tell(
    imprint: Imprint | None,
    options: IndexOptions,
    analysis: Mapping[str, str],
    embedder: Embedder | None,
    asks: Mapping[str, Any] | None = None,
) -> tuple[tuple[OptionChange, ...], tuple[Reach, ...], str]:
    """Return the options that the index there was made with otherwise, which stages they reach, and a line
    that says so, empty if none changed and the index is of this schema.

    ``analysis`` is what analyses depend on now (see ``clew.ingest.analyse.dependence``), ``asks`` what is
    recorded of the language model (``clew.ingest.consult.Model.record``).
    """
    if imprint is None:
        return (), (), ""
    prompts = _other_prompts(imprint, asks)
    changes = (*changed_options(imprint.meta.get("options"), options), *_other_model(imprint, asks, prompts))
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
        "extract": "extract" in sections or "llm.model" in keys or bool(prompts - {"report"}),
        "reports": "report" in sections or "llm.model" in keys or "report" in prompts,
    }
    told["extract"] &= options.extract.method != "none" or "extract.method" in keys
    told["reports"] &= options.report.method != "extractive" or "report.method" in keys
    reach = tuple(stage for stage, is_reached in told.items() if is_reached)
    shown = ", ".join(f"{one.flag} {_show(one.before)} → {_show(one.after)}" for one in changes)
    consequence = "; ".join(_consequences(options, reach, parsed, other, dropped=bool(made and not now)))
    line = f"Options have changed: {shown}. {consequence[0].upper()}{consequence[1:]}."
    return changes, reach, f"{older} {line}".lstrip()


_ASKED = {
    "none": "what the model named is left out",
    "types": "types and descriptions are asked for",
    "llm": "the model is asked about all passages to which it has no kept reply",
}


def _other_model(
    imprint: Imprint, asks: Mapping[str, Any] | None, prompts: set[str]
) -> Iterator[OptionChange]:
    """Yield the change of the language model and that of the texts of ``prompts``, where one was asked before
    and is now."""
    before = imprint.meta.get("model")
    if not isinstance(before, Mapping) or asks is None:
        return
    if before.get("model") != asks["model"]:
        yield OptionChange("llm.model", flag_of("llm.model"), before.get("model"), asks["model"])
    if prompts:
        names = ", ".join(sorted(prompts))
        yield OptionChange("llm.prompts", flag_of("llm.prompts"), f"{names} as it was", "another text")


def _other_prompts(imprint: Imprint, asks: Mapping[str, Any] | None) -> set[str]:
    """Return the names of the prompts that had another text when the index was made."""
    before = imprint.meta.get("model")
    known = before.get("prompts") if isinstance(before, Mapping) else None
    if not isinstance(known, Mapping) or asks is None:
        return set()
    return {name for name, text in asks["prompts"].items() if known.get(name, text) != text}


def _consequences(
    options: IndexOptions, reach: tuple[Reach, ...], parsed: list[str], other: bool, dropped: bool
) -> Iterator[str]:
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
    if "extract" in reach:
        yield _ASKED[options.extract.method]
    if "reports" in reach:
        llm = options.report.method == "llm"
        yield "reports are written by the model" if llm else "reports are sentences of the notes again"
    kept = [word for stage, word in (("parse", "parsed"), ("embed", "embedded")) if stage not in reach]
    if kept and "files" not in reach:
        yield f"nothing is {' or '.join(kept)} again"


def _show(value: Any) -> str:
    return (" ".join(map(str, value)) or "nothing") if isinstance(value, tuple) else str(value)
