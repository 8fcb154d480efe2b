"""Protections of tables of counts: suppression, rounding and cell keys.

A protection is called with exact tables and the counts behind them, and returns the tables to publish. `rng` is for
studies only; by default random numbers come from the operating system.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.programs import Floats, Mask
from unmask.aggregates.protections.cell_key import draw_cell_keys, perturb_counts, transition_matrix
from unmask.aggregates.protections.complementary_suppression import Demand, Suppression, suppress_cells
from unmask.aggregates.protections.linked_cells import LinkedCells, outsider
from unmask.aggregates.protections.rounding import round_controlled, round_randomly
from unmask.aggregates.release import AggregateRelease
from unmask.aggregates.rules import Marker, Rule
from unmask.core.randomness import secret_unless
from unmask.ranges import FINITE, CheckedParameters, Range, check_ranges

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class SuppressSmallCounts(CheckedParameters):
    """Suppress counts below a threshold, and further cells so that no total discloses them.

    All tables of an area are protected together. An adversary who knows the rule and all tables cannot exclude that a
    suppressed count reaches the threshold.

    Assumes: the adversary has no other tables of the same records, and does not know which cells were suppressed first.

    Fails when: the records are counted again with other columns or at another date.

    Parameters
    ----------
    threshold : int
        Smallest count that is published, at least 2.
    zeros : {"shown", "hidden"}
        "shown" publishes zeros. "hidden" suppresses them like small counts.
    lower : int
        Count below the true one that must remain possible, as a distance; at most to the smallest count that published
        zeros allow.
    sliding : int
        Smallest width of the interval of possible counts.
    weight : {"cells", "value"}
        Suppress few cells, or a small sum of counts.
    seconds : float
        Time to improve the pattern and to prove how far it is from the best one; areas share it, and 0 skips this.

    References
    ----------
    M. Fischetti & J. J. Salazar Gonzalez, "Solving the cell suppression problem on tabular data with linear
    constraints", Management Science 47(7), 2001.

    Examples
    --------
    >>> from unmask.aggregates.protections.exact_tables import count_tables
    >>> exact = count_tables({"sex": ["f"] * 9 + ["m"] * 9, "age": ["a", "a", *"bbbbbbb"] * 2}, ["sex*age"])
    >>> release = SuppressSmallCounts(threshold=5)(exact.tables, exact.counts)
    >>> {table.name: int(np.isnan(table.values).sum()) for table in release.tabulations}
    {'sex-age': 4, 'sex': 0, 'age': 2, 'total': 0}
    """

    threshold: Annotated[int, Range(2)] = 5
    zeros: Literal["shown", "hidden"] = "shown"
    lower: Annotated[int, Range(0)] = 1
    sliding: Annotated[int, Range(0)] = 0
    weight: Literal["cells", "value"] = "cells"
    seconds: Annotated[float, Range(0)] = 10.0

    @property
    def smallest(self) -> int:
        """Counts below it are those to protect."""
        return self.threshold

    @property
    def rule(self) -> Rule:
        """Rule that readers of the tables know."""
        return Rule(threshold=self.threshold, zeros=self.zeros, secondary=True)

    def __call__(
        self, tables: AggregateRelease, counts: Counts, *, rng: np.random.Generator | None = None
    ) -> AggregateRelease:
        """Return the tables with suppressed cells. No random numbers are drawn."""
        hidden = np.array([hidden for hidden, _ in self.choose_patterns(tables, counts)])
        return publish(tables, self.rule, tables.values, hidden)

    def choose_patterns(self, tables: AggregateRelease, counts: Counts) -> list[tuple[Mask, Suppression]]:
        """Return the suppressed cells of each area, and the pattern among its cells that are not a known zero."""
        return [self._choose(tables.matrix, atoms, self.seconds / len(counts)) for atoms in counts]

    def _choose(self, rows: Any, atoms: Counts, seconds: float) -> tuple[Mask, Suppression]:
        values = rows @ atoms
        shown_zero = (values == 0) & (self.zeros == "shown")
        candidates, possible = np.flatnonzero(~shown_zero), np.flatnonzero(rows[shown_zero].sum(axis=0) == 0)
        low = np.full(len(candidates), float(self.zeros == "shown"))
        cells = LinkedCells(rows[candidates][:, possible], atoms[possible].astype(np.float64), low, integer=True)
        shares = values[candidates] / max(values.sum(), 1)  # among patterns of few cells, one of small counts
        weights = np.maximum(values[candidates], 1.0) if self.weight == "value" else 1.0 + shares
        sensitive = values[candidates] < self.threshold
        pattern = suppress_cells(cells, sensitive, self._list_demands(cells, sensitive), weights, seconds=seconds)
        hidden = np.zeros(len(values), dtype=bool)
        hidden[candidates] = pattern.hidden
        return hidden, pattern

    def _list_demands(self, cells: LinkedCells, sensitive: Mask) -> list[Demand]:
        knowledge, demands = outsider(len(cells.atoms)), []
        for cell in np.flatnonzero(sensitive):
            value = cells.values[cell]
            down = min(self.lower, value - cells.find_minimum(int(cell)))
            up = max(self.threshold - value, self.sliding - down)
            demands += [Demand(int(cell), amount, knowledge) for amount in (up, -down) if amount]
        return demands


@dataclass(frozen=True)
class RoundCounts(CheckedParameters):
    """Round all counts to multiples of a base.

    Assumes: a remainder below the base protects. Cells of several tables are rounded once.

    Fails when: halves are rounded by a fixed convention, and totals disclose the remainders.

    Parameters
    ----------
    base : int
        Rounding base, at least 2.
    method : {"random", "controlled", "nearest"}
        "random" is unbiased, and totals do not add up. "controlled" is the additive table of the two nearest multiples
        that is closest to a random rounding. "nearest" rounds halves up.

    References
    ----------
    I. P. Fellegi, "Controlled random rounding", Survey Methodology 1(2), 1975. J. J. Salazar Gonzalez, "Controlled
    rounding and cell perturbation", Operations Research 53, 2005.

    Examples
    --------
    >>> from unmask.aggregates.protections.exact_tables import count_tables
    >>> exact = count_tables({"sex": ["f"] * 9 + ["m"] * 9, "age": ["a", "a", *"bbbbbbb"] * 2}, ["sex*age"])
    >>> RoundCounts(base=5, method="nearest")(exact.tables, exact.counts).tabulations[0].values
    array([[0., 5.],
           [0., 5.]])
    """

    base: Annotated[int, Range(2)] = 5
    method: Literal["random", "controlled", "nearest"] = "random"

    @property
    def smallest(self) -> int:
        """Counts below it are those to protect."""
        return self.base

    @property
    def rule(self) -> Rule:
        """Rule that readers of the tables know."""
        return Rule(base=self.base, rounding="half-up" if self.method == "nearest" else "random")

    def __call__(
        self, tables: AggregateRelease, counts: Counts, *, rng: np.random.Generator | None = None
    ) -> AggregateRelease:
        """Return the rounded tables."""
        if self.method == "controlled":
            areas = counts.astype(np.float64)
            rounded = np.array([round_controlled(tables.matrix, atoms, self.base, rng=rng) for atoms in areas])
        elif self.method == "random":
            rounded = round_randomly(tables.values, self.base, rng=rng)
        else:
            rounded = self.rule.apply(tables.values.astype(np.int64))[0]
        return publish(tables, self.rule, rounded)


@dataclass(frozen=True)
class PerturbByCellKeys:
    """Add noise that is the same for the same contributors, from a public distribution.

    Assumes: the keys of the records stay secret, and a contributor's presence changes the key.

    Fails when: many linked tables have the same cell with different contributors, so that noise averages out.

    Parameters
    ----------
    max_noise : int
        Largest noise, at least 1.
    variance : float
        Variance of the noise of a positive count.
    forbidden : int
        Largest small count that is never published.

    References
    ----------
    B. Fraser & J. Wooton, "A proposed method for confidentialising tabular output to protect against differencing",
    UNECE work session on statistical data confidentiality, 2005.

    Examples
    --------
    >>> from unmask.aggregates.protections.exact_tables import count_tables
    >>> exact = count_tables({"sex": ["f"] * 9 + ["m"] * 9, "age": ["a", "a", *"bbbbbbb"] * 2}, ["sex*age"])
    >>> release = PerturbByCellKeys(max_noise=2, variance=1.0)(exact.tables, exact.counts)
    >>> bool(abs(release.tabulations[-1].values - 18) <= 2)
    True
    """

    max_noise: Annotated[int, Range(1, 100)] = 5
    variance: Annotated[float, FINITE] = 2.0
    forbidden: Annotated[int, Range(0, 100)] = 0

    def __post_init__(self) -> None:
        check_ranges(self)
        self.rule  # noqa: B018  # refuses a variance that no distribution has

    @property
    def smallest(self) -> int:
        """Counts below it are those to protect."""
        return self.max_noise + 1

    @property
    def rule(self) -> Rule:
        """Rule that readers of the tables know."""
        transitions = transition_matrix(self.max_noise, self.variance, forbidden=self.forbidden)
        return Rule(perturbation=transitions.tolist())

    def __call__(
        self, tables: AggregateRelease, counts: Counts, *, rng: np.random.Generator | None = None
    ) -> AggregateRelease:
        """Return the perturbed tables."""
        rule, generator = self.rule, secret_unless(rng)
        keys = [draw_cell_keys(tables.matrix, atoms, rng=generator) for atoms in counts.astype(np.float64)]
        transitions, pairs = np.array(rule.perturbation), zip(tables.values, keys, strict=True)
        return publish(tables, rule, np.array([perturb_counts(values, key, transitions) for values, key in pairs]))


CountProtection = SuppressSmallCounts | RoundCounts | PerturbByCellKeys


def publish(tables: AggregateRelease, rule: Rule, published: Floats, hidden: Mask | None = None) -> AggregateRelease:
    """Return tables with other numbers.

    Parameters
    ----------
    tables : AggregateRelease
        Tables whose columns are kept.
    rule : Rule
        Rule of the new numbers.
    published : (n_areas, n_cells) array
        Number of each cell, in the order of the rows of `tables.matrix`.
    hidden : (n_areas, n_cells) array of bool, optional
        Suppressed cells.

    Returns
    -------
    AggregateRelease
    """
    numbers = published if hidden is None else np.where(hidden, np.nan, published)
    parts = [numbers[:, tables.row_tables == table] for table in range(len(tables.by_area))]
    tabulations = [
        replace(
            table, values=part.reshape(table.values.shape), rule=rule,
            markers=np.where(np.isnan(part), Marker.SUPPRESSED, Marker.PUBLISHED).reshape(table.values.shape),
        )
        for table, part in zip(tables.by_area, parts, strict=True)
    ]  # fmt: skip
    return replace(tables, tabulations=tuple(tabulations))
