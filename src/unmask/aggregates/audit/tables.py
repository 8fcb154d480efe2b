"""Tables of an audit of published tables."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from unmask.aggregates.attacks.attack_run import AttackRun
from unmask.aggregates.audit.facts import AreaFacts, CertainFacts, DifferenceFacts
from unmask.aggregates.release import Tabulation
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures import realized_success, success_probability
from unmask.measures.interval import wilson
from unmask.measures.truth_positions import locate_truth
from unmask.results import Column, Table

BIN_ENDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.999, 1.0)
"""Ends of the bins of announced success; a bin includes its upper end."""


@dataclass(frozen=True)
class ValueFacts:
    """Inference of one sensitive column.

    Parameters
    ----------
    sensitive : str
        Column.
    knows : tuple of str
        Columns that the adversary knows of a person.
    announced, success, baseline : float
        Announced and realized success of the best guess, and that of the baseline; success is nan without the truth,
        and the baseline is announced then.
    certain, certain_true : int
        Number of people whose value is certain, and of those with this value; the second is -1 without the truth.
    people : int
        Number of people.
    status : str
        Status of the belief, "refuted" if announced and realized success differ.
    """

    sensitive: str
    knows: tuple[str, ...]
    announced: float
    success: float
    baseline: float
    certain: int
    certain_true: int
    people: int
    status: str

    @property
    def reached(self) -> float:
        """Return the realized success, or the announced one without the truth."""
        return self.announced if math.isnan(self.success) else self.success


@dataclass(frozen=True)
class AggregateFacts:
    """Facts of an audit; see the classes of the parts."""

    release: str
    areas: tuple[AreaFacts, ...]
    values: tuple[ValueFacts, ...]
    certain: CertainFacts
    differences: DifferenceFacts
    violations: dict[str, int]
    contradicting: tuple[str, ...]
    statuses: dict[str, int]
    methods: dict[str, int]
    unconverged: int
    max_r_hat: float
    group_size: int
    has_truth: bool
    geography: str

    @property
    def n_areas(self) -> int:
        """Return the number of areas."""
        return sum(self.statuses.values())

    @property
    def n_one(self) -> int:
        """Return the number of areas with one solution."""
        return self.statuses.get("one", 0)

    @property
    def people(self) -> int:
        """Return the number of people of all areas."""
        return sum(item.people for item in self.areas)

    @property
    def reconstructed(self) -> float:
        """Return the share of records reconstructed; nan without the original."""
        return sum(item.people * item.reconstructed for item in self.areas) / max(self.people, 1)

    @property
    def baseline(self) -> float:
        """Return the share of records that draws from the population have."""
        return sum(item.people * item.baseline for item in self.areas) / max(self.people, 1)


def make_tables(facts: AggregateFacts, run: AttackRun, calibration: Table) -> tuple[Table, ...]:
    """Return all tables with rows."""
    tables = (_summary_table(facts), _release_table(facts, run), _area_table(facts), _value_table(facts), calibration)
    return tuple(table for table in tables if table.rows)


def _summary_table(facts: AggregateFacts) -> Table:
    columns = (
        Column("areas", "Areas", "number"),
        Column("one_solution", "One solution", "number"),
        Column("several_solutions", "Several solutions", "number"),
        Column("undecided", "Undecided", "number"),
        Column("contradictions", "No solution", "number"),
        Column("enumerated", "All solutions listed", "number"),
        Column("chains", "Estimated by chains", "number"),
        Column("unconverged", "Chains without convergence", "number"),
        Column("max_r_hat", "Largest split R-hat", "number", places=3),
        Column("people", "People", "people"),
        Column("certain_combinations", "Certain combinations", "people"),
        Column("certain_singles", "Certain combinations of one person", "people"),
        Column("certain_true", "True certain combinations", "people"),
        Column("nested_pairs", "Nested pairs of tables", "number"),
        Column("small_differences", "Small groups by differencing", "people"),
    )
    statuses, methods = facts.statuses, facts.methods
    record = (
        facts.n_areas,
        *(statuses.get(name, 0) for name in ("one", "several", "undecided", "contradiction")),
        methods.get("enumeration", 0),
        methods.get("chain", 0),
        facts.unconverged,
        facts.max_r_hat,
        facts.people,
        facts.certain.exist,
        facts.certain.exactly_one,
        facts.certain.true,
        facts.differences.pairs,
        facts.differences.small,
    )
    return Table.from_records("aggregates", columns, [record])


def _release_table(facts: AggregateFacts, run: AttackRun) -> Table:
    columns = (
        Column("table", "Table"),
        Column("columns", "Columns"),
        Column("where", "Records"),
        Column("rule", "Numbers are"),
        Column("cells", "Cells", "number"),
        Column("hidden", "Cells without a number", "share"),
        Column("violations", "Areas that violate the rule", "number"),
    )
    records = (
        (
            item.name,
            " x ".join((*((run.release.geography,) if item.by_area else ()), *item.columns)) or "total",
            "; ".join(f"{column}: {', '.join(kept)}" for column, kept in item.where.items()) or "all",
            item.rule.describe() if isinstance(item, Tabulation) else item.describe(),
            item.values.size,
            float(np.isnan(item.values).mean()),
            facts.violations.get(item.name, 0) if facts.has_truth else None,
        )
        for item in run.release.published_tables
    )
    return Table.from_records("aggregates_tables", columns, records)


def _area_table(facts: AggregateFacts) -> Table:
    columns = (
        Column("people_of_area", "People of the area"),
        Column("areas", "Areas", "number"),
        Column("people", "People", "group"),
        Column("one_solution", "Areas with one solution", "share"),
        Column("reconstructed", "Records reconstructed", "share"),
        Column("baseline", "Records by the population", "share"),
    )
    records = (
        (
            _describe_size(item), item.areas, item.people, item.with_one / item.areas,
            *(None if math.isnan(value) else value for value in (item.reconstructed, item.baseline)),
        )
        for item in facts.areas if item.people
    )  # fmt: skip
    return Table.from_records("aggregates_areas", columns, records)


def _describe_size(item: AreaFacts) -> str:
    return f"{item.low:,} or more" if item.high > 1_000_000_000 else f"{item.low:,} to {item.high - 1:,}"


def _value_table(facts: AggregateFacts) -> Table:
    columns = (
        Column("sensitive", "Inferred"),
        Column("knows", "Known"),
        Column("people", "People", "people"),
        Column("announced", "Announced", "share"),
        Column("success", "Right", "share"),
        Column("baseline", "Baseline", "share"),
        Column("gain", "Gain", "share"),
        Column("certain", "Certain", "share_of_people", of="people"),
        Column("certain_true", "Certain and right", "share_of_people", of="people"),
        Column("status", "Status"),
    )
    records = (
        (
            item.sensitive, ", ".join(item.knows), item.people, item.announced,
            None if math.isnan(item.success) else item.success, item.baseline, item.reached - item.baseline,
            item.certain / max(item.people, 1),
            None if item.certain_true < 0 else item.certain_true / max(item.people, 1), item.status,
        )
        for item in facts.values
    )  # fmt: skip
    return Table.from_records("aggregates_values", columns, records)


def calibration_table(beliefs: Sequence[tuple[str, Posterior, Truth]]) -> Table:
    """Return announced and realized success in bins of announced success, for each sensitive column."""
    columns = (
        Column("sensitive", "Inferred"),
        Column("announced", "Announced", "share"),
        Column("realized", "Right", "share"),
        Column("low", "Low", "share"),
        Column("high", "High", "share"),
        Column("people", "People", "group"),
    )
    records = (record for name, belief, truth in beliefs for record in _bin_claims(name, belief, truth))
    return Table.from_records("aggregates_calibration", columns, records)


def _bin_claims(name: str, belief: Posterior, truth: Truth) -> Iterator[tuple[object, ...]]:
    assert realized_success.of_positions is not None
    positions = locate_truth(belief, truth)
    announced = success_probability.per_target(positions.posterior)
    realized = realized_success.of_positions(positions)
    weight = positions.n_targets
    bins = np.maximum(np.searchsorted(BIN_ENDS, np.round(announced, 9), side="left") - 1, 0)
    for number in np.unique(bins).tolist():
        inside = bins == number
        people = int(weight[inside].sum())
        shares = [float(np.average(values[inside], weights=weight[inside])) for values in (announced, realized)]
        yield (name, *shares, *wilson(shares[1], people), people)
