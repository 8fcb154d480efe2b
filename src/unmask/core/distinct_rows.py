"""Distinct rows of a posterior with respect to measures, which ignore the names of candidates.

Measures of rows use the probabilities of a row, not the names of its candidates. A million people in nearly as many
equivalence classes have few distinct rows: all classes of size three have equal rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import numpy as np

from unmask.core.arrays import Booleans, Floats, Integers
from unmask.core.csr_rows import chunks, segment_sum
from unmask.core.posterior import Posterior

T = TypeVar("T")

MIN_ROWS = 1 << 12
"""Number of rows up to which all rows are measured. Larger posteriors are sampled first, with at least this many
rows.
"""

MIN_SAMPLE_ENTRIES = 1 << 18
"""Smallest number of sampled entries if there are more than `MIN_ROWS` rows."""

MAX_DISTINCT_SHARE = 15 / 16
"""Share of distinct rows in the sample above which the search stops."""


class DistinctRows(NamedTuple):
    """Distinct rows of a posterior.

    posterior : same targets as the original; each distinct row has the candidates of an example
    first_row : (n_kinds,) first row of the original with a target; -1 without one
    """

    posterior: Posterior
    first_row: Integers


def distinct_rows(posterior: Posterior) -> DistinctRows:
    """Return the distinct rows of a posterior; the result is cached on the posterior.

    >>> posterior = Posterior.from_dense(np.tile(np.eye(4), (2_000, 1)))
    >>> distinct = distinct_rows(posterior)
    >>> distinct.posterior.n_observations, distinct.posterior.n_targets, distinct.first_row
    (1, 8000, array([0]))
    """
    if "distinct" not in posterior.__dict__:
        posterior.__dict__["distinct"] = _find_distinct_rows(posterior)
    distinct: DistinctRows | None = posterior.__dict__["distinct"]
    return DistinctRows(posterior, np.arange(posterior.n_observations)) if distinct is None else distinct


def _find_distinct_rows(posterior: Posterior) -> DistinctRows | None:
    """Return the distinct rows; None if the rows of a sample hardly repeat.

    Two rows are equal if they have the same length and the same sequences of probabilities, priors and multiplicities.
    """
    n = posterior.n_observations
    n_sample = max(MIN_ROWS, n * MIN_SAMPLE_ENTRIES // max(len(posterior.candidate), 1))
    sample = np.arange(0, n, max(n // n_sample, 1))
    if n > MIN_ROWS and len(np.unique(_hash_rows(take_rows(posterior, sample)))) <= MAX_DISTINCT_SHARE * len(sample):
        return group_rows(posterior)
    return None


def group_rows(posterior: Posterior) -> DistinctRows:
    """Return the distinct rows, also if they hardly repeat."""
    kind = _number_kinds(posterior)
    n, used_rows = posterior.n_observations, posterior.used_rows
    example = np.zeros(kind.max() + 1, dtype=np.int64)
    example[kind[::-1]] = np.arange(n)[::-1]
    first_row = np.full(len(example), -1, dtype=np.int64)
    first_row[kind[used_rows[::-1]]] = used_rows[::-1]
    rows = take_rows(posterior, example)
    return DistinctRows(replace(rows, observation=kind[posterior.observation], weight=posterior.weight), first_row)


def _hash_rows(posterior: Posterior) -> Floats:
    """Return a hash of each row; equal rows have equal hashes, and collisions are rare."""
    return np.concatenate([_hash_chunk(posterior, start, stop) for start, stop in chunks(posterior.indptr)])


def _hash_chunk(posterior: Posterior, start: int, stop: int) -> Floats:
    indptr = posterior.indptr[start : stop + 1] - posterior.indptr[start]
    entries = slice(posterior.indptr[start], posterior.indptr[stop])
    position = np.arange(indptr[-1]) - np.repeat(indptr[:-1], np.diff(indptr))
    terms = np.exp(0.5 * posterior.log_probability[entries].astype(np.float64))
    terms *= (np.pi - posterior.prior_of(posterior.candidate[entries])) * np.sqrt(1.0 + position)
    if posterior.multiplicity is not None:
        terms *= posterior.multiplicity[entries]
    shared = np.e * posterior.unlisted[start:stop] + np.sqrt(3.0) * posterior.n_unlisted[start:stop]
    return np.asarray(segment_sum(terms, indptr) + shared)


def _number_kinds(posterior: Posterior) -> Integers:
    """Return the number of the distinct row of each row; a row with a hash collision gets its own number."""
    hashes = _hash_rows(posterior)
    kind = np.searchsorted(np.unique(hashes), hashes)
    example = np.zeros(kind.max() + 1, dtype=np.int64)
    example[kind] = np.arange(len(kind))
    differing = np.flatnonzero(~_equal_rows(posterior, example[kind]))
    kind[differing] = len(example) + np.arange(len(differing))
    return np.unique(kind, return_inverse=True)[1] if len(differing) else kind


def _equal_rows(posterior: Posterior, example: Integers) -> Booleans:
    """Return a mask of the rows that equal their example."""
    indptr, log_p, multiplicity = posterior.indptr, posterior.log_probability, posterior.multiplicity
    length = np.diff(indptr)
    equal: Booleans = length == length[example]
    equal &= posterior.unlisted == posterior.unlisted[example]
    equal &= posterior.n_unlisted == posterior.n_unlisted[example]
    shift = np.where(equal, indptr[example] - indptr[:-1], 0)  # 0: other lengths, compared to self
    for start, stop in chunks(indptr):
        entry = np.arange(indptr[start], indptr[stop])
        partner = entry + np.repeat(shift[start:stop], length[start:stop])
        differs = log_p[entry] != log_p[partner]
        if isinstance(posterior.log_prior, np.ndarray):
            differs |= posterior.prior_of(posterior.candidate[entry]) != posterior.prior_of(
                posterior.candidate[partner]
            )
        if multiplicity is not None:
            differs |= multiplicity[entry] != multiplicity[partner]
        equal[np.searchsorted(indptr, entry[differs], side="right") - 1] = False
    return equal


def take_rows(posterior: Posterior, rows: Integers) -> Posterior:
    """Return a selection of rows of a posterior, with one target for each."""
    length = np.diff(posterior.indptr)[rows]
    indptr = np.concatenate(([0], np.cumsum(length)))
    entry = np.repeat(posterior.indptr[rows] - indptr[:-1], length) + np.arange(indptr[-1])
    return Posterior(
        indptr=indptr,
        candidate=posterior.candidate[entry],
        log_probability=posterior.log_probability[entry],
        unlisted=posterior.unlisted[rows],
        n_unlisted=posterior.n_unlisted[rows],
        observation=np.arange(len(rows)),
        weight=np.full(len(rows), 1.0 / len(rows)),
        n_candidates=posterior.n_candidates,
        log_prior=posterior.log_prior,
        status=posterior.status,
        provenance=posterior.provenance,
        candidate_label=posterior.candidate_label,
        representative=posterior.representative,
    )


def cache_on_posterior(function: Callable[[Posterior, Any], T]) -> Callable[[Posterior, Any], T]:
    """Cache the last result of a function of a posterior and another argument on the posterior.

    The result is kept as long as the posterior, or until `Posterior.discard_results`. It must not refer to the
    posterior, because the cycle would keep both in memory.

    >>> posterior, calls = Posterior.from_dense(np.eye(2)), []
    >>> count = cache_on_posterior(lambda posterior, power: calls.append(power) or posterior.n_targets**power)
    >>> count(posterior, 3), count(posterior, 3), calls
    (8, 8, [3])
    """
    name = f"cached {function.__module__}.{function.__qualname__}"

    @wraps(function)
    def cached(posterior: Posterior, argument: Any) -> T:
        last = posterior.__dict__.get(name)
        if last is None or last[0] != argument:
            last = posterior.__dict__[name] = argument, function(posterior, argument)
        result: T = last[1]
        return result

    return cached
