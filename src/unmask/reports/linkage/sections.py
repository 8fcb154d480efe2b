"""What adversaries who cluster items do to each subject: tables and charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from unmask.reports.data import Scope
from unmask.reports.linkage import figures, tables
from unmask.reports.linkage.figures import LINES
from unmask.reports.linkage.tables import PANELS, Told, told_apart
from unmask.reports.linkage.values import Linkage
from unmask.reports.linkage.words import cautions, policy, setting
from unmask.reports.sections import Figure, Grid


@dataclass(frozen=True)
class LinkageSection:
    """All that the page says about adversaries who cluster items; what is empty is left out."""

    setting: str
    policy: str
    cautions: tuple[str, ...]
    guesses: Grid
    views: bool
    whole: tuple[Grid, ...]
    curves: tuple[Figure, ...]
    curve_notes: tuple[str, ...]
    thresholds: tuple[Figure, ...]
    threshold_notes: tuple[str, ...]
    errors: tuple[Figure, ...]
    error_notes: tuple[str, ...]


def linkage_section(linkage: Linkage | None, scope: Scope, least: int) -> LinkageSection | None:
    """The section, or None where nobody clustered anything."""
    if linkage is None:
        return None
    told = told_apart(linkage, scope)
    drawn = _in_own_look(told[:LINES])
    upto = figures.horizon(linkage)
    return LinkageSection(
        setting=setting(linkage),
        policy=policy(linkage),
        cautions=tuple(cautions(linkage)),
        guesses=tables.guess_table(told),
        views=any(one.guess.partitions > 1 for one in told),
        whole=tables.whole_tables(told),
        curves=figures.curve_figures(linkage, drawn, upto),
        curve_notes=tuple(figures.curve_notes(linkage, drawn, upto)),
        thresholds=figures.threshold_figures(linkage, drawn),
        threshold_notes=tuple(figures.threshold_notes(linkage)),
        errors=figures.error_figures(drawn[:PANELS]),
        error_notes=tuple(figures.error_notes(linkage, least)),
    )


def _in_own_look(told: Sequence[Told]) -> list[Told]:
    """The same, in looks by their order if two of them would look alike."""
    looks = {one.style % LINES for one in told}
    return list(told) if len(looks) == len(told) else [Told(one.guess, i, one.name) for i, one in enumerate(told)]
