"""Facts about a release besides beliefs: criteria, utility, columns, and whether its rows are people."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.facts import Contribution
from unmask.reports.data import ORIGINAL
from unmask.reports.words import Value
from unmask.tables import criteria, utility
from unmask.tables.attacks.relation import relation_of
from unmask.tables.audit.column_exposure import ColumnExposure
from unmask.tables.audit.quasi_identifiers import ColumnRisk
from unmask.tables.criteria.evaluation import Criteria
from unmask.tables.matching import compatible
from unmask.tables.reinterpret import changed
from unmask.tables.risk import column_facts, printed_values, restored_cells
from unmask.tables.table import Table

OWN_ROWS = 0.99
"""Share of released rows that must be able to be different people of the original, for who they are to be asked.

Rows that were only generalized or suppressed reach 1. Of Adult, other 2,000 people reach 0.86 of 2,000 with age and sex
alone and 0.44 with five columns; a synthetic release of 39,040 rows reaches 0.97 and 0.66 of all 48,842.
"""

FEW = 1 << 22
"""Pairs of a value of the original and a released one up to which a column is asked whether rows fit their people."""

_OF_PEOPLE = frozenset({"k", "prosecutor_average", "prosecutor_max"})
"""Criteria that take every row for somebody's."""


def foreign(releases: Mapping[str, Table], original: Table | None, traced: Collection[str]) -> dict[str, float]:
    """Releases whose rows are not the original's, as far as the quasi-identifiers tell -> the share that may be.

    traced : releases of which it is stated whose row is whose; of them nothing is asked.
    """
    if original is None:
        return {}
    found = {name: criteria.own_rows(table, original) for name, table in releases.items() if name not in traced}
    return {name: share for name, share in found.items() if share < OWN_ROWS}


def unfitting(
    releases: Mapping[str, Table], original: Table | None, origins: Mapping[str, NDArray[np.int64]]
) -> dict[str, tuple[float, float]]:
    """Return both shares for releases some of whose rows do not fit the people that the origin names, by all columns of
    both tables, though they may be rows of different people. So is the origin of another release, one that counts rows
    from 1, and one that was mixed up.
    """
    found: dict[str, tuple[float, float]] = {}
    if original is None:
        return found
    for name, origin in origins.items():
        table = releases[name]
        own = _fit_their_own(table, original, origin) if (origin >= 0).any() else 1.0
        if own < OWN_ROWS and (may := criteria.own_rows(table, original)) >= OWN_ROWS:
            found[name] = own, may
    return found


def _fit_their_own(table: Table, original: Table, origin: NDArray[np.int64]) -> float:
    """Return the share of rows that hold the cells of the people they are of; wide columns are left out."""
    there = np.flatnonzero(origin >= 0)
    fit = np.ones(len(there), dtype=np.bool_)
    for column in table.columns:
        if column.name not in original.names or changed(original.column(column.name), column):
            continue
        known = original.column(column.name)
        if len(known.levels) * len(column.levels) <= FEW:
            fits = compatible(known.levels, column.levels, missing="wildcard")
            fit &= fits[known.codes[origin[there]], column.codes[there]]
    return float(fit.mean())


def doubted(releases: Mapping[str, Table], original: Table | None) -> Iterator[tuple[str, str]]:
    """Releases whose rows may be people's by what they say, and that have not as many as the original, and why.

    With as many rows, of which each can be somebody else, nearly all people have a row that may be theirs.
    releases : of which nothing is stated
    """
    for name, table in releases.items():
        if original is not None and table.n_rows != original.n_rows:
            yield name, f"it has {table.n_rows:,} rows, and the original {original.n_rows:,}"


def utility_of(original: Table, release: Table, origin: NDArray[np.int64]) -> dict[str, float]:
    """What a release has lost."""
    lost = utility.evaluate(original, release, origin)
    return {
        "gcp": lost.gcp,
        "suppressed": 1.0 - release.n_rows / original.n_rows,
        "average_class_size": release.n_rows / len(release.classes.sizes),
        **{f"width_{width.unit or 'number'} ({column})": width.mean for column, width in lost.width.items()},
    }


