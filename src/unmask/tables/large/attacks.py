"""Adversaries of a table that is known by its combinations: every combination stands for all its people.

The beliefs are those of `unmask.tables.attacks` with people who see the same put together: a target is a class with the
weight of its people, and records that are alike are not listed but counted (`n_unlisted`). So a belief about 1e9 people
takes the memory of its classes. Measures that compare with the prior take what is unlisted as a whole;
`unmask.studies.large` has them for beliefs like these.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from unmask.errors import FailedError, UnmaskError
from unmask.posterior import MOST_IN_DOUBLE, Posterior, stored
from unmask.tables.attacks import ClassAttack, RegisterAttack
from unmask.tables.attacks.classes import fitting
from unmask.tables.attacks.owners import expected_inside, outsiders, owners, refuse_contradiction
from unmask.tables.attacks.pairing import pair, pairs_where, shared_columns
from unmask.tables.counts import group
from unmask.tables.criteria.risk import fitting_people
from unmask.tables.large.reduce import Combinations
from unmask.tables.release import Table


def identity(counts: NDArray[np.int64], *, people: NDArray[np.int64] | None = None, total: int = 0) -> Posterior:
    """Which record is theirs, for adversaries who see every person's class: 1 / n_c over the n_c records of class c.

    The prosecutor, `ClassAttack()` without auxiliary data; one target for each class, one observation for each size.
    counts : (J,) records of a class. people : (J,) those in it, or in all classes alike. total : people of the table
    where the classes are a part of it.

    >>> belief = identity(np.array([3, 1, 3]))
    >>> belief.n_unlisted, belief.observation, belief.n_candidates
    (array([1, 3]), array([1, 0, 1]), 7)
    """
    people = counts if people is None else people
    sizes, of_class = np.unique(counts, return_inverse=True)
    return _alike(sizes, people / people.sum(), of_class, total or int(people.sum()), repr(ClassAttack()))


def attribute(table: Combinations, sensitive: str, overall: NDArray[np.int64] | None = None) -> Posterior:
    """What their sensitive value is: the histogram of their class; the prior is that of the whole table.

    `AttributeInference(sensitive)` without auxiliary data; one target for each class. overall : (L,) rows of each value
    in the whole table where the combinations are a part of it.
    """
    names = [column.name for column in table.sensitive]
    if sensitive not in names:
        raise UnmaskError(f"column {sensitive!r} is not sensitive; the sensitive columns are {', '.join(names)}")
    at = names.index(sensitive)
    histogram, n = table.histograms[at].sorted_indices(), len(table.counts)
    share = histogram.data / np.repeat(table.counts, np.diff(histogram.indptr))
    overall = np.asarray(histogram.sum(axis=0), dtype=np.int64) if overall is None else overall
    with np.errstate(divide="ignore"):
        log_prior = np.log(overall / overall.sum())
    return Posterior(
        indptr=histogram.indptr.astype(np.int64),
        candidate=histogram.indices.astype(np.int32),
        log_probability=stored(np.log(share)),
        unlisted=np.zeros(n),
        n_unlisted=np.zeros(n, dtype=np.int64),
        observation=np.arange(n),
        weight=table.counts / table.n_rows,
        n_candidates=histogram.shape[1],
        log_prior=log_prior,
        provenance={"attack": f"AttributeInference(sensitive={sensitive!r})", "prior": "release"},
        candidate_label=table.sensitive[at].levels.labels,
    )


def joins(table: Table, people: Combinations) -> bool:
    """Whether each cell of a register fits one cell of the table at most: then nobody fits records of several boxes,
    and the table may be taken in parts.
    """
    columns = shared_columns(table, people)
    fits = fitting(columns, missing=table.missing, observed_is_release=True)
    each = zip(fits, columns, strict=True)
    return all(bool(np.all((fit.sum(axis=0) <= 1)[listed.codes])) for fit, (_, listed) in each)


def boxes(table: Combinations, people: Combinations) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Records and people of the boxes of a table that `joins` a register: (n, N, how many boxes have so many)."""
    records, linked = _fitting(table, people)
    cases, times = np.unique(np.stack([records, linked]), axis=1, return_counts=True)
    return cases[0], cases[1], times


