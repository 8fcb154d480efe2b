"""Refinement, the Blackwell order of channels: one channel as another one followed by a third."""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from unmask.channels._matrices import Floats
from unmask.channels.channel import Channel
from unmask.core.errors import FailedError, UnmaskError


def degradation(finer: Channel, coarser: Channel, *, tolerance: float = 1e-9) -> Channel | None:
    """Find the channel that turns the output of `finer` into that of `coarser`.

    A stochastic G with P G = Q, for the matrices P and Q of two channels on the same secrets. Priors are ignored. If
    there is one, and only then, no adversary with any prior and any loss learns less from `finer` than from `coarser`.

    Parameters
    ----------
    finer, coarser : Channel
        Channels on the same secrets.
    tolerance : float
        Largest entry of abs(P G - Q).

    Returns
    -------
    Channel or None
        G, whose product was checked. None if a linear program, solved to 1e-10, finds no G.

    Raises
    ------
    UnmaskError
        If the channels have different numbers of secrets.

    References
    ----------
    D. Blackwell, "Equivalent comparisons of experiments", Ann. Math. Statist. 24, 1953, theorem 6.

    Examples
    --------
    >>> fine = Channel(np.array([[0.9, 0.1], [0.1, 0.9]]))
    >>> coarse = Channel(np.array([[0.7, 0.3], [0.3, 0.7]]))
    >>> degradation(fine, coarse).p_y_given_x.round(3)
    array([[0.75, 0.25],
           [0.25, 0.75]])
    >>> degradation(coarse, fine) is None
    True
    """
    if finer.n_x != coarser.n_x:
        raise UnmaskError(f"the channels have {finer.n_x} and {coarser.n_x} secrets, expected the same secrets")
    G = _find_degrading_matrix(finer.dense(), coarser.dense(), tolerance=tolerance)
    return None if G is None else Channel(G, finer.p_y, x_labels=finer.y_labels, y_labels=coarser.y_labels)


def _find_degrading_matrix(P: Floats, Q: Floats, *, tolerance: float) -> Floats | None:
    """Return (n_y, n_z) G >= 0 with rows that sum to 1 and max |P G - Q| <= tolerance, or None.

    P : (n_x, n_y), Q : (n_x, n_z), rows sum to 1. Least squares is tried first: it takes milliseconds and finds a
    unique solution of P G = Q. The linear program min t such that |P G - Q| <= t entry by entry has n_y n_z
    variables: about a second for 60 x 60.

    >>> _find_degrading_matrix(np.eye(2), np.array([[0.5, 0.5], [0.0, 1.0]]), tolerance=1e-9)
    array([[0.5, 0.5],
           [0. , 1. ]])
    """
    for propose in (lambda: np.linalg.lstsq(P, Q, rcond=None)[0], lambda: _minimize_largest_error(P, Q)):
        G = _normalize_rows(propose())
        if float(np.abs(P @ G - Q).max()) <= tolerance:
            return G
    return None


def _minimize_largest_error(P: Floats, Q: Floats) -> Floats:
    n_y, n_z = P.shape[1], Q.shape[1]
    product = kron(csr_array(P), eye_array(n_z))  # row (x, z), column (y, z) of G
    slack = csr_array(np.ones((Q.size, 1)))
    answer = scipy.optimize.linprog(
        np.concatenate((np.zeros(n_y * n_z), [1.0])),
        A_ub=vstack([hstack([product, -slack]), hstack([-product, -slack])], format="csr"),
        b_ub=np.concatenate((Q.ravel(), -Q.ravel())),
        A_eq=hstack([kron(eye_array(n_y), np.ones((1, n_z))), csr_array((n_y, 1))], format="csr"),
        b_eq=np.ones(n_y),
        bounds=(0, None),
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if answer.x is None:
        raise FailedError("the comparison of the two channels was not solved: try channels with fewer outputs")
    return np.asarray(answer.x[:-1].reshape(n_y, n_z), dtype=np.float64)


def _normalize_rows(G: ArrayLike) -> Floats:
    """Return the rows with negative entries set to 0, divided by their sum; uniform if empty."""
    positive = np.maximum(G, 0.0)
    positive[positive.sum(axis=1) <= 0] = 1.0
    return np.asarray(positive / positive.sum(axis=1, keepdims=True))
