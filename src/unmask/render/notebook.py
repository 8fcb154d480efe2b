"""A result in a notebook: verdict, a small table and one chart, without a script and without styles for other cells."""

from __future__ import annotations

from unmask.findings.row_words import row_value
from unmask.render.first_screen import describe_next, make_screen
from unmask.render.page import fill_template
from unmask.render.page_parts import Screen
from unmask.results import Result
from unmask.results.scope import Scope
from unmask.results.words import amount

MAX_ROWS = 8
"""Adversaries in the table, or conditions."""


def show(result: Result) -> str:
    """Return the verdict, the next step, what each adversary reaches, and people by risk, as a part of an HTML page.

    Charts and tables show nothing about small groups, as on the page. `Result.to_html` is the whole page.
    """
    scope = Scope(result.without_small())
    screen = make_screen(scope)
    head, n_names, rows = _list_adversaries(scope) or _list_conditions(screen)
    figure = screen.people or next(map(result.chart, result.charts), None)
    parts = {"screen": screen, "head": head, "n_names": n_names, "rows": rows, "figure": figure}
    return fill_template("notebook.html.j2", next=describe_next(result.changes), **parts)


Cells = tuple[tuple[str, ...], int, list[tuple[str, ...]]]
"""Heads, number of the columns of names, and rows."""


def _list_adversaries(scope: Scope) -> Cells | None:
    """Return the success of each adversary on each protected release; None if no adversary has a success."""
    rows = [row for row in scope.heads.values() if row.release in scope.protected][:MAX_ROWS]
    if not rows:
        return None
    first = int(len({row.release for row in rows}) == 1)
    head = ("Release", "Adversary", "Target", "Success", "Guessing")
    cells = [(row.release, row.adversary, row.target, row_value(row), amount(row.prior, row.unit)) for row in rows]
    return head[first:], 3 - first, [row[first:] for row in cells]


def _list_conditions(screen: Screen) -> Cells:
    """Return the lines of the decision with their values and limits."""
    items = screen.decision.items[:MAX_ROWS]
    return (
        ("Condition", "How far", "Value", "Limit"),
        2,
        [(item.name, item.finding, item.value, item.limit) for item in items],
    )
