"""The nodes of a lattice in a game: what each leaves by its utility, and the levels of those that are offered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.reports.charts import ends, plot
from unmask.reports.facts.game import Nodes
from unmask.reports.findings.price import amount
from unmask.reports.marks import Line, Rule, Spot
from unmask.reports.parts import Figure, Figures, Loose, grid, lead, notes
from unmask.reports.scales import linear
from unmask.reports.words import plural

BINS = 40
"""Steps of utility of the picture."""


def nodes_told(lattices: Sequence[Nodes]) -> str:
    """How many nodes were weighed."""
    n, solved = (sum(count) for count in zip(*((len(one.utility), one.solved) for one in lattices), strict=True))
    left = f"all but {plural(solved, 'move')}" if solved else "every move"
    return f"{plural(n, 'node')} of the lattice: the sizes of groups settle {left}."


def nodes_shown(lattices: Sequence[Nodes]) -> Iterator[Loose]:
    """For each lattice the picture, and the levels of the nodes that are offered."""
    for one in lattices:
        yield lead(
            "The best nodes at each utility, at their best terms of the document: what they leave at least, at most."
        )
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
    """The best of the nodes with about the same utility: what they leave at least, and at most."""
    lines = [
        Line(name, _upper(one.utility, values), style, marked=False)
        for style, (name, values) in enumerate((("at least", one.low), ("at most", one.high)))
    ]
    values = [value for line in lines for _, value in line.points]
    best = max(range(len(one.low)), key=lambda i: one.low[i])
    x = linear(1.0, title="Utility kept")
    y = linear(max(*values, 0.0), low=min(*values, 0.0), pads=(0.03, 0.03), unit="")
    spot = Spot(one.utility[best], one.low[best], 0, name="best node")
    label = f"What is left to the publisher by the utility of a node. {ends(lines, '')}"
    rules = [Rule(0.0, "not to release", across=True)]
    return Figure(
        "Left to you, by utility kept", plot(x, y, lines, spots=[spot], rules=rules, height=260.0, label=label)
    )


def _upper(utility: Sequence[float], values: Sequence[float]) -> list[tuple[float, float]]:
    """The largest value in each step of utility, at the utility of the node that has it."""
    best: dict[int, tuple[float, float]] = {}
    for at, value in zip(utility, values, strict=True):
        step = min(int(at * BINS), BINS - 1)
        if step not in best or value > best[step][1]:
            best[step] = (at, value)
    return [best[step] for step in sorted(best)]
