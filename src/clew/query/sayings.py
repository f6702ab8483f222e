"""Answers from the graph's structure: its edges as sentences, each with the places that state it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from clew.query.compose import join
from clew.query.model import Retrieval
from clew.text.display import ended
from clew.types import Answer, Citation, GraphPath, MatchRow, Node, PathStep, Sentence, Trace


class Sayings:
    """Sentences with their citations, numbered from 1; one place has one number."""

    def __init__(self) -> None:
        self.sentences: list[Sentence] = []
        self._cited: dict[tuple[str, int, int, int], Citation] = {}

    def say(self, text: str, citations: Iterable[Citation] = ()) -> None:
        """Add a sentence that some places support."""
        numbers = dict.fromkeys(self._number(one) for one in citations)
        self.sentences.append(Sentence(text, tuple(numbers)))

    def _number(self, citation: Citation) -> int:
        key = (citation.key, citation.start, citation.end, citation.start_line)
        if key not in self._cited:
            self._cited[key] = replace(citation, number=len(self._cited) + 1)
        return self._cited[key].number

    def answer(
        self,
        question: str,
        mode: str,
        reason: str,
        retrieval: Retrieval,
        related: Sequence[Node] = (),
    ) -> Answer:
        """Return the answer, each sentence on a line; an empty one where nothing was said."""
        sentences = tuple(self.sentences)
        trace = Trace((), (), retrieval.counts, (), retrieval.milliseconds)
        return Answer(
            question,
            join(sentences, lines=True),
            sentences,
            tuple(self._cited.values()),
            tuple(related) if sentences else (),
            mode,
            reason,
            trace,
        )


def tell_rows(said: Sayings, rows: Sequence[GraphPath | MatchRow]) -> None:
    """Say each path or row as a sentence, cited by the first place of each of its edges."""
    for row in rows:
        places = [step.view.evidence[0] for step in row.steps if step.view.evidence]
        said.say(chain(row.steps) if row.steps else ended(row.nodes[0].name), places)


def chain(steps: Sequence[PathStep]) -> str:
    """Return steps as a sentence: "Compost links to Soil, which is mentioned in Lime"."""
    text = steps[0].text
    for step in steps[1:]:
        text += f"; {step.text}"
    return ended(text)
