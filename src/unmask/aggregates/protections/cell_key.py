"""Cell key method: perturbation of counts by a public transition matrix, equal for equal contributors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from unmask.aggregates.programs import Floats
from unmask.core.errors import UnmaskError
from unmask.core.randomness import secret_unless

KEY_BITS = 52
"""Bits of a cell key: as many as a double between 0 and 1 distinguishes."""


def transition_matrix(max_noise: int, variance: float, *, forbidden: int = 0) -> Floats:
    """Return the distribution of the noise for each true count.

    Each row maximizes the entropy among distributions on -D, ..., D with mean 0 and the variance, that make no count
    negative and publish none of 1, ..., `forbidden`. So p(d) is proportional to exp(a d + b d^2) on the allowed noise.
    Zeros stay zeros.

    Parameters
    ----------
    max_noise : int
        Largest noise D, at least 1.
    variance : float
        Variance of the noise of every positive count, above 0.
    forbidden : int
        Largest small count that is never published; 0 allows all.

    Returns
    -------
    (n_rows, 2 D + 1) array
        Row n has the probabilities of noise -D, ..., D of a true count n. The last row allows all noise and is that of
        all larger counts.

    Raises
    ------
    UnmaskError
        If no such distribution exists; then the variance is too small or too large for D and `forbidden`.

    References
    ----------
    J. K. Marley & V. L. Leaver, "A method for confidentialising user-defined tables: statistical properties and a
    risk-utility analysis", 58th World Statistical Congress, 2011. S. Giessing, "Computational issues in the design of
    transition probabilities and disclosure risk estimation for additive noise", PSD 2016.

    Examples
    --------
    >>> transition_matrix(2, 1.0).round(2)
    array([[0.  , 0.  , 1.  , 0.  , 0.  ],
           [0.  , 0.4 , 0.31, 0.19, 0.1 ],
           [0.06, 0.24, 0.38, 0.24, 0.06]])
    """
    if max_noise < 1 or not variance > 0 or forbidden < 0:
        raise UnmaskError(
            f"max_noise {max_noise}, variance {variance:g} and forbidden {forbidden} were given; expected at least 1, "
            "above 0 and at least 0"
        )
    noise = np.arange(-max_noise, max_noise + 1)
    rows = [(noise == 0).astype(np.float64)]
    for count in range(1, max_noise + (forbidden + 1 if forbidden else 0) + 1):
        released = count + noise
        allowed = (released >= 0) & ~((released >= 1) & (released <= forbidden))
        rows.append(_maximize_entropy(noise, allowed, variance))
    return np.array(rows)


MAX_STEPS: Final = 200
"""Steps of Newton's method. It takes about ten if there is a solution."""


def _maximize_entropy(noise: NDArray[np.int64], allowed: NDArray[np.bool_], variance: float) -> Floats:
    """Return the distribution of largest entropy on the allowed noise with mean 0 and a variance."""
    scale = float(noise[-1])
    moments = np.stack([noise[allowed] / scale, (noise[allowed] / scale) ** 2])
    target = np.array([0.0, variance / scale**2])

    def weigh(multipliers: Any) -> Floats:
        logs = multipliers @ moments
        weights = np.exp(logs - logs.max())
        return np.asarray(weights / weights.sum())

    def covariance(multipliers: Any) -> Floats:
        weights = weigh(multipliers)
        centered = moments - (moments @ weights)[:, None]
        return np.asarray((centered * weights) @ centered.T)

    def excess(multipliers: Any) -> Floats:
        return np.asarray(moments @ weigh(multipliers) - target)

    def dual(multipliers: Any) -> float:
        logs = multipliers @ moments
        return float(logs.max() + np.log(np.exp(logs - logs.max()).sum()) - multipliers @ target)

    multipliers = np.zeros(2)  # Newton's method on the convex dual; scipy.optimize takes long to import
    for _ in range(MAX_STEPS):
        gradient = excess(multipliers)
        if np.abs(gradient).max() < 1e-13:
            break
        step, size = -np.linalg.lstsq(covariance(multipliers), gradient, rcond=None)[0], 1.0
        while size > 1e-6 and dual(multipliers + size * step) > dual(multipliers) + 1e-4 * size * (gradient @ step):
            size /= 2
        multipliers = multipliers + size * step
    probabilities = np.zeros(len(noise))
    probabilities[allowed] = weigh(multipliers)
    if np.abs(moments @ probabilities[allowed] - target).max() > 1e-9:
        raise UnmaskError(
            f"no unbiased noise of at most {scale:g} has variance {variance:g} for every count; choose another variance"
        )
    return probabilities


def draw_cell_keys(rows: Any, atoms: Floats, *, rng: np.random.Generator | None = None) -> Floats:
    """Return a number in [0, 1) for each cell, equal for cells with the same contributors.

    Each atom that has records gets a random key, the sum of its records' keys; the key of a cell is the fractional part
    of the sum over its atoms.

    Parameters
    ----------
    rows : (n_cells, n_atoms) sparse array
        1 where an atom is part of a cell.
    atoms : (n_atoms,) array
        True counts.
    rng : numpy.random.Generator, optional
        For studies only; by default randomness of the operating system.

    Returns
    -------
    (n_cells,) array
    """
    keys = secret_unless(rng).integers(2**KEY_BITS, size=len(atoms)) * (atoms > 0)
    sums = rows.astype(np.int64) @ keys.astype(np.int64)  # wraps modulo 2**64, a multiple of 2**KEY_BITS
    return np.asarray((sums % 2**KEY_BITS) / 2.0**KEY_BITS)


def perturb_counts(counts: Floats, keys: Floats, transitions: Floats) -> Floats:
    """Add to each count the noise that its cell key selects from the transition matrix.

    Parameters
    ----------
    counts : (n_cells,) array
        True counts.
    keys : (n_cells,) array
        Cell keys from `draw_cell_keys`.
    transitions : (n_rows, 2 D + 1) array
        Matrix from `transition_matrix`.

    Returns
    -------
    (n_cells,) array
        Perturbed counts, at least 0. Totals are perturbed like other cells and do not add up.
    """
    row = np.minimum(counts.astype(np.int64), len(transitions) - 1)
    cumulated = np.cumsum(transitions, axis=1)[row]
    cumulated[:, -1] = 1.0
    noise = (keys[:, None] >= cumulated).sum(axis=1) - transitions.shape[1] // 2
    return np.asarray(counts + noise, dtype=np.float64)
