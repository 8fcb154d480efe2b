"""Probability that a record is re-identified: among the release, the population, or by survey weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.errors import UnmaskError
from unmask.core.grouping import class_counts
from unmask.tables.attacks.comparisons import compare_levels
from unmask.tables.attacks.pairing import iterate_compatible_pairs, pair_classes
from unmask.tables.attacks.relation import relation_of
from unmask.tables.levels import Missing
from unmask.tables.table import Table


@dataclass(frozen=True)
class Risk:
    """Probability that a record is re-identified.

    Parameters
    ----------
    maximum : float
        Probability of the record at most risk.
    average : float
        Mean over records.
    """

    maximum: float
    average: float


def prosecutor(sizes: Integers, *, rows: Integers | None = None) -> Risk:
    """Return the risk from an adversary who knows that the target is in the release: 1/f with f candidates.

    Parameters
    ----------
    sizes : Integers
        (J,) candidates f of the records of each class.
    rows : Integers | None, optional
        (J,) records of each class, `sizes` if None.

    Returns
    -------
    Risk
        The average is over records.

    Raises
    ------
    UnmaskError
        If there are no classes.

    References
    ----------
    K. El Emam, "Guide to the De-Identification of Personal Health Information", 2013, chapter 16.

    Examples
    --------
    >>> prosecutor(np.array([1, 99]))
    Risk(maximum=1.0, average=0.02)
    """
    weight = sizes if rows is None else rows
    if len(sizes) == 0:
        raise UnmaskError("0 classes, expected at least 1")
    return Risk(float(1 / sizes.min()), float(np.sum(weight / sizes) / weight.sum()))


def journalist(sizes: Integers, population_sizes: Integers) -> Risk:
    """Return the risk from an adversary who knows that the target is in the population, and re-identifies any record.

    The maximum is 1 / min N_c, and the average is max(J / sum N_c, (1/n) sum n_c / N_c). If a class has fewer people in
    the population than rows in the release, the two tables do not belong together, and an error is raised.

    Parameters
    ----------
    sizes : Integers
        (J,) rows n_c of each class in the release.
    population_sizes : Integers
        (J,) people N_c of each class in the population, N_c >= n_c.

    Returns
    -------
    Risk
        The average is over records.

    Raises
    ------
    UnmaskError
        If a class has too few people in the population.

    References
    ----------
    El Emam 2013, chapter 16 (as in ARX, RiskModelSampleSummary).

    Examples
    --------
    >>> journalist(np.array([1, 3]), np.array([4, 6]))
    Risk(maximum=0.25, average=0.2)
    """
    _check_population(sizes, population_sizes)
    share = float(len(sizes) / population_sizes.sum())
    return Risk(float(1 / population_sizes.min()), max(share, marketer(sizes, population_sizes)))


def marketer(sizes: Integers, population_sizes: Integers) -> float:
    """Return the share of records that linking the release to the population re-identifies: (1/n) sum_c n_c / N_c.

    Parameters
    ----------
    sizes : Integers
        (J,) rows n_c of each class in the release.
    population_sizes : Integers
        (J,) people N_c of each class in the population, N_c >= n_c.

    Returns
    -------
    float
        Share from 0 to 1.

    References
    ----------
    F. K. Dankar, K. El Emam, "A method for evaluating marketer re-identification risk", PAIS 2010.

    Examples
    --------
    >>> marketer(np.array([1, 3]), np.array([4, 6]))
    0.1875
    """
    _check_population(sizes, population_sizes)
    return float(np.sum(sizes / population_sizes) / sizes.sum())


def _check_population(sizes: Integers, population_sizes: Integers) -> None:
    if sizes.shape != population_sizes.shape or len(sizes) == 0:
        raise UnmaskError(
            f"{len(sizes)} classes and {len(population_sizes)} population sizes, expected one size a class"
        )
    absent = int(np.count_nonzero(population_sizes <= 0))
    if absent:
        raise UnmaskError(
            f"{absent} of {len(sizes)} classes of the release are absent from the population, expected none; "
            "check that both tables code the quasi-identifiers alike"
        )
    short = int(np.count_nonzero(population_sizes < sizes))
    if short:
        raise UnmaskError(
            f"{short} of {len(sizes)} classes have fewer rows in the population than in the release, expected at least "
            "as many; the release is not a sample of this population"
        )


def sample_weight_risk(frequency: Integers, population_estimate: Floats) -> Floats:
    """Return the individual risk of a weighted survey sample: the posterior mean of 1/F given f, from 0 to 1.

    The result understates the risk if many classes of the population are small and few people were sampled: it assumes
    that a sample unique stands for as many people as its weight, but sample uniques are mostly people of small classes.
    On samples of Adult (48,842 people, five columns), the mean result and the true mean of 1/F are 0.033 and 0.16 at
    1 %, 0.094 and 0.16 at 10 %, and 0.146 and 0.163 at 50 %. The prosecutor's risk is an upper bound.

    Parameters
    ----------
    frequency : Integers
        (J,) rows of each class.
    population_estimate : Floats
        (J,) sum of the weights of each class.

    Returns
    -------
    Floats
        (J,) probability of each class.

    References
    ----------
    R. Benedetti, L. Franconi, "Statistical and technological solutions for controlled data dissemination", 1998; L.
    Franconi, S. Polettini, "Individual risk estimation in mu-Argus: a review", 2004.

    Examples
    --------
    >>> sample_weight_risk(np.array([1, 2, 5]), np.array([10.0, 2.0, 50.0]))
    array([0.25..., 0.5..., 0.024...])
    """
    if np.any(frequency < 1):
        raise UnmaskError("a frequency is below 1, expected the number of sample rows of each class")
    if np.any(~np.isfinite(population_estimate)) or np.any(population_estimate < frequency * (1 - 1e-9)):
        low = int(np.count_nonzero(~(population_estimate >= frequency * (1 - 1e-9))))
        raise UnmaskError(f"{low} population estimates are below their frequency or not finite, expected weights >= 1")
    f, p = np.broadcast_arrays(np.asarray(frequency, np.float64), np.minimum(frequency / population_estimate, 1.0))
    risk, uses_series = np.empty(f.shape), (p >= 0.5) | (f >= SERIES_FROM)
    risk[uses_series] = _risk_by_series(f[uses_series], p[uses_series])
    risk[~uses_series] = _risk_by_recursion(f[~uses_series], p[~uses_series])
    return risk


SERIES_FROM = 30
"""Number of rows of a class from which the series is used. It then converges in few terms; the recursion needs f
steps.
"""


def _risk_by_series(f: Floats, p: Floats) -> Floats:
    """Return (p / f) sum_n t_n, with t_0 = 1 and t_n = t_(n-1) (1 - p) n / (f + n), until terms no longer change
    the sum.
    """
    total, term, n = np.ones(f.shape), np.ones(f.shape), 0
    while term.max(initial=0.0) > np.finfo(np.float64).eps / 8:
        n += 1
        term = term * (1 - p) * n / (f + n)
        total += term
    return np.asarray(p / f * total)


def _risk_by_recursion(f: Floats, p: Floats) -> Floats:
    """Return r_1 = s ln(1/p), r_f = s (1 / (f - 1) - r_(f-1)), s = p / (1 - p), for p below 1/2."""
    s = p / (1 - p)
    risk = -s * np.log(p)
    for step in range(2, int(f.max(initial=1)) + 1):
        risk = np.where(f >= step, s * (1 / (step - 1) - risk), risk)
    return risk


def population_sizes(table: Table, population: Table) -> Integers:
    """Return the number of people of a population in each class of a release.

    A person belongs to a class if each of their quasi-identifier cells is compatible with the cell of the class: if the
    values are equal, or if the value is in the interval or set. `table.missing` decides about missing cells.
    Generalized classes may overlap, so that a person belongs to several.

    Parameters
    ----------
    table : Table
        Release whose classes are counted.
    population : Table
        Table of everybody who could be in the release, with the same quasi-identifiers.

    Returns
    -------
    Integers
        (J,) people of each class.
    """
    columns = tuple(population.column(column.name) for column in table.quasi_identifiers)
    pairing = pair_classes(replace(population, quasi_identifiers=columns), table)
    people = population.count_rows(pairing.observation, len(pairing.observed))
    rule: Missing = "wildcard" if table.missing == "wildcard" else "own"
    sizes = np.zeros(len(pairing.classes), dtype=np.int64)
    for row, klass in iterate_compatible_pairs(pairing, compare_levels(pairing.columns, missing=rule)):
        sizes += np.bincount(klass, people[row], len(sizes)).astype(np.int64)
    return sizes


def own_rows(release: Table, original: Table) -> float:
    """Return the largest share of released rows that can be different people: (1/n) sum_c min(n_c, N_c).

    N_c is the number of people who fit the n_c rows of class c in the quasi-identifiers of both tables; a missing cell
    fits everybody. The result is an upper bound of the share of rows that can be matched to different people (Hall's
    condition for each class alone), and exact if no person fits two classes. It is 1 for a release whose cells were
    only generalized or suppressed. A smaller result proves that rows were perturbed, are synthetic, or belong to other
    people; a result of 1 proves nothing.

    Parameters
    ----------
    release : Table
        Table to judge.
    original : Table
        Table before protection.

    Returns
    -------
    float
        Share from 0 to 1.

    Examples
    --------
    >>> from unmask.tables.table import Table
    >>> people = Table.read({"age": [20, 20, 30, 41]}, quasi_identifiers="age")
    >>> own_rows(Table.read({"age": ["[20, 30]", "20"]}, quasi_identifiers="age"), people)
    1.0
    >>> own_rows(Table.read({"age": ["41", "41", "50", "20"]}, quasi_identifiers="age"), people)
    0.5
    """
    columns = tuple(column for column in release.quasi_identifiers if column.name in original.names)
    rows = replace(release, quasi_identifiers=columns, missing="wildcard")
    return float(np.minimum(rows.classes.sizes, population_sizes(rows, original)).sum() / release.n_rows)


class PeopleInClasses(NamedTuple):
    """Numbers of people in the classes of a release in which people have several rows.

    Parameters
    ----------
    fewest : int
        People of the class with the fewest people, at most k.
    share : float
        Largest share of the rows of a class that are of one person, in (0, 1].
    """

    fewest: int
    share: float


def people_in_classes(release: Table, person: NDArray[np.integer]) -> PeopleInClasses:
    """Return the numbers of people in the classes of the evaluated rows.

    Parameters
    ----------
    release : Table
        Table to judge.
    person : NDArray[np.integer]
        (n_rows,) number of the person of each row.

    Returns
    -------
    PeopleInClasses
        Fewest people, and the largest share of one person.

    Examples
    --------
    >>> from unmask.tables import Table
    >>> release = Table.read({"age": [30, 30, 30, 41, 41]}, quasi_identifiers="age")
    >>> people_in_classes(release, np.array([7, 7, 2, 5, 6]))
    PeopleInClasses(fewest=2, share=0.6666666666666666)
    """
    table, person_number = release.complete, np.unique(person[release.complete_rows], return_inverse=True)[1]
    rows = class_counts(
        table.classes.of_row, len(table.classes.sizes), person_number, int(person_number.max(initial=-1)) + 1
    ).to_scipy()
    relation = relation_of(table)
    rows = rows if relation is None else relation.sums(rows)
    people = np.diff(rows.indptr)
    return PeopleInClasses(int(people.min()), float((rows.data / np.repeat(rows.sum(axis=1), people)).max()))
