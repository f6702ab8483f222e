"""Names in another script in brackets, initials, and everyday words that are no names."""

import pytest
from made_corpus import edges, graph_of, node


@pytest.mark.parametrize(
    ("title", "text", "gloss"),
    [
        ("佐藤葵", "佐藤葵 (Sato Aoi)は福岡で地震を研究している。", "Sato Aoi"),
        ("高橋健", "山の案内人の高橋健（Takahashi Ken）は親切だ。", "Takahashi Ken"),
        ("Лесь Курбас", "Режисер Лесь Курбас (Les Kurbas) працював у Харкові.", "Les Kurbas"),
        ("Katsushika Hokusai", "Katsushika Hokusai (葛飾北斎) painted waves.", "葛飾北斎"),
    ],
)
def test_a_name_in_brackets_in_another_script_is_a_name_of_the_same(title, text, gloss):
    graph = graph_of(
        {title: f"# {title}\n\n{text}\n", "Other": f"# Other\n\nA letter to {gloss} came back.\n"}
    )
    at = node(graph, title, "document")
    assert gloss in {graph.name_surface[i] for i, n in enumerate(graph.name_node.tolist()) if n == at}
    chunks = {
        int(chunk)
        for chunk, n in zip(graph.mention_chunk.tolist(), graph.mention_node.tolist(), strict=True)
        if n == at
    }
    assert len(chunks) == 2  # it is mentioned where only the gloss stands


@pytest.mark.parametrize(
    "text",
    [
        "佐藤葵 (1990)は福岡にいる。",  # a year
        "佐藤葵 (see the notes, page 4) は福岡にいる。",  # a remark
        "佐藤葵 Sato Aoi は福岡にいる。",  # no brackets
    ],
)
def test_what_else_stands_after_a_name_is_no_name_of_it(text):
    graph = graph_of({"佐藤葵": f"# 佐藤葵\n\n{text}\n"})
    at = node(graph, "佐藤葵", "document")
    assert {graph.name_surface[i] for i, n in enumerate(graph.name_node.tolist()) if n == at} == {"佐藤葵"}


def test_a_title_of_its_own_isnt_taken_over():
    graph = graph_of(
        {"京都": "# 京都\n\n京都 (Kyoto)は古都である。\n", "Kyoto": "# Kyoto\n\nKyoto has many temples.\n"}
    )
    assert node(graph, "Kyoto", "document") != node(graph, "京都", "document")
    assert "Kyoto" in graph.name


def test_a_last_word_is_the_name_with_initials_that_a_note_defines():
    files = {
        "J. R. R. Tolkien": "# J. R. R. Tolkien\n\nHe taught Old English and drew maps.\n",
        "Letters": "# Letters\n\nIn these Tolkien complains. They say that Tolkien wrote at night.\n",
        "Fresnel Lens": "# Fresnel Lens\n\nIt was ground in Paris for the tower.\n",
        "Shop": "# Shop\n\nThey sell a Lens a day. The new Lens is of plastic.\n",
    }
    same = {frozenset(pair) for pair in edges(graph_of(files), "same_as")}
    assert frozenset(("J. R. R. Tolkien", "Tolkien")) in same
    assert frozenset(("Fresnel Lens", "Lens")) not in same


@pytest.mark.parametrize(
    ("language", "texts", "word"),
    [
        ("uk", ["Вона прийшла з лісу. Вона принесла гриби.", "Вона знову пішла. Вона мовчала."], "Вона"),
        ("uk", ["Тут тихо. Тут немає людей зовсім.", "Тут росте верба. Тут спить кіт."], "Тут"),
        ("en", ["Her house is red. Her boat leaks.", "Her letters came late. Her dog barks."], "Her"),
        ("zh", ["我们去山上。我们喝茶。", "今天我们休息。后来我们回家。", "我们喜欢雨。"], "我们"),
        ("zh", ["山上没有人。河里没有水。", "家里没有米。", "没有办法了。"], "没有"),
        ("ar", ["فيها بيت قديم. فيها بئر.", "فيها سوق كبير. رأينا فيها قلعة."], "فيها"),
    ],
)
def test_everyday_words_are_no_names(language, texts, word):
    files = {f"n{i}": text for i, text in enumerate(texts)}
    assert word not in graph_of(files, language=language).name


def test_an_everyday_word_with_a_capital_in_mid_sentence_stays_a_name():
    files = {f"n{i}": f"Report {i}: the Who played in hall {i}. I heard Who songs." for i in range(3)}
    assert any("Who" in name for name in graph_of(files, language="en").name)
