"""Matrices of conditional distributions, dense or sparse: what is given made one, checked, scaled and multiplied."""

from __future__ import annotations

from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csr_array, issparse

from unmask.core.errors import UnmaskError

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
Sparse: TypeAlias = "csr_array[np.float64, tuple[int, int]]"
Matrix: TypeAlias = "Floats | Sparse"

Number = TypeVar("Number", Floats, Ints)

ROW_TOLERANCE = 1e-9
"""How far a row, or the prior, may be from 1 before it is refused; nearer than that it is divided by its sum."""

ROUNDING = 1e-14
"""Nearer to 1 than this it is left alone: the same numbers given again stay the same numbers."""


def as_matrix(given: ArrayLike | Matrix) -> Matrix:
    """What is given as float64; of a sparse one a copy without stored zeros."""
    matrix: Matrix
    if issparse(given):
        matrix = csr_array(cast("Any", given), dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    else:
        matrix = np.asarray(given, dtype=np.float64)
    if matrix.ndim != 2 or min(matrix.shape) < 1:
        raise UnmaskError(f"the channel has shape {matrix.shape}, expected secrets x outputs with at least one of each")
    return matrix


def check_entries(matrix: Matrix) -> None:
    """Refuse entries that are negative or no numbers, by their row."""
    if isinstance(matrix, np.ndarray):
        if np.isfinite(matrix.sum()) and matrix.min() >= 0:
            return
        row = int(np.argmax(~(np.isfinite(matrix) & (matrix >= 0)).all(axis=1)))
    else:
        wrong = ~(np.isfinite(matrix.data) & (matrix.data >= 0))
        if not wrong.any():
            return
        row = int(np.searchsorted(matrix.indptr, np.argmax(wrong), side="right")) - 1
    raise UnmaskError(f"row {row} of the channel has entries that are negative or not numbers, expected 0 to 1")


def stochastic(given: ArrayLike | Matrix) -> Matrix:
    """The matrix of a channel, its rows summing to 1; read-only."""
    matrix = as_matrix(given)
    check_entries(matrix)
    mass = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    wrong = np.flatnonzero(np.abs(mass - 1.0) > ROW_TOLERANCE)
    if wrong.size:
        raise UnmaskError(
            f"row {wrong[0]} of the channel sums to {mass[wrong[0]]:.12g}, expected 1: divide it by its sum"
        )
    rounded = np.abs(mass - 1.0) <= ROUNDING
    if rounded.all() and isinstance(matrix, np.ndarray) and matrix.base is None and not matrix.flags.writeable:
        return matrix  # a channel's own array: another prior needs no second copy
    scaled = scale_rows(matrix, np.where(rounded, 1.0, 1.0 / mass))
    locked(scaled if isinstance(scaled, np.ndarray) else scaled.data)
    return scaled


def distribution(given: ArrayLike | None, n_x: int) -> Floats:
    """The prior of n_x secrets, summing to 1, uniform when None; read-only."""
    if given is None:
        return locked(np.full(n_x, 1.0 / n_x))
    prior = np.asarray(given, dtype=np.float64)
    if prior.shape != (n_x,):
        raise UnmaskError(
            f"the prior has shape {prior.shape}, expected ({n_x},): one number for each row of the channel"
        )
    if not (np.all(np.isfinite(prior)) and prior.min() >= 0):
        raise UnmaskError("the prior has entries that are negative or not numbers, expected 0 to 1")
    total = float(prior.sum())
    if abs(total - 1.0) > ROW_TOLERANCE:
        raise UnmaskError(f"the prior sums to {total:.12g}, expected 1: divide it by its sum")
    return locked(prior.copy() if abs(total - 1.0) <= ROUNDING else prior / total)


def probabilities(values: ArrayLike, what: str) -> Floats:
    """(n,) probabilities that sum to 1 within 1e-9, divided by their sum."""
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1 or not p.size or not np.all(np.isfinite(p)) or p.min() < 0 or abs(p.sum() - 1) > ROW_TOLERANCE:
        raise UnmaskError(f"{what} is no distribution, expected one axis of entries at least 0 that sum to 1")
    return np.asarray(p / p.sum(), dtype=np.float64)


def scale_rows(matrix: Matrix, factor: Floats) -> Matrix:
    """Each row times its factor."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix * factor[:, None], dtype=np.float64)
    scaled = matrix.copy()
    scaled.data = matrix.data * np.repeat(factor, np.diff(matrix.indptr))
    return scaled


def locked(array: Number) -> Number:
    """The array itself, from now on read-only."""
    array.setflags(write=False)
    return array


def row_products(a: Sparse, b: Sparse) -> Sparse:
    """(n_x, n_y * n_z) the product of each entry of row x of `a` with each entry of row x of `b`."""
    n_a, n_b = np.diff(a.indptr).astype(np.int64), np.diff(b.indptr).astype(np.int64)
    row_of_a = np.repeat(np.arange(a.shape[0]), n_a)
    fan = n_b[row_of_a]  # how many entries of b each entry of a meets
    left = np.repeat(np.arange(a.nnz), fan)
    within = np.arange(len(left)) - np.repeat(np.cumsum(fan) - fan, fan)
    right = b.indptr[row_of_a[left]] + within
    column = a.indices[left].astype(np.int64) * b.shape[1] + b.indices[right]
    shape = (a.shape[0], a.shape[1] * b.shape[1])
    return csr_array(coo_array((a.data[left] * b.data[right], (row_of_a[left], column)), shape=shape))


def log_or_0(p: Floats) -> Floats:
    """Log p, 0 where p is 0: for p log p."""
    return np.asarray(np.log(np.where(p > 0, p, 1.0)), dtype=np.float64)


def check_costs(values: ArrayLike, name: str, shape: tuple[int | None, int | None]) -> Floats:
    """Return a finite matrix of losses, at least 0, or raise an error; None in `shape` allows any length."""
    matrix = np.asarray(values, dtype=np.float64)
    fits = matrix.ndim == 2 and all(want in (None, size) for want, size in zip(shape, matrix.shape, strict=True))
    if not fits or 0 in matrix.shape:
        expected = " x ".join("any" if size is None else str(size) for size in shape)
        raise UnmaskError(f"the {name} has shape {matrix.shape}, expected {expected}")
    if not np.all(np.isfinite(matrix)) or matrix.min() < 0:
        raise UnmaskError(f"the {name} has negative or infinite entries, expected numbers at least 0")
    return matrix
