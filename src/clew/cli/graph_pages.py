"""Results on the graph's structure as a person reads them. All text of notes passes ``line``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from clew.cli.render import DIM, NAME, NUMBER, PLACE, QUOTE_CHARS, also_named, place, short
from clew.cli.screen import Page, line

if TYPE_CHECKING:
    from clew.types import Connection, GraphPath

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
    inner = 5 if number else 2
    for step in found.steps:
        evidence = step.view.evidence[0] if step.view.evidence else None
        page.add(
            (f"— {line(step.words)} → ", DIM),
            (line(step.end.name), NAME),
            (f"  {step.end.kind}", DIM),
            (f"  {place(evidence)}" if evidence else "", PLACE),
            indent=inner,
        )
        # A link's own text says no more than the line above it.
        if evidence and len(evidence.quote) > len(step.end.name) + LINK_MARKS:
            page.add((short(evidence.quote, QUOTE_CHARS), DIM), indent=inner + 4)
