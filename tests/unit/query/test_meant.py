"""Which names of a question lead into the graph."""

import pytest

from clew import Index, IndexOptions
from clew.options import EmbedOptions
from clew.query.rank import node_seeds

WORDS = {
    "en": ("kiln", "Every kiln of the valley was built by hand, says the book of page {0}."),
    "uk": ("криниця", "Стара криниця номер {0} стоїть біля дороги, вода в ній холодна."),
    "de": ("brunnen", "Der alte brunnen an der Straße {0} ist seit dem Krieg trocken."),
}


@pytest.fixture(scope="module")
def engine(tmp_path_factory):
    folder = tmp_path_factory.mktemp("meant")
    for word, text in WORDS.values():
        for number in range(40):
            (folder / f"{word}-{number}.md").write_text(
                f"# {word} {number}\n\n{text.format(number)}\n", "utf-8"
            )
        code = f"# Program {word}\n\nAll commands.\n\n## `{word}`\n\nRuns quickly.\n"
        (folder / f"program {word}.md").write_text(code, "utf-8")
    (folder / "Orla Vennick.md").write_text("# Orla Vennick\n\nOrla Vennick was a potter.\n", "utf-8")
    with Index.build([folder], options=IndexOptions(embed=EmbedOptions(embedder="none"))) as built:
        yield built.engine


@pytest.mark.parametrize("word", [word for word, _ in WORDS.values()])
def test_a_word_that_seldom_means_the_node_is_no_seed(engine, word):
    (name,) = engine.lexicon.names(f"{word}?")
    df = engine.space.node_df[list(name.nodes)]
    assert name.holders >= 40
    assert df.max() <= 2  # few enough to lead somewhere, were it not for the word
    assert not node_seeds(engine.space, [name])


def test_a_name_is_a_seed_however_it_is_written(engine):
    names = engine.lexicon.names("who was orla vennick")
    assert [name.holders for name in names] == [1]
    assert node_seeds(engine.space, names)
