"""What a channel makes an adversary believe: rows of a posterior from the matrix of a channel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.channels._matrices import Floats, Ints, Matrix
from unmask.core.errors import UnmaskError
from unmask.core.posterior import LogProbabilities, Posterior, Status, equal_weights, precision, stored

BLOCK = 200_000
"""Entries turned into logarithms at a time: they stay in the cache, and a large channel needs no copy of itself."""


def closed_belief(
    length: Ints,
    candidate: NDArray[np.int32],
    log_probability: LogProbabilities,
    prior: Floats,
    *,
    observation: Ints | None = None,
    weight: Floats | None = None,
    status: Status = "exact",
    provenance: Mapping[str, Any],
    candidate_label: tuple[str, ...] | None,
) -> Posterior:
    """A belief that lists every candidate it believes in.

    length : (n_observations,) candidates of each row
    prior  : (n_candidates,)
    observation, weight : the targets; when None one of each observation, all alike
    """
    target = np.arange(len(length)) if observation is None else observation
    with np.errstate(divide="ignore"):
        log_prior = float(-np.log(len(prior))) if np.ptp(prior) == 0 else np.log(prior)
    return Posterior(
        indptr=np.concatenate(([0], np.cumsum(length, dtype=np.int64))),
        candidate=candidate,
        log_probability=log_probability,
        unlisted=np.zeros(len(length)),
        n_unlisted=np.zeros(len(length), dtype=np.int64),
        observation=target,
        weight=equal_weights(len(target)) if weight is None else weight,
        n_candidates=len(prior),
        log_prior=log_prior,
        status=status,
        provenance=provenance,
        candidate_label=candidate_label,
    )


def check_outputs(seen: Ints, n_y: int) -> None:
    """Refuse observations, (targets, ...), that are no numbers of outputs, by target."""
    if not np.issubdtype(seen.dtype, np.integer):
        raise UnmaskError(f"the observations are of type {seen.dtype}, expected output numbers, 0..{n_y - 1}")
    wrong = np.flatnonzero(((seen < 0) | (seen >= n_y)).reshape(len(seen), -1).any(axis=1))
    if wrong.size:
        raise UnmaskError(f"target {wrong[0]} shows an output outside 0..{n_y - 1}, the outputs of the channel")


def dense_rows(matrix: Floats, prior: Floats, p_y: Floats, y: Ints) -> tuple[Ints, NDArray[np.int32], LogProbabilities]:
    """Entries of each row, secrets and log-probabilities of p(x given y) for the outputs y, from a dense channel."""
    secret = np.flatnonzero(prior > 0).astype(np.int32)
    whole = len(secret) == len(prior)
    log_prior, log_p_y = np.log(prior[secret]), np.log(p_y[y])
    length = np.count_nonzero(matrix if whole else matrix[secret], axis=0)[y]
    indptr = np.concatenate(([0], np.cumsum(length, dtype=np.int64)))
    candidate = np.empty(indptr[-1], dtype=np.int32)
    log_p = np.empty(indptr[-1], dtype=precision(indptr[-1]))
    step = max(1, BLOCK // max(1, len(secret)))
    for first in range(0, len(y), step):
        columns = y[first : first + step]
        block = np.ascontiguousarray((matrix[:, columns] if whole else matrix[np.ix_(secret, columns)]).T)
        place = slice(indptr[first], indptr[min(first + step, len(y))])
        every = bool(length[first : first + step].min() == len(secret))  # nothing to leave out: no mask, half the time
        shown = ... if every else block > 0
        with np.errstate(divide="ignore"):
            log_block = np.log(block, out=block)
        log_block += log_prior
        log_block -= log_p_y[first : first + step, None]
        np.minimum(log_block, 0.0, out=log_block)
        log_p[place] = log_block[shown].ravel()
        candidate[place] = np.broadcast_to(secret, block.shape)[shown].ravel()
    return length, candidate, log_p


def sparse_rows(
    matrix: Matrix, prior: Floats, p_y: Floats, y: Ints
) -> tuple[Ints, NDArray[np.int32], LogProbabilities]:
    """The same from a sparse channel."""
    by_output = csr_array(matrix).tocsc()
    secret = by_output.indices.astype(np.int32)
    output = np.repeat(np.arange(len(p_y)), np.diff(by_output.indptr))
    possible = prior[secret] > 0
    if not possible.all():
        secret, output, p = secret[possible], output[possible], by_output.data[possible]
    else:
        p = by_output.data
    length = np.bincount(output, minlength=len(p_y))[y]
    with np.errstate(divide="ignore"):  # a secret of prior 0 and an output of probability 0 are not read
        log_p = np.log(p) + np.log(prior)[secret] - np.log(p_y)[output]
    return length, secret, stored(log_p)
