"""`clew prompts`: list, show and export what language models are told."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from clew import prompts
from clew.cli.find import HOME
from clew.cli.reading import settings_for
from clew.cli.screen import Page, clean, line, say, write, write_json
from clew.errors import PublishError, UsageError

ACTIONS = ("list", "show", "export")


def run(action: str, target: str, flags: Mapping[str, Any], given: Path | None, as_json: bool) -> None:
    """Do what ``action`` says. Raises UsageError, OptionError, and PublishError where files can't be
    written."""
    if action not in ACTIONS:
        raise UsageError(action, "it isn't known what to do", "clew prompts [list | show NAME | export DIR]")
    if action in ("show", "export") and not target:
        what = "NAME" if action == "show" else "DIR"
        raise UsageError("prompts", f"{what} is missing", f"clew prompts {action} {what}")
    folder = settings_for(given if given is not None else Path.cwd() / HOME, flags).llm_options().prompts
    if action == "show":
        show(target, folder, as_json)
    elif action == "export":
        export(Path(target).expanduser(), as_json)
    else:
        listed(folder, as_json)


def listed(folder: str, as_json: bool) -> None:
    found = [prompts.load(name, folder) for name in prompts.names()]
    if as_json:
        write_json("prompts", {"prompts": [_payload(prompt) for prompt in found]})
        return
    page = Page()
    width = max(len(prompt.name) for prompt in found)
    for prompt in found:
        origin = (f"  {line(prompt.origin)}", "green") if prompt.origin else ""
        page.add((f"{prompt.name:<{width}}  ", "bold"), line(prompt.remark), origin)
    page.send()


def show(name: str, folder: str, as_json: bool) -> None:
    prompt = prompts.load(name, folder)
    text = Path(prompt.origin).read_text(encoding="utf-8") if prompt.origin else prompts.source(name)
    if as_json:
        write_json("prompts", {"prompts": [{**_payload(prompt), "text": text}]})
        return
    write(clean(text.rstrip("\n")) + "\n")


def export(folder: Path, as_json: bool) -> None:
    """Copy all prompts to a folder; what is there stays."""
    written, kept = [], []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in prompts.names():
            file = folder / (name + prompts.SUFFIX)
            if file.exists():
                kept.append(str(file))
            else:
                file.write_text(prompts.source(name), encoding="utf-8")
                written.append(str(file))
    except OSError as error:
        reason = error.strerror or str(error)
        raise PublishError(
            str(folder), f"prompts can't be written there ({reason})", "Name another"
        ) from error
    if as_json:
        write_json("prompts", {"folder": str(folder), "written": written, "kept": kept})
        return
    for name in written:
        write(clean(name) + "\n")
    if kept:
        say(f"Left as they are: {', '.join(map(line, kept))}", "yellow")
    say(
        f'To use them: clew ask --prompts {line(str(folder))} …, or prompts = "…" under [llm] in clew.toml',
        "dim",
    )


def _payload(prompt: prompts.Prompt) -> dict[str, Any]:
    return {
        "name": prompt.name,
        "summary": prompt.remark,
        "placeholders": list(prompt.placeholders),
        "file": prompt.origin or None,
    }
