"""Whether a question is answered, refused, or taken for one about everything, in several languages."""

import pytest
from small_vault import build

VAULTS = {
    "en": [
        (
            "Lighthouse",
            "The lighthouse on the point was built in 1871. Its lamp turns once in nine seconds.",
        ),
        ("Boathouse", "The boathouse holds two rowing boats. Its roof was mended with larch shingles."),
        ("Anna Velt", "Anna Velt keeps the lighthouse. She paints gulls and sells them at the market."),
        ("Bread", "Rye bread is baked on Fridays. The dough rests for twelve hours in a wooden trough."),
    ],
    "uk": [
        ("Маяк", "Маяк на мисі збудували 1871 року. Його лампа обертається раз на дев'ять секунд."),
        ("Одеса", "Одеса — портове місто. Тут багато сходів і котів."),
        ("Ганна Вельт", "Ганна Вельт доглядає маяк. Вона малює чайок і продає їх на базарі."),
        ("Хліб", "Житній хліб печуть у п'ятницю. Тісто відпочиває дванадцять годин у діжі."),
    ],
    "de": [
        ("Leuchtturm", "Der Leuchtturm am Kap wurde 1871 gebaut. Seine Lampe dreht sich alle neun Sekunden."),
        ("Bootshaus", "Im Bootshaus liegen zwei Ruderboote. Das Dach ist mit Lärchenschindeln gedeckt."),
        ("Anna Velt", "Anna Velt hütet den Leuchtturm. Sie malt Möwen und verkauft sie auf dem Markt."),
        ("Brot", "Roggenbrot wird freitags gebacken. Der Teig ruht zwölf Stunden in einem Trog."),
    ],
    "zh": [
        ("灯塔", "灯塔建于一八七一年，位于岬角。灯每九秒转一圈。"),
        ("船屋", "船屋里有两条划艇。屋顶用落叶松木瓦修补过。"),
        ("安娜", "安娜看守灯塔。她画海鸥，在集市上出售。"),
        ("面包", "黑麦面包每周五烘烤。面团在木槽里静置十二小时。"),
    ],
    "ja": [
        ("灯台", "灯台は一八七一年に岬に建てられた。灯は九秒に一回転する。"),
        ("船小屋", "船小屋には手漕ぎ舟が二艘ある。屋根はカラマツの板で直した。"),
        ("アンナ", "アンナは灯台を守っている。カモメの絵を描いて市場で売る。"),
        ("パン", "ライ麦パンは金曜日に焼く。生地は木の桶で十二時間寝かせる。"),
    ],
    "ar": [
        ("المنارة", "بنيت المنارة على الرأس عام 1871. يدور مصباحها مرة كل تسع ثوان."),
        ("بيت القوارب", "في بيت القوارب زورقان للتجديف. أصلح السقف بألواح الصنوبر."),
        ("آنا", "تحرس آنا المنارة. ترسم النوارس وتبيعها في السوق."),
        ("الخبز", "يخبز خبز الشعير كل يوم جمعة. يرتاح العجين اثنتي عشرة ساعة."),
    ],
}


@pytest.fixture(scope="module")
def vault(tmp_path_factory):
    """Return the index of a language's vault, without or with vectors; each is built once."""
    made = {}

    def open_vault(language, embedder="none"):
        if (language, embedder) not in made:
            notes = {f"{title}.md": f"{text}\n" for title, text in VAULTS[language]}
            folder = tmp_path_factory.mktemp("vault")
            made[language, embedder] = build(folder, notes, embedder)
        return made[language, embedder]

    yield open_vault
    for index in made.values():
        index.close()


@pytest.mark.parametrize("embedder", ["none", "minilm"])
@pytest.mark.parametrize(
    ("language", "question", "fact"),
    [
        ("en", "When was the lighthouse built?", "1871"),
        ("uk", "Коли збудували маяк?", "1871"),
        ("uk", "Що відомо про Одесу?", "портове місто"),
        ("de", "Wann wurde der Leuchtturm gebaut?", "1871"),
        ("zh", "灯塔是哪一年建的？", "一八七一年"),
        ("ja", "灯台はいつ建てられましたか？", "一八七一年"),
        ("ar", "متى بنيت المنارة؟", "1871"),
    ],
)
def test_what_the_notes_tell_is_answered(vault, language, question, fact, embedder):
    answer = vault(language, embedder).ask(question)
    assert any(fact in citation.quote for citation in answer.citations)


