"""Who is in the table? How many members are recognized while few others are taken for members."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from unmask.render import Figure
from unmask.reports.data import ORIGINAL, Scope
from unmask.reports.figures import Dot, dots_figure
from unmask.reports.parts import Figures, Grid, Section, grid, lead, notes, parts
from unmask.reports.words import MEMBERSHIP, RARE, letter, row_estimate
from unmask.results import Row
from unmask.results.formats import SPACE

HOW = (
    "That somebody is in a table at all can be a secret: a patient of the clinic, a customer of the lender. Half of "
    "the people judged are in the table. Dots are the members whom an adversary recognizes who raises a false alarm "
    "about so many of the others, thin lines are 95 % intervals, the black tick is guessing."
)

TABLE = (
    "Right: told rightly to be in it or not; guessing gives 50 %. AUC: how often somebody of the table looks more like "
    "it than somebody else does; guessing gives 50 %. Rare: the same for the twentieth who are rarest among people in "
    "general. What a single score says alone is no verdict: an adversary joins them."
)

RATES = {0.1: "true_positive_rate_at_0.1", 0.01: "true_positive_rate_at_0.01", 0.001: "true_positive_rate_at_0.001"}

Found = Mapping[tuple[str, str], Row]
"""Target and measure -> row."""


def membership_section(scope: Scope) -> Section | None:
    """A chart of the adversaries and a table of them and of single scores, for each release."""
    found: dict[str, dict[str, dict[tuple[str, str], Row]]] = {}
    for row in scope.data.rows:
        if row.target in (MEMBERSHIP, RARE) and row.release != ORIGINAL:
            found.setdefault(row.release, {}).setdefault(row.adversary, {})[row.target, row.measure] = row
    if not found:
        return None
    figures = Figures(tuple(_figure(scope, name, own) for name, own in found.items()))
    tables = [_table(scope, name, own) for name, own in found.items()]
    said = dict.fromkeys(line for own in found.values() for rows in own.values() for line in _notes(scope, rows))
    shown = parts(lead(HOW), figures, lead(TABLE), tables, notes(said))
    return Section("membership", "Can they tell who is in the table?", shown)


def _figure(scope: Scope, release: str, own: Mapping[str, Found]) -> Figure:
    """Members recognized at each rate of false alarms, by adversaries who join the scores."""
    joined = {name: rows for name, rows in own.items() if (MEMBERSHIP, "realized_success") in rows}
    dots = (
        _dot(scope, f"{100 * rate:g}{SPACE}% false alarms", name, own.get((MEMBERSHIP, measure)))
        for rate, measure in RATES.items()
        for name, own in joined.items()
    )
    caption = f"Members recognized, {release}"
    return dots_figure(caption, dots, label=f"{caption}, by the share of others taken for members.")


def _dot(scope: Scope, group: str, adversary: str, row: Row | None) -> Dot:
    style, whose = scope.styles[adversary], scope.marked(adversary)
    if row is None or row.low is None or row.high is None:
        return Dot(group, whose, style, text="too few control people")
    return Dot(group, whose, style, row.posterior, row.prior, row.low, row.high, row_estimate(row))


def _table(scope: Scope, release: str, own: Mapping[str, Found]) -> Grid:
    head = (*scope.who_head, "Right", "AUC", *(f"At {100 * rate:g}{SPACE}%" for rate in RATES), "Rare: AUC")
    measures = [(MEMBERSHIP, "realized_success"), (MEMBERSHIP, "membership_auc")]
    measures += [*((MEMBERSHIP, measure) for measure in RATES.values()), (RARE, "membership_auc")]
    lines = [
        (*scope.who(release, name), *("\u2013" if one not in rows else row_estimate(rows[one]) for one in measures))
        for name, rows in own.items()
    ]
    return grid(head, lines, f"Who is in the table, {release}", text=len(scope.who_head))


def _notes(scope: Scope, rows: Found) -> Iterator[str]:
    """Who was judged, and the numbers that need a sentence."""
    own = {measure: row for (target, measure), row in rows.items() if target == MEMBERSHIP}
    told = own.get("realized_success")
    if told is None:
        return
    who = f"{letter(scope.styles[told.adversary])}: " if len(scope.adversaries) > 1 else ""
    yield f"{who}{told.note}."
    if (rare := own.get("vulnerability_correlation")) is not None:
        yield f"{who}rank correlation of how rare members are and how far they are told to be in: {row_estimate(rare)}."
    if (bound := own.get("epsilon_at_least")) is not None:
        yield f"{who}epsilon is at least {row_estimate(bound)}: {bound.note.partition(';')[0]}."
