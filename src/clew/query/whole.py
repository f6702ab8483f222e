"""Whether a question asks for the whole of the notes."""

from __future__ import annotations

import numpy as np

from clew.query.model import Engine
from clew.query.question import JUDGED, TELLING_MISSING, Closeness, Question, common_idf
from clew.text.wording import like_whole, whole_vocabulary
from clew.types import Floats

# A question may ask for the whole with one word that the notes seldom use ("themes", "overview") if there are
# common words about it; a rare or unknown word in a shorter question is asked about itself.
WHOLE_SPECIAL, WHOLE_WORDS = 1, 4
# A question to which a passage is this close isn't about the whole, however common its words are.
WHOLE_CLOSE = 0.42
# What such a question means, in the languages that multilingual models know best. An embedder compares the
# question with these by meaning, not by words; without one, the words' weights alone decide. Relative
# closeness, as of passages: this close it asks for the whole whatever else it names, or if it names nothing.
WHOLE_MEANING = (
    ("en", "What are these notes about?"),
    ("en", "What are the main topics and themes?"),
    ("en", "What is in this collection of documents?"),
    ("en", "Give me a summary and an overview of everything here."),
    ("de", "Worum geht es in diesen Notizen?"),
    ("uk", "Про що ці нотатки, які головні теми?"),
    ("es", "¿De qué tratan estas notas?"),
    ("zh", "这些笔记主要讲什么？"),
    ("ja", "これらのノートの主なテーマは何ですか"),
    ("ar", "ما هي المواضيع الرئيسية لهذه الملاحظات؟"),
)
MEANT_SURELY, MEANT = 0.72, 0.45
# Share of terms in common (Jaccard) with a known question for the whole. "What are notes?" has 0.6, so that
# it also counts as one; "What is a theme?" has a third.
LIKE_WHOLE = 0.34
SEVERAL = 2


def asks_for_whole(asked: Question, engine: Engine, closeness: Closeness, *, lenient: bool = False) -> bool:
    """Tell whether nothing in the question picks a part of the notes.

    Either it means or is worded like a question for the whole, or it names nothing that the notes define,
    none of its words tells passages apart, and no passage is close to it. ``lenient`` allows a rare word
    more, and common ones: it is for a person who asked for the themes by choosing the mode.
    """
    if not asked.words:
        return False
    meant = _meant(asked, engine, closeness)
    if meant >= MEANT_SURELY or _worded(asked):
        return True
    if len(asked.words) == 1 and asked.words[0].known and not lenient:
        # It is asked about itself, however common: "function", in notes on programming.
        return False
    if asked.named or closest(asked, engine, closeness) >= WHOLE_CLOSE:
        return False
    common = common_idf(engine)
    special = sum(1 for word in asked.words if word.salient and (not word.known or word.idf > common))
    if meant >= MEANT:
        return True
    if closeness.on:  # meaning tells better than counting
        return not special
    if asked.background:
        # A common word that isn't everyday is what is asked about: "trait", in a book on Rust.
        return not any(word.salient for word in asked.words) or (lenient and not special)
    few = special <= WHOLE_SPECIAL + lenient and len(asked.words) >= WHOLE_WORDS
    picks = any(word.salient and word.known and word.idf > common for word in asked.words)
    small = engine.reader.count("chunks") < TELLING_MISSING**0.5  # there, even common words look rare
    return not special or (few and (lenient or small or not picks))


def _worded(asked: Question) -> bool:
    """Tell whether the question's words are those of a question for the whole, and none tells more: it is
    like a known one, or names nothing and has several of their words ("sum up my files")."""
    vocabulary = whole_vocabulary(asked.language)
    salient = [word for word in asked.words if word.salient]
    if any(word.forms.isdisjoint(vocabulary) for word in salient):
        return False
    if like_whole(asked.text, asked.language) >= LIKE_WHOLE:
        return True
    return len(salient) >= SEVERAL and not asked.named


def _meant(asked: Question, engine: Engine, closeness: Closeness) -> float:
    """Return how close the question is to asking for the whole, 0 without an embedder."""
    if engine.embedder is None or asked.vector is None or not closeness.on:
        return 0.0
    name = engine.embedder.name
    if name not in _whole_vectors:
        rows = [engine.embedder.embed_question(text) for code, text in WHOLE_MEANING if closeness.reads(code)]
        _whole_vectors[name] = np.array(rows, dtype=np.float32).reshape(-1, len(asked.vector))
    return float(closeness.relative(_whole_vectors[name] @ asked.vector).max(initial=0.0))


_whole_vectors: dict[str, Floats] = {}  # by embedder; a dozen kilobytes that cost 50 ms to make


def closest(asked: Question, engine: Engine, closeness: Closeness) -> float:
    """Return how close the best passages of a hybrid search are to the question, 0 without vectors."""
    if not closeness.on:
        return 0.0
    return closeness.of_hits(engine.search(asked.text, JUDGED, "basic").hits)
