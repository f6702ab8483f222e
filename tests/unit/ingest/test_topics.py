"""Words that headings single out."""

import pytest

from clew import Index, IndexOptions
from clew.options import EmbedOptions

FILLER = "Every chapter shows code and explains what happens when the program runs over the values."


def note(number, topic, sections):
    parts = [f"# Chapter {number}: about {topic}\n\n{FILLER}\n"]
    for at in range(sections):
        parts.append(
            f"## Using {topic} over part {at}\n\nHere {topic} matters, since {topic} decides. {FILLER}\n"
        )
    return "\n".join(parts)


@pytest.mark.parametrize("topics", [("ownership", "closures"), ("власність", "замикання")], ids=["en", "uk"])
def test_what_sections_are_about_has_a_card(tmp_path, topics):
    for number in range(6):
        topic = topics[0] if number == 0 else topics[1] if number == 1 else f"stuff{number}"
        (tmp_path / f"c{number}.md").write_text(note(number, topic, 5 if number < 2 else 2), "utf-8")
    with Index.build([tmp_path], options=IndexOptions(embed=EmbedOptions(embedder="none"))) as index:
        for topic in topics:
            card = index.show(topic)
            assert card.node.name.casefold() == topic
            assert card.node.df >= 5
