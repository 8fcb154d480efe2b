"""Beliefs of attacks that compute their own entries."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from unmask.graphs.attacks.matching import Matching
from unmask.posterior import equal_weights


def matching_of(
    mapping: NDArray[np.int32],
    entries: tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.float64]],
    *,
    n_target: int,
    sweeps: Sequence[int],
    visits: int,
    attack: str,
) -> Matching:
    """The belief that lists these entries: rows, candidates and their probabilities, none twice.

    What a row lacks to 1 is shared by the target nodes that it does not list; a row without entries keeps the prior.
    """
    row, candidate, probability = entries
    n_source = len(mapping)
    order = np.lexsort((candidate, row))
    row, candidate, probability = row[order], candidate[order], probability[order]
    listed = np.bincount(row, minlength=n_source)
    rest: NDArray[np.float64] = 1.0 - np.bincount(row, weights=probability, minlength=n_source).astype(np.float64)
    rest[np.abs(rest) < 1e-9] = 0.0
    least = np.finfo(np.float32).tiny
    return Matching(
        indptr=np.concatenate(([0], np.cumsum(listed))),
        candidate=candidate.astype(np.int32),
        log_probability=np.log(np.clip(probability, least, 1.0)).astype(np.float32),
        unlisted=rest,
        n_unlisted=np.where(rest > 0, n_target - listed, 0),
        observation=np.arange(n_source),
        weight=equal_weights(n_source),
        n_candidates=n_target,
        log_prior=-float(np.log(n_target)),
        status="scores",
        provenance={"attack": attack},
        mapping=mapping,
        sweeps=np.array(sweeps, dtype=np.int64),
        visits=visits,
    )
