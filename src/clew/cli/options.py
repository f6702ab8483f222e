"""Command-line options that are made from the fields of clew.options."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer

from clew.settings import Setting, known

ME = "me"  # the setting that tells who asks
_TYPES: dict[str, Any] = {
    "int": int | None,
    "float": float | None,
    "bool": bool | None,
    "str": str | None,
    "list": list[str] | None,
}


def settings_options(*sections: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command a flag for each setting of the sections (``""``: those in none but ``me``), or of a key.

    The command gets the values by key in its parameter ``flags``; None means not given. Flags take
    their help, default and range from the field, so a new field is a new flag.
    """
    chosen = [s for s in known().values() if s.key in sections or (s.key != ME and _section(s) in sections)]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**given: Any) -> None:
            flags = {setting.key: given.pop(_name(setting)) or None for setting in chosen_lists}
            flags |= {setting.key: given.pop(_name(setting)) for setting in chosen_scalars}
            command(flags=flags, **given)

        signature = inspect.signature(command, eval_str=True)
        own = [parameter for parameter in signature.parameters.values() if parameter.name != "flags"]
        made = [_parameter(setting) for setting in chosen]
        run.__signature__ = signature.replace(parameters=[*own, *made])  # type: ignore[attr-defined]
        run.__annotations__ = {parameter.name: parameter.annotation for parameter in [*own, *made]}
        return run

    # A repeatable flag that isn't given is an empty list for some versions of typer, None for others.
    chosen_lists = [setting for setting in chosen if setting.kind == "list"]
    chosen_scalars = [setting for setting in chosen if setting.kind != "list"]
    return decorate


def _section(setting: Setting) -> str:
    return setting.key.rpartition(".")[0]


def _name(setting: Setting) -> str:
    return "set_" + setting.key.replace(".", "_")


def _parameter(setting: Setting) -> inspect.Parameter:
    shown = f"{setting.help} [{_facts(setting)}]"
    option = typer.Option(
        setting.flag,
        help=shown,
        metavar=_metavar(setting),
        show_default=False,
        autocompletion=_COMPLETIONS.get(setting.key),
    )
    return inspect.Parameter(
        _name(setting),
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[_TYPES[setting.kind], option],
    )


def _metavar(setting: Setting) -> str:
    if setting.metavar:
        return setting.metavar
    if setting.choices:
        return "|".join(setting.choices)
    if setting.kind == "list":
        return "PATTERN"
    return {"int": "N", "float": "X", "str": "NAME"}.get(setting.kind, "VALUE")


def _facts(setting: Setting) -> str:
    """Return default and range, or "repeatable"."""
    if setting.kind == "list":
        return "repeatable"
    if setting.default == "":
        return "default: none"
    facts = [f"default: {setting.default}"]
    if setting.low is not None and setting.high is not None:
        facts.append(f"{setting.low:g} to {setting.high:g}")
    elif setting.low is not None:
        facts.append(f"{setting.low:g} or more")
    return "; ".join(facts)


def _embedders(incomplete: str) -> list[str]:
    from clew.registry import NO_EMBEDDER, names

    return [name for name in [*names("embedders"), NO_EMBEDDER] if name.startswith(incomplete)]


def _llms(incomplete: str) -> list[str]:
    from clew.registry import NO_LLM, names

    offered = [*(f"{name}:" for name in names("llms")), NO_LLM]
    return [name for name in offered if name.startswith(incomplete)]


_COMPLETIONS = {"embed.embedder": _embedders, "llm.model": _llms, "llm.rating_model": _llms}
