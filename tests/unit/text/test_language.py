"""Language detection."""

from __future__ import annotations

import pytest

from clew.text.language import detect


@pytest.mark.parametrize(
    ("language", "text"),
    [
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
    ],
)
def test_detect(language: str, text: str) -> None:
    assert detect(text) == language


def test_a_chinese_note_with_latin_names_is_chinese() -> None:
    assert detect("我们用 Docker Compose 和 PostgreSQL 部署服务，然后在服务器上运行测试。") == "zh"
