"""Search over a small index without vectors."""

import pytest

from clew import Index, IndexOptions
from clew.errors import NotFound, OptionError
from clew.options import EmbedOptions
from clew.stores.queries import Queries

NOTES = {
    "Ada Lovelace.md": "# Ada Lovelace\n\nAda Lovelace was born in London. She wrote the first program for "
    "the [[Analytical Engine]]. Her mother was Annabella Byron. #mathematics\n",
    "Analytical Engine.md": "# Analytical Engine\n\nThe Analytical Engine was designed by "
    "[[Charles Babbage]]. It was never finished.\n",
    "Charles Babbage.md": "---\ntags: [mathematics]\n---\n# Charles Babbage\n\nCharles Babbage studied in "
    "Cambridge and disliked street music. He wrote `engine(x)` on a napkin.\n",
    "Gardens.md": "# Gardens\n\nTomatoes want sun. Basil grows beside tomatoes. Water them in the evening.\n",
    "Сад.md": "# Сад\n\nПомідори люблять сонце. Тарас Шевченко писав про сад біля хати.\n",
    "日記.md": "# 日記\n\n京都の庭は静かです。京都でお茶を飲みました。\n",
}


@pytest.fixture(scope="module")
def index(tmp_path_factory):
    folder = tmp_path_factory.mktemp("notes")
    for name, text in NOTES.items():
        (folder / name).write_text(text, "utf-8")
    with Index.build([folder], options=IndexOptions(embed=EmbedOptions(embedder="none"))) as built:
        yield built


def keys(hits):
    return [hit.document.key for hit in hits]


@pytest.mark.parametrize(
    ("question", "key"),
    [
        ("tomatoes", "Gardens.md"),
        ("Who disliked street music?", "Charles Babbage.md"),
        ("помідор", "Сад.md"),
        ("京都のお茶", "日記.md"),
    ],
)
def test_words_find_their_passage_in_any_language(index, question, key):
    assert keys(index.search(question, k=3))[0] == key


def test_a_walk_follows_names_to_what_defines_them(index):
    hits = index.search("Who designed the machine that Ada Lovelace wrote a program for?", k=3)
    assert set(keys(hits)) == {"Ada Lovelace.md", "Analytical Engine.md", "Charles Babbage.md"}
    assert all("walk" in hit.parts for hit in hits)
    assert all(hit.why for hit in hits)


def test_paths_begin_at_the_question_and_end_at_the_hit(index):
    hits = index.search("Where did the designer of the Analytical Engine study?", k=4)
    walked = [hit for hit in hits if hit.path]
    assert walked
    for hit in walked:
        assert hit.path[0].source == "question"
        assert hit.path[-1].chunk == hit.chunk.chunk
        for one, other in zip(hit.path, hit.path[1:], strict=False):
            assert one.target == other.source


def test_a_passage_asks_for_what_it_leaves_open(tmp_path):
    """The film leads to its actors, and of the passages that name one of them the sister's is wanted."""
    film = "Morva is a film by Odile Brandt. The maid was played by Tessa Quill, the judge by Ivo Lam.\n"
    (tmp_path / "Morva.md").write_text(f"# Morva\n\n{film}", "utf-8")
    for town in ("Aarau", "Brügge", "Celle", "Dole", "Eger", "Faro"):
        text = f"# {town}\n\nTessa Quill and Ivo Lam once spent a summer in {town}, with their dogs.\n"
        (tmp_path / f"{town}.md").write_text(text, "utf-8")
    choir = "# A choir\n\nThe sister of Tessa Quill sang in a choir beside the harbour.\n"
    (tmp_path / "Choir.md").write_text(choir, "utf-8")
    with Index.build([tmp_path], options=IndexOptions(embed=EmbedOptions(embedder="none"))) as built:
        question = "Where did the sister of the actress who was the maid in Morva sing?"
        answer = built.ask(question, mode="local")
    hits = answer.trace.hits
    assert keys(hits[:2]) == ["Morva.md", "Choir.md"]
    assert hits[1].parts["residual"] > 0.15
    assert "it answers to what a better hit leaves open" in hits[1].why
    assert answer.trace.counts["residual_questions"] >= 1


