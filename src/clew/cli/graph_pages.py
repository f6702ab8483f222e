"""Results on the graph's structure as a person reads them. All text of notes passes ``line``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.cli.render import DIM, NAME, NUMBER, PLACE, QUOTE_CHARS, also_named, place, short
from clew.cli.screen import Page, line

if TYPE_CHECKING:
    from clew.types import (
        Activity,
        Bridges,
        Connection,
        Exported,
        GraphPath,
        Matches,
        MatchRow,
        Neighbour,
        Neighbourhood,
        PathStep,
    )

BAR = 24  # columns of the longest bar
LINK_MARKS = 8  # brackets of a link around a name


def connection(page: Page, found: Connection, max_steps: int = 6) -> None:
    """Paths, best first, a step a line with the place that states it; or why there is none."""
    a, b = line(found.start.name), line(found.end.name)
    if found.same:
        page.add(f"{a} and {b} are the same: no path is needed. `clew show` tells what it is.")
        return
    if not found.paths:
        steps = "1 step" if max_steps == 1 else f"{max_steps:,} steps"
        page.add(f"No path of at most {steps} joins {a} and {b}.")
    for number, one in enumerate(found.paths, 1):
        if number > 1:
            page.gap()
        graph_path(page, one, number if len(found.paths) > 1 else 0)
    taken = [one for one in (found.start, found.end) if one.others]
    if taken:
        page.gap()
    for name in taken:
        also_named(page, name)


def graph_path(page: Page, found: GraphPath, number: int = 0) -> None:
    """A path: where it begins, then a line for each step."""
    first = found.nodes[0]
    count = [(f"{number}. ", NUMBER)] if number else []
    page.add(*count, (line(first.name), NAME), (f"  {first.kind}", DIM))
    for one in found.steps:
        step(page, one, 5 if number else 2)


def step(page: Page, found: PathStep, indent: int) -> None:
    """A step: the edge, what it leads to, and the place that states it; the passage if it says more."""
    evidence = found.view.evidence[0] if found.view.evidence else None
    page.add(
        (f"— {line(found.words)} → ", DIM),
        (line(found.end.name), NAME),
        (f"  {found.end.kind}", DIM),
        (f"  {place(evidence)}" if evidence else "", PLACE),
        indent=indent,
    )
    # A link's own text says no more than the line above it.
    if evidence and len(evidence.quote) > len(found.end.name) + LINK_MARKS:
        page.add((short(evidence.quote, QUOTE_CHARS), DIM), indent=indent + 4)


def matches(page: Page, found: Matches) -> None:
    """The rows of a pattern, each on a line, with the places of its edges below."""
    if not found.rows:
        page.add("Nothing fits the pattern.")
    for number, row in enumerate(found.rows, 1):
        page.add((f"{number:>2}. ", NUMBER), *_row(row))
        places = dict.fromkeys(place(one.view.evidence[0]) for one in row.steps if one.view.evidence)
        if places:
            page.add(("  ".join(places), PLACE), indent=4)
    if found.more:
        page.add(("There are more: --limit tells how many to list.", DIM))
    for note in found.notes:
        page.labelled("Note", line(note))


def _row(row: MatchRow) -> list[tuple[str, str]]:
    pieces = [(line(row.nodes[0].name), NAME)]
    for one in row.steps:
        pieces += [(f" — {line(one.words)} → ", DIM), (line(one.end.name), NAME)]
    return pieces


def neighbourhood(page: Page, found: Neighbourhood) -> None:
    """What is around a node: by hops, then what shares its tags, then its thread."""
    page.add((line(found.start.node.name), NAME), (f"  {line(found.start.exactly)}", DIM))
    for hops, count in enumerate(found.found, 1):
        listed = [one for one in found.neighbours if one.hops == hops]
        page.gap()
        away = "1 hop away" if hops == 1 else f"{hops} hops away"
        page.add((away, NAME), (f"  {count:,}" if count else "  nothing", DIM))
        for one in listed:
            page.add(*_neighbour(one), indent=2)
        if count > len(listed):
            page.add((f"… and {count - len(listed):,} more (-k lists more)", DIM), indent=2)
    if found.sharing:
        page.gap()
        page.add(("Tags in common", NAME))
    for shared in found.sharing:
        tags = ", ".join(f"#{line(tag.name)}" for tag in shared.tags)
        page.add((line(shared.node.name), NAME), (f"  {tags}", DIM), indent=2)
    if found.thread:
        page.gap()
        page.add(("Thread", NAME))
    for reply in found.thread:
        here = reply.node.node == found.start.node.node
        page.add((line(reply.node.name), NAME if here else ""), indent=2 + 2 * reply.depth)
    if found.start.others:
        page.gap()
        also_named(page, found.start)


def _neighbour(found: Neighbour) -> list[tuple[str, str]]:
    """The edges that lead to a neighbour, and the place that states the last one."""
    pieces: list[tuple[str, str]] = []
    for one in found.steps:
        pieces += [(f"{line(one.words)} ", DIM), (line(one.end.name), NAME), (" ", "")]
    evidence = found.steps[-1].view.evidence
    return [*pieces, (f" {place(evidence[0])}" if evidence else "", PLACE)]


def exported(page: Page, found: Exported) -> None:
    """The files that were written, and what is in them."""
    for file, size in found.files.items():
        page.add((line(file), PLACE), f"  {size / 1e6:,.1f} MB")
    page.add(f"{found.nodes:,} nodes, {found.edges:,} edges")


def bridges(page: Page, found: Bridges) -> None:
    """Pairs of a recent and an older note, each with what joins them."""
    recent = f"{found.recent:,} since {day(found.recent_since)}"
    page.add((f"{recent}, {found.older:,} until {day(found.older_until)}", DIM))
    if not found.rows:
        page.add("Nothing of late connects to what was long ago.")
    for number, one in enumerate(found.rows, 1):
        page.gap()
        pair = [(line(one.recent.name), NAME), (f"  {day(one.recent_at)}   ", DIM)]
        pair += [(line(one.older.name), NAME), (f"  {day(one.older_at)}", DIM)]
        page.add((f"{number:>2}. ", NUMBER), *pair)
        for part in one.path.steps:
            step(page, part, 6)
        if one.also:
            page.add(("also  ", DIM), ", ".join(line(node.name) for node in one.also), indent=6)
    if found.undated:
        page.gap()
        page.labelled("Note", f"{found.undated:,} without a date are left out.")


def day(time: int) -> str:
    """Return a time as its day."""
    from datetime import UTC, datetime, timedelta

    try:
        return f"{datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=time):%Y-%m-%d}"
    except OverflowError:  # an event may say that it was written in the year 30,000
        return str(time)


def activity(page: Page, found: Activity) -> None:
    """A line a period: its bar, its count, and what came and went."""
    if found.theme:
        kinds = ", ".join(f"{line(node.name)} ({node.kind})" for node in found.named)
        page.add((line(found.theme), NAME), (f"  {kinds or 'by the words of passages'}", DIM))
    if not found.periods:
        page.add("No note with a date is about it." if found.theme else "No note has a date.")
    most = max((period.documents for period in found.periods), default=0)
    for period in found.periods:
        bar = "█" * max(round(BAR * period.documents / max(most, 1)), int(period.documents > 0))
        share = f" of {period.every:,}" if found.theme else ""
        page.add(
            (f"{period.label:<10} ", DIM), (f"{bar:<{BAR}} ", NUMBER), f"{period.documents:,}", (share, DIM)
        )
        for word, nodes in (("came", period.came), ("went", period.went)):
            if nodes:
                page.add((f"{word}  ", DIM), ", ".join(line(node.name) for node in nodes), indent=11)
    if found.undated:
        page.labelled("Note", f"{found.undated:,} without a date are left out.")
