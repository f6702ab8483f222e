"""Notes to draw from: names shared across notes, links, tags, aliases, five languages, and bad files."""

from __future__ import annotations

import json

from hypothesis import strategies as st

NAMES = {
    "en": ("Marta Reyes", "Tide Gauge", "Harbour Office", "Kelp Survey", "Old Lantern"),
    "uk": ("Леся Бойко", "Чорний Маяк", "Дніпровська Школа", "Київ"),
    "de": ("Alte Brücke", "Jürgen Weiß", "Größenwerk", "Hafenamt"),
    "zh": ("黄河大桥", "李明", "东海研究所"),
    "ar": ("بيت الحكمة", "القاهرة", "ليلى حداد"),
}
SENTENCES = {
    "en": (
        "{a} was repaired by {b} in the spring of 2022.",
        "Nobody at {a} had heard of {b} before the storm.",
        "According to {a}, [[{b}]] keeps the records of the whole bay.",
        "**{a}** and {b} belong together, as `{a}` shows. #work/repair",
    ),
    "uk": (
        "{a} розповідає про {b} щовечора взимку.",
        "Про {a} ніхто не знав, доки не з'явився [[{b}]]. #море",
        "У місті {a} збудували новий дім для {b}.",
    ),
    "de": (
        "{a} wurde im Jahr 1904 von {b} gebaut.",
        "Die Leute vom {a} kennen [[{b}|das andere]] seit langem. #Hafen",
        "Über {a} und {b} steht nichts im Verzeichnis.",
    ),
    "zh": ("{a}在{b}旁边。", "我们昨天在{a}见到了{b}，大家都很高兴。#桥", "[[{b}]]是{a}的一部分。"),
    "ar": ("زار {a} مدينة {b} في العام الماضي.", "كتب [[{b}]] عن {a} كتابا طويلا. #كتب"),
}
TAGS = ("harbour", "море", "Hafen", "桥", "a/b")
EVERY_NAME = tuple(name for names in NAMES.values() for name in names)
TIMES = (
    "date: 2023-10-20",
    "created: 2023-10-20 15:04\nupdated: 2024-01-01",
    "modified: 2022-01-01T10:00:00+02:00",
    "date: 03/04/2024",
    "published: 20240102",
)
ENCODINGS = ("utf-8", "utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1251", "latin-1", "gb18030")

BAD: tuple[bytes, ...] = (
    b"",
    b" \n\n",
    b"\x00\x01\x02\x03PNG\xff\x00\x00\xd8binary\x00",
    b"Marta Reyes saw " + b"\xff\xff the Tide Gauge \xed\xa0\x80.\n",
    b"---\ntitle: [unclosed\n  - : :\n---\n\nTide Gauge stands.\n",
    b"---\ndate: 2024-13-45\naliases: {a: 1}\ntags: 7\n---\n# Old Lantern\n\nText.\n",
    b"---\ntitle: never closed\n\nThe Harbour Office sleeps.\n",
    b"```\nunclosed code about Marta Reyes\n",
    ("# " + "Kelp Survey " * 40 + "\n\nKelp Survey.\n").encode(),
)

KEYS = (
    "Marta Reyes.md",
    "Tide Gauge.md",
    "people/Marta Reyes.md",
    "README.md",
    "people/README.md",
    "море/Чорний Маяк.md",
    "deep/er/Alte Brücke.md",
    "黄河大桥.md",
    "بيت الحكمة.md",
    "plain.txt",
    "Harbour Office.markdown",
    "kelp-survey.md",
    "2024-03-01.md",
)
RECORD_FILES = ("log.jsonl", "people/chat.ndjson")


@st.composite
def sentences(draw: st.DrawFn) -> str:
    """Return a sentence on two names of a language, now and then on a name of another."""
    language = draw(st.sampled_from(sorted(SENTENCES)))
    names = NAMES[language]
    other = EVERY_NAME if draw(st.integers(0, 5)) == 5 else names
    return draw(st.sampled_from(SENTENCES[language])).format(
        a=draw(st.sampled_from(names)), b=draw(st.sampled_from(other))
    )


@st.composite
def frontmatter(draw: st.DrawFn) -> str:
    fields: list[str] = []
    if draw(st.booleans()):
        fields.append(f"aliases: [{draw(st.sampled_from(EVERY_NAME))}, MR]")
    if draw(st.booleans()):
        fields.append(f"tags: [{draw(st.sampled_from(TAGS))}, {draw(st.sampled_from(TAGS))}]")
    if draw(st.booleans()):
        fields.append(f"author: {draw(st.sampled_from(EVERY_NAME))}")
    if draw(st.booleans()):
        fields.append(f"{draw(st.sampled_from(TIMES))}\nrating: 4.5\ndraft: false")
    return "---\n" + "\n".join(fields) + "\n---\n" if fields else ""


@st.composite
def notes(draw: st.DrawFn) -> bytes:
    """Return a note's bytes: frontmatter, a heading, passages, a link by path, in some encoding."""
    parts = [draw(frontmatter())]
    if draw(st.booleans()):
        parts.append(f"# {draw(st.sampled_from(EVERY_NAME))}\n")
    for _ in range(draw(st.integers(1, 3))):
        if draw(st.integers(0, 3)) == 3:
            parts.append(f"## {draw(st.sampled_from(EVERY_NAME))}\n")
        parts.append(" ".join(draw(st.lists(sentences(), min_size=1, max_size=4))) + "\n")
    if draw(st.integers(0, 3)) == 3:
        parts.append(f"See [that note](<{draw(st.sampled_from(KEYS))}>).\n")
    text = "\n".join(parts)
    encoding = draw(st.sampled_from(ENCODINGS))
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode("utf-8")


def contents() -> st.SearchStrategy[bytes]:
    """Return any file's bytes, seldom bad ones."""
    return st.one_of(notes(), notes(), notes(), notes(), st.sampled_from(BAD))


@st.composite
def corpora(draw: st.DrawFn) -> bytes:
    """Return a JSONL file: records, some with the same id or text, some lines that are no records."""
    lines: list[bytes] = []
    for _ in range(draw(st.integers(0, 4))):
        if draw(st.integers(0, 7)) == 7:
            lines.append(draw(st.sampled_from((b"{not json", b"[]", b'{"id": "x"}', b"\xff\xff", b""))))
            continue
        record: dict[str, object] = {"id": draw(st.sampled_from("abc")), "text": draw(sentences())}
        if draw(st.booleans()):
            record["title"] = draw(st.sampled_from(EVERY_NAME))
        if draw(st.booleans()):
            record["tags"] = draw(st.sampled_from(TAGS))
            record["author"] = draw(st.sampled_from(EVERY_NAME))
        if draw(st.booleans()):
            record["date"] = draw(st.sampled_from(("2024-02-03", "someday", 1_700_000_000, None)))
        lines.append(json.dumps(record, ensure_ascii=draw(st.booleans())).encode())
    return b"\n".join(lines) + b"\n"
