"""Write the tables of docs/cli.md and docs/settings.md from the commands, options and registry.

    python docs/tables.py          rewrites the tables in place
    python docs/tables.py --check  exits with 1 if a table is out of date

A table stands between ``<!-- table: NAME -->`` and ``<!-- end -->``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import typer

from clew.cli.app import app
from clew.registry import plugins
from clew.settings import known

HERE = Path(__file__).parent
PAGES = ("cli.md", "settings.md", "models.md")
TABLE = re.compile(r"(<!-- table: ([\w ]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def commands() -> dict[str, Any]:
    """Return every command by name; ``clew`` stands for the options before the command."""
    group: Any = typer.main.get_command(app)
    return {"clew": group, **group.commands}


def options(command: Any) -> list[tuple[str, str]]:
    """Return each argument and option as it is typed, with its help."""
    rows = []
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            rows.append((parameter.metavar or parameter.name.upper(), parameter.help or ""))
            continue
        names = ", ".join([*parameter.opts, *parameter.secondary_opts])
        takes = "" if parameter.is_flag else f" {parameter.metavar or 'VALUE'}"
        rows.append((names + takes, parameter.help or ""))
    return rows


def table(name: str) -> str:
    """Return a table by name: a command's, ``settings``, or a kind of the registry."""
    if name == "settings":
        lines = ["| key | variable | flag | default | range | |", "|---|---|---|---|---|---|"]
        for setting in known().values():
            low = "" if setting.low is None else f"{setting.low:g} to "
            high = "" if setting.high is None else f"{setting.high:g}"
            span = low + high if high else low.replace(" to ", " or more")
            default = ", ".join(setting.default) if isinstance(setting.default, tuple) else setting.default
            cells = (f"`{setting.key}`", f"`{setting.variable}`", f"`{setting.flag}`", str(default), span)
            lines.append("| " + " | ".join((*cells, _cell(setting.help))) + " |")
        return "\n".join(lines)
    if name.startswith("registry "):
        rows = [(plugin.name, plugin.summary) for plugin in plugins(name.removeprefix("registry "))]
    else:
        # `settings` alone names the table of all settings, so the command of that name is `settings cmd`.
        rows = options(commands()[name.removesuffix(" cmd")])
    return "\n".join(["| | |", "|---|---|", *(f"| `{left}` | {_cell(right)} |" for left, right in rows)])


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def rendered(page: str) -> str:
    """Return a page with its tables made anew."""
    return TABLE.sub(lambda match: f"{match[1]}{table(match[2])}\n{match[3]}", page)


def main() -> int:
    stale = 0
    for name in PAGES:
        path = HERE / name
        text = path.read_text(encoding="utf-8")
        new = rendered(text)
        stale += new != text
        if "--check" not in sys.argv[1:]:
            path.write_text(new, encoding="utf-8")
    return 1 if stale and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
