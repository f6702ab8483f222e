"""A scripted model that is a function of the request: it names words of the text that it is shown, relates
neighbours, and now and then says what the text doesn't."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path
from typing import Any

from clew import Index, IndexOptions
from clew.index import SilentProgress
from clew.options import EmbedOptions, ExtractOptions, ReportOptions
from clew.testing.chat import Reply, ScriptedChatModel
from clew.types import BuildResult, ChatRequest

WORD = re.compile(r"\w{2,}")
LISTED = re.compile(r"^(\d+)\. (.*?): (.*)$", re.MULTILINE)
STATED = re.compile(r"^\[(\d+)\] (.*)$", re.MULTILINE)
TYPES = ("person", "Place", "thing\x00")
CAP = re.compile(r"[A-ZА-Я][\w'-]+(?: [A-ZА-Я][\w'-]+)*")


def kind_of(request: ChatRequest) -> str:
    """Return what a request asks for: llm, types or report."""
    properties = request.schema["properties"] if request.schema else {}
    return "report" if "findings" in properties else "llm" if "relationships" in properties else "types"


def shown(request: ChatRequest) -> str:
    """Return what the last fence of the first question after the examples holds."""
    text = next(m.text for m in reversed(request.messages) if m.role == "user" and "<<<" in m.text)
    return text.partition("\n")[2].rpartition("\n")[0]


def talk(request: ChatRequest) -> str:
    """Reply to a request of any kind, the same to the same."""
    answer = {"llm": extraction, "types": types, "report": report}[kind_of(request)]
    return json.dumps(answer(request), ensure_ascii=False)


def extraction(request: ChatRequest) -> Any:
    text = shown(request).partition("\n\n")[2]
    salt = str(len(request.messages))
    words = [w for w in dict.fromkeys(WORD.findall(text)) if _chance(salt + w) < 0.3]
    names = list(dict.fromkeys([*CAP.findall(text), *words]))[:8]
    entities = [
        {"name": n, "type": TYPES[len(n) % 3], "description": f"{n} {text[:20]}", "quote": n} for n in names
    ]
    invented = {"name": "Nessie", "type": "monster", "description": "Not there.", "quote": "Nessie swims"}
    links = []
    for line in filter(str.strip, text.splitlines()):
        held = [name for name in names if name in line]
        links += [
            {"source": a, "target": b, "phrase": "goes with", "strength": _chance(a + b), "quote": line}
            for a, b in pairwise(held)
        ]
    return {"entities": [*entities, invented], "relationships": links}


def types(request: ChatRequest) -> Any:
    rows = [
        {"number": int(number), "type": TYPES[len(name) % 3], "description": text}
        for number, name, text in LISTED.findall(shown(request))
    ]
    return {"entities": [*rows, {"number": 999, "type": "x", "description": "y"}]}


def report(request: ChatRequest) -> Any:
    rows = STATED.findall(shown(request))
    findings = [{"text": text, "evidence": [int(number)]} for number, text in rows[:3]]
    findings.append({"text": "Nobody wrote this.", "evidence": []})
    title = " ".join(WORD.findall(rows[0][1])[:3]) or "Theme"
    return {
        "title": title,
        "summary": rows[0][1],
        "rating": len(rows) % 11,
        "findings": findings,
    }


def _chance(text: str) -> float:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=1).digest()[0] / 255


class Told(SilentProgress):
    """Remembers stages and notes in their order."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def stage(self, name: str, total: int | None = None) -> None:
        self.lines.append(name)

    def note(self, text: str) -> None:
        self.lines.append(text)


def options(method: str = "llm", reports: str = "extractive", **more: Any) -> IndexOptions:
    """Return options without vectors."""
    return IndexOptions(
        embed=EmbedOptions("none"),
        extract=ExtractOptions(method=method, **more),
        report=ReportOptions(method=reports),
    )


@dataclass
class Bench:
    """A folder of notes, indexed with a scripted model."""

    folder: Path
    script: Callable[[ChatRequest], Reply] = talk
    name: str = "scripted"
    requests: Sequence[ChatRequest] = field(default_factory=list)
    told: list[str] = field(default_factory=list)

    @property
    def notes(self) -> Path:
        return self.folder / "notes"

    def write(self, **texts: str) -> Bench:
        self.notes.mkdir(exist_ok=True)
        for key, text in texts.items():
            (self.notes / f"{key}.md").write_text(text, encoding="utf-8")
        return self

    def build(self, chosen: IndexOptions | None = None, place: str = "i.duckdb", **more: Any) -> BuildResult:
        """Index the notes; ``requests`` and ``told`` are then those of this build."""
        model = ScriptedChatModel(self.script, self.name)
        told = Told()
        self.requests, self.told = model.requests, told.lines
        chosen = chosen or options()
        with Index.build(
            [self.notes], self.folder / place, options=chosen, llm=model, progress=told, **more
        ) as index:
            assert index.result is not None
            assert index.doctor().whole
            return index.result
