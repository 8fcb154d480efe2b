"""Tables of an audit of published tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.attacks.area_attacks import AttackRun
from unmask.aggregates.attacks.chains import MAX_R_HAT
from unmask.aggregates.audit.facts import find_differences
from unmask.aggregates.release import Tabulation
from unmask.aggregates.rules import Counts
from unmask.core.posterior import Posterior
from unmask.core.truth import Truth
from unmask.measures import realized_success, success_probability
from unmask.measures.interval import wilson
from unmask.measures.truth_positions import locate_truth
from unmask.results import Column, Table

SIZE_ENDS = (1, 10, 30, 100, 300, 1000)
"""Smallest number of people of each group of areas."""

BIN_ENDS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.999, 1.0)
"""Ends of the bins of announced success; a bin includes its upper end."""


def summary_table(run: AttackRun, counts: Counts, *, has_truth: bool, group_size: int) -> Table:
    """Return the table with one row: solutions, chains, certain combinations and differences."""
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
    statuses = Counter(attack.reconstruction.status for attack in run.areas)
    methods = Counter(attack.belief.method for attack in run.areas)
    r_hats = [attack.belief.r_hat for attack in run.areas if attack.belief.method == "chain"]
    low = np.concatenate([attack.certain_low for attack in run.areas])
    high = np.concatenate([attack.certain_high for attack in run.areas])
    true = np.concatenate([counts[area][attack.certain_cells] for area, attack in enumerate(run.areas)])
    record = (
        len(run.areas),
        *(statuses[status] for status in ("one", "several", "undecided", "contradiction")),
        methods["enumeration"],
        methods["chain"],
        sum(r_hat > MAX_R_HAT for r_hat in r_hats),
        max(r_hats, default=1.0),
        int(counts.sum()),
        len(low),
        int((high == 1).sum()),
        int(((true >= low) & (true <= high)).sum()) if has_truth else None,
        *find_differences(run.release, group_size),
    )
    return Table.from_records("aggregates", columns, [record])


def release_table(run: AttackRun, violations: Mapping[str, int] | None) -> Table:
    """Return the published tables, and the areas in which the original contradicts their rule if it is known."""
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
            "; ".join(f"{column}: {', '.join(labels)}" for column, labels in item.where.items()) or "all",
            item.rule.describe() if isinstance(item, Tabulation) else item.describe(),
            item.values.size,
            float(np.isnan(item.values).mean()),
            None if violations is None else violations.get(item.name, 0),
        )
        for item in run.release.published_tables
    )
    return Table.from_records("aggregates_tables", columns, records)


def area_table(run: AttackRun, counts: Counts, overlap: NDArray[np.float64] | None) -> Table:
    """Return the areas by their number of people; overlap : see `measure_overlap`, None without the original."""
    columns = (
        Column("people_of_area", "People of the area"),
        Column("areas", "Areas", "number"),
        Column("people", "People", "group"),
        Column("one_solution", "Areas with one solution", "share"),
        Column("reconstructed", "Records reconstructed", "share"),
        Column("baseline", "Records by the population", "share"),
    )
    sizes = counts.sum(axis=1)
    has_one = np.array([attack.reconstruction.status == "one" for attack in run.areas])
    labels = [f"{low:,} to {high - 1:,}" for low, high in pairwise(SIZE_ENDS)]
    records = []
    for group, label in enumerate([*labels, f"{SIZE_ENDS[-1]:,} or more"], start=1):
        inside = np.searchsorted(SIZE_ENDS, sizes, side="right") == group
        if inside.any():
            people = int(sizes[inside].sum())
            shares = (None, None) if overlap is None else (overlap[:, inside].sum(axis=1) / people).tolist()
            records.append((label, int(inside.sum()), people, float(has_one[inside].mean()), *shares))
    return Table.from_records("aggregates_areas", columns, records)


def value_table(records: Iterable[Iterable[Any]]) -> Table:
    """Return the inferences of each sensitive column from their records."""
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
    return Table.from_records("aggregates_values", columns, records)


def calibration_table(beliefs: Iterable[tuple[str, Posterior, Truth]]) -> Table:
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
