"""Indexes the example's events and asks them questions, as anybody would at a terminal.

    python examples/nostr/ask.py

It needs `pip install 'clew[nostr]'`, and no network. The index goes to a temporary folder. With `--page` it
writes the page docs/nostr-example.md.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "nostr-example.md"
ME, TODAY = "Mira Solberg", "2026-03-20"
MOST_LINES = 24  # of an answer that the page shows

# What is asked, and the command that answers.
QUESTIONS: list[tuple[str, str]] = [
    ("Whom do I follow?", "clew match 'me -follows-> person'"),
    (
        "What are the people I follow writing about?",
        "clew match 'me -follows-> person <-authored_by- document -tagged_with-> tag' --since 60d",
    ),
    (
        "Which notes reference something tagged #philosophy?",
        "clew match 'document -references-> document -tagged_with-> #philosophy' -n 5",
    ),
    ("How are my notes on Nostr and Bitcoin connected?", "clew path '#nostr' '#bitcoin' -k 3"),
    (
        "What did I save this week that connects to last spring?",
        "clew bridge --recent 7d --older 180d -n 4",
    ),
    ("What did I save, and who wrote it?", "clew match 'me <-saved_by- document -authored_by-> person'"),
    ("What is around that letter on letters?", 'clew related "Листи без поспіху" --hops 1'),
    (
        "And in words: what did I save this week that connects to last spring?",
        'clew ask "what did I save this week that connects to last spring?"',
    ),
    (
        "And in words: which notes reference something tagged #philosophy?",
        'clew ask "which notes reference something tagged #philosophy?"',
    ),
    ("What did Mira read on the night train?", 'clew ask "what did Mira read on the night train?"'),
    (
        "Who wrote about attention, which is увага, this year?",
        'clew search "увага" --since 2026 -k 3',
    ),
    ("When did people write about tides?", "clew activity '#tides' --by month --since 2025-10"),
]


def run(command: str, folder: Path) -> str:
    """Run a `clew` command in a folder and return what it prints; leave with its message if it fails."""
    words = shlex.split(command)
    variables = {**os.environ, "CLEW_ME": ME, "CLEW_NOW": TODAY, "COLUMNS": "100", "NO_COLOR": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{command}: {done.stderr}")
    return done.stdout


def answers(folder: Path) -> list[tuple[str, str, str]]:
    """Index the events in ``folder`` and return question, command and answer of each."""
    shutil.copy(HERE / "events.jsonl", folder)
    run("clew index events.jsonl --embedder none", folder)
    return [(question, command, run(command, folder)) for question, command in QUESTIONS]


def page(found: list[tuple[str, str, str]]) -> str:
    """Return the documentation page."""
    parts = [INTRODUCTION]
    for question, command, answer in found:
        lines = answer.rstrip().splitlines()
        rest = len(lines) - MOST_LINES
        shown = lines[:MOST_LINES] + ([f"… and {rest} more lines"] if rest > 0 else [])
        parts.append(f"## {question}\n\n```\n$ {command}\n\n" + "\n".join(shown) + "\n```\n")
    return "\n".join(parts)


INTRODUCTION = """# An example: a bookbinder's Nostr

`examples/nostr` holds some 260 signed events of seven people who don't exist: notes, replies, articles,
follows, reactions and saves of a bookbinder in Trieste and those whom she reads, in English, German,
Spanish, Ukrainian and Japanese. `make_events.py` makes them, the same ones at every run; `ask.py`
indexes them and asks these questions:

```sh
pip install 'clew[nostr]'
python examples/nostr/ask.py
```

Below is what it prints (`ask.py --page` writes this page). It says who is asking by `CLEW_ME="Mira
Solberg"`, and what day it is by `CLEW_NOW=2026-03-20`; the events are one file, `events.jsonl`, and each
place is a line of it.
"""


def main() -> int:
    with tempfile.TemporaryDirectory() as work:
        found = answers(Path(work))
    if "--page" in sys.argv[1:]:
        PAGE.write_text(page(found), "utf-8")
        print(PAGE)
        return 0
    for question, command, answer in found:
        print(f"# {question}\n$ {command}\n\n{answer}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
