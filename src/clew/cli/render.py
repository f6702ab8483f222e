"""Results as a person reads them. Everything from notes passes through ``clean`` or ``line``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from clew.cli.screen import Page, clean, line, readable, styled

if TYPE_CHECKING:
    from clew.types import (
        Answer,
        CacheState,
        Citation,
        CommunityView,
        Diagnosis,
        EdgeView,
        Hit,
        Named,
        Node,
        NodeCard,
        Problem,
        Related,
        Trace,
    )

NUMBER, NAME, PLACE, DIM, TITLE = "cyan", "bold", "green", "dim", "bold"
DOUBT = "yellow"
QUOTE_CHARS = 110  # of a passage under a citation: about a line
PASSAGE_CHARS = 320  # of a search hit: enough to judge it
EDGES_SHOWN = 12
OTHERS_SHOWN = 5  # nodes of the same name
PLACES_SHOWN = 8
MEMBERS_SHOWN = 10
PROBLEMS_SHOWN = 20


def place(citation: Citation) -> str:
    """Return ``path:line``, which editors and terminals can follow."""
    return f"{line(citation.location)}:{citation.start_line}"


def short(text: str, limit: int) -> str:
    """Return text on one line, cut at a word near ``limit`` characters."""
    flat = line(readable(text))
    if len(flat) <= limit:
        return flat
    cut = flat.rfind(" ", limit // 2, limit)
    return flat[: cut if cut > 0 else limit].rstrip(" ,;:") + " …"


def answer(page: Page, found: Answer, explain: bool) -> None:
    """The answer, where each statement comes from, related names, and the mode."""
    if found.text:
        _answer_text(page, found)
    else:
        page.add("The notes hold nothing on this question.")
    below_answer(page, found, explain)


def below_answer(page: Page, found: Answer, explain: bool) -> None:
    """What stands below an answer's text: sources, what they don't say, related names, and the mode."""
    page.gap()
    if found.text:
        _sources(page, found.citations)
        _doubts(page, found)
        page.gap()
    if found.read_as:
        page.labelled("Read as", line(found.read_as))
    if found.related:
        page.labelled("Related", ", ".join(line(node.name) for node in found.related))
    page.labelled("Mode", (found.mode, NAME), f" — {line(found.reason)}" if found.reason else "")
    if explain:
        trace(page, found.trace)
        return
    for note in found.trace.notes:
        if line(note) not in line(found.reason):
            page.labelled("Note", line(note))


def below_chat(page: Page, found: Answer) -> None:
    """What stands below an answer in a conversation: how the question was read, its sources, doubts."""
    if found.read_as:
        page.add((f"Read as: {line(found.read_as)}", DIM))
    if found.text:
        _sources(page, found.citations)
        _doubts(page, found)
    page.gap()


def sources(page: Page, found: Answer) -> None:
    """The places that an answer cites, with what stands there."""
    for one in found.citations:
        page.add((f"[{one.number}]", NUMBER), " ", (place(one), PLACE), ("  " + _label(one), DIM))
        page.add(short(one.quote, PASSAGE_CHARS), indent=4)


def _doubts(page: Page, found: Answer) -> None:
    """The sentences that what they cite doesn't support, and the citations that led nowhere."""
    doubtful = [one for one in found.sentences if not one.supported]
    if doubtful:
        page.gap()
        count = f"{len(doubtful)} of {_plural(len(found.sentences), 'sentence')}"
        page.add((f"Not supported by what is cited ({count}):", DOUBT))
        for one in doubtful:
            page.add((f"“{short(one.text, QUOTE_CHARS)}”", DOUBT), indent=2)
    if found.removed_citations:
        count = _plural(found.removed_citations, "citation")
        page.add((f"{count} of passages that the model wasn't given: removed.", DOUBT))
    if found.left_out:
        page.add((f"{_plural(found.left_out, 'sentence')} that the notes don't support: left out.", DOUBT))


