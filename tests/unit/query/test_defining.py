"""What a thing is: passages and sentences that define what a question asks about, in several languages."""

import pytest
from small_vault import build

from clew.types import Filter

# Each language: notes (title, text), what is asked, and the sentence that says what it is. Other notes use
# the word more often, earlier and shorter.
LANGUAGES = {
    "en": (
        {
            "Harbour": "# Harbour\n\nA trait matters. Which trait is it? Each trait counts.\n",
            "Shared behaviour with traits": "# Shared behaviour with traits\n\nIn short: a _trait_ names "
            "what several types can do.\n",
            "Types": "# Types\n\nTypes with a trait, without a trait, with any trait at all.\n",
        },
        "What is a trait?",
        "names what several types can do",
    ),
    "de": (
        {
            "Hafen": "# Hafen\n\nOhne Pegel geht nichts. Der eine Pegel zählt, jeder Pegel zählt.\n",
            "Pegel": "# Pegel\n\nEin Pegel ist eine Latte, an der man die Höhe des Wassers abliest.\n",
            "Boote": "# Boote\n\nBoote liegen am Pegel, unter dem Pegel und über dem Pegel.\n",
        },
        "Was ist ein Pegel?",
        "die Höhe des Wassers",
    ),
    "uk": (
        {
            "Гавань": "# Гавань\n\nБез медоноса нема меду. Кожен медонос важить, один медонос росте тут.\n",
            "Рослини": "# Рослини\n\n**Медонос** — це рослина, з якої бджоли беруть нектар.\n",
            "Поле": "# Поле\n\nПоле, де є медонос, луг, де є медонос, і сад, де є медонос.\n",
        },
        "Що таке медонос?",
        "рослина, з якої бджоли беруть нектар",
    ),
    "zh": (
        {
            "港口": "# 港口\n\n这里有灯塔。那里也有灯塔。处处是灯塔。\n",
            "灯塔": "# 灯塔\n\n灯塔是给船只指路的高塔。\n",
            "船": "# 船\n\n船过灯塔，再过灯塔，又过灯塔。\n",
        },
        "灯塔是什么？",
        "给船只指路的高塔",
    ),
    "ja": (
        {
            "港": "# 港\n\nここに灯台がある。あそこにも灯台がある。どこも灯台だ。\n",
            "灯台": "# 灯台\n\n灯台とは、船に道を示す高い塔のことである。\n",
            "船": "# 船\n\n船は灯台を過ぎ、また灯台を過ぎる。\n",
        },
        "灯台とは何ですか？",
        "船に道を示す高い塔",
    ),
    "ar": (
        {
            "الميناء": "# الميناء\n\nهنا منارة وهناك منارة وفي كل مكان منارة.\n",
            "المنارة": "# المنارة\n\nالمنارة هي برج عال يهدي السفن في الليل.\n",
            "السفن": "# السفن\n\nتمر السفن قرب المنارة ثم قرب المنارة.\n",
        },
        "ما هي المنارة؟",
        "برج عال يهدي السفن",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_a_thing_is_comes_first(tmp_path, language):
    notes, question, fact = LANGUAGES[language]
    with build(tmp_path, {f"{key}.md": text for key, text in notes.items()}, "none") as index:
        answer = index.ask(question)
    assert fact in answer.sentences[0].text


@pytest.fixture(scope="module")
def crowded(tmp_path_factory):
    """Notes that mention "backlinks" everywhere, and in which other words of the questions are rarer."""
    notes = {
        f"n{n}.md": f"# Topic {n}\n\nBacklinks and wikilinks of topic {n} stand here. #garden\n"
        for n in range(60)
    }
    notes["Backlinks.md"] = "# Backlinks\n\nBacklinks tell which notes lead here. They are counted daily.\n"
    notes["Wikilinks.md"] = "# Wikilinks\n\nWikilinks are written with two brackets.\n"
    notes["Images.md"] = "# Images\n\nSettings say how conflicts with images are handled in a folder.\n"
    notes["Daily Notes.md"] = "# Daily Notes\n\nDaily notes are files, one for each day.\n"
    notes["Templates.md"] = (
        "# Templates\n\nThe `daily note` template makes the daily note. A daily note needs a template.\n\n"
        "## Daily Note\n\nSettings of the template.\n"
    )
    with build(tmp_path_factory.mktemp("crowded"), notes, "none") as index:
        yield index


def test_a_named_notes_definition_is_read_though_a_rarer_word_leads_elsewhere(crowded):
    answer = crowded.ask("How are backlinks handled in notes?")
    assert answer.sentences[0].text == "Backlinks tell which notes lead here."
    cited = {citation.chunk_id for citation in answer.citations}
    assert cited <= {hit.chunk.id for hit in answer.trace.hits}


def test_of_two_named_things_both_are_told(crowded):
    answer = crowded.ask("How do wikilinks and backlinks differ?")
    assert "two brackets" in answer.text
    assert "lead here" in answer.text


def test_a_singular_finds_the_note_that_has_the_plural_as_its_title(crowded):
    assert (
        crowded.ask("What is a daily note?").sentences[0].text == "Daily notes are files, one for each day."
    )


def test_a_filter_holds_for_definitions_too(crowded):
    answer = crowded.ask("What are backlinks?", where=Filter(tags=("garden",)))
    assert answer.citations
    assert "Backlinks.md" not in {hit.document.key for hit in answer.trace.hits}
