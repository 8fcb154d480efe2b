"""What is counted about releases besides the measures of beliefs."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, equal_weights
from unmask.core.truth import UNKNOWN
from unmask.facts import Contribution
from unmask.measures import realized_success, success_probability
from unmask.measures.interval import wilson
from unmask.measures.sensitive_values import mask_sensitive_values, rank_by_frequency, sensitive_probability
from unmask.measures.truth_positions import locate_each, locate_truth
from unmask.reports.data import LIMITS, ORIGINAL
from unmask.reports.facts.exposure import Exposure
from unmask.reports.facts.tables import ColumnRisk, Distribution, Promise, ValueRisk
from unmask.reports.words import IDENTITY, Value
from unmask.tables import criteria, utility
from unmask.tables.attacks.relation import relation_of
from unmask.tables.audit.belief import Case
from unmask.tables.criteria.evaluation import Criteria
from unmask.tables.matching import compatible
from unmask.tables.reinterpret import changed
from unmask.tables.risk import column_facts, printed_values, restored_cells
from unmask.tables.table import Table

EDGES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.09, 0.2, 0.5, 1.0)
"""Success probabilities between which people are counted, the upper one included; each of `LIMITS` is one of them."""

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


def distribution(case: Case) -> Distribution:
    """People by the adversary's probability of being right about them, self-assessed: about which record is theirs, or
    about the likeliest secret, which the commonest value is not. Nobody is right about a record that is not released.
    Of several targets of one person the one counts by which they are most at risk.
    """
    (success, weight), people = _spread(case), case.n_people
    values = np.unique(success)
    mass = np.bincount(np.searchsorted(values, success), weight)
    bins = np.maximum(np.searchsorted(EDGES, values, side="left") - 1, 0)
    counts = np.bincount(bins, mass, len(EDGES) - 1)
    shares = tuple(float(share) for share in counts / counts.sum())
    each = tuple(zip(values.tolist(), mass.tolist(), strict=True))
    of_all = case.drawn_from or 0
    drawn_from = int(of_all) if people < of_all < math.inf else 0
    found = Distribution(case.release, case.adversary, case.target, EDGES, shares, people, {}, each, drawn_from)
    return found.at(LIMITS.values())


def _spread(case: Case) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Success, and how much of the weight has it."""
    assert success_probability.self_assessed is not None
    about = success_probability.self_assessed if case.target == IDENTITY else sensitive_probability
    success = np.round(about(case.belief), 9)  # 1 / 10 by its logarithm is not below 0.1
    weight, gone = case.belief.observation_weight, case.unreleased
    if case.whose is not None:
        each, most = success[case.belief.observation], np.zeros(case.n_people)
        np.maximum.at(most, case.whose, each if gone is None else np.where(gone, 0.0, each))
        return most, equal_weights(case.n_people)
    if gone is not None:
        out = np.bincount(case.belief.observation, case.belief.weight * gone, len(weight))
        success, weight = np.append(success, 0.0), np.append(weight - out, out.sum())
    return success, weight


SURE = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
"""Announced success between which people are put together to see what came true, the upper one included."""


def promises(case: Case) -> Iterator[Promise]:
    """What the adversary announced of people, and what came true: those of one bin of `SURE` together.

    Nothing where nobody's truth is known, or where the belief is mere scores or counts whose records are whose.
    """
    if case.truth is None or case.picked is not None or case.belief.status == "scores" or not case.truth.judged.any():
        return
    assert realized_success.of_positions is not None
    locate = locate_truth if case.whose is None else locate_each
    positions = locate(case.belief, case.truth)
    known = np.flatnonzero(positions.truth.judged)
    announced = success_probability.per_target(positions.posterior)[known]
    realized = realized_success.of_positions(positions)[known]
    bins = np.maximum(np.searchsorted(SURE, np.round(announced, 9), side="left") - 1, 0)
    names = case.release, case.adversary, case.target
    weight, people = positions.posterior.weight[known], positions.n_targets[known]
    for at in np.unique(bins).tolist():
        own = bins == at
        a, r = (float(np.average(values[own], weights=weight[own])) for values in (announced, realized))
        n = int(people[own].sum()) if case.whose is None else len(np.unique(case.whose[known[own]]))
        yield Promise(*names, n, a, r, *wilson(r, n))