def _sources(page: Page, citations: Sequence[Citation]) -> None:
    """A line for each place; citations of one place share it."""
    places: dict[str, list[Citation]] = {}
    for one in citations:
        places.setdefault(place(one), []).append(one)
    for where, together in places.items():
        numbers = "".join(f"[{one.number}]" for one in together)
        page.add((numbers, NUMBER), " ", (where, PLACE), "  ", (_label(together[0]), DIM))


def _answer_text(page: Page, found: Answer) -> None:
    text = styled(clean(readable(found.text)))
    numbers = "|".join(str(one.number) for one in found.citations)
    if numbers:
        text.highlight_regex(rf"\[(?:{numbers})\]", NUMBER)
    page.add(text)


def _label(citation: Citation) -> str:
    return line(citation.title) if citation.title else short(citation.quote, QUOTE_CHARS)


def trace(page: Page, found: Trace) -> None:
    """How an answer was made: seeds, the path to each passage, counts and times."""
    _heading(page, "Seeds")
    for seed in found.seeds:
        page.add(f"{seed.weight:6.2f}  ", (line(seed.label), NAME), (f"  {line(seed.reason)}", DIM), indent=2)
    if not found.seeds:
        page.add(("none", DIM), indent=2)
    _heading(page, "Passages and the way to them")
    for rank, hit in enumerate(found.hits, 1):
        where = f"{line(hit.document.location)}:{hit.chunk.start_line}"
        page.add((f"{rank:>2}. ", NUMBER), (where, PLACE), f"  {hit.score:.3f}", indent=2)
        page.add(*(_way(hit) or [(line(hit.why), DIM)]), indent=6)
    if found.counts:
        _heading(page, "Counts")
        page.add(", ".join(f"{_words(name)} {count:,}" for name, count in found.counts.items()), indent=2)
    if found.milliseconds:
        _heading(page, "Milliseconds")
        page.add(", ".join(f"{_words(name)} {ms:.0f}" for name, ms in found.milliseconds.items()), indent=2)
    if found.notes:
        _heading(page, "Notes")
        for note in found.notes:
            page.add(line(note), indent=2)


def _way(hit: Hit) -> list[Any]:
    """Return the steps that led to a hit: ``A —edge→ B —edge→ C``."""
    pieces: list[Any] = []
    last = None
    for step in hit.path:
        if step.source != last:
            pieces.append(("; " if pieces else "", DIM))
            pieces.append((line(step.source), NAME))
        pieces.append((f" —{_words(step.edge)}→ ", DIM))
        pieces.append((line(step.target), NAME))
        last = step.target
    return pieces


def search(page: Page, found: Sequence[Hit]) -> None:
    """Ranked passages with their scores' parts and the reason."""
    if not found:
        page.add("No passage matches.")
    for rank, hit in enumerate(found, 1):
        if rank > 1:
            page.gap()
        where = f"{line(hit.document.location)}:{hit.chunk.start_line}"
        headings = " › ".join(line(part) for part in hit.chunk.heading_path)
        page.add((f"{rank:>2}. ", NUMBER), (where, PLACE), (f"  {headings}" if headings else "", NAME))
        page.add(short(hit.chunk.text, PASSAGE_CHARS), indent=4)
        parts = " · ".join(f"{_words(name)} {value:.2f}" for name, value in hit.parts.items())
        page.add((f"score {hit.score:.3f}: {parts}" if parts else f"score {hit.score:.3f}", DIM), indent=4)
        if hit.why:
            page.add((line(hit.why), DIM), indent=4)


