"""Rounding of linked tables: random (unbiased), and controlled, which keeps totals additive."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from unmask.aggregates.programs import Floats, Program
from unmask.aggregates.protections.linked_cells import MAX_PROGRAM_SECONDS
from unmask.core.errors import FailedError
from unmask.core.randomness import secret_unless


def round_randomly(values: Floats, base: int, *, rng: np.random.Generator | None = None) -> Floats:
    """Round each value to one of the two nearest multiples of the base, so that its expectation is the value.

    A value v is rounded up with probability (v mod base) / base. Multiples do not change.

    Parameters
    ----------
    values : array
        Counts or magnitudes, at least 0.
    base : int
        Rounding base, at least 1.
    rng : numpy.random.Generator, optional
        For studies only; by default randomness of the operating system.

    Returns
    -------
    array of the same shape
        Multiples of the base.

    References
    ----------
    I. P. Fellegi, "Controlled random rounding", Survey Methodology 1(2), 1975.

    Examples
    --------
    >>> rounded = round_randomly(np.full(100_000, 7.0), 5)
    >>> sorted(set(rounded.tolist())), bool(abs(rounded.mean() - 7) < 0.05)
    ([5.0, 10.0], True)
    """
    quotient, remainder = np.divmod(values, base)
    up = secret_unless(rng).random(np.shape(values)) < remainder / base
    return np.asarray((quotient + up) * base, dtype=np.float64)


def round_controlled(rows: Any, atoms: Floats, base: int, *, rng: np.random.Generator | None = None) -> Floats:
    """Round all linked cells to one of their two nearest multiples of the base, so that the tables still add up.

    A MILP finds the additive table with the smallest sum of distances to a random rounding of all cells. It is nearly
    unbiased.

    Parameters
    ----------
    rows : (n_cells, n_atoms) sparse array
        1 where an atom is part of a cell.
    atoms : (n_atoms,) array
        True counts.
    base : int
        Rounding base, at least 1.
    rng : numpy.random.Generator, optional
        For studies only; by default randomness of the operating system.

    Returns
    -------
    (n_cells,) array
        Multiples of the base: sums of the same nonnegative atoms, so every published total is the sum of its cells.

    Raises
    ------
    FailedError
        If no additive table was found. One exists for a table of two columns with all totals.

    References
    ----------
    L. H. Cox, "A constructive procedure for unbiased controlled rounding", JASA 82, 1987. J. J. Salazar Gonzalez,
    "Controlled rounding and cell perturbation", Operations Research 53, 2005.

    Examples
    --------
    >>> rows = sp.csr_array(np.vstack([np.eye(3), np.ones((1, 3))]))
    >>> rounded = round_controlled(rows, np.array([2.0, 2.0, 2.0]), 5)
    >>> bool(rounded[:3].sum() == rounded[3])
    True
    """
    values = rows @ atoms
    n_cells, n_atoms = rows.shape
    wanted = round_randomly(values, base, rng=rng) / base
    # variables: atoms and cells in multiples of the base, distances of cells
    identity = sp.eye_array(n_cells, format="csr")
    blocks = [[rows, -identity, None], [None, identity, -identity], [None, identity, identity]]
    no_limit = np.full(n_cells, np.inf)
    program = Program(
        sp.block_array(blocks, format="csr"),
        np.concatenate([np.zeros(n_cells), -no_limit, wanted]),
        np.concatenate([np.zeros(n_cells), wanted, no_limit]),
        np.concatenate([np.zeros(n_atoms), np.floor(values / base), np.zeros(n_cells)]),
        np.concatenate([np.full(n_atoms, np.inf), np.ceil(values / base), no_limit]),
        np.repeat([False, True, False], [n_atoms, n_cells, n_cells]),
        MAX_PROGRAM_SECONDS,  # then a feasible solution is taken that is not proven to be the closest
    )
    result = program.maximize(-np.concatenate([np.zeros(n_atoms + n_cells), np.ones(n_cells)]))
    if result.x is None:
        raise FailedError(
            f"no table of the two nearest multiples of {base} that adds up was found in {MAX_PROGRAM_SECONDS:g} "
            "seconds; round randomly, or publish fewer linked tables"
        )
    return np.asarray(np.round(result.x[n_atoms : n_atoms + n_cells]) * base)
