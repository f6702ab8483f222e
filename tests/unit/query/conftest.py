"""A small vault, indexed with and without vectors."""

from __future__ import annotations

import pytest
from small_vault import NOTES, build


@pytest.fixture(scope="session")
def lexical(tmp_path_factory):
    """An index without vectors."""
    with build(tmp_path_factory.mktemp("lexical"), NOTES, "none") as index:
        yield index


@pytest.fixture(scope="session")
def dense(tmp_path_factory):
    """An index with vectors."""
    with build(tmp_path_factory.mktemp("dense"), NOTES, "minilm") as index:
        yield index


@pytest.fixture(scope="session", params=["none", "minilm"])
def index(request):
    return request.getfixturevalue("lexical" if request.param == "none" else "dense")


@pytest.fixture(scope="session")
def notes():
    return NOTES
