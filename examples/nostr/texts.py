# ruff: noqa: E501 -- texts
"""What the people of the example say. All of it is made up, and in the public domain (CC0)."""

from __future__ import annotations

TAGS = {
    "nostr": "nostr",
    "bitcoin": "bitcoin",
    "philosophy": "philosophy",
    "tides": "tides",
    "binding": "bookbinding",
    "gardens": "gardens",
}

# name, about, language, topics
PEOPLE: list[tuple[str, str, str, tuple[str, ...]]] = [
    ("Mira Solberg", "Bookbinder above the harbour of Trieste. Paper, tides, keys.", "en", ("binding", "tides", "nostr")),
    ("Jun Aoki", "京都で時計を直しています。鍵と署名のことを書きます。", "ja", ("bitcoin", "nostr")),
    ("Oksana Hnatiuk", "Перекладаю стоїків. Львів.", "uk", ("philosophy", "gardens")),
    ("Teo Marín", "Profesor de instituto en Gijón; leo despacio.", "es", ("philosophy", "tides")),
    ("Lena Brandt", "Buchbinderin in Leipzig, Garten in Plagwitz.", "de", ("binding", "gardens")),
    ("Priya Nair", "Tide gauges by day, relays by night.", "en", ("tides", "nostr", "bitcoin")),
    ("Sam Whitlow", "Nobody follows me, and that is fine.", "en", ("gardens", "bitcoin")),
]  # fmt: skip

SENTENCES: dict[str, dict[str, list[str]]] = {
    "nostr": {
        "en": [
            "A relay forgets; whoever keeps a copy of the signed note doesn't have to ask it.",
            "The small relay in the harbour office went down at noon and nobody lost a word.",
            "An account that can be closed was never yours; a key can't be closed.",
            "I moved three clients this year and took every note along.",
            "Long articles are addressed by name, so a correction keeps its place.",
            "Zero likes, four replies: the good kind of day.",
        ],
        "ja": [
            "リレーは忘れる。写しを持つ人は忘れない。",
            "鍵を一本なくすと、名前ごとなくなる。",
            "署名があれば、どの中継局から来た文でも同じ文だ。",
            "静かな中継局ほど、よく読まれている。",
        ],
    },
    "bitcoin": {
        "en": [
            "A block every ten minutes is slower than our tide gauge and just as indifferent.",
            "The bakery by the lighthouse takes satoshis on Thursdays.",
            "Fees fell overnight; the queue was empty by breakfast.",
            "Twelve words on steel, buried under the quince: he says he remembers which quince.",
        ],
        "ja": [
            "時計職人から見ると、ビットコインは世界で一番遅い時計である。",
            "十分に一度だけ進む時計を、みんなで確かめている。",
            "手数料が下がった夜に、小さな支払いをまとめて済ませた。",
            "秘密の言葉は紙ではなく鋼に刻む。",
        ],
    },
    "philosophy": {
        "uk": [
            "Сенека пише листи так, ніби поспішає: речення коротке, день коротший.",
            "Перекладаючи, помічаєш, що дружба в стоїків важливіша за спокій.",
            "Увага — це єдине, що справді належить нам.",
            "Марк Аврелій писав для себе, а читаємо ми всі.",
        ],
        "es": [
            "Leer despacio es una forma de resistencia, y también de cortesía.",
            "Séneca escribe como quien cierra una maleta.",
            "La atención se gasta como la luz de la tarde.",
            "Mis alumnos preguntan para qué sirve; les respondo con otra pregunta.",
        ],
        "en": [
            "Attention is the only coin that can't be saved.",
            "A letter is a conversation with the pauses left in.",
        ],
    },
    "tides": {
        "en": [
            "Spring tide tonight: the third step of the pier will be under water by eleven.",
            "The old tide table hangs by the press; it is wrong by nine minutes and everybody knows it.",
            "Neap tides make for patient fishermen.",
            "The bora pushed the water out and the gauge drew a line nobody had ordered.",
            "Salt gets into the glue when the wind is from the sea.",
        ],
        "es": [
            "Con marea viva, la playa de San Lorenzo desaparece dos veces al día.",
            "El mareógrafo dibuja mejor que mis alumnos.",
            "La pleamar llegó con la merienda y nadie se movió.",
        ],
    },
    "binding": {
        "en": [
            "Wheat paste for the spine, methyl cellulose for whatever must come off again.",
            "Sewed forty sections on linen tapes today; the thread is the only straight thing in the house.",
            "Marbled paper from the last bath of the year: sea green, by accident.",
            "A book that opens flat is a book that trusts you.",
            "The grain of the paper runs with the spine, or the book will never close.",
        ],
        "de": [
            "Kleister über Nacht stehen lassen, dann erst rühren.",
            "Vierzig Lagen geheftet; der Faden läuft wie von selbst.",
            "Das Papier muss in Laufrichtung liegen, sonst schließt das Buch nie.",
            "Marmorpapier aus dem letzten Bad: meergrün, aus Versehen.",
        ],
    },
    "gardens": {
        "en": [
            "The quince has flowered in March, which is either a miracle or a mistake.",
            "Beans up, slugs up, frost tomorrow.",
            "Compost is a library in which everything has been read.",
        ],
        "de": [
            "Die Quitte blüht im März, das ist ein Wunder oder ein Irrtum.",
            "Im Garten wird nichts fertig, und das ist das Beste daran.",
            "Bohnen gesät, Schnecken gezählt.",
        ],
        "uk": [
            "Айва зацвіла в березні — диво або помилка.",
            "Сад нічого не вимагає вдруге: усе або вчасно, або наступного року.",
            "Посіяла квасолю між рядками перекладу.",
        ],
    },
}

# identifier: author, title, topic, day after the beginning, text; {identifier} refers to an earlier one
ARTICLES: dict[str, tuple[str, str, str, int, str]] = {
    "letters": ("Oksana Hnatiuk", "Листи без поспіху", "philosophy", 95,
        "Сенека радить повертати собі час, а потім сам витрачає його на листи.\n\n## Переписування\n\nПереписане рукою "
        "лишається довше. Тому я перекладаю спершу олівцем.\n\n## Увага\n\nУвага — це податок, який ми платимо добровільно.\n"),
    "paper": ("Lena Brandt", "Laufrichtung: warum Bücher sich weigern", "binding", 100,
        "Papier hat eine Richtung, und das Buch weiß es.\n\n## Probe\n\nEin Streifen, befeuchtet, rollt sich quer zur "
        "Laufrichtung. Wer das einmal gesehen hat, klebt nie wieder falsch.\n"),
    "clock": ("Jun Aoki", "一番遅い時計", "bitcoin", 140,
        "ビットコインは十分に一度だけ動く時計である。\n\n## 鍵\n\n鍵を貸すことはできない。ノストルの鍵も同じである。\n"),
    "relays": ("Priya Nair", "Relays are tide gauges", "nostr", 430,
        "A relay records what passes and forgets what it must. I keep one beside the gauge; both write to paper once a day."
        "\n\n## What a copy is worth\n\nA signed note is the same note wherever it is kept: see {clock} for why a key can't "
        "be lent.\n"),
    "attention": ("Teo Marín", "La atención como oficio", "philosophy", 438,
        "La atención no se enseña: se encuaderna, hoja a hoja.\n\n## Copiar\n\nOksana lo dice mejor en {letters}: lo copiado a "
        "mano permanece. Mis alumnos copian un párrafo por semana.\n\n## Papel\n\nY el papel tiene su dirección, como "
        "explica {paper}.\n"),
}  # fmt: skip
