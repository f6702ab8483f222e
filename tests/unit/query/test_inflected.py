"""Names in other grammatical forms: in questions and for `show`."""

import pytest
from small_vault import build

from clew.errors import NotFound

NOTES = {
    "uk/Одеса.md": "Одеса — портове місто на березі Чорного моря.\n",
    "uk/Франц Боффо.md": "Архітектор, автор сходів над портом.\n",
    "uk/Пасіка.md": "Дванадцять вуликів стоять за садом біля старої груші.\n",
    "de/Jonas Reber.md": "Er hat das Boot gebaut und die Werkstatt am Hafen gemietet.\n",
    "de/Werkstatt.md": "Die Werkstatt liegt im Hinterhof und ist im Winter sehr kalt.\n",
    "ar/المنارة.md": "بنيت المنارة على الرأس عام 1871 ويدور مصباحها كل تسع ثوان.\n",
    "ar/السوق.md": "يقام السوق كل يوم جمعة في الساحة القديمة قرب الميناء.\n",
}


@pytest.fixture(scope="module")
def inflecting(tmp_path_factory):
    with build(tmp_path_factory.mktemp("inflecting"), NOTES, "none") as index:
        yield index


FORMS = [("Одесу", "Одеса"), ("Франца Боффо", "Франц Боффо"), ("Jonas Rebers", "Jonas Reber")]


@pytest.mark.parametrize(("form", "name"), [*FORMS, ("пасіки", "Пасіка"), ("منارة", "المنارة")])
def test_a_card_is_found_by_any_form_of_a_name(inflecting, form, name):
    assert inflecting.show(form).node.name == name


@pytest.mark.parametrize(("form", "name"), FORMS)
def test_a_question_names_a_node_in_any_form(inflecting, form, name):
    names = inflecting.engine.lexicon.names(f"— {form}?")
    nodes = [node for one in names for node in one.nodes]
    assert name in {node.name for node in inflecting.engine.reader.nodes(nodes)}


@pytest.mark.parametrize("other", ["Одинак", "Пасічник", "Werk", "Jonas Berg"])
def test_another_name_of_a_like_beginning_isnt_a_form(inflecting, other):
    assert not any(
        inflecting.engine.space.defined[node] > 0
        for one in inflecting.engine.lexicon.names(other)
        for node in one.nodes
    )
    with pytest.raises(NotFound):
        inflecting.show(other)


def test_where_names_take_no_endings_only_the_exact_name_counts(tmp_path):
    notes = {"William.md": "William keeps the harbour light and mends the nets of the village.\n"}
    with build(tmp_path, notes, "none") as index:
        assert index.engine.lexicon.names("Who is Williams?") == []


@pytest.mark.parametrize(
    ("name", "suggested"),
    [("Франц", "Франц Боффо"), ("reber", "Jonas Reber"), ("Jonas Berg", "Jonas Reber"), ("Адеса", "Одеса")],
)
def test_names_that_have_the_word_or_are_spelt_like_it_are_suggested_as_written(inflecting, name, suggested):
    with pytest.raises(NotFound) as caught:
        inflecting.show(name)
    assert suggested in caught.value.remedy


def test_names_of_the_wanted_kind_are_suggested(inflecting):
    with pytest.raises(NotFound) as caught:
        inflecting.show("tag:Франц")
    assert "Франц" not in caught.value.remedy