@pytest.mark.parametrize("embedder", ["none", "minilm"])
@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "What is the capital of Peru?"),
        ("en", "Tell me about Barcelona"),
        ("uk", "Яка столиця Чилі?"),
        ("uk", "Що відомо про Барселону?"),
        ("de", "Was ist die Hauptstadt von Peru?"),
        ("de", "Was wissen wir über Barcelona?"),
        ("zh", "秘鲁的首都是哪里？"),
        ("zh", "谁发明了电话？"),
        ("ja", "ペルーの首都はどこですか？"),
        ("ja", "電話を発明したのは誰ですか？"),
        ("ar", "ما هي عاصمة بيرو؟"),
        ("ar", "من اخترع الهاتف؟"),
    ],
)
def test_what_they_dont_tell_is_refused(vault, language, question, embedder):
    answer = vault(language, embedder).ask(question)
    assert answer.text == ""
    assert answer.citations == ()
    assert "nothing" in answer.reason


@pytest.mark.parametrize("mode", ["auto", "global"])
@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "What are these notes about?"),
        ("uk", "Про що ці нотатки?"),
        ("uk", "Які тут головні теми?"),
        ("de", "Was sind die wichtigsten Themen?"),
        ("zh", "这些笔记讲了什么？"),
        ("ja", "主なテーマは何ですか？"),
        ("ar", "ما هي المواضيع الرئيسية؟"),
    ],
)
def test_a_question_about_everything_gets_the_themes(vault, language, question, mode):
    answer = vault(language).ask(question, mode)
    assert answer.mode == "global"
    assert len(answer.sentences) >= 1
    assert " — " in answer.text


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "Sum up what all this is about"),
        ("en", "The gist of my whole vault?"),
        ("uk", "Які теми трапляються в моїх записах?"),
        ("uk", "Підсумуй мої файли"),
        ("de", "Fasse meine Sammlung zusammen"),
        ("zh", "概括这些文件的内容"),
        ("ja", "私のファイルの要点は何ですか？"),
        ("ar", "لخص محتوى هذا المجلد"),
    ],
)
def test_so_does_one_in_other_words(vault, language, question):
    answer = vault(language).ask(question)
    assert answer.mode == "global"
    assert " — " in answer.text


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("en", "What is in the boathouse?"),
        ("en", "What did Anna Velt collect here?"),
        ("uk", "Що є в Одесі?"),
        ("de", "Was steht im Bootshaus?"),
        ("zh", "船屋里有什么内容？"),
        ("ar", "ماذا يوجد في بيت القوارب؟"),
    ],
)
def test_but_not_one_that_names_a_part(vault, language, question):
    assert vault(language).ask(question).mode != "global"


def test_a_common_word_is_asked_about_itself(tmp_path):
    notes = {f"n{n}.md": f"# Note {n}\n\nA trait tells what a type {n} can do. Abc{n}.\n" for n in range(40)}
    with build(tmp_path, notes, "none") as index:
        answer = index.ask("What is a trait?")
        assert answer.mode != "global"
        assert "trait" in answer.text


@pytest.mark.parametrize(
    ("language", "question", "missing"),
    [
        ("en", "Who is Zoë ÅNGSTRÖM?", ("Zoë", "ÅNGSTRÖM")),
        ("uk", "Хто така Ґанна ПЕТРЕНКО?", ("ПЕТРЕНКО",)),
        ("de", "Wem gehören die Öfen?", ("gehören", "Öfen")),
        ("zh", "如何煮咖啡？", ("煮咖啡",)),
        ("ja", "電話機の発明者は誰ですか？", ("電話機",)),
        ("ar", "كيف أطبخ الكسكسي؟", ("أطبخ", "الكسكسي")),
    ],
)
def test_a_refusal_names_words_as_the_question_has_them(vault, language, question, missing):
    answer = vault(language).ask(question)
    assert answer.text == ""
    for word in missing:
        assert f"“{word}”" in answer.reason


@pytest.mark.parametrize(
    ("language", "question", "held"),
    [
        ("en", "Who demolished the planetarium with gulls in Cairo?", "gulls"),
        ("uk", "Ким зруйновано планетарій біля базару?", "базару"),
        ("de", "Wer zerstörte das Planetarium beim Markt von Kairo?", "Markt"),
    ],
)
def test_a_refusal_says_what_the_notes_do_have(vault, language, question, held):
    answer = vault(language).ask(question)
    assert not answer.text
    assert any(f"“{held}”" in note and "clew search" in note for note in answer.trace.notes)


def test_an_answer_says_which_of_the_words_the_notes_lack(vault):
    answer = vault("en").ask("Does Anna Velt paint gulls with gouache?")
    assert "gulls" in answer.text
    assert "The notes don't have “gouache”." in answer.trace.notes
    assert not vault("en").ask("Who paints gulls?").trace.notes
