"""The yardstick: the error of the adversary's best estimate, and its complement, his chance of being right."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from unmask.errors import UnmaskError
from unmask.measures.base import Measure
from unmask.measures.rows import per_row
from unmask.measures.success import best_guess, realised_success
from unmask.posterior import Posterior
from unmask.truth import Truth

SOURCE = "Rebollo-Monedero et al. 2012, equations (2)-(4)"

LOSS_TIE = 1e-9
"""Answers whose expected losses differ by less share the adversary's choice."""


def estimation_error(loss: NDArray[np.float64] | None = None, *, name: str = "estimation_error") -> Measure:
    """The adversary's expected loss when he decides best: P(y) = min_a sum_x p(x given y) d(x, a).

    loss : (n_candidates, n_answers), d >= 0; Hamming loss when left out, where P(y) = 1 - max_x p(x given y).
    The mean over targets is P_avg, the worst-off target P_min. What is "none of these" (or an unknown number of
    unlisted candidates) costs him the largest loss whatever he answers; mass shared by a known number of unlisted
    candidates costs their average.

    >>> belief = Posterior.from_dense(np.array([[0.5, 0.5, 0.0], [0.0, 0.1, 0.9]]))
    >>> estimation_error().per_target(belief).round(6)
    array([0.5, 0.1])
    >>> years = np.abs(np.subtract.outer([20.0, 40.0, 50.0], [20.0, 40.0, 50.0]))
    >>> estimation_error(years).per_target(belief).round(6)
    array([10.,  1.])
    """
    if loss is None:
        return Measure(
            name=name,
            unit="probability",
            direction="low",
            range=(0.0, 1.0),
            source=SOURCE,
            self_assessed=lambda belief: 1.0 - per_row(belief, best_guess),
            rate=True,
        )
    matrix = _checked(loss)
    return Measure(
        name=name,
        unit="loss",
        direction="low",
        range=(0.0, float(matrix.max())),
        source=SOURCE,
        self_assessed=lambda belief: _expected_losses(belief, matrix).min(axis=1),
    )


def realised_error(loss: NDArray[np.float64] | None = None, *, name: str = "realised_error") -> Measure:
    """The loss that the adversary's best decision really costs him, d(x_true, a(y)), averaged over equally good
    decisions.

    loss : as in `estimation_error`; under Hamming loss it is 1 - success of the best guess, ties shared. A target that
           is ABSENT costs the largest loss.
    """
    if loss is None:
        assert realised_success.realised is not None
        success = realised_success.realised
        return Measure(
            name=name,
            unit="probability",
            direction="low",
            range=(0.0, 1.0),
            source=SOURCE,
            realised=lambda belief, truth: 1.0 - success(belief, truth),
            rate=True,
        )
    matrix = _checked(loss)

    def realised(belief: Posterior, truth: Truth) -> NDArray[np.float64]:
        expected = _expected_losses(belief, matrix)
        chosen = (expected <= expected.min(axis=1, keepdims=True) + LOSS_TIE).astype(np.float64)
        chosen /= chosen.sum(axis=1, keepdims=True)
        present = truth.candidate >= 0
        paid = np.einsum("ta,ta->t", matrix[np.where(present, truth.candidate, 0)], chosen[belief.observation])
        return np.asarray(np.where(present, paid, matrix.max()))

    return Measure(
        name=name, unit="loss", direction="low", range=(0.0, float(matrix.max())), source=SOURCE, realised=realised
    )


def _checked(loss: NDArray[np.float64]) -> NDArray[np.float64]:
    matrix = np.asarray(loss, dtype=np.float64)
    if matrix.ndim != 2 or not np.all(np.isfinite(matrix)) or matrix.min() < 0:
        raise UnmaskError(f"the loss has shape {matrix.shape}, expected candidates x answers, finite and at least 0")
    return matrix


def _expected_losses(belief: Posterior, loss: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n_observations, n_answers) expected loss of each answer."""
    from scipy.sparse import csr_array  # not at the top: it would double the time to start the command line

    if len(loss) != belief.n_candidates:
        raise UnmaskError(
            f"the loss has {len(loss)} rows, expected one for each of the {belief.n_candidates} candidates"
        )
    shape = (belief.n_observations, belief.n_candidates)
    p = np.exp(belief.log_probability.astype(np.float64))
    listed = csr_array((p, belief.candidate, belief.indptr), shape=shape)
    ones = csr_array((np.ones(len(p)), belief.candidate, belief.indptr), shape=shape)
    shared = np.where(belief.n_unlisted > 0, belief.unlisted / np.maximum(belief.n_unlisted, 1), 0.0)
    lost = np.where(belief.n_unlisted > 0, 0.0, belief.unlisted) * loss.max()
    return np.asarray(listed @ loss + shared[:, None] * (loss.sum(axis=0) - ones @ loss) + lost[:, None])
