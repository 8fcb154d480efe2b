"""Can they single somebody out, or link two parts of a record? Of people in the table, beside control people."""

from __future__ import annotations

from collections.abc import Sequence

from unmask.reports.data import Scope
from unmask.reports.facts.wp216 import BOX, PARTS, SINGLING
from unmask.reports.figures import Dot, dots_figure
from unmask.reports.findings.wp216 import added, of_as_many
from unmask.reports.parts import Figures, Grid, Heading, Section, grid, lead, parts
from unmask.reports.words import points, row_estimate, row_value
from unmask.results import Row
from unmask.results.formats import percent
from unmask.results.words import rate

SINGLED = (
    "The adversary guesses, from the release alone, what fits one person only; a guess is right if exactly one person "
    "of the table fits. Guesses that hold for too many people in general do not count. Guessing is the most that such "
    "guesses reach without the release. Added is what they reach on people in the table beyond control people, as many "
    "of either: of fewer people than are in the table fewer guesses are right."
)

IN_BOX = (
    "A key in a box: the adversary draws a random key that picks one of the rows of a class on average, and guesses "
    "that one person in its box has a record that the key picks. Where all records differ that is right for about "
    "37\u00a0% of classes, however large k is."
)

LINKED = (
    "The adversary has some columns of people in one place and others in another, and says which two belong to one "
    "person, as released rows resemble both. Each person's other part is among those of equally many people."
)


def wp216_section(scope: Scope) -> Section | None:
    """What is asked beside inference: singling out, and linkability of two parts."""
    whole, beside, linked = (
        [row for row in scope.data.rows if row.measure == measure and row.target in (SINGLING, PARTS)]
        for measure in ("singled_out", "singled_out_of_as_many", "parts_linked")
    )
    boxes = any(row.adversary == BOX for row in whole)
    singled = (
        Heading("Guesses that single somebody out", _said(beside, of_as_many("{0}"))),
        lead(SINGLED),
        lead(IN_BOX) if boxes else None,
        _figure(scope, beside, "Guesses that are right, of as many people"),
        _singled(scope, whole, beside),
    )
    together = (
        Heading("Parts of a record that are linked", _said(linked, "Two parts are matched for {0} of people")),
        lead(LINKED),
        _figure(scope, linked, "People whose parts are linked"),
        _linked(scope, linked),
    )
    shown = parts(singled if whole else None, together if linked else None)
    return Section("wp216", "Can they single somebody out, or link two parts of a record?", shown) if shown else None


def _said(rows: Sequence[Row], words: str) -> str:
    """What is right of the guesses of which it is surest that the release helps, and what being in the table costs."""
    if not rows:
        return ""
    row = max(rows, key=lambda one: (-1.0 if one.excess_low is None else one.excess_low, one.posterior))
    costs = "" if row.excess is None else f"; {added(row)}"
    return f"{words.format(row_value(row))}{costs}."


def _figure(scope: Scope, rows: Sequence[Row], caption: str) -> Figures:
    """Dots are people in the table, black ticks control people; without these, guessing."""
    tick = "control people" if any(row.control is not None for row in rows) else "guessing"
    said = f"{caption}. Dots: people in the table; black ticks: {tick}"
    return Figures((dots_figure(said, (_dot(scope, row) for row in rows), baseline=tick),) if rows else ())


def _dot(scope: Scope, row: Row) -> Dot:
    said = row_estimate(row) if row.excess is None else f"{'+' if row.excess > 0 else ''}{points(row)}"
    baseline = row.prior if row.control is None else row.control
    style, whose = scope.styles[row.adversary], scope.marked(row.adversary)
    return Dot(row.release, whose, style, row.posterior, baseline, row.low, row.high, said)


def _singled(scope: Scope, whole: Sequence[Row], beside: Sequence[Row]) -> Grid:
    head = (*scope.who_head, "Guess", "Guesses", "Guessing", "Right", "Of as many", "Control people", "Added")
    lines = (
        (
            *scope.who(row.release, row.adversary),
            row.adversary,
            f"{row.n:,}",
            percent(row.prior),
            row_estimate(row),
            percent(other.posterior),
            rate(other.control),
            points(other),
        )
        for row, other in zip(whole, beside, strict=True)
    )
    return grid(head, lines, text=len(scope.who_head) + 1)


def _linked(scope: Scope, rows: Sequence[Row]) -> Grid:
    head = (*scope.who_head, "People", "Guessing", "Control people", "People in it", "Added")
    lines = (
        (
            *scope.who(row.release, row.adversary),
            f"{row.n:,}",
            percent(row.prior),
            rate(row.control),
            row_estimate(row),
            "not run" if row.excess is None else points(row),
        )
        for row in rows
    )
    return grid(head, lines, text=len(scope.who_head))
