"""The section of a study that compares members with control people."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unmask.render import Figure
from unmask.reports.facts.study import StudyData
from unmask.reports.figures import Dot, dots_figure
from unmask.reports.parts import Figures, Grid, Heading, Part, grid, lead, parts
from unmask.reports.words import letter, lettered, points, row_estimate, what
from unmask.results import Row, StudyRow
from unmask.results.formats import percent

SUCCESS = "realized_success"

LEAD = (
    "Control people are like those of the table and not in the release. Dots are success with people in it, the black "
    "tick is control people, the band is what being in the release adds."
)


def control_parts(data: StudyData, rows: Sequence[StudyRow]) -> tuple[Part, ...]:
    """Return a chart for each target and a table; no part for a study without control people."""
    found = (item for item in rows if item.measure == SUCCESS and item.control is not None)
    compared = tuple({(row.release, row.adversary, row.target): row for row in found}.values())
    if not compared:
        return ()
    return parts(
        Heading("What being in the table adds"), lead(LEAD), Figures(tuple(_figures(data, compared))),
        _table(data, compared),
    )  # fmt: skip


def _figures(data: StudyData, rows: Sequence[Row]) -> Iterator[Figure]:
    """Yield a chart for each target, with a line for each protection."""
    several = len({row.adversary for row in rows}) > 1
    for target in dict.fromkeys(row.target for row in rows):
        dots = (_dot(data, row, several=several) for row in rows if row.target == target)
        yield dots_figure(what(target), dots, baseline="control")


def _dot(data: StudyData, row: Row, *, several: bool) -> Dot:
    style = data.styles[row.adversary]
    name = lettered(row.adversary, style, 2) if several else ""
    text = f"+{points(row)}" if (row.excess or 0) > 0 else points(row)
    return Dot(row.release, name, style, row.posterior, row.control, text=text)


def _table(data: StudyData, rows: Sequence[Row]) -> Grid:
    head = ("Protection", "Adversary", "Guessing", "Control people", "People in it", "Excess")
    lines = (
        (
            row.release, letter(data.styles[row.adversary]), percent(row.prior), percent(row.control or 0.0),
            row_estimate(row), points(row),
        )
        for row in rows
    )  # fmt: skip
    return grid(head, lines, "With people in the release, and without", text=2)
