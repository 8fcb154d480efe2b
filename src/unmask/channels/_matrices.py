"""Matrices of conditional distributions, dense or sparse: conversion, checks and products."""

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
"""Largest distance of a row sum, or of the sum of the prior, from 1."""

SUM_ROUNDING = 1e-14
"""Distance of a sum from 1 below which values are not divided by it, so that equal input stays equal."""


def as_matrix(values: ArrayLike | Matrix) -> Matrix:
    """Return the values as a float64 matrix, a sparse one as a copy without stored zeros."""
    matrix: Matrix
    if issparse(values):
        matrix = csr_array(cast("Any", values), dtype=np.float64, copy=True)
        matrix.sum_duplicates()
        matrix.eliminate_zeros()
    else:
        matrix = np.asarray(values, dtype=np.float64)
    if matrix.ndim != 2 or min(matrix.shape) < 1:
        raise UnmaskError(f"the channel has shape {matrix.shape}, expected secrets x outputs with at least one of each")
    return matrix


def check_entries(matrix: Matrix) -> None:
    """Raise an error if entries are negative or not numbers."""
    if isinstance(matrix, np.ndarray):
        if np.isfinite(matrix.sum()) and matrix.min() >= 0:
            return
        row = int(np.argmax(~(np.isfinite(matrix) & (matrix >= 0)).all(axis=1)))
    else:
        invalid = ~(np.isfinite(matrix.data) & (matrix.data >= 0))
        if not invalid.any():
            return
        row = int(np.searchsorted(matrix.indptr, np.argmax(invalid), side="right")) - 1
    raise UnmaskError(f"row {row} of the channel has entries that are negative or not numbers, expected 0 to 1")


def stochastic(values: ArrayLike | Matrix) -> Matrix:
    """Return the read-only matrix of a channel, whose rows sum to 1."""
    matrix = as_matrix(values)
    check_entries(matrix)
    mass = np.asarray(matrix.sum(axis=1), dtype=np.float64).ravel()
    invalid = np.flatnonzero(np.abs(mass - 1.0) > ROW_TOLERANCE)
    if invalid.size:
        raise UnmaskError(
            f"row {invalid[0]} of the channel sums to {mass[invalid[0]]:.12g}, expected 1: divide it by its sum"
        )
    rounded = np.abs(mass - 1.0) <= SUM_ROUNDING
    if rounded.all() and isinstance(matrix, np.ndarray) and matrix.base is None and not matrix.flags.writeable:
        return matrix  # a channel's own array: another prior needs no second copy
    scaled = scale_rows(matrix, np.where(rounded, 1.0, 1.0 / mass))
    lock(scaled if isinstance(scaled, np.ndarray) else scaled.data)
    return scaled


def distribution(values: ArrayLike | None, n_x: int) -> Floats:
    """Return the read-only prior of n_x secrets, uniform if None."""
    if values is None:
        return lock(np.full(n_x, 1.0 / n_x))
    prior = np.asarray(values, dtype=np.float64)
    if prior.shape != (n_x,):
        raise UnmaskError(
            f"the prior has shape {prior.shape}, expected ({n_x},): one number for each row of the channel"
        )
    if not (np.all(np.isfinite(prior)) and prior.min() >= 0):
        raise UnmaskError("the prior has entries that are negative or not numbers, expected 0 to 1")
    total = float(prior.sum())
    if abs(total - 1.0) > ROW_TOLERANCE:
        raise UnmaskError(f"the prior sums to {total:.12g}, expected 1: divide it by its sum")
    return lock(prior.copy() if abs(total - 1.0) <= SUM_ROUNDING else prior / total)


def probabilities(values: ArrayLike, name: str) -> Floats:
    """Return (n,) probabilities that sum to 1 within 1e-9, divided by their sum."""
    p = np.asarray(values, dtype=np.float64)
    if p.ndim != 1 or not p.size or not np.all(np.isfinite(p)) or p.min() < 0 or abs(p.sum() - 1) > ROW_TOLERANCE:
        raise UnmaskError(f"{name} is not a distribution, expected one axis of entries at least 0 that sum to 1")
    return np.asarray(p / p.sum(), dtype=np.float64)


def scale_rows(matrix: Matrix, factor: Floats) -> Matrix:
    """Return the matrix with each row multiplied by its factor."""
    if isinstance(matrix, np.ndarray):
        return np.asarray(matrix * factor[:, None], dtype=np.float64)
    scaled = matrix.copy()
    scaled.data = matrix.data * np.repeat(factor, np.diff(matrix.indptr))
    return scaled


def lock(array: Number) -> Number:
    """Make the array read-only and return it."""
    array.setflags(write=False)
    return array


def row_products(a: Sparse, b: Sparse) -> Sparse:
    """Return the (n_x, n_y * n_z) products of each entry of row x of `a` with each entry of row x of `b`."""
    n_a, n_b = np.diff(a.indptr).astype(np.int64), np.diff(b.indptr).astype(np.int64)
    row_of_a = np.repeat(np.arange(a.shape[0]), n_a)
    fan_out = n_b[row_of_a]  # entries of b in the row of each entry of a
    first = np.repeat(np.arange(a.nnz), fan_out)
    offset = np.arange(len(first)) - np.repeat(np.cumsum(fan_out) - fan_out, fan_out)
    second = b.indptr[row_of_a[first]] + offset
    column = a.indices[first].astype(np.int64) * b.shape[1] + b.indices[second]
    shape = (a.shape[0], a.shape[1] * b.shape[1])
    return csr_array(coo_array((a.data[first] * b.data[second], (row_of_a[first], column)), shape=shape))


def log_or_0(p: Floats) -> Floats:
    """Return log p, or 0 if p is 0: for p log p."""
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
