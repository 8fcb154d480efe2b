"""On the page of a study: what the same adversary reaches on people outside, and what each person's own record adds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from unmask.measures.added import ADDED
from unmask.reports.bars import Absent, Dot, dots
from unmask.reports.facts.study import Measured, StudyData
from unmask.reports.parts import Figure, Figures, Grid, Heading, Part, grid, lead, parts
from unmask.reports.words import letter, lettered, percent, points, row_estimate, what
from unmask.results import Row

SUCCESS = "realized_success"

HOW = (
    "Control people are like those of the table and not in the release. Dots are success with people in it, the black "
    "tick is control people, the band is what being in the release adds."
)

EACH = (
    "By how much people's own records raise the belief in their true value. Dots are the mean; the line ends where "
    "95 % of people are below."
)

Whose = tuple[str, str, str]
"""Protection, adversary, target."""


def added_parts(data: StudyData, rows: Sequence[Measured]) -> tuple[Part, ...]:
    """Charts for each target and tables of all; nothing of a study without control people."""
    beside = _of(rows, SUCCESS, beside=True)
    each = {whose: row for whose, row in _of(rows, ADDED.name).items() if row.quantiles}
    if not beside:
        return ()
    return parts(
        Heading("What being in the table adds"),
        (lead(HOW), Figures(tuple(_figures(data, beside, _success, "control"))), _with_and_without(data, beside)),
        (Heading("What each record adds"), lead(EACH), Figures(tuple(_figures(data, each, _own))), _records(data, each))
        if each
        else (),
    )


def _of(rows: Sequence[Measured], measure: str, *, beside: bool = False) -> dict[Whose, Row]:
    """The rows of a measure; beside : those with control people alone."""
    kept = (item.row for item in rows if item.row.measure == measure)
    return {(row.release, row.adversary, row.target): row for row in kept if row.control is not None or not beside}


def _figures(
    data: StudyData, found: dict[Whose, Row], dot: Callable[[Row, int], Dot], before: str = ""
) -> Iterator[Figure]:
    """For each target a line for each protection."""
    several = len({adversary for _, adversary, _ in found}) > 1
    for target in dict.fromkeys(target for _, _, target in found):
        lines: dict[str, list[Dot | Absent]] = {}
        for (protection, adversary, _), row in ((key, row) for key, row in found.items() if key[2] == target):
            drawn = dot(row, style := data.styles[adversary])
            lines.setdefault(protection, []).append(
                replace(drawn, name=lettered(adversary, style, 2) if several else "")
            )
        label = f"{what(target)}."
        yield Figure(what(target), dots(list(lines.items()), label=label, tick=before))


def _success(row: Row, style: int) -> Dot:
    assert row.control is not None
    said = f"+{points(row)}" if (row.excess or 0) > 0 else points(row)
    return Dot(style, row.posterior, row.posterior, row.posterior, row.control, said)


def _own(row: Row, style: int) -> Dot:
    """From 0: a mean below it is said, and drawn there."""
    *_, high = row.quantiles
    mean, end = max(row.posterior, 0.0), max(high, 0.0)
    return Dot(
        style, mean, mean, max(mean, end), 0.0, f"mean {_points(row.posterior)}, most {_points(row.worst)} points"
    )


def _points(share: float) -> str:
    return f"{100 * share:.3g}"


def _with_and_without(data: StudyData, found: dict[Whose, Row]) -> Grid:
    head = ("Protection", "Adversary", "Guessing", "Control people", "People in it", "Excess")
    lines = (
        (*_who(data, key), percent(row.prior), percent(row.control or 0.0), row_estimate(row), points(row))
        for key, row in found.items()
    )
    return grid(head, lines, "With people in the release, and without", text=2)


def _records(data: StudyData, found: dict[Whose, Row]) -> Grid:
    head = ("Protection", "Adversary", "Mean", "Half of people below", "95 % below", "Most", "n")
    lines = (
        (
            *_who(data, key),
            row_estimate(row),
            *map(percent, (row.quantiles[2], row.quantiles[4], row.worst)),
            f"{row.n:,}",
        )
        for key, row in found.items()
    )
    return grid(head, lines, "Belief in the true value added by the own record", text=2)


def _who(data: StudyData, key: Whose) -> tuple[str, str]:
    return key[0], letter(data.styles[key[1]])
