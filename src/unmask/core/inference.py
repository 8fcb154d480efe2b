"""Posteriors from classes, likelihoods, scores, and other posteriors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from unmask.core.arrays import Floats, Integers
from unmask.core.csr_rows import list_members, segment_max, segment_sum
from unmask.core.errors import UnmaskError
from unmask.core.posterior import Posterior, Status
from unmask.core.tolerances import MIN_LOG_PROBABILITY

__all__ = ["compose", "from_classes", "from_likelihood", "from_scores"]

HELD_OUT = 100
"""Smallest number of people with known truth for the status `calibrated`."""


def from_classes(
    class_of_candidate: NDArray[np.int32],
    class_of_target: NDArray[np.int32],
    *,
    n_classes: int | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Posterior:
    """Return the posterior of an adversary who sees the equivalence class: p(x given y) = 1 / n_y.

    class_of_candidate : (n_candidates,) equivalence class of each record
    class_of_target    : (n_targets,) class that the adversary sees for each target; it must not be empty
    The posterior is exact for an adversary who knows the quasi-identifiers, and knows that the target is in the release
    (prosecutor).

    >>> from_classes(np.array([0, 1, 1]), np.array([0, 1, 1])).row_length
    array([1, 2])

    Rebollo-Monedero et al. 2012, section V-A1: P(y) = 1 - 1 / k.
    """
    n = int(class_of_candidate.max(initial=-1)) + 1 if n_classes is None else n_classes
    if len(class_of_candidate) and not 0 <= class_of_candidate.min() <= class_of_candidate.max() < n:
        raise UnmaskError(f"a record has a class below 0 or above {n - 1}, expected 0 to {n - 1}")
    sizes = np.bincount(class_of_candidate, minlength=n)
    if len(class_of_target) and (class_of_target.max() >= n or not np.all(sizes[class_of_target])):
        raise UnmaskError("the class of a target has no record: the target would be known to be absent")
    return Posterior.from_entries(
        np.concatenate(([0], np.cumsum(sizes))),
        list_members(class_of_candidate),
        np.repeat(-np.log(np.maximum(sizes, 1)), sizes),
        observation=class_of_target,
        n_candidates=len(class_of_candidate),
        provenance=provenance or {},
    )


def from_likelihood(
    indptr: Integers,
    candidate: NDArray[np.int32],
    log_likelihood: Floats,
    *,
    n_candidates: int,
    observation: Integers,
    status: Status = "model",
    provenance: Mapping[str, Any] | None = None,
    representative: NDArray[np.int32] | None = None,
) -> Posterior:
    """Return the posterior by Bayes' rule with a uniform prior: p(x given y) = p(y given x) / (n p(y)).

    log_likelihood : (n_entries,) log p(y given x); candidates that are not listed have likelihood 0
    representative : as in `Posterior`; an entry is the likelihood of each candidate that it represents
    If an observation has no listed candidate, the target is absent. It is an error if all listed candidates have
    likelihood 0; a row is never NaN.
    """
    log_prior = -float(np.log(n_candidates))
    joint = np.asarray(log_likelihood, dtype=np.float64) + log_prior
    is_absent = np.diff(indptr) == 0
    top = segment_max(joint, indptr, empty=0.0)
    if not np.all(np.isfinite(top)):
        number = int(np.flatnonzero(~np.isfinite(top))[0])
        raise UnmaskError(f"observation {number} is explained by no candidate: widen the error model")
    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    terms = np.exp(joint - top[row])
    if representative is not None:
        terms *= np.bincount(representative, minlength=n_candidates)[candidate]
    evidence = top + np.log(segment_sum(terms, indptr) + is_absent)
    log_p = joint - evidence[row]
    is_kept = log_p > MIN_LOG_PROBABILITY
    n_kept = np.bincount(row[is_kept], minlength=len(indptr) - 1)
    return Posterior.from_entries(
        np.concatenate(([0], np.cumsum(n_kept))),
        candidate[is_kept],
        log_p[is_kept],
        unlisted=is_absent.astype(np.float64),
        observation=observation,
        n_candidates=n_candidates,
        status=status,
        provenance=provenance or {},
        representative=representative,
    )


def from_scores(
    indptr: Integers,
    candidate: NDArray[np.int32],
    score: Floats,
    *,
    n_candidates: int,
    observation: Integers | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Posterior:
    """Return softmax(score) over the listed candidates. Only the order of the belief is meaningful: status `scores`.

    score : (n_entries,) finite; higher is likelier
    """
    if not np.all(np.isfinite(score)):
        raise UnmaskError("the attack gave infinite or missing scores; omit impossible candidates")
    return from_likelihood(
        indptr,
        candidate,
        np.asarray(score, dtype=np.float64),
        n_candidates=n_candidates,
        observation=np.arange(len(indptr) - 1) if observation is None else observation,
        status="scores",
        provenance=provenance,
    )


def compose(
    link: Posterior,
    value_of_candidate: NDArray[np.int32],
    *,
    labels: tuple[str, ...],
    means: scipy.sparse.csr_array | None = None,
    prior: Floats | None = None,
    outside: Floats | None = None,
    provenance: Mapping[str, Any] | None = None,
) -> Posterior:
    """Return the posterior of values: p(s given y) = sum over candidates x of p(x given y) [s is the value of x], plus
    p(absent given y) times the belief about an absent target.

    value_of_candidate : (n_candidates,) sensitive value of each released record
    means              : (n_statements, n_values) probability of each value given a statement, for records that
                         release statements about values; `value_of_candidate` is then the number of the statement
    prior              : (n_values,) share of each value in the population, known before the release. Default: the
                         histogram of the release.
    outside            : (n_observations, n_values) belief about an absent target; default: the prior

    >>> link = from_classes(np.array([0, 1, 1]), np.array([1]))
    >>> belief = compose(link, np.array([0, 0, 1]), labels=("flu", "gout"))
    >>> np.exp(belief.log_probability[1:]).round(3)
    array([0.5, 0.5])
    """
    m = len(labels)
    means = scipy.sparse.csr_array(scipy.sparse.eye_array(m)) if means is None else means
    statements = count_candidates(link, value_of_candidate, means.shape[0])
    released = statements.sum(axis=0) @ means
    prior = released / link.n_candidates if prior is None else prior
    values = scipy.sparse.csr_array((link.to_sparse() @ statements) @ means)
    if link.unlisted.any():
        absent_prior = prior if outside is None else outside
        values = scipy.sparse.csr_array(values + _unlisted_values(link, statements, means, released, absent_prior))
    values.sort_indices()
    with np.errstate(divide="ignore"):
        log_prior = np.log(prior)
        log_p = np.log(values.data)
    possible = log_p > MIN_LOG_PROBABILITY
    row = np.repeat(np.arange(link.n_observations), np.diff(values.indptr))[possible]
    return Posterior.from_entries(
        np.concatenate(([0], np.cumsum(np.bincount(row, minlength=link.n_observations)))),
        values.indices[possible],
        log_p[possible],
        observation=link.observation,
        weight=link.weight,
        n_candidates=m,
        log_prior=log_prior,
        status=link.status,
        provenance={**link.provenance, **(provenance or {})},
        candidate_label=labels,
    )


def count_candidates(link: Posterior, group: NDArray[np.integer], n_groups: int) -> scipy.sparse.csr_array:
    """Return (n_candidates, n_groups) the number of candidates of each entry in each group; `group` is by candidate."""
    n = link.n_candidates
    return scipy.sparse.coo_array((np.ones(n), (link.representatives, group)), shape=(n, n_groups)).tocsr()


def _unlisted_values(
    link: Posterior, statements: scipy.sparse.csr_array, means: scipy.sparse.csr_array, released: Floats, prior: Floats
) -> scipy.sparse.csr_array:
    """Return (n_observations, n_values) the unlisted part of the belief about values.

    The other candidates share it if their number is known. Otherwise it is distributed like the prior, which may differ
    between rows.
    statements : result of `count_candidates`; means : as in `compose`; released : (n_values,) candidates of each value
    """
    rows, shape = np.flatnonzero(link.unlisted), (link.n_observations, link.n_candidates)
    ones = scipy.sparse.csr_array((np.ones(len(link.candidate)), link.candidate, link.indptr), shape=shape)
    is_counted, unlisted = link.n_unlisted[rows] > 0, link.unlisted[rows]
    share = np.where(is_counted, unlisted / np.maximum(link.n_unlisted[rows], 1), 0.0)
    lump = np.where(is_counted, 0.0, unlisted)
    values = share[:, None] * (released - ((ones[rows] @ statements) @ means).toarray())
    values += lump[:, None] * (prior if prior.ndim == 1 else prior[rows])
    place = scipy.sparse.csr_array(
        (np.ones(len(rows)), (rows, np.arange(len(rows)))), shape=(link.n_observations, len(rows))
    )
    return scipy.sparse.csr_array(place @ scipy.sparse.csr_array(values))
