"""What the parts of the section on networks share: a heading with charts, and one look for each attack."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unmask.render import Figure
from unmask.reports.data import Scope
from unmask.reports.facts.graph import GraphRisk, StructureAttack
from unmask.reports.figures import Line, lines_figure
from unmask.reports.findings.graph import several_releases, strongest_first
from unmask.reports.parts import Figures, Heading, Loose, Part, notes
from unmask.reports.words import lettered
from unmask.results import Column
from unmask.results.words import release_name

LINES = 6
"""Lines that are told apart in one chart."""

Points = Sequence[tuple[Any, float]]
Named = tuple[str, str, Points]
"""The name of a line, the attack it is of, and its points."""


@dataclass(frozen=True)
class Looks:
    """The number of the look of each attack, the one it has elsewhere on the page, and how many are there."""

    styles: Mapping[str, int]
    adversaries: int

    @classmethod
    def of(cls, graph: GraphRisk, scope: Scope) -> Looks:
        """Those of the page, then of attacks that have no rows."""
        told = (graph.attacks, graph.transition, graph.overlaps)
        styles = scope.looks(str(item.attack) for items in told for item in items)
        return cls(styles, len(scope.adversaries))

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
        return [Line(name, tuple(points), i) for (name, _, points), i in zip(kept, taken, strict=True)]


def block(
    heading: str, figures: Iterable[Figure], told: Iterable[str], *tables: Part, said: str = ""
) -> tuple[Loose, ...]:
    """A heading with what it says, charts, how to read them, and tables; nothing without charts and tables."""
    drawn = Figures(tuple(figures))
    return (Heading(heading, said), drawn, notes(told), tables) if drawn.items or tables else ()


SHARE = Column("share", "", "share")


def figure(
    caption: str, lines: Sequence[Line], x: Column, *, y: Column = SHARE, said: str = "", **options: Any
) -> Iterator[Figure]:
    """A chart under its caption; none over one place. said : what the values are over"""
    if len({at for line in lines for at, y in line.points if y is not None and math.isfinite(y)}) > 1:
        caption += f": {lines[0].name}" if len(lines) == 1 else ""
        yield lines_figure(caption, x, y, lines, label=f"{caption}{said}", **options)


def shown(graph: GraphRisk) -> list[tuple[str, StructureAttack]]:
    """The attacks on the release where most are re-identified, the strongest first, each by a name."""
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
    if not several_releases(graph):
        return []
    return [f"Of {release_name(shown(graph)[0][1].release)}, the release where most people are re-identified."]
