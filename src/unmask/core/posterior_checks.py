"""Consistency checks of the rows, targets and prior of a `Posterior`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from unmask.core.arrays import Integers
from unmask.core.csr_rows import chunks, segment_sum
from unmask.core.errors import UnmaskError
from unmask.core.tolerances import MASS_TOLERANCE


def check_posterior(belief: Any, statuses: Sequence[str]) -> None:
    """Raise if a posterior is not consistent."""
    _check_shapes(belief, statuses)
    _check_representatives(belief)
    _check_rows(belief)
    _check_targets(belief)
    _check_prior(belief)


def _check_representatives(belief: Any) -> None:
    representative, n = belief.representative, belief.n_candidates
    if representative is None:
        return
    if representative.shape != (n,) or representative.min(initial=0) < 0 or representative.max(initial=0) >= n:
        raise UnmaskError(f"representative has shape {representative.shape}, expected one of {n} candidates for each")
    _check_candidates(belief.candidate, n)
    represented = np.any(representative[representative] != representative)
    if represented or np.any(representative[belief.candidate] != belief.candidate):
        raise UnmaskError("a representative, or a listed candidate, has another representative; expected itself")


def _check_shapes(belief: Any, statuses: Sequence[str]) -> None:
    rows, entries = len(belief.indptr) - 1, len(belief.candidate)
    if rows < 1 or belief.n_targets < 1:
        raise UnmaskError(
            f"the posterior has {max(rows, 0)} observations and {belief.n_targets} targets, expected at least 1 of each"
        )
    if belief.indptr[0] != 0 or belief.indptr[-1] != entries or np.any(belief.indptr[1:] < belief.indptr[:-1]):
        raise UnmaskError(f"indptr does not divide the {entries} entries into rows: it must rise from 0 to {entries}")
    if len(belief.log_probability) != entries:
        raise UnmaskError(f"{entries} candidates have {len(belief.log_probability)} probabilities, expected as many")
    if len(belief.unlisted) != rows or len(belief.n_unlisted) != rows:
        raise UnmaskError(f"unlisted and n_unlisted need one number for each of the {rows} observations")
    if belief.status not in statuses:
        raise UnmaskError(f"status is {belief.status!r}, expected one of {', '.join(statuses)}")


def _check_rows(belief: Any) -> None:
    if np.any(belief.unlisted < 0) or np.any(belief.n_unlisted < -1):
        raise UnmaskError("unlisted must be at least 0 and n_unlisted at least -1")
    for start, stop in chunks(belief.indptr):
        indptr = belief.indptr[start : stop + 1]
        entries = slice(indptr[0], indptr[-1])
        log_p = belief.log_probability[entries]
        _check_entries(belief.candidate[entries], log_p, indptr - indptr[0], belief.n_candidates)
        p = np.exp(log_p, dtype=np.float64) * (1.0 if belief.multiplicity is None else belief.multiplicity[entries])
        mass = belief.unlisted[start:stop] + segment_sum(p, indptr - indptr[0])
        wrong_rows = np.flatnonzero(np.abs(mass - 1.0) > MASS_TOLERANCE)
        if wrong_rows.size:
            row = wrong_rows[0]
            raise UnmaskError(
                f"row {start + row} of the posterior sums to {mass[row]:.6g}, expected 1 with the unlisted"
            )


def _check_entries(candidate: NDArray[np.int32], log_p: NDArray[np.floating[Any]], indptr: Integers, n: int) -> None:
    if len(log_p) and not (log_p.min() > -np.inf and log_p.max() <= 0):  # nan is neither
        raise UnmaskError(
            "the posterior has log-probabilities that are infinite or above 0; omit impossible candidates"
        )
    _check_candidates(candidate, n)
    rises = np.ones(len(candidate), dtype=np.bool_)
    np.greater(candidate[1:], candidate[:-1], out=rises[1:])
    rises[indptr[:-1][np.diff(indptr) > 0]] = True  # first entry of each row
    if not rises.all():
        raise UnmaskError("candidates must be ascending and unique within each row of the posterior")


def _check_candidates(candidate: NDArray[np.int32], n: int) -> None:
    if len(candidate) and (candidate.min() < 0 or candidate.max() >= n):
        raise UnmaskError(f"the posterior has candidates outside 0..{n - 1}")


def _check_targets(belief: Any) -> None:
    if belief.observation.min() < 0 or belief.observation.max() >= belief.n_observations:
        raise UnmaskError(f"a target points to an observation outside 0..{belief.n_observations - 1}")
    if (
        len(belief.weight) != belief.n_targets
        or belief.weight.min() < 0
        or abs(belief.weight.sum() - 1.0) > MASS_TOLERANCE
    ):
        raise UnmaskError(f"the {belief.n_targets} targets need weights of at least 0 that sum to 1")


def _check_prior(belief: Any) -> None:
    if isinstance(belief.log_prior, float):
        total = belief.n_candidates * float(np.exp(belief.log_prior))
    else:
        if len(belief.log_prior) != belief.n_candidates:
            raise UnmaskError(f"the prior has {len(belief.log_prior)} numbers for {belief.n_candidates} candidates")
        total = float(np.exp(belief.log_prior).sum())
        possible = np.isfinite(belief.log_prior)
        if not possible.all() and not possible[belief.candidate].all():
            raise UnmaskError("the posterior lists candidates whose prior is 0, which no observation makes possible")
        if belief.representative is not None and np.any(belief.log_prior[belief.representative] != belief.log_prior):
            raise UnmaskError("a representative has another prior than its candidates, expected the same")
    if not total <= 1.0 + MASS_TOLERANCE:
        raise UnmaskError(f"the prior sums to {total:.6g}, expected at most 1")
