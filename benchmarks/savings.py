"""What dynamic selection of reports saves, in tokens of prompts: `global` against static searches.

    python benchmarks/savings.py NOTES...

A model that answers at once rates a report 8 if it has a longer word of the question, else 1:
what is measured is the selection and its terms, not a model's judgement. Beside it stand, in prompts of the
same size by the same count: the roots' reports alone, all reports of the deepest level, and all text.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
from pathlib import Path

from clew import AnswerOptions, Index
from clew.options import EmbedOptions, IndexOptions
from clew.testing.chat import ScriptedChatModel
from clew.text.tokens import normal_words
from clew.types import ChatRequest
from common import save, table

QUESTIONS = 12


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notes", nargs="+", type=Path)
    given = parser.parse_args()
    rows = {}
    for notes in given.notes:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "index.duckdb"
            Index.build([notes], file, options=IndexOptions(embed=EmbedOptions("none"))).close()
            rows[notes.name] = measured(file)
    columns = list(next(iter(rows.values())))
    print(table(["notes", *columns], [[name, *map(str, row.values())] for name, row in rows.items()]))
    print(save("savings", {"runs": rows}))


def measured(file: Path) -> dict[str, float]:
    """Return the means over questions on titles spread over the notes."""
    found = []
    with Index.open(file, llm=ScriptedChatModel(reply)) as index:
        documents = index.engine.reader.documents()
        asked = [one.title for one in documents[:: max(len(documents) // QUESTIONS, 1)]][:QUESTIONS]
        for title in asked:
            answer = index.ask(
                f"What do the notes say on {title}?", "global", options=AnswerOptions(reports=500)
            )
            if "reports_tokens" in answer.trace.counts:
                found.append(answer.trace.counts)
        passages = index.engine.reader.count("chunks")
    mean = {name: round(sum(one[name] for one in found) / len(found)) for name in KEPT}
    text = mean["text_tokens"]
    shares = {
        "fewer than deepest": round(1 - mean["reports_tokens"] / mean["reports_tokens_static"], 3),
        "fewer than text": round(1 - mean["reports_tokens"] / text, 3),
        "roots, fewer than text": round(1 - mean["reports_tokens_roots"] / text, 3),
    }
    return {"passages": passages, "questions": len(found), **mean, **shares}


KEPT = (
    "reports_total",
    "reports_considered",
    "reports_tokens",
    "reports_tokens_static",
    "reports_tokens_roots",
    "text_tokens",
)


def reply(request: ChatRequest) -> str:
    """Answer a rating by words, a map call by a point, and the answer itself by a sentence."""
    text = request.messages[-1].text
    notes, _, question = text.rpartition("Question: ")
    if request.schema is None:
        return "They say so [1]."
    if "points" in request.schema["properties"]:
        return json.dumps({"points": [{"text": "They say so [1].", "rating": 8}]})
    words = {word for word in normal_words(question) if len(word) > 3} - {"what", "notes"}
    reports = re.split(r"^\[(\d+)\] ", notes, flags=re.MULTILINE)[1:]
    rated = [
        {"number": int(number), "rating": 8 if words & set(normal_words(report)) else 1}
        for number, report in zip(reports[::2], reports[1::2], strict=True)
    ]
    return json.dumps({"ratings": rated})


if __name__ == "__main__":
    main()
