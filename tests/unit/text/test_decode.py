"""Bytes to text: every encoding, and the way back from text offsets to source offsets."""

from __future__ import annotations

import random
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.decode import decode
from clew.text.tokens import byte_offsets

WIDE = ("utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
MIXED = "Über die Brücke. Сьогодні їжак спить; 今天我们学习了 🎉 end\nline two\n"
GUESSED = {
    "gb2312": "今天我们学习了机器学习的基本概念，包括监督学习和无监督学习。",
    "gb18030": "今天我们学习了机器学习的基本概念，包括监督学习。",
    "big5": "今天我們學習了機器學習的基本概念，包括監督學習和無監督學習。",
    "shift_jis": "今日は機械学習の基本的な概念を学びました。脳を模したモデルです。",
    "euc-jp": "今日は機械学習の基本的な概念を学びました。脳を模したモデルです。",
    "euc-kr": "오늘 우리는 기계 학습의 기본 개념을 배웠습니다.",
    "koi8-u": "Сьогодні ми вивчили основні поняття машинного навчання. Їжак живе у лісі. " * 4,
    "cp1251": "Сьогодні ми вивчили основні поняття машинного навчання. Їжак живе у лісі. " * 4,
    "latin-1": "Über die Brücke gehen schöne Mädchen und fröhliche Männer, weil es Spaß macht.",
    "cp1250": "Příliš žluťoučký kůň úpěl ďábelské ódy.",
}


def check_spans(data: bytes, text: str, errors: str = "strict") -> None:
    """Every span between characters must decode to the text there."""
    decoded = decode(data)
    assert decoded.text == text
    offsets = byte_offsets(text)
    places = decoded.to_source(offsets)
    assert places[0] == 0
    dice = random.Random(1)
    for _ in range(50):
        low, high = sorted(dice.choices(range(len(text) + 1), k=2))
        assert data[places[low] : places[high]].decode(decoded.encoding, errors) == text[low:high]


@pytest.mark.parametrize("encoding", ["utf-8", *WIDE])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_unicode_with_and_without_a_mark(encoding: str, mark: str) -> None:
    text = mark + MIXED
    check_spans(text.encode(encoding), text)


def test_utf8_offsets_are_source_offsets_even_with_a_mark() -> None:
    decoded = decode("\ufeffüber".encode())
    assert decoded.chars is None
    assert decoded.encoding == "utf-8"


@pytest.mark.parametrize(("encoding", "text"), GUESSED.items())
def test_other_encodings_are_guessed_and_said_so(encoding: str, text: str) -> None:
    text = "# Note\n\n" + text
    data = text.encode(encoding)
    check_spans(data, text)
    assert "guess" in decode(data).warnings[0]


# Texts in the encodings that their languages' files are in, as a person would write a short note.
WRITTEN = {
    "cp1252 latin-1": [
        "Der alte Mann saß am Fluß und träumte von größeren Fischen. Über die Brücke fährt täglich ein Zug.",
        "Grüße aus Köln",
        "# Notiz\n\nDie Straße ist lang. Übermorgen.\n",
        "Le garçon a mangé une pêche très mûre près de l'école. Où êtes-vous allés cet été ? À bientôt.",
        "Un café crème, s'il vous plaît.",
        "El niño comió una piña en la montaña. ¿Cuándo vendrás mañana? ¡Qué alegría! El pingüino está aquí.",
        "A população não está satisfeita com a situação. Amanhã haverá eleições; o irmão de João é o único.",
        "Åsa går på gatan när det är kallt. Öl och kött äter hon gärna på kvällen, men grodor är lustiga.",
        "La città è più bella di sera perché c'è silenzio. Così il caffè è già pronto e la virtù è nota.",
        "Hyvää päivää! Tämä on pieni testi, jossa on ääkkösiä: yö, työ, pöytä ja sänky. Järvellä on hyvä.",
        "Bei 20 °C sind es 30\xa0Grad und 3 µm.",
    ],
    "cp1252": ["L’élève est là — déjà. Il dit : «\xa0Ça va\xa0», et l’œuvre coûte 3\xa0€."],
    "mac_roman": ["Le garçon a mangé une pêche très mûre près de l'école.", "naïve résumé"],
    "cp850": ["Der alte Mann träumte täglich von den größeren Fischen."],
    "cp1250 iso8859-2": [
        "Zażółć gęślą jaźń. Wczoraj poszedłem do sklepu, żeby kupić chleb i masło. Łódź jest piękna.",
        "Příliš žluťoučký kůň úpěl ďábelské ódy. Včera jsem šel do obchodu koupit chléb a máslo.",
        "Árvíztűrő tükörfúrógép. Tegnap elmentem a boltba, hogy kenyeret és vajat vegyek. Az őszi erdő.",
    ],
    "cp1254 iso8859-9": ["Dün ekmek ve tereyağı almak için dükkana gittim. Şimdi ışık güçlü, çocuk gül."],
    "cp1257": ["Vakar nuėjau į parduotuvę nusipirkti duonos ir sviesto. Upė teka lėtai, paukščiai."],
    "cp1251 koi8-r cp866 iso8859-5": ["Вчера я пошёл в магазин, чтобы купить хлеб. Река течёт."],
    "cp1253 iso8859-7": ["Χθες πήγα στο μαγαζί για να αγοράσω ψωμί και βούτυρο. Τα πουλιά."],
    "cp1255 iso8859-8": ["אתמול הלכתי לחנות כדי לקנות לחם וחמאה. הנהר זורם לאט והציפורים שרות עם שחר."],
    "cp1256 iso8859-6": ["ذهبت أمس إلى المتجر لشراء الخبز والزبدة. النهر يجري ببطء والطيور تغني عند الفجر."],
}


@pytest.mark.parametrize(
    ("encoding", "text"),
    [(name, text) for names, texts in WRITTEN.items() for name in names.split() for text in texts],
)
def test_code_pages_are_told_by_what_they_make_of_the_words(encoding: str, text: str) -> None:
    for written in (text, f"{text}\n\n{text}\n\n{text}\n"):
        check_spans(written.encode(encoding), written)


def test_a_western_text_is_said_to_be_one() -> None:
    assert decode("Grüße aus Köln".encode("latin-1")).encoding == "cp1252"


@pytest.mark.parametrize("encoding", WIDE)
@pytest.mark.parametrize(
    "text", ["a b", "Привет, мир", "今天我们学习了机器学习，包括监督学习。", "한국어 텍스트"]
)
def test_short_texts_without_a_mark(encoding: str, text: str) -> None:
    assert decode(text.encode(encoding)).text == text


@given(st.text(alphabet=st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), max_size=60))
@settings(max_examples=60, deadline=None)
def test_any_text_survives_utf16_with_a_mark(text: str) -> None:
    text = "\ufeff" + text
    check_spans(text.encode("utf-16-le"), text)