def test_no_residual_question_where_the_first_passage_says_all(index):
    answer = index.ask("Gardens: basil beside tomatoes", mode="local")
    assert answer.trace.counts["residual_questions"] == 0


def test_basic_never_walks(index):
    assert all("walk" not in hit.parts for hit in index.search("Ada Lovelace", mode="basic"))


@pytest.mark.parametrize(
    "question",
    [
        "",
        " ",
        "C++",
        "node:",
        '"',
        "(x)",
        r"C:\a|b",
        "~",
        "*",
        "a AND",
        "%",
        "'; DROP TABLE chunks; --",
        "🙂",
        "\x00",
    ],
)
@pytest.mark.parametrize("mode", ["auto", "basic", "local"])
def test_punctuation_is_text(index, question, mode):
    index.search(question, mode=mode)


def test_nothing_is_found_for_unknown_words(index):
    assert index.search("xyzzy plugh", mode="basic") == []


def test_the_same_question_has_the_same_answer(index):
    first = index.search("Ada Lovelace Analytical Engine", k=5)
    assert first == index.search("Ada Lovelace Analytical Engine", k=5)


def test_bad_arguments_are_refused(index):
    with pytest.raises(OptionError):
        index.search("x", k=0)
    with pytest.raises(OptionError, match="local"):
        index.search("x", mode="locl")


def test_offsets_cite_the_source(index):
    for hit in index.search("Babbage engine tomatoes", k=10):
        data = (index.file.parent.parent / hit.document.key).read_bytes()
        assert data[hit.chunk.start : hit.chunk.end].decode() == hit.chunk.text


def test_card(index):
    card = index.show("analytical engine")
    assert card.node.name == "Analytical Engine"
    assert any(edge.edge.kind == "references" and edge.source.name == "Ada Lovelace" for edge in card.edges)
    assert all("nalytical" in mention.quote for mention in card.mentions)


def test_unknown_names_get_the_nearest(index):
    with pytest.raises(NotFound, match=r"(?i)charles babbage"):
        index.show("Charls Babage")


def test_path_between_notes(index):
    steps = index.path("Ada Lovelace", "Charles Babbage")
    assert 1 <= len(steps) <= 3
    ends = [{step.source.name, step.target.name} for step in steps]
    assert "Ada Lovelace" in ends[0]
    assert "Charles Babbage" in ends[-1]
    assert all(step.evidence for step in steps)
    assert index.path("Gardens", "Gardens") == []
    assert index.same("Gardens", "gardens")
    assert not index.same("Gardens", "Charles Babbage")


def test_views_cost_as_many_queries_whatever_they_show(index, monkeypatch):
    asked = []
    run = Queries._run

    def counted(self, query, *others):
        asked.append(query)
        return run(self, query, *others)

    monkeypatch.setattr(Queries, "_run", counted)
    views = {
        "show": lambda: index.show("Analytical Engine"),
        "related": lambda: index.related("Analytical Engine", k=10),
        "path": lambda: index.path("Ada Lovelace", "Charles Babbage"),
        "communities": index.communities,
    }
    for view in views.values():
        view()
    assert asked
    for name, view in views.items():
        asked.clear()
        view()
        assert len(asked) <= 16, (name, asked)  # of them one for each step of a path; there are few


def test_related(index):
    found = index.related("Analytical Engine", k=5)
    assert {"Ada Lovelace", "Charles Babbage"} <= {one.node.name for one in found}
    assert found[0].score == 1
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)


def test_communities_cover_every_node(index):
    reader = index.engine.reader
    members = [node for view in index.communities(0) for node in reader.members(view.community.community)]
    assert sorted(members) == list(range(reader.count("nodes")))


def test_stats_count(index):
    stats = index.stats()
    assert stats["documents"] == 6
    assert stats["embedder"] is None
    assert stats["options"]["embed"]["embedder"] == "none"
