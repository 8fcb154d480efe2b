"""Published scores of synthetic tables. None of them is an attack, and none proves safety."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.grouping import class_counts, group
from unmask.tables.attacks.comparisons import EqualValues
from unmask.tables.attacks.membership import find_least_distances
from unmask.tables.attacks.pairing import shared_columns
from unmask.tables.column import Column
from unmask.tables.table import Table

Keys = NDArray[np.int32]


def replicated_uniques(release: Table, original: Table) -> float:
    """Return the share of people who are unique in the original and whose combination exactly one released row has
    (repU).

    Parameters
    ----------
    release : Table
        Synthetic table.
    original : Table
        Table of people, with the same quasi-identifiers.

    Returns
    -------
    float
        Share of the people, from 0 to 1.

    References
    ----------
    G. M. Raab, B. Nowok & C. Dibben, "Practical privacy metrics for synthetic data", 2024, section 3; synthpop 1.9.

    Examples
    --------
    >>> people = Table.read({"q": list("abcc"), "s": list("uvuv")}, quasi_identifiers="q", sensitive="s")
    >>> release = Table.read({"q": list("accd"), "s": list("uvvu")}, quasi_identifiers="q", sensitive="s")
    >>> replicated_uniques(release, people)
    0.25
    """
    people, rows, n = _keys(release, original)
    is_unique = [np.bincount(side, minlength=n) == 1 for side in (people, rows)]
    return float((is_unique[0] & is_unique[1])[people].mean())


def correctly_disclosed(release: Table, original: Table, sensitive: str) -> float:
    """Return the share of people whose combination is released only with their own sensitive value (DiSCO).

    Parameters
    ----------
    release : Table
        Synthetic table.
    original : Table
        Table of people, with the same columns.
    sensitive : str
        Name of the sensitive column.

    Returns
    -------
    float
        Share of the people, from 0 to 1.

    References
    ----------
    G. M. Raab, B. Nowok & C. Dibben, "Practical privacy metrics for synthetic data", 2024, section 4; synthpop 1.9.

    Examples
    --------
    >>> people = Table.read({"q": list("abcc"), "s": list("uvuv")}, quasi_identifiers="q", sensitive="s")
    >>> release = Table.read({"q": list("accd"), "s": list("uvvu")}, quasi_identifiers="q", sensitive="s")
    >>> correctly_disclosed(release, people, "s")
    0.5
    """
    people, rows, n = _keys(release, original)
    (theirs, released_values), n_values = _number_values(original.column(sensitive), release.column(sensitive))
    counts = class_counts(rows, n, released_values, n_values)
    single = np.diff(counts.indptr) == 1
    value = np.full(n, -1)
    value[single] = counts.indices[counts.indptr[:-1][single]]
    return float((value[people] == theirs).mean())


def _keys(release: Table, original: Table) -> tuple[Keys, Keys, int]:
    """Return the combination of each person and of each released row, numbered together, and the number of
    combinations.
    """
    pairs = [_number_values(*pair) for pair in shared_columns(original, release)]
    key_of_row, sizes, _ = group([np.concatenate(pair) for pair, _ in pairs], [n for _, n in pairs])
    return key_of_row[: original.n_rows], key_of_row[original.n_rows :], len(sizes)


def _number_values(original: Column, released: Column) -> tuple[tuple[Keys, Keys], int]:
    """Return the values of two columns, numbered together, and the number of values."""
    equal_values = EqualValues.of(original.levels, released.levels)
    ours, theirs = equal_values.observed + 1, equal_values.candidate + 1  # `*` is a value of its own here
    n = int(max(ours.max(initial=-1), theirs.max(initial=-1))) + 1
    return (ours[original.codes], theirs[released.codes]), n


# --- attribution ------------------------------------------------------------------------------------------------------


class Attribution(NamedTuple):
    """Probability of a right guess by records with the same quasi-identifiers.

    Parameters
    ----------
    probability : float
        Mean over the people, or released rows, with a defined value; nan without any.
    prior : float
        Mean share of all rows of the searched table with the right value: a guess without quasi-identifiers.
    defined : float
        Share of the people, or released rows, whose quasi-identifiers the searched table has.
    """

    probability: float
    prior: float
    defined: float


def attribution_probability(release: Table, people: Table, sensitive: str, *, rtol: float = 0.0) -> Attribution:
    """Return the correct attribution probability (CAP) of a synthetic table.

    A person's CAP is the share of the released rows with their quasi-identifiers that have their sensitive value. It is
    undefined without such a row. It is high for values that most people of a class have, also of people who are not in
    the original, so that a control group is needed to interpret it.

    Parameters
    ----------
    release : Table
        Synthetic table.
    people : Table
        Table of people, with the same columns.
    sensitive : str
        Name of the sensitive column.
    rtol : float
        Numbers count as equal if they differ by at most `rtol` times the person's number.

    Returns
    -------
    Attribution

    References
    ----------
    J. Taub, M. Elliot, M. Pampaka, D. Smith, "Differential correct attribution probability for synthetic data: an
    exploration", Privacy in Statistical Databases 2018.

    Examples
    --------
    >>> people = Table.read({"q": list("abcc"), "s": list("uvuv")}, quasi_identifiers="q", sensitive="s")
    >>> release = Table.read({"q": list("accd"), "s": list("uvvu")}, quasi_identifiers="q", sensitive="s")
    >>> attribution_probability(release, people, "s")
    Attribution(probability=0.666..., prior=0.5, defined=0.75)
    """
    sides = _Sides.of(release, people, sensitive)
    return _attribute(sides.people, sides.release, rtol * np.abs(sides.people.values))


def targeted_attribution_probability(
    release: Table, people: Table, sensitive: str, *, threshold: float = 1.0, rtol: float = 0.0
) -> Attribution:
    """Return the targeted correct attribution probability (TCAP): CAP of the values that the release states clearly.

    It is a mean over the released rows whose value is shared by at least a threshold of the released rows with the same
    quasi-identifiers: the share of people with these quasi-identifiers who have this value. Compare it with the value
    for a control group.

    Parameters
    ----------
    release, people : Table
        Synthetic table, and table of people with the same columns.
    sensitive : str
        Name of the sensitive column.
    threshold : float
        Share of equal values that an adversary demands of a class, up to 1.
    rtol : float
        Numbers count as equal if they differ by at most `rtol` times the released number.

    Returns
    -------
    Attribution

    References
    ----------
    J. Taub, M. Elliot, "The synthetic data challenge", UNECE Work Session on Statistical Data Confidentiality 2019.

    Examples
    --------
    >>> people = Table.read({"q": list("abcc"), "s": list("uvuv")}, quasi_identifiers="q", sensitive="s")
    >>> release = Table.read({"q": list("accd"), "s": list("uvvu")}, quasi_identifiers="q", sensitive="s")
    >>> targeted_attribution_probability(release, people, "s")  # a is right, c is right for one of two, d is unknown
    Attribution(probability=0.666..., prior=0.5, defined=0.75)
    """
    if not 0 < threshold <= 1:
        raise UnmaskError(f"threshold is {threshold:g}, expected a share above 0 and at most 1")
    sides = _Sides.of(release, people, sensitive)
    tolerance = rtol * np.abs(sides.release.values)
    near, n_rows = _count_near(sides.release, sides.release, tolerance)
    clear = np.flatnonzero(near >= threshold * n_rows - 1e-9)
    return _attribute(sides.release.take(clear), sides.people, tolerance[clear])


class _Values(NamedTuple):
    """Number of the quasi-identifiers of each row, and its sensitive value: a number, or the number of a category."""

    keys: NDArray[np.integer]
    values: Floats

    def take(self, rows: Integers | Booleans) -> _Values:
        return _Values(self.keys[rows], self.values[rows])


class _Sides(NamedTuple):
    """Comparable rows of the release and of people; rows without an exact value are left out."""

    release: _Values
    people: _Values

    @classmethod
    def of(cls, release: Table, people: Table, sensitive: str) -> _Sides:
        people_keys, row_keys, _ = _keys(release, people)
        columns = people.column(sensitive), release.column(sensitive)
        if all(column.levels.kind == "numeric" for column in columns):
            values = tuple(np.where(c.levels.low == c.levels.high, c.levels.low, np.nan)[c.codes] for c in columns)
        else:
            values = tuple(side.astype(np.float64) for side in _number_values(*columns)[0])
        return cls(_Values(row_keys, values[1]), _Values(people_keys, values[0]))


def _count_near(targets: _Values, rows: _Values, tolerance: Floats) -> tuple[Integers, Integers]:
    """Return, for each target, the rows with its key and about its value, and the rows with its key."""
    finite = rows.take(~np.isnan(rows.values))
    order = np.lexsort((finite.values, finite.keys))
    sorted_rows = finite.take(order)
    distinct = np.unique(sorted_rows.values)
    base = len(distinct) + 1
    packed = sorted_rows.keys.astype(np.int64) * base + np.searchsorted(distinct, sorted_rows.values)
    slack = tolerance + 1e-9 * np.abs(targets.values)
    first = np.searchsorted(distinct, targets.values - slack, side="left")
    last = np.searchsorted(distinct, targets.values + slack, side="right")
    start = targets.keys.astype(np.int64) * base
    near = np.searchsorted(packed, start + last) - np.searchsorted(packed, start + first)
    return near, np.searchsorted(packed, start + base) - np.searchsorted(packed, start)


def _attribute(targets: _Values, rows: _Values, tolerance: Floats) -> Attribution:
    """Return the mean share of rows with the key of a target that have about its value."""
    is_known = ~np.isnan(targets.values)
    targets, tolerance = targets.take(is_known), tolerance[is_known]
    if not len(targets.keys):
        return Attribution(float("nan"), float("nan"), 0.0)
    near, n_rows = _count_near(targets, rows, tolerance)
    pooled, pool = (side._replace(keys=np.zeros_like(side.keys)) for side in (targets, rows))
    of_all, n_all = _count_near(pooled, pool, tolerance)
    has_rows = n_rows > 0
    probability = float(np.mean(near[has_rows] / n_rows[has_rows])) if has_rows.any() else float("nan")
    return Attribution(probability, float(np.mean(of_all / np.maximum(n_all, 1))), float(has_rows.mean()))


# --- distances --------------------------------------------------------------------------------------------------------

MAX_COMPARED = 1_000
"""Rows whose distances are measured, drawn at random."""

MAX_NEIGHBORS = 50_000
"""Rows of either table among which the closest one is searched."""


def closer_to_members(release: Table, members: Table, holdout: Table, *, rng: np.random.Generator) -> float:
    """Return the share of released rows that are closer to members than to a hold-out (DCR share).

    Distances are Gower's over all shared columns, to the closest of equally many members and people of the hold-out;
    ties count one half. A half is expected of rows that favor no side. A half does not prove safety: a release may
    repeat the margins of its members without any close row.

    Parameters
    ----------
    release : Table
        Synthetic table.
    members : Table
        Original that the generator was fitted to.
    holdout : Table
        Similar people who are not in the original.
    rng : numpy.random.Generator
        Random numbers that draw the compared rows.

    Returns
    -------
    float
        Share from 0 to 1.

    References
    ----------
    M. Platzer, T. Reutterer, "Holdout-based empirical assessment of mixed-type synthetic data", Frontiers in Big Data
    2021.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> members, holdout = (Table.read({"x": rng.normal(size=200)}, quasi_identifiers="x") for _ in range(2))
    >>> closer_to_members(members, members, holdout, rng=rng)
    1.0
    """
    n = min(members.n_rows, holdout.n_rows, MAX_NEIGHBORS)
    targets = _draw(release, MAX_COMPARED, rng)
    return _closer(targets, _draw(members, n, rng), _draw(holdout, n, rng))


def identifiable_share(release: Table, people: Table, members: Table, *, rng: np.random.Generator) -> float:
    """Return the share of people who are closer to a released row than to another member (identifiability).

    Distances are Gower's with equal weights, to the closest of equally many released rows and other members; ties count
    one half. A half is expected of a release like the members. The score is weak: copies of half of the members hardly
    change it.

    Parameters
    ----------
    release : Table
        Synthetic table.
    people : Table
        Members, or people of a control group.
    members : Table
        Original that the generator was fitted to. If it is `people`, others are drawn than those who are compared.
    rng : numpy.random.Generator
        Random numbers that draw the compared rows.

    Returns
    -------
    float
        Share from 0 to 1.

    References
    ----------
    J. Yoon, L. N. Drumright, M. van der Schaar, "Anonymization through data synthesis using generative adversarial
    networks (ADS-GAN)", IEEE Journal of Biomedical and Health Informatics 2020; with equal weights here.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> table = Table.read({"x": rng.normal(size=200)}, quasi_identifiers="x")
    >>> identifiable_share(table, table, table, rng=rng) > 0.8
    True
    """
    order = rng.permutation(people.n_rows)
    n_compared = min(MAX_COMPARED, people.n_rows // 10 if people is members else people.n_rows)
    targets = people.take(order[:n_compared])
    others = people.take(order[n_compared:]) if people is members else members
    n = min(release.n_rows, others.n_rows, MAX_NEIGHBORS)
    return _closer(targets, _draw(release, n, rng), _draw(others, n, rng))


def _closer(targets: Table, first: Table, second: Table) -> float:
    """Return the share of targets that are closer to the first table than to the second; ties count one half."""
    names = [name for name in targets.names if name in first.names and name in second.names]
    if not names or not targets.n_rows or not first.n_rows or not second.n_rows:
        raise UnmaskError("the tables have no column or no row in common; give tables with the same columns")
    targets, *sides = (table.known_by(map(table.column, names)) for table in (targets, first, second))
    to_first, to_second = find_least_distances(targets, *sides)
    is_tie = np.isclose(to_first, to_second, rtol=0, atol=1e-12)
    return float(np.mean(np.where(is_tie, 0.5, to_first < to_second)))


def _draw(table: Table, n: int, rng: np.random.Generator) -> Table:
    return table.take(rng.permutation(table.n_rows)[:n])
