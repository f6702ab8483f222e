"""Words of any script, with offsets that give back their surface."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clew.text.tokens import byte_offsets, normal_name, normal_words, normalise, tokenize
from clew.types import TokenFlag


def tokens_of(text):
    found = tokenize(text, [(0, len(text.encode()))])
    data = text.encode()
    surfaces = [data[a:b].decode() for a, b in zip(found.start, found.end, strict=True)]
    return found, surfaces, [found.words[i] for i in found.form]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Tolkien's rings", ["tolkien", "s", "rings"]),
        ("docker-compose", ["docker", "compose"]),
        ("C++, C# and C", ["c++", "c#", "and", "c"]),
        ("x+y", ["x", "y"]),
        ("Über Straße", ["uber", "strasse"]),
        ("Київ, її ялинка й Ёж", ["київ", "її", "ялинка", "й", "еж"]),
        ("日本語のテスト", ["日", "本", "語", "の", "テスト"]),
        ("が", ["が"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("العَرَبِيَّة", ["العربية"]),
        ("ﬁle №5", ["file", "5"]),
        ("<|endoftext|> {title} ##", ["endoftext", "title"]),
        ("", []),
        ("🙂 …", []),
    ],
)
def test_words_of_many_scripts(text, words):
    assert normal_words(text) == words
    assert tokens_of(text)[2] == words


def test_one_key_for_every_spelling_of_a_name():
    keys = {
        normal_name(name) for name in ("Docker Compose", "docker-compose", "DockerCompose", "DOCKER_COMPOSE")
    }
    assert keys == {"dockercompose"}
    assert len({normal_name(name) for name in ("C", "C++", "C#")}) == 3
    assert normal_name("日本") != normal_name("中国")
    assert normal_name("🙂") == "🙂"


def test_flags_tell_what_stands_between():
    found, surfaces, _ = tokens_of("New York. O'Brien (DockerCompose) in 3D")
    flags = dict(zip(surfaces, found.flags.tolist(), strict=True))
    assert flags["York"] & TokenFlag.GAP_SPACE
    assert flags["York"] & TokenFlag.CAPITAL
    assert flags["Brien"] & TokenFlag.GAP_JOIN
    assert flags["O"] & TokenFlag.SENTENCE
    assert flags["DockerCompose"] & TokenFlag.CAMEL
    assert flags["DockerCompose"] & TokenFlag.GAP_BREAK
    assert flags["3D"] & TokenFlag.DIGIT
    assert not flags["in"] & TokenFlag.CAPITAL


def test_emphasis_does_not_part_words_but_a_list_does():
    found, surfaces, _ = tokens_of("the **Golden** Gate\n* Bridge")
    flags = dict(zip(surfaces, found.flags.tolist(), strict=True))
    assert flags["Gate"] & TokenFlag.GAP_SPACE
    assert flags["Bridge"] & TokenFlag.GAP_BREAK


def test_spans_choose_and_mark_tokens():
    text = "# Title\nbody `code` hidden"
    found = tokenize(text, [(2, 19)], code=[(13, 17)], headings=[(2, 7)])
    words = [found.words[i] for i in found.form]
    assert words == ["title", "body", "code"]
    assert found.flags[0] & TokenFlag.HEADING
    assert not found.flags[1] & TokenFlag.HEADING
    assert found.flags[1] & TokenFlag.SENTENCE  # a heading ends a sentence
    assert found.flags[2] & TokenFlag.CODE


@settings(max_examples=150, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_offsets_give_the_surface(text):
    _, surfaces, words = tokens_of(text)
    assert [normalise(surface) for surface in surfaces] == words


@settings(max_examples=100, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=50))
def test_byte_offsets_are_utf8(text):
    offsets = byte_offsets(text)
    assert offsets.tolist() == [len(text[:i].encode()) for i in range(len(text) + 1)]