def card(page: Page, found: NodeCard, taken: Named | None = None) -> None:
    """What the graph knows of a node, and what else bears its name."""
    node = found.node
    what = f"{node.kind}, {line(node.type)}" if node.type else node.kind
    page.add((line(node.name), TITLE), (f"  {what}, in {_plural(node.df, 'passage')}", DIM))
    if node.description:
        page.add(line(node.description))
    others = [line(name) for name in found.names if name != node.name]
    if others:
        page.add(("Also     ", DIM), ", ".join(others))
    _places(page, "Defined in", found.definitions)
    shown = {(one.key, one.start_line) for one in found.definitions}
    _places(page, "Mentioned in", [m for m in found.mentions if (m.key, m.start_line) not in shown])
    unlinked = [view for view in found.edges if view.edge.kind == "unlinked_mention"]
    # What is named without a link is mentioned, which needn't be said twice.
    ends = {(view.source.node, view.target.node) for view in unlinked}
    edges = [view for view in found.edges if (view.source.node, view.target.node) not in ends]
    _edges(page, "Edges", node, edges)
    _edges(page, "Named without a link", node, unlinked, ("names", "named in"))
    if taken is not None and taken.others:
        page.gap()
        also_named(page, taken)


def _edges(
    page: Page, title: str, node: Node, views: Sequence[EdgeView], words: tuple[str, str] | None = None
) -> None:
    """The edges of a node under a heading; ``words`` for both directions, where the heading says the rest."""
    if not views:
        return
    _heading(page, title)
    for view in views[:EDGES_SHOWN]:
        _edge_from(page, node, view, words)
    _more(page, len(views) - EDGES_SHOWN)


def also_named(page: Page, taken: Named) -> None:
    """Which node a name was taken for, where others bear it, and what to type for those."""
    others = ", ".join(line(exactly) for _, exactly in taken.others[:OTHERS_SHOWN])
    more = len(taken.others) - OTHERS_SHOWN
    kind = taken.node.kind
    page.labelled(
        "Taken",
        f"“{line(taken.name)}” as {_article(kind)} {kind}, {line(taken.exactly)}; it is also ",
        (others, NAME),
        f" and {more:,} more" if more > 0 else "",
    )


def _article(noun: str) -> str:
    return "an" if noun[:1] in "aeiou" else "a"


def _places(page: Page, title: str, citations: Sequence[Citation]) -> None:
    if not citations:
        return
    _heading(page, title)
    for one in citations[:PLACES_SHOWN]:
        page.add((place(one), PLACE), (f"  {short(one.quote, QUOTE_CHARS)}", DIM), indent=2)
    _more(page, len(citations) - PLACES_SHOWN)


def _edge_from(page: Page, node: Node, view: EdgeView, words: tuple[str, str] | None = None) -> None:
    forward = view.source.node == node.node
    other = view.target if forward else view.source
    where = place(view.evidence[0]) if view.evidence else ""
    page.add(
        (f"{words[not forward] if words else edge_words(view, forward):<14} ", DIM),
        (line(other.name), NAME),
        (f"  {where}" if where else "", PLACE),
        indent=2,
    )


def edge_words(view: EdgeView, forward: bool) -> str:
    """Return how an edge reads in one of its directions."""
    return line(view.words(forward))


def related(page: Page, found: Sequence[Related]) -> None:
    """Neighbours, nearest first."""
    if not found:
        page.add("Nothing is related.")
    for one in found:
        where = place(one.evidence[0]) if one.evidence else ""
        page.add(
            f"{one.score:5.2f}  ",
            (line(one.node.name), NAME),
            (f"  {line(one.why.replace('_', ' '))}", DIM),
            (f"  {where}" if where else "", PLACE),
        )


def communities(page: Page, found: Sequence[CommunityView]) -> None:
    """Themes, coarsest first, each with its summary and the members that matter."""
    if not found:
        page.add("There are no communities: the notes name nothing that occurs together.")
    for number, view in enumerate(found):
        if number:
            page.gap()
        community, report = view.community, view.report
        head = f"  level {community.level}, {_plural(community.size, 'member')}"
        page.add((f"{community.community:>3}  ", NUMBER), (line(report.title), TITLE), (head, DIM))
        if report.summary:
            page.add(short(report.summary, PASSAGE_CHARS), indent=5)
        places = dict.fromkeys(place(one) for one in view.citations[:PLACES_SHOWN])
        if places:
            page.add((", ".join(places), PLACE), indent=5)
        names = ", ".join(line(node.name) for node in view.members[:MEMBERS_SHOWN])
        if names:
            page.add((names, DIM), indent=5)


