"""Language detection."""

from __future__ import annotations

import errno

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clew.errors import PublishError
from clew.text import language as language_module
from clew.text.language import detect, detect_all

SAID = [
    ("en", "The borrow checker makes sure that references never outlive the values they point to."),
    ("de", "Heute haben wir etwas gelernt, das für die nächste Woche wichtig ist und Spaß macht."),
    ("uk", "Сьогодні ми вивчили основні поняття машинного навчання та їхнє застосування."),
    ("ru", "Сегодня мы изучили основные понятия машинного обучения и их применение."),
    ("es", "La casa de mi abuela es muy bonita y grande, con un jardín lleno de flores."),
    ("zh", "今天我们"),
    ("ja", "今日は機械学習を学びました"),
    ("ko", "오늘 우리는"),
    ("ar", "اليوم تعلمنا المفاهيم الأساسية للتعلم الآلي"),
    ("fa", "این یک متن فارسی است که درباره یادگیری ماشین نوشته شده است"),
    ("el", "Σήμερα μάθαμε"),
    ("he", "היום למדנו"),
    ("und", ""),
    ("und", "hi"),
    ("und", "123 456"),
]
TOLD = dict(SAID)


@pytest.mark.parametrize(("language", "text"), SAID)
def test_detect(language: str, text: str) -> None:
    assert detect(text) == language


def test_a_chinese_note_with_latin_names_is_chinese() -> None:
    assert detect("我们用 Docker Compose 和 PostgreSQL 部署服务，然后在服务器上运行测试。") == "zh"


LANGUAGES = [language for language in TOLD if language not in ("zh", "ja", "ko", "el", "he", "und")]


@given(st.lists(st.tuples(st.sampled_from(LANGUAGES), st.integers(0, 60), st.integers(0, 700)), max_size=40))
def test_many_texts_are_told_as_each_is(chosen: list[tuple[str, int, int]]) -> None:
    texts = [(TOLD[language] * 9)[begin : begin + size] for language, begin, size in chosen]
    assert detect_all(texts) == [detect(text) for text in texts]


def test_the_verdict_on_each_of_many_is_to_the_bit_what_it_is_alone() -> None:
    samples = [TOLD[language][begin:] for language in LANGUAGES for begin in range(20)]
    samples += ["", "A", "ÀÉ", "\ud800 lone", "123", "SHOUTED TEXT IS READ IN SMALL LETTERS"]
    assert language_module._classify(samples) == list(map(language_module._identifier().classify, samples))


def test_a_model_that_cannot_be_unpacked_is_no_notes_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryFile", full)
    language_module._load.cache_clear()
    try:
        with pytest.raises(PublishError, match=r"No space left on device.*set TMPDIR"):
            language_module._load()
    finally:
        language_module._load.cache_clear()
