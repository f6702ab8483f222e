"""Everyday words and questions for everything, by language."""

import pytest

from clew.text.tokens import normal_words
from clew.text.wording import everyday, is_everyday, like_whole, whole_vocabulary


@pytest.mark.parametrize(
    ("language", "question", "left"),
    [
        ("en", "What is known about the lighthouse?", ["lighthouse"]),
        ("uk", "Що відомо про маяк?", ["маяк"]),
        ("de", "Wie hoch ist der Leuchtturm?", ["leuchtturm"]),
        ("fr", "Où se trouve le phare ?", ["trouve", "phare"]),
        ("ar", "متى بني المنار؟", ["بني", "المنار"]),
        ("zh", "灯塔在哪里？", ["灯", "塔"]),
        ("ja", "灯台はどこにありますか？", ["灯", "台"]),
    ],
)
def test_what_is_left_of_a_question_is_what_it_asks_about(language, question, left):
    words = normal_words(question)
    usual = is_everyday(words, [language])
    assert [word for word, one in zip(words, usual, strict=True) if not one] == left


def test_a_language_without_a_list_has_no_everyday_words():
    assert everyday("xx") == frozenset()
    assert is_everyday(["what", "is"], ["xx"]) == [False, False]
    assert like_whole("What are these notes about?", "xx") == 0.0
    assert whole_vocabulary("xx") == frozenset()


def test_the_longest_everyday_word_of_a_script_without_spaces_counts():
    assert is_everyday(list("为什么"), ["zh"]) == [True] * 3


@pytest.mark.parametrize(
    ("language", "near", "far"),
    [
        ("en", "What are the main topics here?", "Who repaired the main gate?"),
        ("uk", "Які основні теми?", "Хто полагодив ворота?"),
        ("de", "Was sind die Hauptthemen?", "Wer hat das Tor repariert?"),
        ("zh", "这些笔记的主题是什么？", "谁修好了大门？"),
        ("ja", "ノートの主なテーマは？", "誰が門を直した？"),
    ],
)
def test_questions_for_everything_are_like_each_other(language, near, far):
    assert like_whole(near, language) > 0.34 > like_whole(far, language)


def test_an_arabic_word_may_have_and_before_it():
    assert is_everyday(["وفيها", "وتر"], ["ar"]) == [True, False]
