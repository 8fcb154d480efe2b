"""What is counted about releases besides the measures of beliefs."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from unmask.cases.tables.case import Case
from unmask.measures import success_probability
from unmask.reports.data import LIMITS
from unmask.reports.facts.exposure import Exposure
from unmask.reports.facts.tables import ColumnRisk, Distribution, ValueRisk
from unmask.tables import criteria, utility
from unmask.tables.attacks.possible import overlapping
from unmask.tables.exposure import column_facts, printed_values, restored_cells
from unmask.tables.release import Table

EDGES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
"""Success probabilities between which people are counted."""

OWN_ROWS = 0.99
"""Share of released rows that must be able to be different people of the original, for who they are to be asked.

Rows that were only generalized or suppressed reach 1. Of Adult, other 2,000 people reach 0.86 of 2,000 with age and sex
alone and 0.44 with five columns; a synthetic release of 39,040 rows reaches 0.97 and 0.66 of all 48,842.
"""

_OF_PEOPLE = frozenset({"prosecutor_average", "prosecutor_max"})
"""Criteria that take every row for somebody's; k counts rows, whosever they are."""


def foreign(releases: Mapping[str, Table], original: Table | None, traced: Collection[str]) -> dict[str, float]:
    """Releases whose rows are not the original's, as far as the quasi-identifiers tell -> the share that may be.

    traced : releases of which it is stated whose row is whose; of them nothing is asked.
    """
    if original is None:
        return {}
    found = {name: criteria.own_rows(table, original) for name, table in releases.items() if name not in traced}
    return {name: share for name, share in found.items() if share < OWN_ROWS}


def distribution(case: Case, people: int | None = None) -> Distribution:
    """People by the adversary's probability of being right about them, self-assessed.

    people : how many there are, where a target stands for several; else the targets
    """
    assert success_probability.self_assessed is not None
    success = np.round(success_probability.self_assessed(case.belief), 9)  # 1 / 10 by its logarithm is not below 0.1
    weight, people = case.belief.observation_weight, people or case.belief.n_targets
    counts, _ = np.histogram(success, bins=np.array(EDGES), weights=weight)
    shares = tuple(float(share) for share in counts / counts.sum())
    above = {limit: round(people * float(weight[success > limit].sum())) for limit in LIMITS.values()}
    return Distribution(case.release, case.adversary, case.target, EDGES, shares, people, above)


def by_value(case: Case) -> tuple[ValueRisk, ...]:
    """For each value what was believed of it before, the most that is believed of anybody, and of how many more than
    half; the values that rise most come first.

    Missing values, and those that nobody is believed to have, are left out. The others go by their place among the
    commonest before the release: no cell is repeated in a report.

    >>> from unmask import Posterior
    >>> belief = Posterior.from_dense(
    ...     np.array([[0.9, 0.1], [0.4, 0.6]]), prior=np.array([0.8, 0.2]), candidate_label=("none", "HIV")
    ... )
    >>> [
    ...     (one.value, round(one.prior, 2), round(one.highest, 2), one.people)
    ...     for one in by_value(Case("r", "prosecutor", "ill", belief))
    ... ]
    [('no. 2', 0.2, 0.6, 1), ('no. 1', 0.8, 0.9, 1)]
    """
    belief = case.belief
    assert belief.candidate_label is not None
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    seen = belief.observation_weight[row] > 0
    row, value, p = row[seen], belief.candidate[seen], np.exp(belief.log_probability[seen].astype(np.float64))
    highest = np.zeros(belief.n_candidates)
    np.maximum.at(highest, value, p)
    surer = p > 0.5
    told = np.bincount(value[surer], belief.observation_weight[row[surer]], belief.n_candidates) * belief.n_targets
    before = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    order, place = np.argsort(before - highest, kind="stable"), np.argsort(np.argsort(-before, kind="stable"))
    return tuple(
        ValueRisk(
            case.release,
            case.target,
            rank,
            float(before[v]),
            float(highest[v]),
            round(float(told[v])),
            belief.n_targets,
        )
        for v, rank in ((v, f"no. {place[v] + 1}") for v in order.tolist())
        if highest[v] > 0 and belief.candidate_label[v]
    )


def criteria_of(table: Table, original: Table | None, *, foreign: bool) -> dict[str, float | int | str | None]:
    """The criteria of a release, as a report shows them. foreign : no row is a person's of the original."""
    found = criteria.evaluate(table, reference=original)
    told = {item.name: getattr(found, item.name) for item in fields(found) if item.name != "columns"}
    return {name: None if foreign and name in _OF_PEOPLE else value for name, value in told.items()}


def utility_of(original: Table, release: Table, origin: NDArray[np.int64]) -> dict[str, float]:
    """What a release has lost."""
    lost = utility.evaluate(original, release, origin)
    return {
        "gcp": lost.gcp,
        "suppressed": 1.0 - release.n_rows / original.n_rows,
        "average_class_size": release.n_rows / len(release.classes.sizes),
        **{f"width_{width.unit or 'number'} ({column})": width.mean for column, width in lost.width.items()},
    }


def column_risks(release: str, table: Table, *, foreign: bool) -> Iterator[ColumnRisk]:
    """Mean success of the adversary who sees classes, with every quasi-identifier and without each of them."""
    table = table.take(table.taking_part)
    if len(table.quasi_identifiers) < 2 or overlapping(table):
        return
    complete = _class_success(table, foreign=foreign)
    for left_out in table.quasi_identifiers:
        rest = tuple(column for column in table.quasi_identifiers if column is not left_out)
        for target, success in _class_success(replace(table, quasi_identifiers=rest), foreign=foreign).items():
            yield ColumnRisk(release, target, left_out.name, complete[target], success)


def _class_success(table: Table, *, foreign: bool) -> dict[str, float]:
    classes = table.classes
    found = {} if foreign else {"identity": len(classes.sizes) / table.n_rows}
    for column in table.sensitive:
        found[column.name] = 1.0 - criteria.map_error(classes.counts(column))
    return found


def exposure(
    releases: Mapping[str, Table], original: Table | None, origins: Mapping[str, NDArray[np.int64]]
) -> Exposure:
    """What is counted about the columns of each release."""
    traced = {} if original is None else {name: (original, origins[name]) for name in releases if name in origins}
    return Exposure(
        columns={name: column_facts(table.written, roles=table.roles) for name, table in releases.items()},
        restored={name: restored_cells(before, releases[name], rows) for name, (before, rows) in traced.items()},
        printed={name: printed_values(table, original) for name, table in releases.items()},
    )
