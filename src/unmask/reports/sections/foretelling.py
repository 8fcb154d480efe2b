"""What foretells whom attacks re-identify: criteria that need no attack, held against what was found."""

from __future__ import annotations

from unmask.reports.facts.graph import GraphRisk
from unmask.reports.figures import Line
from unmask.reports.parts import Loose, grid
from unmask.reports.sections.looks import LINES, block, figure
from unmask.results import Column
from unmask.results.formats import number

CRITERIA = {
    "lta_a": ("LTA A", "mean likeness of a person's edges to those of friends of friends; low: easy to tell apart", -1),
    "lta_b": ("LTA B", "sum of these likenesses for each of the person's edges; low: easy to tell apart", -1),
    "lta_c": ("LTA C", "LTA A over the spread of degrees among friends of friends; low: easy to tell apart", -1),
    "degree": ("Degree", "number of edges; high: easy to tell apart", 1),
}
"""Criterion of local anonymity -> name and meaning for readers, and the sign of a correlation that bears it out."""

FORETELLS = 0.1
"""The least rank correlation, of the sign that its meaning says, by which a criterion foretells anything."""


def by_criterion(graph: GraphRisk) -> tuple[Loose, ...]:
    """Hit share against the percentile of each criterion, and its rank correlation."""
    said = [(*CRITERIA[link.criterion], link) for link in graph.anonymity]
    lines = [Line(name, link.ranked, i) for i, (name, _, _, link) in enumerate(said[:LINES]) if link.ranked]
    x = Column("percentile", "Percentile of the criterion, lowest values first", "share")
    figures = figure("How often such a person is re-identified", lines, x, adversaries=False)
    rows = [(name, meaning, number(link.correlation, 2)) for name, meaning, _, link in said]
    table = grid(("Criterion", "Meaning", "Rank correlation"), rows, text=2, meaning=True)
    how = (
        "A criterion needs no attack: an owner can reckon it for everybody before release. The steeper its line, and "
        "the farther its rank correlation (Spearman, with the share of runs in which a person is re-identified) from "
        "0 on the side that its meaning says, the better it foretells who is re-identified."
    )
    first = ""
    if said:
        name, _, sign, link = max(said, key=lambda one: one[2] * one[3].correlation)
        none = "No criterion does in the way that its meaning says; nearest is"
        much = "Best by" if sign * link.correlation >= FORETELLS else none
        first = f"{much} {name}: rank correlation {number(link.correlation, 2)}."
    return block("What foretells who is re-identified", figures, [how], *([table] if rows else []), said=first)
