"""Information that a protected table loses."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unmask.aggregates.programs import Floats, Mask


@dataclass(frozen=True)
class TableLoss:
    """Information loss of published cells.

    Parameters
    ----------
    cells : int
        Cells of all tables.
    suppressed : int
        Cells without a number.
    suppressed_value : float
        Their sum, as a share of the sum of all cells.
    mean_absolute_deviation : float
        Mean distance of the published numbers from the true ones; suppressed cells are left out.
    hellinger : float
        Hellinger distance of published and true numbers, each divided by its sum: 0 for equal ones, at most 1.
        A suppressed cell counts as 0.
    """

    cells: int
    suppressed: int
    suppressed_value: float
    mean_absolute_deviation: float
    hellinger: float


def measure_loss(values: Floats, published: Floats, hidden: Mask) -> TableLoss:
    """Compute the information loss of a release.

    Parameters
    ----------
    values : (n_cells,) array
        True numbers.
    published : (n_cells,) array
        Published numbers; those of suppressed cells are not read.
    hidden : (n_cells,) array of bool
        Suppressed cells.

    Returns
    -------
    TableLoss

    References
    ----------
    A. Hundepool et al., "Statistical Disclosure Control", Wiley 2012, chapter 5. N. Shlomo, "Statistical disclosure
    control methods for census frequency tables", International Statistical Review 75(2), 2007.

    Examples
    --------
    >>> measure_loss(np.array([4.0, 1.0, 5.0]), np.array([4.0, 0.0, 5.0]), np.array([False, True, False])).suppressed
    1
    """
    numbers = np.where(hidden, 0.0, published)
    total = values.sum()
    deviation = np.abs(numbers - values)[~hidden]
    return TableLoss(
        len(values),
        int(hidden.sum()),
        float(values[hidden].sum() / total) if total else 0.0,
        float(deviation.mean()) if deviation.size else 0.0,
        _hellinger(values, numbers),
    )


def _hellinger(values: Floats, numbers: Floats) -> float:
    if not values.sum() or not numbers.sum():
        return float(values.sum() != numbers.sum())
    roots = np.sqrt(values / values.sum()) - np.sqrt(numbers / numbers.sum())
    return float(np.sqrt((roots**2).sum() / 2))
