"""Clew turns notes into a knowledge graph in one file and answers questions from it.

The public names are loaded at first use (PEP 562), so that ``import clew`` and ``clew --help`` cost nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from clew.errors import ClewError as ClewError
    from clew.index import Index as Index
    from clew.options import AnswerOptions as AnswerOptions
    from clew.options import IndexOptions as IndexOptions
    from clew.types import Answer as Answer
    from clew.types import Citation as Citation
    from clew.types import Filter as Filter
    from clew.types import Hit as Hit
    from clew.watching import watch as watch

_HOMES = {
    "Answer": "clew.types",
    "AnswerOptions": "clew.options",
    "Citation": "clew.types",
    "ClewError": "clew.errors",
    "Filter": "clew.types",
    "Hit": "clew.types",
    "Index": "clew.index",
    "IndexOptions": "clew.options",
    "watch": "clew.watching",
}

__all__ = [
    "Answer",
    "AnswerOptions",
    "Citation",
    "ClewError",
    "Filter",
    "Hit",
    "Index",
    "IndexOptions",
    "__version__",
    "watch",
]


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'clew' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