@dataclass(eq=False)
class Counts:
    """Counts of a release besides beliefs.

    original : the table before protection; foreign : no row of the release is a person's of it
    person   : (n_rows,) who each row is of, where one person has several; None where that is not known
    population : everybody who may be in the release; None if that is not known
    """

    release: str
    table: Table
    original: Table | None = None
    foreign: bool = False
    person: NDArray[np.int64] | None = None
    population: Table | None = None

    @cached_property
    def found(self) -> Criteria:
        """Criteria of the release; without the population if it lacks people of the release."""
        if self.population is not None:
            with suppress(UnmaskError):
                return criteria.evaluate(self.table, reference=self.original, population=self.population)
        return criteria.evaluate(self.table, reference=self.original)

    @cached_property
    def without(self) -> dict[str, dict[str, int]]:
        """Quasi-identifier -> `Table.count_successes_without`; nothing of an original, or if classes overlap."""
        attacked = self.table.complete
        if len(attacked.quasi_identifiers) < 2 or self.release == ORIGINAL or relation_of(attacked) is not None:
            return {}
        return {column.name: attacked.count_successes_without(column.name) for column in attacked.quasi_identifiers}

    def criteria(self) -> dict[str, Value]:
        """As a report shows them."""
        told = {item.name: getattr(self.found, item.name) for item in fields(Criteria) if item.name != "columns"}
        found = {name: None if self.foreign and name in _OF_PEOPLE else value for name, value in told.items()}
        return found | (dict(self._repeated()) if self.foreign else {}) | self._of_people() | dict(self._near())

    def _near(self) -> Iterator[tuple[str, Value]]:
        """How near the classes of a table tell numbers, where its rows are people."""
        if self.foreign or self.table.counts is not None:
            return
        before = {} if self.original is None else {column.name: column for column in self.original.columns}
        told = {
            one: criteria.value_proximity(self.table, one, original=before.get(one.name))
            for one in self.table.sensitive
        }
        found = {column.name: one for column, one in told.items() if one is not None}
        if found:
            best = max(found, key=lambda name: found[name].average)
            yield "near_average", found[best].average
            yield "near_prior", found[best].prior
            yield "near_of", best
            yield "near_max", max(one.largest for one in found.values())

    def _of_people(self) -> dict[str, Value]:
        """What k counts where rows are not people."""
        if self.person is None:
            return {}
        found = criteria.people_in_classes(self.table, self.person)
        return {"k_people": found.fewest, "person_share": found.share}

    def _repeated(self) -> Iterator[tuple[str, Value]]:
        """What a release whose rows are nobody's repeats of the original."""
        if self.original is None:
            return
        yield "replicated_uniques", criteria.replicated_uniques(self.table, self.original)
        for column in self.table.sensitive:
            if column.name in self.original.names:
                share = criteria.correctly_disclosed(self.table, self.original, column.name)
                yield f"correctly_disclosed ({column.name})", share

    def column_risks(self) -> Iterator[ColumnRisk]:
        """Mean success of the adversary who sees classes, with every quasi-identifier and without each of them."""
        n, columns = self.found.rows, self.found.columns.items()
        right = {
            "identity": self.found.classes,
            **{name: round((c.average_privacy_risk or 0.0) * n) for name, c in columns},
        }
        for column, less in self.without.items():
            for target, rows in right.items():
                if not (self.foreign and target == "identity"):
                    yield ColumnRisk(self.release, target, column, rows / n, less[target] / n)


def given_by(
    tables: Mapping[str, Table],
) -> tuple[dict[str, tuple[Contribution, ...]], list[tuple[str, str]]]:
    """What each quasi-identifier of some tables gives an adversary, where there are several; and of which tables that
    cannot be said, and why.
    """
    found, not_run = {}, []
    for name, table in tables.items():
        try:
            found[name] = criteria.contributions(table) if len(table.quasi_identifiers) > 1 else ()
        except UnmaskError as error:
            not_run.append((f"Where the risk sits, {name}", str(error)))
    return {name: given for name, given in found.items() if given}, not_run


def exposure(
    releases: Mapping[str, Table], original: Table | None, origins: Mapping[str, NDArray[np.int64]]
) -> ColumnExposure:
    """What is counted about the columns of each release."""
    traced = {} if original is None else {name: (original, origins[name]) for name in releases if name in origins}
    return ColumnExposure(
        columns={
            name: column_facts(table.written, roles=table.roles, classes=table.classes)
            for name, table in releases.items()
        },
        restored={name: restored_cells(before, releases[name], rows) for name, (before, rows) in traced.items()},
        printed={name: printed_values(table, original) for name, table in releases.items()},
    )
