"""Beliefs about a counted table: every class is one target with the weight of its people.

They are those of `ClassAttack`, `AttributeInference` and `RegisterAttack` about its rows. Equal records are not listed
but counted (`n_unlisted`), so a belief about a billion people takes the memory of its classes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.core.errors import FailedError
from unmask.core.posterior import MAX_DOUBLE_ENTRIES, Posterior, stored
from unmask.tables.attacks.pairing import chunks_where, fits_of, pair
from unmask.tables.attacks.register import Owners, owners
from unmask.tables.column import Column
from unmask.tables.grouping import class_counts
from unmask.tables.table import Table

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
    """Return the belief of `inference.from_classes` with a class as one target, whose candidates are not listed.

    sizes  : (J,) the candidates of each class, alike to the adversary; a class with 0 is known to be absent
    weight : (J,) share of its people, sum 1

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
    release: Table,
    column: Column,
    values_of_records: NDArray[np.int32],
    means: csr_array | None,
    *,
    labels: tuple[str, ...],
    prior: NDArray[np.float64] | None,
    provenance: dict[str, Any],
) -> Posterior:
    """Return the belief about a sensitive column for each class: the histogram of the class.

    values_of_records  : (n,) value that each combination states, see `AttributeInference.values_of_records`
    means : the meaning of these values, with labels and prior as in `inference.compose`; None if no value is hidden
    prior : None for the histogram of the whole table
    """
    sizes, of_row = release.classes.sizes, release.classes.of_row
    n, n_said = len(sizes), len(column.levels) if means is None else means.shape[0]
    histogram = class_counts(of_row, n, values_of_records, n_said, weight=release.counts)
    if means is not None:
        histogram = csr_array(histogram @ means).sorted_indices()
    if prior is None:
        overall = release.totals_of(column)
        prior = overall / overall.sum()
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)
    return Posterior(
        indptr=histogram.indptr.astype(np.int64),
        candidate=histogram.indices.astype(np.int32),
        log_probability=stored(np.log(histogram.data / np.repeat(sizes, np.diff(histogram.indptr)))),
        unlisted=np.zeros(n),
        n_unlisted=np.zeros(n, dtype=np.int64),
        observation=np.arange(n),
        weight=sizes / release.n_rows,
        n_candidates=len(labels),
        log_prior=log_prior,
        provenance=provenance,
        candidate_label=labels,
    )


def linked(release: Table, register: Table, *, coverage: float, provenance: dict[str, Any] | None = None) -> Posterior:
    """Return the belief about the person of a register behind a record, for each distinct record that it can tell."""
    records, people, row, klass = _pairs(release, register)
    owned = owners(records, people, row, klass, coverage=coverage)
    fit = np.bincount(row, people[klass], len(records)).astype(np.int64)
    weight = records / records.sum()
    if coverage == 1.0 and not owned.overlaps.any():
        return from_sizes(fit, weight, n_candidates=register.n_rows, provenance=provenance)
    unlike = _unlike(owned, people, row, klass)
    return _listed(fit, owned.inside, weight, unlike, register.n_rows, coverage, provenance or {})


def _pairs(release: Table, register: Table) -> tuple[Ints, Ints, Ints, Ints]:
    """Return records of each observation, people of each class, and the observation and class of all pairs that fit."""
    pairing = pair(release, register)
    chunks, n = [], 0
    for chunk in chunks_where(pairing, fits_of(pairing.columns, missing=release.missing)):
        n += len(chunk[0])
        _refuse_many(n - len(pairing.observed), "pairs of cells of the register and of the release overlap")
        chunks.append(chunk)
    row, klass = (np.concatenate(side) for side in zip(*chunks, strict=True))
    records = release.count_rows(pairing.observation, len(pairing.observed))
    return records, register.count_rows(pairing.klass, len(pairing.classes)), row, klass


def _unlike(owned: Owners, people: Ints, row: Ints, klass: Ints) -> Entries:
    entries = np.flatnonzero(owned.overlaps[row])
    return row[entries], people[klass[entries]], owned.each[entries]


def _listed(
    candidates: Ints,
    inside: NDArray[np.float64],
    weight: NDArray[np.float64],
    unlike: Entries,
    n_candidates: int,
    coverage: float,
    provenance: dict[str, Any],
) -> Posterior:
    """Return a belief whose candidates go by no number of their own: targets that as many people fit alike share a row.

    unlike : for targets whose candidates differ
    """
    row, n_entries, probability = unlike
    differ = np.zeros(len(candidates), dtype=np.bool_)
    differ[row] = True
    alike_classes = np.flatnonzero(~differ)
    cases, case_of_class = np.unique(
        np.stack([candidates[alike_classes], inside[alike_classes]]), axis=1, return_inverse=True
    )
    size, sure = cases[0].astype(np.int64), cases[1]
    _refuse_many(
        int(size.sum() + n_entries.sum()), "candidates would be listed, for a coverage below 1 or overlapping boxes"
    )
    rows, number_of_row = np.unique(row, return_inverse=True)
    observation = np.empty(len(candidates), dtype=np.int64)
    observation[alike_classes], observation[rows] = case_of_class.ravel(), len(size) + np.arange(len(rows))
    length = np.concatenate([size, np.bincount(number_of_row, n_entries, len(rows)).astype(np.int64)])
    indptr = np.concatenate(([0], np.cumsum(length)))
    p = np.concatenate([np.repeat(sure / np.maximum(size, 1), size), np.repeat(probability, n_entries)])
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


def _refuse_many(n: int, subject: str) -> None:
    if n > MAX_DOUBLE_ENTRIES:
        raise FailedError(
            f"more than {MAX_DOUBLE_ENTRIES:,} {subject}, expected at most so many; coarsen a column of the register"
        )