@given(st.text(max_size=80))
@settings(max_examples=60, deadline=None)
def test_any_utf8_is_itself_or_refused(text: str) -> None:
    data = text.encode("utf-8", "replace")
    try:
        decoded = decode(data)
    except ValueError:
        assert any(char < " " or char == "\x7f" for char in text)
        return
    if decoded.encoding == "utf-8":
        assert decoded.text.encode() == data


@given(st.binary(max_size=200))
@settings(max_examples=150, deadline=None)
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    try:
        decoded = decode(data)
    except ValueError:
        return
    places = decoded.to_source(byte_offsets(decoded.text))
    assert np.all(np.diff(places) > 0)
    assert places[-1] <= len(data)
    assert data[: places[-1]].decode(decoded.encoding, "replace") == decoded.text


def test_damaged_utf8_keeps_the_rest() -> None:
    data = ("Сьогодні їжак спить. " * 20).encode()[:-2] + b"\xd1 abc " + "кінець".encode()
    decoded = decode(data)
    assert decoded.encoding == "utf-8"
    assert decoded.text.endswith("abc кінець")
    assert decoded.text.count("\ufffd") == 1
    check_spans(data, decoded.text, errors="replace")
    assert "U+FFFD" in decoded.warnings[0]


SURROGATE = b"\xed\xa0\x80"


@pytest.mark.parametrize(
    ("before", "bad", "after"),
    [
        ("# Lone\n\n", SURROGATE, " beside the okapi.\n"),
        ("Füße ", b"\xff", " und mehr.\n"),
        ("one dash — and ", b"\xe2\x80", " half of another\n"),
        ("Сьогодні ", b"\xd1", "abc\n"),
        ("今天我们", b"\xe4\xbb", "学习\n" * 9),
        ("emoji 🎉 and ", SURROGATE + b"\xed\xb8\x80", " a pair in pieces\n"),
        ("grün", b"\xff", ""),
        ("é" * 40 + "\n", b"\xff\n\xfe\n\xe9 ", "so many\n"),
    ],
)
def test_one_bad_place_leaves_a_text_utf8(before: str, bad: bytes, after: str) -> None:
    data = before.encode() + bad + after.encode()
    decoded = decode(data)
    assert decoded.encoding == "utf-8"
    assert decoded.text.startswith(before)
    assert decoded.text.endswith(after)
    assert decoded.text == data.decode("utf-8", "replace")
    check_spans(data, decoded.text, errors="replace")
    assert "U+FFFD" in decoded.warnings[0]


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        ((SURROGATE,), "1 place isn't valid UTF-8 and is shown as U+FFFD"),
        ((b"\xff", SURROGATE), "2 places aren't valid UTF-8 and are shown as U+FFFD"),
        (("\ufffd".encode(), b"\xff\xfe"), "1 place isn't valid UTF-8 and is shown as U+FFFD"),
    ],
)
def test_the_warning_counts_places_not_bytes(bad: tuple[bytes, ...], told: str) -> None:
    text = "Сьогодні ".encode() + " їжак спить ".encode().join(bad) + " завтра".encode()
    assert decode(text).warnings[0].startswith(told)


@pytest.mark.parametrize("text", ["plain \xff text", "caf\xe9.", "It is 20 \xb0C in the caf\xe9. " * 40])
def test_ascii_with_a_few_other_bytes_is_a_western_text(text: str) -> None:
    assert decode(text.encode("latin-1")).text == text


def test_a_few_nul_bytes_are_kept() -> None:
    decoded = decode(b"some text with a hole \0 in it" + b" and more of it" * 10)
    assert "\0" in decoded.text
    assert "NUL" in decoded.warnings[0]


@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\1\0",
        zlib.compress(random.Random(2).randbytes(5000)),
        random.Random(3).randbytes(3001),
        b"\0" * 100,
        b"\x7fELF\2\1\1\0\0\0\0\0\0\0\0\0\3\0>\0",
    ],
)
def test_binary_data_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"binary|encoding"):
        decode(data)


def test_stateful_encodings_are_refused_or_ascii() -> None:
    data = "日本語のテキスト".encode("iso2022_jp")
    decoded = decode(data)  # plain ASCII with escapes: nothing better can be done without state
    assert decoded.encoding == "utf-8"


def test_half_a_last_character_of_utf16_is_left_out() -> None:
    decoded = decode("\ufeffabc".encode("utf-16-le") + b"x")
    assert decoded.text == "\ufeffabc"
    assert "half a character" in decoded.warnings[0]
