from __future__ import annotations

import numpy as np
import pytest
from small_corpus import make_corpus, make_graph

from clew.ingest.communities import partition
from clew.ingest.reports import summarise
from clew.options import CommunityOptions

OPTIONS = CommunityOptions()

GARDEN = {
    "garden/soil.md": "# Soil\n\nSoil holds water and feeds the roots of every plant. "
    "Compost makes soil loose.\n\n```\nsoil = compost()\n```\n",
    "garden/compost.md": "# Compost\n\nCompost is made of leaves and kitchen scraps that rot for a year. "
    "Mulch keeps soil moist.\n\n| soil | compost |\n|---|---|\n| clay | a lot |\n",
    "garden/mulch.md": "# Mulch\n\nMulch is a layer of straw that covers the soil around plants.\n",
    "ships/sail.md": "# Sail\n\nA sail catches the wind and drives the hull forward. "
    "The mast carries the sail.\n",
    "ships/mast.md": "# Mast\n\nThe mast is a tall pole that stands on the keel and holds the sail.\n",
    "ships/keel.md": "# Keel\n\nThe keel runs along the hull's bottom and keeps it upright under sail.\n",
    "alone.md": "Nothing here is named by anything else at all, and nothing links to it.\n",
    "empty.md": "",
}
GARDEN_NAMES = ["Soil", "Compost", "Mulch", "Sail", "Mast", "Keel", "Hull"]

UKRAINIAN = {
    "хліб.md": "# Хліб\n\nХліб печуть із борошна та води. Закваска піднімає тісто.\n",
    "закваска.md": "# Закваска\n\nЗакваска — це суміш борошна й води, у якій живуть дріжджі.\n",
    "зоря.md": "# Зоря\n\nЗоря світить, бо в її ядрі горить водень. Галактика має мільярди зір.\n",
    "галактика.md": "# Галактика\n\nГалактика — це система зір, газу й пилу. Зоря обертається в ній.\n",
}
CHINESE = {
    "茶.md": "# 绿茶\n\n绿茶是不发酵的茶，主要产于中国南方的山区。水温不宜太高。绿茶和茶壶常在一起。\n",
    "壶.md": "# 茶壶\n\n茶壶是泡茶用的器具，宜兴的茶壶用紫砂做成。绿茶可以用玻璃杯。\n",
    "星.md": "# 恒星\n\n恒星是发光的球体，核心里氢变成氦。恒星组成银河系这样的系统。\n",
    "河.md": "# 银河系\n\n银河系有两千多亿颗恒星，太阳是其中的一颗。\n",
}


def reports_of(files, names, order=None, options=OPTIONS):
    corpus = make_corpus(files, order)
    graph = make_graph(corpus, names)
    communities = partition(corpus, graph, options)
    return corpus, graph, communities, summarise(corpus, graph, communities)


def check(files, corpus, graph, communities, reports):
    assert [report.community for report in reports] == list(range(len(communities.level)))
    top = communities.level[communities.member_community] == 0
    assert sorted(communities.member_node[top].tolist()) == list(range(graph.n_nodes))
    for report in reports:
        mine = communities.member_node[communities.member_community == report.community]
        assert set(report.members) <= set(mine.tolist())
        assert report.members
        assert 0 <= report.rating <= 10
        for finding in report.findings:
            document = corpus.documents[int(corpus.chunk_doc[finding.chunk])]
            data = files[document.key]
            data = data if isinstance(data, bytes) else data.encode()
            assert data[finding.start : finding.end].decode(document.encoding) == finding.text
            assert corpus.chunk_start[finding.chunk] <= finding.start
            assert finding.end <= corpus.chunk_end[finding.chunk]


def themes(communities, reports):
    return [report for report in reports if communities.level[report.community] == 0]


def test_two_subjects_are_two_themes_with_their_own_names():
    found = reports_of(GARDEN, GARDEN_NAMES)
    check(GARDEN, *found)
    _, graph, communities, reports = found
    by_title = {report.title: report for report in themes(communities, reports)}
    garden = [title for title in by_title if "Soil" in title or "Compost" in title]
    ships = [title for title in by_title if "Sail" in title or "Mast" in title]
    assert len(garden) == len(ships) == 1
    assert garden != ships
    names = {graph.name[node].casefold() for node in by_title[ships[0]].members}
    assert {"sail", "mast", "keel", "hull"} <= names
    assert not names & {"soil", "compost"}


