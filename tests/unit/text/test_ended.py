"""A sentence that is made of names ends once."""

import pytest

from clew.text.display import ended


@pytest.mark.parametrize(
    "text", ["Ada.", "静かだ。", "Why?", "She said so.”", "It ends (here.)", "cut…", "क्यों।", "!"]
)
def test_what_has_ended_stays(text):
    assert ended(text) == text


@pytest.mark.parametrize("text", ["Ada", "静か", "v1.2", "", "a, b", "(here)"])
def test_what_has_not_gets_a_full_stop(text):
    assert ended(text) == f"{text}."
