"""Beliefs from channels: the entries of p(x given y) for each output, dense or sparse."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from unmask.channels._matrices import Floats, Ints, Matrix
from unmask.core.posterior import LogProbabilities, Posterior, Status, equal_weights, precision, stored

LOG_BLOCK_ENTRIES = 200_000
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
    """Return a belief that lists every candidate of positive probability.

    length : (n_observations,) candidates of each row
    prior : (n_candidates,)
    observation, weight : the targets; if None one of each observation, of equal weight
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


def list_dense_rows(
    matrix: Floats, prior: Floats, p_y: Floats, outputs: Ints
) -> tuple[Ints, NDArray[np.int32], LogProbabilities]:
    """Return the entries of each row, secrets and logs of p(x given y) for these outputs of a dense channel."""
    secret = np.flatnonzero(prior > 0).astype(np.int32)
    all_possible = len(secret) == len(prior)
    log_prior, log_p_y = np.log(prior[secret]), np.log(p_y[outputs])
    length = np.count_nonzero(matrix if all_possible else matrix[secret], axis=0)[outputs]
    indptr = np.concatenate(([0], np.cumsum(length, dtype=np.int64)))
    candidate = np.empty(indptr[-1], dtype=np.int32)
    log_p = np.empty(indptr[-1], dtype=precision(indptr[-1]))
    step = max(1, LOG_BLOCK_ENTRIES // max(1, len(secret)))
    for start in range(0, len(outputs), step):
        columns = outputs[start : start + step]
        block = np.ascontiguousarray((matrix[:, columns] if all_possible else matrix[np.ix_(secret, columns)]).T)
        target = slice(indptr[start], indptr[min(start + step, len(outputs))])
        is_full = bool(length[start : start + step].min() == len(secret))  # without a mask in half the time
        mask = ... if is_full else block > 0
        with np.errstate(divide="ignore"):
            log_block = np.log(block, out=block)
        log_block += log_prior
        log_block -= log_p_y[start : start + step, None]
        np.minimum(log_block, 0.0, out=log_block)
        log_p[target] = log_block[mask].ravel()
        candidate[target] = np.broadcast_to(secret, block.shape)[mask].ravel()
    return length, candidate, log_p


def list_sparse_rows(
    matrix: Matrix, prior: Floats, p_y: Floats, outputs: Ints
) -> tuple[Ints, NDArray[np.int32], LogProbabilities]:
    """Return the entries of each row, secrets and logs of p(x given y) for these outputs of a sparse channel."""
    by_output = csr_array(matrix).tocsc()
    secret = by_output.indices.astype(np.int32)
    output, p = np.repeat(np.arange(len(p_y)), np.diff(by_output.indptr)), by_output.data
    possible = prior[secret] > 0
    if not possible.all():
        secret, output, p = secret[possible], output[possible], p[possible]
    length = np.bincount(output, minlength=len(p_y))[outputs]
    with np.errstate(divide="ignore"):  # a secret of prior 0 and an output of probability 0 are not read
        log_p = np.log(p) + np.log(prior)[secret] - np.log(p_y)[output]
    return length, secret, stored(log_p)