def stats(page: Page, found: Mapping[str, Any]) -> None:
    """Counts and facts of an index, one a line."""
    for name, value in found.items():
        if name == "hubs":
            shown = [f"{line(one['name'])} ({one['degree']:,})" for one in value]
            page.add((f"{name:<14} ", DIM), ", ".join(shown) or "none")
        elif name != "options":
            page.add((f"{_words(name):<14} ", DIM), _value(value))


def cache(page: Page, found: CacheState) -> None:
    """The cache's place, size and entries, and what could be dropped."""
    page.add(("cache        ", DIM), line(found.file))
    if not found.entries:
        page.add("There is none yet: `clew index` makes it.")
        return
    page.add(("size         ", DIM), f"{found.bytes / 1e6:,.1f} MB")
    for name, count in found.entries.items():
        if count:
            page.add((f"{name:<12} ", DIM), f"{count:,}")
    if found.problem:
        page.add((line(found.problem), "yellow"))
    if found.dropped:
        page.add(f"Dropped what the last run didn't use: {found.dropped:,} of them.")
    elif found.unused:
        page.add(f"The last run didn't use {found.unused:,} of them; `clew cache --prune` drops those.")
    else:
        page.add("The last run used all of them.")


def diagnosis(page: Page, found: Diagnosis) -> None:
    """Each check with its faults, how the notes have changed, and the verdict."""
    for check in found.checks:
        verdict = (_plural(len(check.faults), "fault"), "red") if check.faults else ("ok", "green")
        page.add((f"{check.name:<12} ", DIM), verdict, (f"  {check.checked:,} checked", DIM))
        for fault in check.faults:
            page.add(line(fault), indent=4)
    page.gap()
    state = found.sources
    if state is None:
        page.add(f"The notes weren't compared: {line(found.reason)}.")
    else:
        words = f"{state.changed:,} changed, {state.missing:,} gone and {state.new:,} new since"
        page.add(f"Of the notes {state.unchanged:,} are as they were indexed, {words}.")
    if not found.whole:
        page.add(("The index is damaged. Index again: clew index FOLDER --rebuild", "red"))
        return
    page.add(("The index is whole.", "green"))
    if state is not None and state.changed + state.missing + state.new:
        page.add("Index again to take up what has changed.")


def _value(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{line(str(key))} {_value(one)}" for key, one in value.items()) or "none"
    if isinstance(value, bool) or value is None:
        return {True: "yes", False: "no", None: "none"}[value]
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, list | tuple):
        return ", ".join(_value(one) for one in value) or "none"
    return line(str(value))


def problems(page: Page, found: Sequence[Problem]) -> None:
    """What was skipped, and what was indexed with a warning."""
    for title, skipped in (("Skipped", True), ("Indexed with a warning", False)):
        listed = [one for one in found if one.skipped is skipped]
        if not listed:
            continue
        page.gap()
        page.add((f"{title} ({len(listed):,})", "yellow"))
        for one in listed[:PROBLEMS_SHOWN]:
            remedy = f". {line(one.remedy)}" if one.remedy else ""
            page.add((line(one.key), NAME), f": {line(one.reason)}{remedy}", indent=2)
        _more(page, len(listed) - PROBLEMS_SHOWN)


def _heading(page: Page, text: str) -> None:
    page.gap()
    page.add((text, TITLE))


def _more(page: Page, count: int) -> None:
    if count > 0:
        page.add((f"… and {count:,} more (--json gives all)", DIM), indent=2)


def _words(name: str) -> str:
    return name.replace("_", " ")


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
