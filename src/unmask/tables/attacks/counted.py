"""Attackers of a table that is known by its combinations: every class is one target with the weight of its people.

Their beliefs are those of `ClassAttack`, `AttributeInference` and `RegisterAttack` about its rows, with people who see
the same put together; records that are alike are not listed but counted (`n_unlisted`). So a belief about a billion
people takes the memory of its classes, and a belief about a part of a table that of the part.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.core.errors import FailedError
from unmask.core.posterior import MOST_IN_DOUBLE, Posterior, stored
from unmask.tables.attacks.pairing import Same, chunks_where, fits_of, pair, shared_columns
from unmask.tables.attacks.register import Owners, expected_inside, outsiders, owners, refuse_contradiction
from unmask.tables.column import Column
from unmask.tables.counted import Combinations
from unmask.tables.release import Table

Ints = NDArray[np.int64]
Entries = tuple[Ints, Ints, NDArray[np.float64]]
"""Target, number and probability of each of candidates that are alike."""


def from_sizes(
    sizes: Ints,
    weight: NDArray[np.float64],
    *,
    n_candidates: int,
    provenance: dict[str, Any] | None = None,
) -> Posterior:
    """The belief of `inference.from_classes` with a class as one target, whose candidates are counted, not listed.

    sizes  : (J,) the candidates of each class, alike to the adversary; a class with 0 is known to be absent
    weight : (J,) share of its people, sum 1
    An observation is a number of candidates, so the belief takes the memory of its classes, whatever their people.

    >>> belief = from_sizes(np.array([3, 1, 3]), np.array([3, 1, 3]) / 7, n_candidates=7)
    >>> belief.n_unlisted, belief.observation
    (array([1, 3]), array([1, 0, 1]))
    """
    candidates, observation = np.unique(sizes, return_inverse=True)
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
        provenance=provenance or {},
    )


def values(
    release: Combinations,
    column: Column,
    hidden: NDArray[np.int32],
    means: csr_array | None,
    *,
    labels: tuple[str, ...],
    prior: NDArray[np.float64] | None,
    provenance: dict[str, Any],
) -> Posterior:
    """What their value of a sensitive column is: the histogram of their class.

    hidden : (n_classes,) what those of each class who hide their value say of it; means : what that means, as labels
             and prior as in `inference.compose`. Without means nobody hides theirs, and without a prior it is the
             histogram of the whole table.
    """
    histogram, n = release.histogram(column).sorted_indices(), len(release.counts)
    if means is not None:
        each = histogram.tocoo()
        said = np.where(each.col == column.levels.missing, hidden[each.row], each.col)
        histogram = csr_array(csr_array((each.data, (each.row, said)), shape=(n, means.shape[0])) @ means)
        histogram = histogram.sorted_indices()
    if prior is None:
        overall = release.totals_of(column)
        prior = overall / overall.sum()
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)
    return Posterior(
        indptr=histogram.indptr.astype(np.int64),
        candidate=histogram.indices.astype(np.int32),
        log_probability=stored(np.log(histogram.data / np.repeat(release.counts, np.diff(histogram.indptr)))),
        unlisted=np.zeros(n),
        n_unlisted=np.zeros(n, dtype=np.int64),
        observation=np.arange(n),
        weight=release.counts / release.n_rows,
        n_candidates=len(labels),
        log_prior=log_prior,
        provenance=provenance,
        candidate_label=labels,
    )


def linked(
    release: Table,
    register: Table,
    *,
    coverage: float,
    z: float | None = None,
    provenance: dict[str, Any] | None = None,
) -> Posterior:
    """Which person of a register is behind a record, for each distinct record as far as the register knows it.

    z : `Boxes.strength` of the whole table where this is a part of it, see `owners`.
    """
    records, people, row, klass = _pairs(release, register)
    found = owners(records, people, row, klass, coverage=coverage, z=z)
    fit = np.bincount(row, people[klass], len(records)).astype(np.int64)
    weight = records / records.sum()
    if coverage == 1.0 and not found.overlaps.any():
        return from_sizes(fit, weight, n_candidates=register.n_rows, provenance=provenance)
    unlike = _unlike(found, people, row, klass)
    return _listed(fit, found.inside, weight, unlike, register.n_rows, coverage, provenance or {})


def joins(release: Table, register: Table) -> bool:
    """Whether each cell of a register fits one cell of the release at most: then nobody fits records of several boxes,
    and the release may be taken in parts.
    """
    columns = shared_columns(release, register)
    fits = fits_of(columns, missing=release.missing)
    several = (
        bool((fit.observed < 0).any() if isinstance(fit, Same) else (fit.sum(axis=0) > 1)[listed.codes].any())
        for fit, (_, listed) in zip(fits, columns, strict=True)
    )
    return not any(several)


@dataclass(frozen=True, eq=False)
class Boxes:
    """The boxes that a release shares with a register that `joins` it: (m,) records, people, and boxes with so many."""

    records: Ints
    people: Ints
    times: Ints

    @classmethod
    def of(cls, parts: Iterable[Table], register: Table) -> Boxes:
        """Those of all parts of a release, taken one after the other."""
        found = map(partial(_box_cases, register=register), parts)  # holds no part while the next is made
        n, people, times = np.concatenate([*found], axis=1)
        cases, at = np.unique(np.stack([n, people]), axis=1, return_inverse=True)
        return cls(cases[0], cases[1], np.bincount(at.ravel(), times).astype(np.int64))

    def strength(self, coverage: float) -> float:
        """z of all boxes, see `outsiders`; UnmaskError where they contradict the coverage."""
        released, matched = int(self.times @ self.records), int(self.times @ np.minimum(self.records, self.people))
        refuse_contradiction(matched, coverage=coverage, released=released)
        inside = lambda z: float(self.times @ expected_inside(self.records, self.people, z))  # noqa: E731
        return outsiders(inside, coverage * released, matched)

    def belief(self, n_people: int, *, coverage: float, z: float) -> Posterior:
        """As `linked`, boxes with as many records and people put together. n_people : in the register."""
        weight = self.records * self.times / int(self.records @ self.times)
        if coverage == 1.0:
            return from_sizes(self.people, weight, n_candidates=n_people)
        nobody = np.zeros(0, dtype=np.int64)
        inside = expected_inside(self.records, self.people, z) / self.records
        return _listed(self.people, inside, weight, (nobody, nobody, np.zeros(0)), n_people, coverage, {})


def _box_cases(release: Table, register: Table) -> Ints:
    records, people, row, klass = _pairs(release, register)
    fit = np.bincount(row, people[klass], len(records)).astype(np.int64)
    cases, times = np.unique(np.stack([records, fit]), axis=1, return_counts=True)
    return np.stack([*cases, times])


def _pairs(release: Table, register: Table) -> tuple[Ints, Ints, Ints, Ints]:
    """Records of each observation, people of each class, and the observation and class of all pairs that fit."""
    pairing = pair(release, register)
    fits = fits_of(pairing.columns, missing=release.missing)
    many, found, n = not joins(release, register), [], 0
    for chunk in chunks_where(pairing, fits):
        n += len(chunk[0])
        _refuse_many(n * many, "pairs of cells of the register and of the release overlap")
        found.append(chunk)
    row, klass = (np.concatenate(side) for side in zip(*found, strict=True))
    records = release.rows_in(pairing.observation, len(pairing.observed))
    return records, register.rows_in(pairing.klass, len(pairing.classes)), row, klass


def _unlike(found: Owners, people: Ints, row: Ints, klass: Ints) -> Entries:
    apart = np.flatnonzero(found.overlaps[row])
    return row[apart], people[klass[apart]], found.each[apart]


def _listed(
    candidates: Ints,
    inside: NDArray[np.float64],
    weight: NDArray[np.float64],
    unlike: Entries,
    n_candidates: int,
    coverage: float,
    provenance: dict[str, Any],
) -> Posterior:
    """A belief whose candidates go by no number of their own: targets that as many people fit alike share a row.

    unlike : for targets whose candidates differ
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
        provenance=provenance,
    )


def _refuse_many(n: int, what: str) -> None:
    if n > MOST_IN_DOUBLE:
        raise FailedError(
            f"more than {MOST_IN_DOUBLE:,} {what}, expected at most so many; coarsen a column of the register"
        )