def together(
    parts: Iterable[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The `boxes` of all parts of a table."""
    n, people, times = (np.concatenate(of) for of in zip(*parts, strict=True))
    cases, at = np.unique(np.stack([n, people]), axis=1, return_inverse=True)
    return cases[0], cases[1], np.bincount(at.ravel(), times).astype(np.int64)


def strength(n: NDArray[np.int64], people: NDArray[np.int64], times: NDArray[np.int64], *, coverage: float) -> float:
    """z of all `boxes` of a table, see `outsiders`; UnmaskError where they contradict the coverage."""
    released, matched = int(times @ n), int(times @ np.minimum(n, people))
    refuse_contradiction(matched, coverage=coverage, released=released)
    return outsiders(lambda z: float(times @ expected_inside(n, people, z)), coverage * released, matched)


def register(table: Combinations, people: Combinations, *, coverage: float = 1.0, z: float | None = None) -> Posterior:
    """Which person is this record: as `RegisterAttack(coverage)`, for the people of a register whom its cells contain.

    The targets are the distinct records as far as the register knows their columns, the candidates the people. A record
    that nobody fits has no candidate. The columns need not hold equal cells: `[20, 30]` contains 25.
    z : `strength` of the whole table where this is a part of it; by default of this table.
    """
    if z is None and not joins(table, people):
        return _overlapping(table, people, coverage)
    records, linked_to = _fitting(table, people)
    once = np.ones_like(records)
    z = strength(records, linked_to, once, coverage=coverage) if z is None else z
    return linked(records, linked_to, once, n_people=people.n_rows, coverage=coverage, z=z)


def linked(
    n: NDArray[np.int64],
    people: NDArray[np.int64],
    times: NDArray[np.int64],
    *,
    n_people: int,
    coverage: float,
    z: float,
) -> Posterior:
    """`register` where it is counted already how many people fit, one target for each of the `boxes`.

    n_people : in the register.
    """
    inside, weight = expected_inside(n, people, z) / n, (n * times) / int(n @ times)
    if coverage == 1:
        return _alike(people, weight, np.arange(len(n)), n_people, repr(RegisterAttack()))
    nothing = np.zeros(0, dtype=np.int64)
    return _listed(people, inside, weight, (nothing, nothing, np.zeros(0)), n_people, coverage)


def _fitting(table: Combinations, people: Combinations) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Of each distinct record as far as the register knows its columns: how many there are, and how many people fit."""
    columns = shared_columns(table, people)
    fits = fitting(columns, missing=table.missing, observed_is_release=True)
    observation, _, seen = group([cell.codes for cell, _ in columns], [len(cell.levels) for cell, _ in columns])
    known = np.stack([column.codes for _, column in columns], axis=1)
    records = np.bincount(observation, table.counts, len(seen)).astype(np.int64)
    return records, fitting_people(seen, known, people.counts, [fit.T for fit in fits])


def _overlapping(table: Combinations, people: Combinations, coverage: float) -> Posterior:
    """`register` where the boxes of records may have people in common."""
    pairing = pair(table, people)
    fits = fitting(pairing.columns, missing=table.missing, observed_is_release=True)
    among = fitting_people(
        pairing.observed, pairing.classes, np.ones(len(pairing.classes), np.int64), [f.T for f in fits]
    )
    _refuse_many(int(among.sum()), "pairs of cells of the register and of the release overlap")
    row, klass = pairs_where(pairing, fits)
    listed = np.bincount(pairing.klass, people.counts).astype(np.int64)
    records = np.bincount(pairing.observation, table.counts).astype(np.int64)
    found = owners(records, listed, row, klass, coverage=coverage)
    linked_to = np.bincount(row, listed[klass], len(records)).astype(np.int64)
    apart = np.flatnonzero((found.overlaps & (linked_to > 0))[row])
    entries = row[apart], listed[klass[apart]], found.each[apart]
    return _listed(linked_to, found.inside, records / records.sum(), entries, people.n_rows, coverage)


def _listed(
    candidates: NDArray[np.int64],
    inside: NDArray[np.float64],
    weight: NDArray[np.float64],
    unlike: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]],
    n_candidates: int,
    coverage: float,
) -> Posterior:
    """A belief whose candidates go by no number of their own: targets that as many people fit alike share a row.

    unlike : target, number and probability of each of candidates that are alike, for targets whose candidates differ
    """
    row, many, each = unlike
    differ = np.zeros(len(candidates), dtype=np.bool_)
    differ[row] = True
    same = np.flatnonzero(~differ)
    cases, at = np.unique(np.stack([candidates[same], inside[same]]), axis=1, return_inverse=True)
    size, sure = cases[0].astype(np.int64), cases[1]
    _refuse_many(
        int(size.sum() + many.sum()), "candidates would be listed, for a coverage below 1 or overlapping boxes"
    )
    rows, own = np.unique(row, return_inverse=True)
    observation = np.empty(len(candidates), dtype=np.int64)
    observation[same], observation[rows] = at.ravel(), len(size) + np.arange(len(rows))
    length = np.concatenate([size, np.bincount(own, many, len(rows)).astype(np.int64)])
    indptr = np.concatenate(([0], np.cumsum(length)))
    p = np.concatenate([np.repeat(sure / np.maximum(size, 1), size), np.repeat(each, many)])
    return Posterior(
        indptr=indptr,
        candidate=(np.arange(indptr[-1]) - np.repeat(indptr[:-1], length)).astype(np.int32),
        log_probability=stored(np.log(p)),
        unlisted=1.0 - np.concatenate([sure, inside[rows]]),
        n_unlisted=np.zeros(len(length), dtype=np.int64),
        observation=observation,
        weight=weight,
        n_candidates=n_candidates,
        log_prior=float(np.log(coverage / n_candidates)),
        status="model",
        provenance={"attack": repr(RegisterAttack(coverage))},
    )


def _refuse_many(n: int, what: str) -> None:
    if n > MOST_IN_DOUBLE:
        raise FailedError(f"{n:,} {what}, expected at most {MOST_IN_DOUBLE:,}; coarsen a column of the register")


def _alike(
    candidates: NDArray[np.int64],
    weight: NDArray[np.float64],
    observation: NDArray[np.int64],
    n_candidates: int,
    attack: str,
) -> Posterior:
    """All candidates of an observation alike, and none listed; an observation without one is of somebody absent."""
    n = len(candidates)
    return Posterior(
        indptr=np.zeros(n + 1, dtype=np.int64),
        candidate=np.zeros(0, dtype=np.int32),
        log_probability=np.zeros(0),
        unlisted=np.ones(n),
        n_unlisted=candidates,
        observation=observation,
        weight=weight,
        n_candidates=n_candidates,
        log_prior=-float(np.log(n_candidates)),
        provenance={"attack": attack},
    )
