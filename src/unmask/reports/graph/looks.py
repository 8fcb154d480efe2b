"""What the parts of the graph section share: a heading with its charts and tables, and one look for each attack."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.reports.graph import plots
from unmask.reports.graph.plots import Scale
from unmask.reports.graph.values import GraphRisk, StructureAttack
from unmask.reports.graph.words import strongest_first
from unmask.reports.lines import Line
from unmask.reports.sections import Figure, Grid
from unmask.reports.words import lettered, number, percent, release_name

LINES = 6
"""Lines that are told apart in one chart."""

Points = Sequence[tuple[float, float]]
Named = tuple[str, str, Points]
"""The name of a line, the attack it is of, and its points."""


@dataclass(frozen=True)
class Block:
    """A part of the section under its own heading: charts, notes, tables, and tables folded away."""

    heading: str
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    tables: tuple[Grid, ...] = ()
    folded: tuple[Grid, ...] = ()


@dataclass(frozen=True)
class Looks:
    """The number of the look of each attack, the one it has elsewhere on the page, and how many are there."""

    styles: Mapping[str, int]
    adversaries: int

    def said(self, name: str, attack: str) -> str:
        """A name behind the letter of its attack, where letters are used."""
        return lettered(name, self.styles[attack], self.adversaries)

    def lines(self, named: Sequence[Named], *, shade: bool = False) -> list[Line]:
        """The first lines that have a value, each in the look of its attack; the second of an attack in a free one."""
        kept = [item for item in named if any(math.isfinite(y) for _, y in item[2])][:LINES]
        taken: list[int] = []
        for i, (_, attack, _) in enumerate(kept):
            own = i if shade else self.styles[attack] % LINES
            others = {self.styles[item[1]] % LINES for item in kept} | {*taken}
            taken.append(own if own not in taken else next(j for j in range(LINES) if j not in others))
        return [Line(name, tuple(points), i, shade) for (name, _, points), i in zip(kept, taken, strict=True)]


def shown(graph: GraphRisk) -> list[tuple[str, StructureAttack]]:
    """The attacks on the release where most people are named, the strongest first, and a name for each of them."""
    ordered = strongest_first(graph.attacks, graph.truth_known)
    own = [attack for attack in ordered if attack.release == ordered[0].release]
    return [(_told_apart(attack, [a for a in own if a.attack == attack.attack]), attack) for attack in own]


def _told_apart(attack: StructureAttack, alike: Sequence[StructureAttack]) -> str:
    """The name of an attack, with what tells it from others of that name: number of seeds, their choice, or both."""
    if len(alike) == 1:
        return attack.attack
    if len({other.n_seeds for other in alike}) == len(alike):
        return f"{attack.attack}, {attack.n_seeds:,} seeds"
    if len({other.seeds for other in alike}) == len(alike):
        return f"{attack.attack}, {attack.seeds}"
    return f"{attack.attack}, {attack.n_seeds:,} {attack.seeds}"


def of_release(graph: GraphRisk) -> list[str]:
    """Which release the charts are of, where there are several."""
    if len({attack.release for attack in graph.attacks}) < 2:
        return []
    return [f"Of {release_name(shown(graph)[0][1].release)}, the release where most people are named."]


def figure(
    caption: str, lines: Sequence[Line], scale: Scale, *, key: str, said: str = "", share: bool = True, **look: Any
) -> tuple[Figure, ...]:
    """A panel under its caption, told in words by the ends of its lines; none without lines."""
    if not lines:
        return ()
    caption += f": {lines[0].name}" if len(lines) == 1 else ""
    ends = ((line.name, [y for _, y in line.points if math.isfinite(y)]) for line in lines)
    form = percent if share else number
    told = "; ".join(f"{name}: {form(values[0])} to {form(values[-1])}" for name, values in ends)
    label = f"{caption}{said}. {told}."
    svg = plots.panel(lines, scale, share=share, label=label, key=f"graph-{key}", **look)
    return (Figure(caption, svg),)
