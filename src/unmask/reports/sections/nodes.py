"""The nodes of a lattice in a game: what each leaves by its utility, and the levels of those that are offered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.reports.charts import plot
from unmask.reports.facts.game import Nodes
from unmask.reports.findings.price import amount
from unmask.reports.marks import Rule, Spot
from unmask.reports.parts import Figure, Figures, Loose, grid, lead, notes
from unmask.reports.scales import linear
from unmask.reports.words import plural, release_name

BINS = 40
"""Steps of utility of the picture."""

PICTURE = (
    "A mark is what the best node of about that utility leaves at least, at its best terms of the document; the thin "
    "line ends at what the best one leaves at most."
)


def nodes_told(lattices: Sequence[Nodes]) -> str:
    """How many nodes were weighed."""
    n, solved = (sum(count) for count in zip(*((len(one.utility), one.solved) for one in lattices), strict=True))
    left = f"all but {plural(solved, 'move')}" if solved else "every move"
    return f"{plural(n, 'node')} of the lattice: the sizes of groups settle {left}."


def levels_told(lattices: Sequence[Nodes], protection: str) -> str:
    """What a node does to each column, in a sentence; "" of a protection that is none."""
    levels = next((one.levels[protection] for one in lattices if protection in one.levels), None)
    if levels is None:
        return ""
    words = {"0": "as it is", "*": "left out"}
    said = (f"{column} {words.get(str(level), f'at {level}')}" for column, level in levels.items())
    return f"{release_name(protection)} shows {', '.join(said)}."


def nodes_shown(lattices: Sequence[Nodes]) -> Iterator[Loose]:
    """For each lattice the picture, and the levels of the nodes that are offered."""
    for one in lattices:
        yield lead(PICTURE)
        yield Figures((_plane(one),))
        columns = list(next(iter(one.levels.values()), ()))
        rows = [(name, *(str(levels[column]) for column in columns)) for name, levels in one.levels.items()]
        yield grid(
            ("Protection", *columns),
            rows,
            "Level of each column: 0 as it is, * left out, else the width of its steps or the level of its hierarchy",
            text=1,
        )
        yield notes(_doubt(one))


def _doubt(one: Nodes) -> list[str]:
    said = f"The best node leaves {amount(max(one.low))} at least."
    if not one.undecided:
        return [said]
    more = f"{plural(one.undecided, 'other move')} may bring more, by up to {amount(one.short)}"
    return [said, f"{more}: their campaigns are only bounded."]


def _plane(one: Nodes) -> Figure:
    """The best of the nodes with about the same utility: what it leaves at least, and at most."""
    best = max(range(len(one.low)), key=lambda i: one.low[i])
    spots = [*_others(one, best), Spot(one.utility[best], one.low[best], 0, name="best node", high=one.high[best])]
    values = [value for spot in spots for value in spot.ends]
    x = linear(1.0, title="Utility kept")
    y = linear(max(*values, 0.0), low=min(*values, 0.0), pads=(0.03, 0.03), unit="")
    label = f"What is left to the publisher by the utility of a node; the best leaves {amount(max(one.low))}."
    rules = [Rule(0.0, "not to release", across=True)]
    return Figure("Left to you, by utility kept", plot(x, y, spots=spots, rules=rules, height=260.0, label=label))


def _others(one: Nodes, best: int) -> Iterator[Spot]:
    """In each step of utility the node that leaves most at least, up to what any there leaves at most."""
    steps: dict[int, list[int]] = {}
    for place, at in enumerate(one.utility):
        steps.setdefault(round(at * BINS), []).append(place)
    for own in (steps[step] for step in sorted(steps)):
        top = max(own, key=lambda place: one.low[place])
        if top != best:
            high = max(one.high[place] for place in own)
            yield Spot(one.utility[top], one.low[top], 0, high=high, hollow=True)
