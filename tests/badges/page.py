"""The section of badges: which colors are worn, and by how many."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tests.badges import N_COLORS, Badges
from unmask.reports.parts import Section, grid, parts
from unmask.reports.subject import Subject


@dataclass(frozen=True)
class Color:
    """How many people wear a color."""

    color: int
    people: int


@dataclass(frozen=True)
class Worn(Subject):
    """The colors that are shown."""

    name: ClassVar = "badges"
    shown_by: ClassVar = __name__

    people: int
    colors: tuple[Color, ...]

    @classmethod
    def of(cls, shown: Badges) -> "Worn":
        """Those of one release."""
        counts = np.bincount(shown.color, minlength=N_COLORS).tolist()
        return cls(sum(counts), tuple(Color(*one) for one in enumerate(counts)))

    def without_small(self, least):
        """The same without colors of few people."""
        return replace(self, colors=tuple(one for one in self.colors if one.people >= least))


def section(worn, _scope):
    """Its table."""
    rows = ((str(one.color), f"{one.people:,}") for one in worn.colors)
    return Section("badges", "What people wear", parts(grid(("Color", "People"), rows, "People by color")))


def findings(worn, _scope):
    """Its finding."""
    return [f"{worn.people:,} people wear {len(worn.colors)} colors."]
