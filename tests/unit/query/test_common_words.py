"""Questions whose only words are common in the notes, and what is shown of words."""

import pytest
from small_vault import build

SUBJECTS = {
    "en": ("tractor", "A tractor pulls the plough number {n} over field {n}."),
    "uk": ("трактор", "Трактор тягне плуг номер {n} через поле {n}."),
    "de": ("Traktor", "Ein Traktor zieht den Pflug Nummer {n} über Feld {n}."),
    "ja": ("農業", "農業は村{n}の仕事です。"),
}


@pytest.fixture(scope="module", params=[*((name, "none") for name in SUBJECTS), ("en", "minilm")])
def common(request, tmp_path_factory):
    """Notes each of which has the word, and the word."""
    language, embedder = request.param
    word, text = SUBJECTS[language]
    notes = {f"n{n}.md": f"{text.format(n=n)} Abc{n}.\n" for n in range(60)}
    with build(tmp_path_factory.mktemp(language), notes, embedder) as index:
        yield index, word


@pytest.mark.parametrize("mode", ["auto", "basic", "local"])
def test_a_word_in_every_passage_is_answered_about_itself(common, mode):
    index, word = common
    answer = index.ask(word, mode)
    assert word.casefold() in answer.text.casefold()
    assert answer.mode != "global"


@pytest.mark.parametrize(
    ("question", "shown"),
    [("Who disliked street musics?", "musics"), ("помідорам сонце", "помідорам"), ("Gärten", "")],
)
def test_reasons_name_the_words_as_they_were_asked(index, question, shown):
    words = {word.strip("?").casefold() for word in question.split()}
    for hit in index.search(question, k=5):
        if hit.why.startswith("it has "):
            held = hit.why.removeprefix("it has ").split(";")[0].split(", ")
            assert set(held) <= words


def test_each_seed_has_a_label(index):
    for question in ("Who disliked street music?", "Ada Lovelace", "京都"):
        for seed in index.ask(question, "local").trace.seeds:
            assert seed.label
            if seed.kind == "chunk":
                assert seed.label.rpartition(":")[2].isdigit()
