"""Facts about a release besides beliefs: its criteria, its columns, its utility, and whether its rows are people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import fields

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.facts import Contribution
from unmask.results.result import Value
from unmask.results.rows import ORIGINAL
from unmask.tables import criteria, utility
from unmask.tables.attacks.relation import relation_of
from unmask.tables.audit.auditor_knowledge import AuditorKnowledge
from unmask.tables.audit.column_exposure import ColumnExposure
from unmask.tables.audit.quasi_identifiers import ColumnRisk
from unmask.tables.criteria.evaluation import Criteria
from unmask.tables.risk import column_facts, printed_values, restored_cells
from unmask.tables.table import Table

MIN_OWN_ROWS = 0.99
"""Share of released rows that must be able to be different people of the original for re-identification to be tested.

Rows that were only generalized or suppressed reach 1. Of Adult, other 2,000 people reach 0.86 of 2,000 with age and sex
alone and 0.44 with five columns; a synthetic release of 39,040 rows reaches 0.97 and 0.66 of all 48,842.
"""

OF_PEOPLE = frozenset({"k", "prosecutor_average", "prosecutor_max"})
"""Criteria that take every row for a person's."""


def find_foreign(releases: Mapping[str, Table], knowledge: AuditorKnowledge) -> dict[str, float | None]:
    """Return releases whose rows are not people of the original, with the share of rows that may be; None if stated.

    Releases with an origin are never among them.
    """
    if knowledge.synthetic:
        return dict.fromkeys(releases)
    original = knowledge.original
    if original is None:
        return {}
    unknown = {name: table for name, table in releases.items() if name not in knowledge.origins}
    shares = {name: criteria.own_rows(table, original) for name, table in unknown.items()}
    return {name: share for name, share in shares.items() if share < MIN_OWN_ROWS}


def evaluate_criteria(table: Table, original: Table | None, population: Table | None = None) -> Criteria:
    """Evaluate the criteria of a release; without the population if it lacks people of the release."""
    if population is not None:
        with suppress(UnmaskError):
            return criteria.evaluate(table, reference=original, population=population)
    return criteria.evaluate(table, reference=original)


def list_criteria(
    measured: Criteria, name: str, table: Table, knowledge: AuditorKnowledge, *, foreign: bool
) -> dict[str, Value]:
    """Return the criteria of a release by name; None for those that need rows of people, if the release is foreign."""
    original, person = knowledge.complete.original, knowledge.people_of(name, table)
    values = {field.name: getattr(measured, field.name) for field in fields(Criteria) if field.name != "columns"}
    values = {name: None if foreign and name in OF_PEOPLE else value for name, value in values.items()}
    if foreign and original is not None:
        values |= dict(_replicated(table, original))
    if person is not None:
        people = criteria.people_in_classes(table, person)
        values |= {"k_people": people.fewest, "person_share": people.share}
    if not foreign and table.counts is None:
        values |= _proximity(table, original)
    return values


def _replicated(table: Table, original: Table) -> Iterator[tuple[str, Value]]:
    yield "replicated_uniques", criteria.replicated_uniques(table, original)
    for column in table.sensitive:
        if column.name in original.names:
            share = criteria.correctly_disclosed(table, original, column.name)
            yield f"correctly_disclosed ({column.name})", share


def _proximity(table: Table, original: Table | None) -> dict[str, Value]:
    """Return how near the classes of a table come to sensitive numbers."""
    originals = {} if original is None else {column.name: column for column in original.columns}
    distances = {
        column.name: criteria.value_proximity(table, column, original=originals.get(column.name))
        for column in table.sensitive
    }
    measured = {name: proximity for name, proximity in distances.items() if proximity is not None}
    if not measured:
        return {}
    closest = max(measured, key=lambda name: measured[name].average)
    return {
        "near_average": measured[closest].average,
        "near_prior": measured[closest].prior,
        "near_of": closest,
        "near_max": max(proximity.largest for proximity in measured.values()),
    }


def list_column_risks(measured: Criteria, name: str, table: Table, *, foreign: bool) -> Iterator[ColumnRisk]:
    """Yield the mean success of the prosecutor with every quasi-identifier, and without each of them."""
    attacked = table.complete
    if len(attacked.quasi_identifiers) < 2 or name == ORIGINAL or relation_of(attacked) is not None:
        return
    risks = {column: values.average_privacy_risk or 0.0 for column, values in measured.columns.items()}
    n_successes = {target: round(risk * measured.rows) for target, risk in risks.items()}
    n_successes = n_successes if foreign else {"identity": measured.classes, **n_successes}
    for column in attacked.quasi_identifiers:
        risk_without = attacked.count_successes_without(column.name)
        for target, rows in n_successes.items():
            yield ColumnRisk(name, target, column.name, rows / measured.rows, risk_without[target] / measured.rows)


def measure_contributions(
    tables: Mapping[str, Table],
) -> tuple[dict[str, tuple[Contribution, ...]], list[tuple[str, str]]]:
    """Return the contribution of each quasi-identifier by table, and the tables without, with the reason."""
    contributions, not_run = {}, []
    for name, table in tables.items():
        try:
            contributions[name] = criteria.contributions(table) if len(table.quasi_identifiers) > 1 else ()
        except UnmaskError as error:
            not_run.append((f"Where the risk sits, {name}", str(error)))
    return {name: shares for name, shares in contributions.items() if shares}, not_run


def measure_exposure(
    tables: Mapping[str, Table], foreign: Collection[str], knowledge: AuditorKnowledge
) -> ColumnExposure:
    """Return what the columns of each release reveal."""
    releases = {name: table for name, table in tables.items() if name not in foreign}
    original, origins = knowledge.original, knowledge.origins
    return ColumnExposure(
        columns={
            name: column_facts(table.written, roles=table.roles, classes=table.classes)
            for name, table in releases.items()
        },
        restored={
            name: restored_cells(original, table, origins[name])
            for name, table in releases.items()
            if original is not None and name in origins
        },
        printed={name: printed_values(table, original) for name, table in releases.items()},
    )


def measure_utility(original: Table, release: Table, origin: NDArray[np.int64]) -> dict[str, Value]:
    """Return the losses of a release by name."""
    lost = utility.evaluate(original, release, origin)
    return {
        "gcp": lost.gcp,
        "suppressed": 1.0 - release.n_rows / original.n_rows,
        "average_class_size": release.n_rows / len(release.classes.sizes),
        **{f"width_{width.unit or 'number'} ({column})": width.mean for column, width in lost.width.items()},
    }