def by_value(case: Case) -> tuple[ValueRisk, ...]:
    """For each value what was believed of it before, the most that is believed of anybody, who is found to have it, and
    how many of these have it; the secrets that rise most come first, the commonest value last.

    Missing values, and those that nobody is believed to have, are left out. The others go by their place among the
    commonest before the release: no cell is repeated in a report.

    >>> from unmask import Posterior, Truth
    >>> belief = Posterior.from_dense(
    ...     np.array([[0.9, 0.1], [0.4, 0.6]]), prior=np.array([0.8, 0.2]), candidate_label=("none", "HIV")
    ... )
    >>> [
    ...     (one.value, one.secret, round(one.prior, 2), round(one.highest, 2), one.people, one.right)
    ...     for one in by_value(Case("r", "prosecutor", "ill", belief, Truth([0, 0])))
    ... ]
    [('no. 2', True, 0.2, 0.6, 1, 0.0), ('no. 1', False, 0.8, 0.9, 1, 1.0)]
    """
    belief, places = case.belief, rank_by_frequency(case.belief)
    assert belief.candidate_label is not None
    row = np.repeat(np.arange(belief.n_observations), belief.row_length)
    seen = belief.observation_weight[row] > 0
    row, value, p = row[seen], belief.candidate[seen], np.exp(belief.log_probability[seen].astype(np.float64))
    highest = np.zeros(belief.n_candidates)
    np.maximum.at(highest, value, p)
    found = _found(case, row, value, p)
    before = np.exp(belief.prior_of(np.arange(belief.n_candidates, dtype=np.int32)))
    secret = mask_sensitive_values(belief)
    return tuple(
        ValueRisk(
            case.release,
            case.target,
            places[v],
            float(before[v]),
            float(highest[v]),
            round(float(found.people[v])),
            case.n_people,
            secret=bool(secret[v]),
            believed=_ratio(found.believed[v], found.mass[v]),
            right=None if case.truth is None else _ratio(found.right[v], found.judged[v]),
        )
        for v in np.lexsort((before - highest, ~secret)).tolist()
        if highest[v] > 0 and belief.candidate_label[v]
    )


class _People(NamedTuple):
    """(n_values,) how many people are found to have a value, by more than one half; their weight, and the sum of what
    is believed of them; of how many of it the truth is known, and how many of these have it.
    """

    people: NDArray[np.float64]
    mass: NDArray[np.float64]
    believed: NDArray[np.float64]
    judged: NDArray[np.float64]
    right: NDArray[np.float64]


def _found(case: Case, row: NDArray[np.int64], value: NDArray[np.int32], p: NDArray[np.float64]) -> _People:
    belief, surer = case.belief, np.round(p, 9) > LIMITS["value"]  # as in `distribution`
    said, sure = np.full(belief.n_observations, -1), np.zeros(belief.n_observations)
    said[row[surer]], sure[row[surer]] = value[surer], p[surer]
    told = np.flatnonzero(said >= 0)
    weight = belief.observation_weight[told] * case.n_targets
    mass, believed = (_sums(said[told], each, belief) for each in (weight, weight * sure[told]))
    people = mass
    if case.whose is not None:
        theirs = np.flatnonzero(said[belief.observation] >= 0)
        counted = case.people_in(said[belief.observation[theirs]], theirs)
        people = np.pad(counted, (0, belief.n_candidates - len(counted))).astype(np.float64)
    if case.truth is None:
        return _People(people, mass, believed, *np.zeros((2, belief.n_candidates)))
    asked = np.flatnonzero((case.truth.candidate != UNKNOWN) & (said[belief.observation] >= 0))
    value_of, weight = said[belief.observation[asked]], belief.weight[asked] * belief.n_targets
    right = weight * (case.truth.candidate[asked] == value_of)
    return _People(people, mass, believed, *(_sums(value_of, each, belief) for each in (weight, right)))


def _sums(value: NDArray[np.int64], each: NDArray[np.float64], belief: Posterior) -> NDArray[np.float64]:
    return np.bincount(value, each, belief.n_candidates).astype(np.float64)  # of nobody they are whole numbers


def _ratio(part: float, whole: float) -> float | None:
    return float(part / whole) if whole > 0 else None


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
) -> Exposure:
    """What is counted about the columns of each release."""
    traced = {} if original is None else {name: (original, origins[name]) for name in releases if name in origins}
    return Exposure(
        columns={
            name: column_facts(table.written, roles=table.roles, classes=table.classes)
            for name, table in releases.items()
        },
        restored={name: restored_cells(before, releases[name], rows) for name, (before, rows) in traced.items()},
        printed={name: printed_values(table, original) for name, table in releases.items()},
    )