def test_findings_are_sentences_and_never_code_tables_or_headings():
    *_, reports = reports_of(GARDEN, GARDEN_NAMES)
    texts = [finding.text for report in reports for finding in report.findings]
    assert "Mulch is a layer of straw that covers the soil around plants." in texts
    assert not [text for text in texts if "|" in text or "#" in text or "compost()" in text]
    for report in reports:
        assert len({f.text for f in report.findings}) == len(report.findings)


def test_every_theme_has_a_summary_even_without_sentences():
    files = {"a.md": "# Alpha\n", "b.md": "# Beta\n\n```\nAlpha\n```\n"}
    found = reports_of(files, ["Alpha", "Beta"])
    check(files, *found)
    assert all(report.title and report.summary for report in found[3])


@pytest.mark.parametrize(
    ("files", "names", "apart"),
    [
        (UKRAINIAN, ["Хліб", "Закваска", "Зоря", "Галактика"], ("Закваска", "Галактика")),
        (CHINESE, ["绿茶", "茶壶", "恒星", "银河系"], ("绿茶", "银河系")),
    ],
)
def test_any_language(files, names, apart):
    found = reports_of(files, names)
    check(files, *found)
    _, graph, communities, reports = found
    top = themes(communities, reports)
    one, other = (next(r for r in top if name in {graph.name[n] for n in r.members}) for name in apart)
    assert one.community != other.community
    assert one.findings
    assert other.findings
    assert apart[0] in one.summary
    assert apart[1] in other.summary


@pytest.mark.parametrize("encoding", ["utf-16", "gb18030"])
def test_findings_of_other_encodings_are_exact_bytes(encoding):
    files = {key: text.encode(encoding) for key, text in CHINESE.items()}
    found = reports_of(files, ["绿茶", "茶壶", "恒星", "银河系"])
    check(files, *found)
    assert any(report.findings for report in found[3])


def test_the_order_of_files_changes_nothing():
    one = reports_of(GARDEN, GARDEN_NAMES)
    other = reports_of(GARDEN, GARDEN_NAMES, order=sorted(GARDEN, reverse=True))
    assert one[3] == other[3]
    assert (one[2].member_node == other[2].member_node).all()
    assert (one[2].parent == other[2].parent).all()


def test_no_nodes_no_communities_no_reports():
    corpus = make_corpus({})
    graph = make_graph(corpus, [])
    communities = partition(corpus, graph, OPTIONS)
    assert len(communities.level) == 0
    assert summarise(corpus, graph, communities) == []


def test_hundreds_of_lone_notes_are_pooled_by_folder():
    files = {f"{folder}/{i}.md": f"Word{i}{folder} alone.\n" for folder in "ab" for i in range(60)}
    corpus = make_corpus(files)
    graph = make_graph(corpus, [])
    communities = partition(corpus, graph, OPTIONS)
    assert (communities.level == 0).sum() == 2
    folder = np.array([corpus.documents[d].key[0] for d in graph.doc.tolist()])
    for community in (0, 1):
        assert len(set(folder[communities.member_node[communities.member_community == community]])) == 1


def test_a_hub_does_not_glue_what_has_nothing_in_common():
    # "Index" is in every note: without a brake it would join gardens and ships.
    files = {key: text + "\nSee the Index.\n" for key, text in GARDEN.items() if "/" in key}
    for i in range(30):
        files[f"more/{i}.md"] = f"Index of things number {i}.\n"
    _, graph, communities, _ = reports_of(files, [*GARDEN_NAMES, "Index"])
    top = communities.level[communities.member_community] == 0
    label = dict(
        zip(communities.member_node[top].tolist(), communities.member_community[top].tolist(), strict=True)
    )
    place = {(graph.kind[i], graph.name[i]): i for i in range(graph.n_nodes)}
    assert label[place["entity", "Soil"]] != label[place["entity", "Sail"]]
