"""What sources state of documents, people and tags becomes nodes and edges with their places."""

from pathlib import Path

import pytest

from clew import Index, IndexOptions
from clew.ingest.build import build
from clew.options import EmbedOptions
from clew.registry import load
from clew.types import Person, RawDocument, Ref, Relation

NONE = IndexOptions(embed=EmbedOptions(embedder="none"))
ANA, BEN, CY = (Ref("person", f"npub1{name}", f"npub1{name[0]}…") for name in ("ana", "ben", "cy"))
LIST = b'{"tags":[["p","npub1ben"],["p","npub1cy"]]}'


class Said:
    """A source that gives what it was given."""

    name, path = "said", None

    def __init__(self, documents):
        self.documents = documents

    def read(self):
        yield from self.documents


class Words:
    """A tokenizer of words."""

    name = "words"

    def offsets(self, texts):
        import re

        import numpy as np

        return [np.array([m.start() for m in re.finditer(r"\S+", text)], dtype=np.int32) for text in texts]


class Quiet:
    def stage(self, name, total=None): ...

    def advance(self, n=1): ...

    def note(self, text): ...


def index(path: Path, documents) -> Index:
    build(
        [Said(documents)],
        path,
        NONE,
        store=load("stores", "duckdb")(),
        cache=None,
        embedder=None,
        tokenizer=Words(),
        window=256,
        extractors=[],
        progress=Quiet(),
    )
    return Index.open(path)


def post(key, text, author=ANA, **more):
    return RawDocument(
        key, "dump", text.encode(), "post", text[:20], kind="note", author=author, titled=False, **more
    )


DOCUMENTS = [
    RawDocument(
        "profile", "dump", b"I watch tides.", "post", "profile · Ana Lima", kind="profile", author=ANA,
        titled=False,        people=(Person(ANA.id, ("Ana Lima", "ana")),),
    ),
    RawDocument(
        "follows", "dump", LIST, "event", "Follows", kind="follows", author=ANA, titled=False, created_at=5,
        relations=(
            Relation("follows", BEN, ANA, LIST.index(b'["p","npub1ben'), LIST.index(b',["p","npub1cy')),
            Relation("follows", CY, ANA),
        ),
    ),
    post("one", "The tide turns. Ask npub1ben.", ids=("note-one",), created_at=7, relations=(
        Relation("mentions", BEN, start=20, end=28), Relation("tagged_with", Ref("tag", "Sea/Tides")),
    )),
    post("two", "It does. 潮が変わる。", BEN, relations=(
        Relation("replied_to", Ref("document", "note-one")),
        Relation("references", Ref("document", "elsewhere")),
    )),
]  # fmt: skip


@pytest.fixture
def made(tmp_path):
    with index(tmp_path / "i.duckdb", DOCUMENTS) as found:
        yield found


def all_nodes(index):
    reader = index.engine.reader
    return reader.nodes(range(reader.count("nodes")))


def edges(index):
    reader = index.engine.reader
    names = [node.name for node in all_nodes(index)]
    found = reader.edge_rows(range(reader.count("edges")))
    data = {document.key: document.data for document in DOCUMENTS}
    of = [document.key for document in reader.documents()]

    def shown(place):
        return data[of[place.doc]][place.start : place.end].decode()

    places = reader.evidence([edge.edge for edge in found])
    return {
        (edge.kind, names[edge.source], names[edge.target]): list(map(shown, places.get(edge.edge, ())))
        for edge in found
    }


def test_each_relation_is_an_edge_with_its_place(made):
    found = edges(made)
    assert found["follows", "Ana Lima", "npub1b…"] == ['["p","npub1ben"]']
    assert found["follows", "Ana Lima", "npub1c…"] == [""]  # the document as a whole
    assert found["mentions", "The tide turns. Ask ", "npub1b…"] == ["npub1ben"]
    assert found["replied_to", "It does. 潮が変わる。", "The tide turns. Ask "] == ["It does. 潮が変わる。"]
    for tag in ("Sea", "Sea/Tides"):
        assert found["tagged_with", "The tide turns. Ask ", tag] == ["The tide turns. Ask npub1ben."]
    authors = {(source, target) for kind, source, target in found if kind == "authored_by"}
    assert ("Follows", "Ana Lima") in authors
    assert ("It does. 潮が変わる。", "npub1b…") in authors
    assert not any(kind == "references" for kind, _, _ in found)  # it leads to what isn't here


def test_people_are_known_by_id_and_by_every_name(made):
    for name in ("Ana Lima", "ana", "npub1ana"):
        card = made.show(name)
        assert (card.node.kind, card.node.name) == ("person", "Ana Lima"), name
    assert made.show("npub1cy").node.name == "npub1c…"
    assert [one.quote for one in made.show("Ana Lima").definitions] == ["I watch tides."]


def test_people_of_one_name_stay_apart(tmp_path):
    same = [
        RawDocument(key, "dump", b"Me.", "post", "profile · Ana Lima", kind="profile", author=ref,
                    people=(Person(ref.id, ("Ana Lima",)),))
        for key, ref in (("a", ANA), ("b", BEN))
    ]  # fmt: skip
    with index(tmp_path / "i.duckdb", [*same, post("c", "Ana Lima went home.", CY)]) as found:
        people = [node for node in all_nodes(found) if node.kind == "person"]
        assert sorted(node.name for node in people) == ["Ana Lima", "Ana Lima", "npub1c…"]
        assert len({node.id for node in people}) == 3
        assert all(node.df <= 1 for node in people)  # text doesn't say which of them it means


def test_own_names_count_before_what_others_say(tmp_path):
    own = post("z", "Me.", ANA, people=(Person(ANA.id, ("Ana",)),))
    documents = [post("a", "A friend.", BEN, people=(Person(ANA.id, ("boss",)),)), own]
    with index(tmp_path / "i.duckdb", documents) as found:
        assert found.show("boss").node.name == "Ana"


def test_an_event_without_text_is_evidence_and_never_found(made):
    for question in ("npub1ben", "tags", "Follows", "p"):
        assert all(hit.document.key != "follows" for hit in made.search(question, 50)), question
    assert "follows" in made.engine.reader.contents()
    assert not made.engine.reader.chunks_of(0)
    assert all(check.faults == () for check in made.doctor().checks)


def test_titles_that_are_only_shown_name_nothing(tmp_path):
    documents = [post(key, "Good morning", author=ANA) for key in "ab"] + [
        post("c", "Good morning to Ben", BEN)
    ]
    with index(tmp_path / "i.duckdb", documents) as found:
        reader = found.engine.reader
        nodes = {node.node: node for node in all_nodes(found)}
        assert not [one for one in reader.mentions() if nodes[one.node].kind == "document"]
        assert not len(reader.array("graph.def_node"))
